"""The harness's ends of an XGMII wire, and the loop of a device that has one.

Sweep:    lengths 60 to 9596, every remainder of 8; frames that wait, and frames that come any number of cycles later;
          each kind of wrong character; clocks off by +-100 ppm; with and without skipped time
Stimulus: random bytes, through the encoder into lists of words, and through a register (wire_loop.v) to the decoder
Checks:   each word of the encoder against models/mac.py, and that model's receiver on it; the decoder gives each frame
          and finds each wrong character; results with skipped time against those without
Timing:   the cycle of each start and terminate character; 10.5 words a frame of 64 bytes, 192.25 of 1518
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from models.mac import MacRxModel, MacTxModel
from models.mac_xgmii import ERROR, IDLE, SEQUENCE, START, TERMINATE, characters, word_of
from tb import native
from tb.build import Design, build_native
from tb.native.device import Device, Event, load
from tb.native.harness import Harness, StreamError, build_library
from tb.native.harness import load as load_harness
from tb.toolchain import ROOT, SIM_BUILD

HERE = Path(__file__).resolve().parent
CORE_FS, MAC_FS = 4_000_000, 2_560_000


@pytest.fixture
def ends() -> Harness:
    """A harness whose only source and sink are named wire, in cycle 0."""
    lib = load_harness(build_library(SIM_BUILD / "harness"))
    return Harness(["wire"], ["wire"], {"loop": ("wire", "wire", False)}, meta_words=0, lib=lib)


def push(harness: Harness, frames: list[bytes], at: list[int] | None = None, bad: list[int] | None = None) -> None:
    offset = np.cumsum([0, *map(len, frames)]).astype(np.int64)
    harness.push(
        "wire",
        np.frombuffer(b"".join(frames), np.uint8),
        offset,
        user=None if bad is None else np.array(bad, np.uint32),
        earliest=None if at is None else np.array(at, np.int64),
    )


def random_frames(random: Random, lengths: list[int]) -> list[bytes]:
    return [random.randbytes(length) for length in lengths]


def sent(harness: Harness, words: int) -> list[tuple[int, int]]:
    d, c = harness.encoded("wire", words)
    return list(zip(d.tolist(), c.tolist(), strict=True))


def placed(frames: list[bytes], at: list[int]) -> MacTxModel:
    """Frames where a MAC puts them that has them from these cycles on."""
    model = MacTxModel()
    for data, cycle in zip(frames, at, strict=True):
        model.add(data, cycle - 2)
    return model


@pytest.mark.parametrize("apart", [0, 12, 24, 400])
def test_the_encoder_puts_frames_where_the_model_of_a_mac_does(ends: Harness, apart: int, seed: int) -> None:
    random = Random(f"{seed} {apart}")
    frames = random_frames(random, [60, *(random.randint(60, 200) for _ in range(300)), 1514, 9596, 61])
    at = np.cumsum([1, *(random.randint(0, apart) for _ in frames[1:])]).tolist()
    push(ends, frames, at)
    model = placed(frames, at)
    words = model.frames[-1].terminate // 8 + 3
    assert sent(ends, words) == model.words(0, words)
    source = ends.pop().sources["wire"]
    assert source.first.tolist() == [frame.start_cycle for frame in model.frames]
    assert source.last.tolist() == [frame.terminate // 8 for frame in model.frames]
    assert {frame.start_lane for frame in model.frames} == {0, 4}


@pytest.mark.parametrize(("length", "quarters"), [(60, 42), (1514, 769)])
def test_the_encoder_keeps_line_rate(ends: Harness, length: int, quarters: int, seed: int) -> None:
    frames = random_frames(Random(seed), [length] * 41)
    push(ends, frames)
    model = MacRxModel().run(sent(ends, 41 * quarters // 4 + 2))
    starts = [8 * frame.start_cycle + frame.start_lane for frame in model.frames]
    assert starts[-1] - starts[0] == 40 * 2 * quarters, "characters"
    assert [frame.data for frame in model.frames] == frames and model.events["frames_ok"] == 41


def test_a_frame_that_is_bad_or_short_is_so_on_the_wire(ends: Harness, seed: int) -> None:
    frames = random_frames(Random(seed), [60, 100, 59, 1, 64])
    push(ends, frames, bad=[0, 1, 0, 0, 0])
    model = MacRxModel().run(sent(ends, 80))
    assert dict(model.events) | {"unicast": 0, "multicast": 0} == {
        "frames_ok": 2, "bytes_ok": 132, "size_64": 1, "size_65_127": 1, "unicast": 0, "multicast": 0,
        "fcs_errors": 1, "undersize": 2,
    }  # fmt: skip
    assert [frame.data for frame in model.frames] == frames


def decode(harness: Harness, words: list[tuple[int, int]]) -> Any:
    harness.decode("wire", np.array([d for d, _ in words], np.uint64), np.array([c for _, c in words], np.uint8))
    return harness.pop().sinks["wire"]


def test_the_decoder_gives_each_frame_with_the_cycles_of_start_and_terminate(ends: Harness, seed: int) -> None:
    random = Random(seed)
    frames = random_frames(random, [*range(60, 140), 1514, 9596, 60])
    at = np.cumsum([1, *(random.randint(0, 30) for _ in frames[1:])]).tolist()
    model = placed(frames, at)
    got = decode(ends, model.words(0, model.frames[-1].terminate // 8 + 3))
    ends.check()
    assert [got.frame(i) for i in range(len(got))] == frames and not got.user.any()
    assert got.first.tolist() == [frame.start_cycle for frame in model.frames]
    assert got.last.tolist() == [frame.terminate // 8 for frame in model.frames]


def of_two(seed: int) -> list[int]:
    """Characters of two frames of 64 bytes with a gap of 12: starts at 8 and 92 (lane 4), terminates at 80, 164."""
    model = placed(random_frames(Random(seed), [60, 60]), [1, 1])
    words = model.words(0, 24)
    assert [(frame.start, frame.terminate) for frame in model.frames] == [(8, 80), (92, 164)]
    return [char for word in words for char in characters(*word)]


@pytest.mark.parametrize(
    ("place", "char", "told"),
    [
        (9, 0x54, "character 1 of its preamble is wrong"),
        (15, 0x55, "character 7 of its preamble is wrong"),
        (10, IDLE, "it ends after 1 characters"),
        (16, 0x200, "its FCS is wrong"),
        (79, 0x200, "its FCS is wrong"),
        (40, ERROR, "control character 254 in it"),
        (80, ERROR, "control character 254 in it"),
        (80, 0x07, "control character 7 in it"),
        (79, TERMINATE, "it has 63 bytes with FCS"),
        (86, START, "start in lane 6"),
        (84, START, "start behind a gap of 4 characters"),
        (2, 0x11, "byte 17 between frames, in lane 2"),
        (88, SEQUENCE, "control character 156 between frames, in lane 0"),
        (90, TERMINATE, "control character 253 between frames, in lane 2"),
    ],
)
def test_the_decoder_finds_each_wrong_character(ends: Harness, place: int, char: int, told: str, seed: int) -> None:
    chars = of_two(seed)
    chars[place] = chars[place] ^ 0x01 if char == 0x200 else char
    decode(ends, [word_of(chars[at : at + 8]) for at in range(0, len(chars), 8)])
    with pytest.raises(StreamError, match=told):
        ends.check()


def test_the_decoder_takes_a_gap_of_nine_and_no_less(ends: Harness, seed: int) -> None:
    random = Random(seed)
    for gap in (5, 8, 9, 12, 15, 16):
        # The first frame is as long as it must be for the second to start in lane 0 or 4.
        lengths = (60 + -gap % 4, 60)
        first, second = ([*MacTxModel().add(random.randbytes(length), 0).chars] for length in lengths)
        chars = [IDLE] * 8 + first + [IDLE] * (gap - 1) + second
        chars += [IDLE] * (-len(chars) % 8)
        ends.clear_errors()
        decode(ends, [word_of(chars[at : at + 8]) for at in range(0, len(chars), 8)])
        told = f"start behind a gap of {gap} characters" in ends.errors
        assert ends.error_count == told == (gap < 9), gap


# ------------------------------------------------------------------------------------------------------- in a device


@pytest.fixture
def loop(verilator: str, seed: int) -> Any:
    """A function that makes a loop out of reset, and its harness."""
    rtl = (ROOT / "rtl" / "nic" / "nic_time.v", HERE / "wire_loop.v")
    pins = (*native.DEVICE, HERE / "wire_loop_pins.cpp")

    def make(*, skip: bool = True, ppm: int = 0, **parameters: int) -> tuple[Device, Harness]:
        lib = load(build_native(Design("native/wire_loop", "wire_loop", rtl, parameters, native=pins)))
        device = Device(lib, seed)
        device.set_skip(skip)
        device.set_period(1, MAC_FS - MAC_FS * ppm // 1_000_000)
        harness = Harness(["wire"], ["wire"], {"loop": ("wire", "wire", False)}, seed=seed, meta_words=0, lib=lib)
        device.bind(harness)
        device.run(4)
        device.reset(False)
        device.run(200)
        return device, harness

    return make


def played(device: Device, harness: Harness, frames: list[bytes], at: list[int] | None = None) -> Any:
    push(harness, frames, at)
    while not harness.done:
        device.run(1 << 50, Event.DONE, steps=100_000)
    return harness.pop()


@pytest.mark.parametrize("ppm", [-100, 0, 100])
def test_frames_pass_a_wire_whole_and_at_the_pace_of_its_clock(loop: Any, ppm: int, seed: int) -> None:
    device, harness = loop(ppm=ppm)
    frames = random_frames(Random(seed), [60] * 2001)
    results = played(device, harness, frames)
    harness.check()
    source, sink = results.sources["wire"], results.sinks["wire"]
    assert [sink.frame(i) for i in range(len(sink))] == frames
    # In cycles of the wire's clock, to less than one of the core's.
    spent = int(source.first[-1] - source.first[0]) * CORE_FS / (MAC_FS * (1 - ppm / 1e6))
    assert abs(spent - 2000 * 10.5) < 2
    assert set((sink.first - source.first).tolist()) == {0, 1}, "one cycle of the wire's clock"


@pytest.mark.parametrize("bit", [0, 37, 64, 71])
def test_a_bit_that_a_device_flips_on_the_wire_is_told(loop: Any, bit: int, seed: int) -> None:
    device, harness = loop(FLIP_WORD=380, FLIP_BIT=bit)
    played(device, harness, random_frames(Random(seed), [60] * 40))
    with pytest.raises(StreamError, match="sink wire"):
        harness.check()


def test_time_that_is_skipped_changes_nothing_on_a_wire(loop: Any, seed: int) -> None:
    random = Random(seed)
    frames = random_frames(random, [random.randint(60, 300) for _ in range(60)])
    found = []
    for skip in (True, False):
        device, harness = loop(skip=skip, ppm=37)
        begin, apart = harness.cycle, (0, 40, 140, 290, 1000, 7001)
        at = begin + 5 + np.cumsum([apart[i % 6] for i in range(60)])
        results = played(device, harness, frames, at.tolist())
        harness.check()
        source, sink = results.sources["wire"], results.sinks["wire"]
        columns = [source.first, source.last, sink.first, sink.last, sink.data]
        found.append([column.tolist() for column in columns] + [device.cycles, device.now])
        assert (device.skipped > 60_000) == skip
    assert found[0] == found[1]


def test_hours_pass_on_a_wire(loop: Any, seed: int) -> None:
    device, harness = loop(ppm=-100)
    frames = random_frames(Random(seed), [60, 60])
    later = harness.cycle + 5 * 3600 * 250_000_000
    results = played(device, harness, frames, [0, later])
    harness.check()
    assert results.sources["wire"].first[1] - later in (0, 1) and device.now >> 32 > 5 * 3600 * 10**9


def test_a_wire_plays_on_from_a_saved_state(loop: Any, seed: int) -> None:
    device, harness = loop(ppm=50)
    random = Random(seed)
    frames = random_frames(random, [random.randint(60, 100) for _ in range(31)])
    played(device, harness, frames)
    state, found = device.save(), []
    for _ in range(2):
        results = played(device, harness, frames)
        found.append((results.sources["wire"].first.tolist(), results.sinks["wire"].last.tolist(), device.now))
        device.restore(state)
    assert found[0] == found[1]
