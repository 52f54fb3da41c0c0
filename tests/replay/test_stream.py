"""Captures as a stream: pieces, windows, pipes, all in constant memory.

Sweep:    block sizes from one byte, window sizes, both formats and byte orders, gzip; files cut at any byte
Stimulus: hypothesis; files that are made here; real pipes
Checks:   the stream against the whole read; numbers of frames; memory against a bound
Timing:   a frame is there while its pipe is still open
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.frames import Batch, Edge
from tb.replay import source
from tb.replay.capture import CaptureError, PcapngWriter, read_capture, write_capture, write_pcap
from tb.replay.pace import offered
from tb.replay.pcapng import MOST_BLOCK_BYTES
from tb.replay.select import Filter, FrameRange
from tb.replay.window import Window
from tb.replay.windows import Windows
from tests.nic.test_capture import block, described, enhanced, option, pcap, section

FRAMES = st.lists(st.binary(min_size=0, max_size=60), max_size=12)


def mixed_pcapng(frames: list[bytes]) -> bytes:
    """Two sections of different byte order and two interfaces, with other blocks and comments in between."""
    half = len(frames) // 2
    content = section() + described() + described(options=option(2, b"port1.host") + option(9, b"\x09"))
    for i, frame in enumerate(frames[:half]):
        content += enhanced(frame, i, interface=i & 1, options=option(1, b"frame %d" % i) if i % 3 == 0 else b"")
        content += block(5, b"statistics--") if i % 4 == 1 else b""
    content += section(">") + described(">", options=option(9, b"\x03", ">"))
    for i, frame in enumerate(frames[half:]):
        content += enhanced(frame, i, ">", length=len(frame) + i % 2)
    return content


def formats(frames: list[bytes]) -> list[bytes]:
    packets = [(i, 7, frame, len(frame) + i % 3) for i, frame in enumerate(frames)]
    plain = [pcap(packets), pcap(packets, ">", nano=True), mixed_pcapng(frames)]
    return [*plain, *(gzip.compress(content, mtime=0) for content in plain)]


def all_of(path: Path) -> tuple[list[Any], str, int | None]:
    """Everything that a whole read says of a file; of one that is refused, the reason."""
    try:
        found = read_capture(path)
    except CaptureError as error:
        return [], error.problem, error.offset
    rows = [found.batch, found.comments, found.interface.tolist(), found.original_length.tolist(), found.interfaces]
    return rows, found.error.problem if found.error else "", found.error.offset if found.error else None


@settings(max_examples=60)
@given(FRAMES, st.data())
def test_a_stream_in_blocks_of_any_size_is_the_whole_read_cut_or_not(
    tmp_path_factory: pytest.TempPathFactory, frames: list[bytes], data: Any
) -> None:
    content = data.draw(st.sampled_from(formats(frames)))
    content = content[: data.draw(st.integers(len(content) * 2 // 3, len(content)))]
    path = tmp_path_factory.getbasetemp() / "stream.cap"
    path.write_bytes(content)
    whole = all_of(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "BLOCK_BYTES", data.draw(st.integers(1, 90)))
        assert all_of(path) == whole


def windows_of(path: Path, **options: Any) -> list[Window]:
    return list(Windows([("made", str(path))], **options))


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(1, 12), st.integers(20, 200), st.data())
def test_windows_hold_every_frame_once_in_order_and_are_full_but_the_last(
    tmp_path_factory: pytest.TempPathFactory, count: int, size: int, step: int, data: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "windows.pcapng"
    batch = Batch.of([bytes([i]) * (14 + i) for i in range(count)], time_ns=np.arange(count))
    write_capture(path, batch)
    first = data.draw(st.integers(0, count))
    behind = data.draw(st.one_of(st.none(), st.integers(first + 1, count + 5)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "BLOCK_BYTES", step)
        found = windows_of(path, size=size, frames=FrameRange(first, behind))
    wanted = list(range(count))[first:behind]
    assert [i for window in found for i in window.index.tolist()] == wanted
    assert Batch.concat([window.batch for window in found]) == batch.select(wanted)
    assert all(len(window) == size for window in found[:-1])
    assert all(0 < len(window) <= size for window in found)


def test_frames_are_numbered_through_all_captures_and_a_window_is_of_one(tmp_path: Path) -> None:
    for name, count in (("a", 5), ("b", 3)):
        write_capture(tmp_path / name, Batch.of([name.encode() * 20] * count))
    windows = Windows([("a", str(tmp_path / "a")), ("b", str(tmp_path / "b"))], size=4, frames=FrameRange(3, 7))
    found = [(window.capture, window.index.tolist(), window.frame.tolist()) for window in windows]
    assert found == [("a", [3, 4], [3, 4]), ("b", [5, 6], [0, 1])]
    # Reading ends where no frame behind is wanted.
    assert windows.seen == 8


def test_what_follows_a_range_is_not_read(tmp_path: Path) -> None:
    write_capture(tmp_path / "a", Batch.of([b"frame"] * 3))
    windows = Windows([("a", str(tmp_path / "a")), ("b", str(tmp_path / "absent"))], frames=FrameRange(0, 3))
    assert [len(window) for window in windows] == [3]
    assert windows.errors == []


def test_a_filter_leaves_windows_full_and_numbers_as_they_are(tmp_path: Path) -> None:
    marks = [i % 3 == 0 for i in range(30)]
    frames = [bytes([2, 0, 0, 0, 0, 1 if mark else 2]) + bytes(54) for mark in marks]
    write_capture(tmp_path / "a", Batch.of(frames))
    found = windows_of(tmp_path / "a", size=4, wanted=Filter.parse("dst 02:00:00:00:00:01"))
    assert [window.index.tolist() for window in found] == [[0, 3, 6, 9], [12, 15, 18, 21], [24, 27]]


def test_a_damaged_capture_gives_its_good_frames_and_the_next_one_follows(tmp_path: Path) -> None:
    write_pcap(tmp_path / "a", Batch.of([b"first", b"second"]))
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[:-1])
    write_pcap(tmp_path / "b", Batch.of([b"third"]))
    windows = Windows([("a", str(tmp_path / "a")), ("b", str(tmp_path / "b"))])
    assert [frame for window in windows for frame in window.batch] == [b"first", b"third"]
    assert [str(error) for error in windows.errors] == [
        f"{tmp_path / 'a'}: byte 45: cut off in a record: 5 of 6 bytes are there"
    ]


def test_place_comes_from_the_command_else_from_the_capture_else_it_is_rx_of_port_0(tmp_path: Path) -> None:
    batch = Batch.of([b"a", b"b"], port=[1, 0], edge=[Edge.HOST, Edge.WIRE])
    write_capture(tmp_path / "named", batch)
    write_pcap(tmp_path / "plain", batch)
    for name, options, ports, edges in (
        ("named", {}, [1, 0], [1, 0]),
        ("named", {"port": 0}, [0, 0], [1, 0]),
        ("named", {"edge": Edge.WIRE}, [1, 0], [0, 0]),
        ("plain", {}, [0, 0], [0, 0]),
        ("plain", {"edge": Edge.HOST}, [0, 0], [1, 1]),
    ):
        (window,) = windows_of(tmp_path / name, **options)
        assert (window.batch.port.tolist(), window.batch.edge.tolist()) == (ports, edges), (name, options)


def test_a_block_longer_than_any_is_damage_and_not_a_reason_to_read_on(tmp_path: Path) -> None:
    long = (MOST_BLOCK_BYTES + 4).to_bytes(4, "little")
    path = tmp_path / "a"
    path.write_bytes(section() + described() + enhanced(b"abcd") + b"\5\0\0\0" + long + bytes(4))
    found = read_capture(path)
    assert len(found.batch) == 1
    assert str(found.error) == f"{path}: byte 84: a block of 16777220 bytes, more than 16777216: damaged"


def test_frames_of_a_pipe_are_there_while_it_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    content = pcap([(0, 0, b"first", 5), (0, 0, b"second", 6)])
    monkeypatch.setattr(source, "IDLE_S", 0.05)
    ended = threading.Timer(20, os.close, [writing])  # a reader that waits for more would wait for ever
    ended.start()
    with open(reading, "rb") as file:
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": file}))
        os.write(writing, content[:30])
        windows = iter(Windows([("-", "-")], size=100))
        assert len(next(windows)) == 0, "the pipe is idle in the middle of the first frame"
        os.write(writing, content[30:50])
        assert [list(window.batch) for window in (next(windows), next(windows))] == [[b"first"], []]
        os.write(writing, content[50:])
        ended.cancel()
        os.close(writing)
        assert [frame for window in windows for frame in window.batch] == [b"second"]


def test_reading_and_windows_take_no_more_memory_for_more_frames(tmp_path: Path) -> None:
    write_pcap(tmp_path / "a", Batch.of([bytes(1000)] * 100_000))
    # The peak of the process itself: what getrusage gives a child begins with its parent's.
    script = (
        "import sys\n"
        "from tb.replay.windows import Windows\n"
        "def peak(): return next(int(l.split()[1]) for l in open('/proc/self/status') if l.startswith('VmHWM'))\n"
        "before = peak()\n"
        "frames = sum(len(window) for window in Windows([('a', sys.argv[1])]))\n"
        "print(frames, peak() - before)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a")], capture_output=True, text=True, check=True
    )
    frames, kib = map(int, run.stdout.split())
    assert frames == 100_000
    assert kib < 40_000, "the capture has 102 MB"


def test_a_capture_written_in_batches_is_the_one_written_at_once(tmp_path: Path) -> None:
    batch = Batch.of([bytes([i]) * 20 for i in range(9)], time_ns=np.arange(9), edge=[0, 0, 0, 1, 0, 1, 1, 1, 0])
    write_capture(tmp_path / "whole.pcapng", batch, [f"frame {i}" for i in range(9)])
    writer = PcapngWriter(tmp_path / "parts.pcapng")
    for first, behind in ((0, 3), (3, 3), (3, 9)):
        writer.write(batch.select(slice(first, behind)), [f"frame {i}" for i in range(first, behind)])
    writer.close()
    parts, whole = read_capture(tmp_path / "parts.pcapng"), read_capture(tmp_path / "whole.pcapng")
    assert (parts.batch, parts.comments) == (whole.batch, whole.comments)


@pytest.mark.parametrize(
    ("pace", "passed", "times"),
    [
        ("asap", 0, [[0, 0], [0, 0]]),
        # A frame takes (60 + 24) * 8 bits at 25 Gb/s; each window begins anew.
        ("line-rate", 0, [[0, 26], [0, 26]]),
        # The third frame is captured before the second; the fourth 70 ns after the second. No play has one in cycle 0.
        ("recorded", 10, [[4, 34], [24, 94]]),
        ("recorded", 30, [[4, 34], [4, 74]]),
        ("recorded", 50, [[4, 34], [4, 74]]),
    ],
)
def test_frames_are_offered_at_the_pace_that_is_asked_for(
    tmp_path: Path, pace: str, passed: int, times: list[list[int]]
) -> None:
    write_capture(tmp_path / "a", Batch.of([bytes(60)] * 4, time_ns=[10**18 + t for t in (0, 30, 20, 100)]))
    found = list(offered(windows_of(tmp_path / "a", size=2), pace, lambda: passed))
    assert [window.batch.time_ns.tolist() for window in found] == times


def test_the_recorded_pace_begins_anew_with_each_capture(tmp_path: Path) -> None:
    for name, time in (("a", 500), ("b", 900)):
        write_capture(tmp_path / name, Batch.of([bytes(60)] * 2, time_ns=[time, time + 7]))
    windows = Windows([(name, str(tmp_path / name)) for name in "ab"])
    assert [window.batch.time_ns.tolist() for window in offered(windows, "recorded", lambda: 9)] == [[4, 11], [4, 11]]
