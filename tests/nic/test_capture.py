"""Captures in and out: pcap and pcapng to a Batch and back.

Sweep:    both formats, byte orders, time resolutions and offsets, several interfaces and sections, every kind of packet
          block, gzip; each file cut at every byte and with every byte flipped; all captures of the repository and all
          published ones
Stimulus: hypothesis; files made here block by block; make_captures.py; published captures
Checks:   against the frames that went in, Scapy and tshark: bytes, lengths, times, comments; a damaged file gives its
          good part and the byte at which it ends, never anything but a CaptureError
Timing:   none
"""

from __future__ import annotations

import gzip
import io
import random
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.utils import PcapNgReader, RawPcapReader

from models.frames import FLAG_SNAPPED, Batch, Edge, bad_mark
from tb.replay.capture import Capture, CaptureError, read_capture, write_capture, write_pcap
from tb.replay.pcapng import Pcapng

HERE = Path(__file__).resolve().parents[1] / "captures"
FOLDERS = ("02_esp", "03_tls", "04_roce", "05_l2_flowctl", "08_general", "09_ip_edge", "10_peers")
ENDINGS = (".pcap", ".pcapng", ".cap", ".pcap.gz", ".pcapng.gz")

FRAMES = st.lists(st.binary(min_size=1, max_size=70), max_size=8)
TIME = st.integers(0, 2**63 - 1)


# -- files made by hand ------------------------------------------------------------------------------------------------


def pcap(packets: list[tuple[int, int, bytes, int]], order: str = "<", nano: bool = False, network: int = 1) -> bytes:
    """A pcap of packets (seconds, fraction, bytes, length on the wire)."""
    magic = 0xA1B23C4D if nano else 0xA1B2C3D4
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, network)]
    for seconds, fraction, data, length in packets:
        out += [struct.pack(order + "4I", seconds, fraction, len(data), length), data]
    return b"".join(out)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    body += bytes(-len(body) % 4)
    total = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + total + body + total


def option(code: int, value: bytes, order: str = "<") -> bytes:
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(order: str = "<") -> bytes:
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def described(order: str = "<", linktype: int = 1, snap: int = 0, options: bytes = b"") -> bytes:
    return block(1, struct.pack(order + "HHI", linktype, 0, snap) + options, order)


def enhanced(
    data: bytes, stamp: int = 0, order: str = "<", interface: int = 0, length: int | None = None, options: bytes = b""
) -> bytes:
    head = struct.pack(order + "5I", interface, stamp >> 32, stamp & 0xFFFFFFFF, len(data), length or len(data))
    return block(6, head + data + bytes(-len(data) % 4) + options, order)


def read(content: bytes, folder: Path) -> Capture:
    path = folder / "made.cap"
    path.write_bytes(content)
    return read_capture(path)


# -- what goes in comes out --------------------------------------------------------------------------------------------


@given(FRAMES, st.data())
def test_a_batch_survives_a_pcapng(tmp_path_factory: pytest.TempPathFactory, frames: list[bytes], data: Any) -> None:
    n = len(frames)

    def column(values: st.SearchStrategy[int]) -> list[int]:
        return list(data.draw(st.lists(values, min_size=n, max_size=n)))

    batch = Batch.of(
        frames,
        port=column(st.integers(0, 255)),
        edge=column(st.sampled_from(list(Edge))),
        time_ns=column(TIME),
        queue=column(st.integers(0, 255)),
        bad=column(st.sampled_from([0, 1])),
    )
    comments = {i: text for i in range(n) if (text := data.draw(st.text(max_size=9).filter(lambda t: "\0" not in t)))}
    path = tmp_path_factory.getbasetemp() / data.draw(st.sampled_from(["round.pcapng", "round.pcapng.gz"]))
    write_capture(path, batch, comments)
    found = read_capture(path)
    assert found.batch == batch
    assert found.comments == comments
    assert found.error is None
    assert found.original_length.tolist() == batch.lengths.tolist()


@given(FRAMES, st.data())
def test_frames_and_times_survive_a_pcap(
    tmp_path_factory: pytest.TempPathFactory, frames: list[bytes], data: Any
) -> None:
    times = data.draw(st.lists(st.integers(0, (2**32) * 10**9 - 1), min_size=len(frames), max_size=len(frames)))
    batch = Batch.of(frames, time_ns=times)
    path = tmp_path_factory.getbasetemp() / "round.pcap"
    write_pcap(path, batch)
    assert read_capture(path).batch == batch


def test_snapped_frames_keep_their_length_on_the_wire(tmp_path: Path) -> None:
    batch = Batch.of([b"whole", b"begin"], flags=[0, FLAG_SNAPPED])
    for name, write in (("a.pcapng", write_capture), ("a.pcap", write_pcap)):
        write(tmp_path / name, batch, original_length=np.array([5, 1500], np.int64))
        found = read_capture(tmp_path / name)
        assert found.batch == batch
        assert found.snapped.tolist() == [False, True]
        assert found.original_length.tolist() == [5, 1500]


def test_the_reason_of_a_bad_mark_is_the_one_thing_that_a_capture_does_not_keep(tmp_path: Path) -> None:
    write_capture(tmp_path / "a.pcapng", Batch.of([b"frame"], bad=bad_mark(17)))
    assert read_capture(tmp_path / "a.pcapng").batch == Batch.of([b"frame"], bad=1)


def test_a_time_beyond_2106_does_not_fit_a_pcap(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="frame 1: a pcap holds times up to 2106"):
        write_pcap(tmp_path / "a.pcap", Batch.of([b"a", b"b"], time_ns=[0, 2**32 * 10**9]))


def test_a_comment_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a comment of 65536 bytes"):
        write_capture(tmp_path / "a.pcapng", Batch.of([b"frame"]), ["x" * 65536])


def test_standard_input_and_output_are_called_a_dash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    batch = Batch.of([b"frame"], time_ns=5)
    write_capture("-", batch)
    content = capfdbinary.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert read_capture("-").batch == batch
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content[:-1])))
    assert str(read_capture("-").error).startswith("-: byte ")


# -- what the formats allow --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("nano", "unit"), [(False, 1000), (True, 1)])
def test_a_pcap_is_read_in_both_byte_orders_and_resolutions(tmp_path: Path, order: str, nano: bool, unit: int) -> None:
    found = read(pcap([(1, 2, b"abc", 3), (2**32 - 1, 999_999, b"d" * 70, 99)], order, nano), tmp_path)
    assert list(found.batch) == [b"abc", b"d" * 70]
    assert found.batch.time_ns.tolist() == [10**9 + 2 * unit, (2**32 - 1) * 10**9 + 999_999 * unit]
    assert found.batch.flags.tolist() == [0, FLAG_SNAPPED]
    assert found.original_length.tolist() == [3, 99]
    assert found.error is None


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("resolution", "stamp", "ns"),
    [
        (None, 1_700_000_000_123_456, 1_700_000_000_123_456_000),
        (0, 1_700_000_000, 1_700_000_000_000_000_000),
        (3, 1_700_000_000_123, 1_700_000_000_123_000_000),
        (9, 1_700_000_000_123_456_789, 1_700_000_000_123_456_789),
        (12, 17_000_000_123_456_789_999, 17_000_000_123_456_789),
        (0x80 | 10, 1024 * 7 + 1, 7 * 10**9 + 976_562),
        (0x80 | 32, 3 << 32 | 1 << 31, 3_500_000_000),
        (0x80 | 63, 1 << 62, 500_000_000),
    ],
)
def test_a_pcapng_time_is_exact_to_the_ns_in_every_resolution(
    tmp_path: Path, order: str, resolution: int | None, stamp: int, ns: int
) -> None:
    options = b"" if resolution is None else option(9, bytes([resolution]), order)
    found = read(section(order) + described(order, options=options) + enhanced(b"abcd", stamp, order), tmp_path)
    assert found.batch.time_ns.tolist() == [ns]


def test_a_time_offset_is_added(tmp_path: Path) -> None:
    options = option(14, struct.pack("<q", 100)) + option(9, b"\x06")
    found = read(section() + described(options=options) + enhanced(b"abcd", 5_000_001), tmp_path)
    assert found.batch.time_ns.tolist() == [105_000_001_000]


def test_several_interfaces_and_sections_keep_their_own_resolution_and_order(tmp_path: Path) -> None:
    first = section() + described() + described(options=option(2, b"port1.host") + option(9, b"\x09"))
    first += enhanced(b"a", 1, interface=1) + enhanced(b"b", 1, interface=0)
    second = section(">") + described(">", options=option(9, b"\x03", ">")) + enhanced(b"c", 1, ">")
    found = read(first + second, tmp_path)
    assert list(found.batch) == [b"a", b"b", b"c"]
    assert found.batch.time_ns.tolist() == [1, 1000, 1_000_000]
    assert found.interface.tolist() == [1, 0, 2]
    assert (found.batch.port.tolist(), found.batch.edge.tolist()) == ([1, 0, 0], [Edge.HOST, Edge.WIRE, Edge.WIRE])
    assert [interface.name for interface in found.interfaces] == ["", "port1.host", ""]


def test_simple_and_obsolete_packets_are_read_and_other_blocks_are_skipped(tmp_path: Path) -> None:
    content = section() + block(4, b"name resolution") + described(snap=4)
    content += block(3, struct.pack("<I", 3) + b"abc") + block(3, struct.pack("<I", 9) + b"abcd")
    content += block(5, b"statistics--") + block(0xBAD, b"custom") + block(0x80000001, b"")
    content += block(2, struct.pack("<HHIIII", 0, 7, 0, 5, 2, 2) + b"ef")
    found = read(content, tmp_path)
    assert list(found.batch) == [b"abc", b"abcd", b"ef"]
    assert found.batch.time_ns.tolist() == [0, 0, 5000]
    assert found.original_length.tolist() == [3, 9, 2]
    assert found.snapped.tolist() == [False, True, False]


def test_an_fcs_that_the_file_declares_is_cut_off(tmp_path: Path) -> None:
    whole, snapped = b"frame" + b"FCS!", b"fra"
    in_pcap = read(pcap([(0, 0, whole, 9), (0, 0, snapped, 9)], network=1 | 1 << 26 | 2 << 28), tmp_path)
    flags = option(2, struct.pack("<I", 4 << 5))
    content = section() + described(options=option(13, b"\x04")) + enhanced(whole) + enhanced(snapped, length=9)
    by_interface = read(content, tmp_path)
    by_frame = read(section() + described() + enhanced(whole, options=flags) + enhanced(whole), tmp_path)
    for found in (in_pcap, by_interface):
        assert list(found.batch) == [b"frame", b"fra"]
        assert found.original_length.tolist() == [5, 5]
        assert found.snapped.tolist() == [False, True]
    assert list(by_frame.batch) == [b"frame", whole]


def test_comments_queues_and_error_flags_go_with_their_frame(tmp_path: Path) -> None:
    options = option(1, b"first") + option(6, struct.pack("<I", 7)) + option(1, "zw\u00e9i".encode()) + option(0, b"")
    crc = option(2, struct.pack("<I", 1 << 24))
    content = section() + described() + enhanced(b"a") + enhanced(b"b", options=options) + enhanced(b"c", options=crc)
    found = read(content, tmp_path)
    assert found.comments == {1: "first\nzw\u00e9i"}
    assert found.batch.queue.tolist() == [0, 7, 0]
    assert found.batch.bad.tolist() == [0, 0, 1]


def test_a_record_without_a_byte_is_kept_in_its_place(tmp_path: Path) -> None:
    for content in (pcap([(0, 0, b"", 60), (0, 0, b"x", 1)]), section() + described() + enhanced(b"") + enhanced(b"x")):
        assert list(read(content, tmp_path).batch) == [b"", b"x"]


def test_gzip_of_several_members_is_read_whatever_the_name(tmp_path: Path) -> None:
    content = pcap([(0, 0, b"abc", 3), (1, 0, b"def", 3)])
    packed = gzip.compress(content[:50], mtime=0) + gzip.compress(content[50:], mtime=0) + bytes(20)
    assert list(read(packed, tmp_path).batch) == [b"abc", b"def"]


# -- what is wrong -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"frame 1: 00 11 22", "is neither pcap nor pcapng: it starts with 66 72 61 6d 65"),
        (b"\xd4\xc3\xb2\xa1\2\0\4\0", "byte 8: the file header is cut off"),
        (b"\n\r\r\n\x1c\0\0\0\1\2\3\4" + bytes(16), "byte 0: a section header with the byte-order magic 01 02 03 04"),
        (section()[:10], "byte 0: cut off in a block: 10 bytes are left"),
        (section()[:20], "byte 0: cut off in a block: 20 of 28 bytes are there"),
        (pcap([], network=113), r"byte 20: link type 113 \(Linux cooked\); only Ethernet \(1\) can be played"),
        (pcap([], network=4242), r"byte 20: link type 4242 \(unknown\)"),
        (section() + described(linktype=101) + enhanced(b"x"), r"byte 48: link type 101 \(raw IP\)"),
        (pcap([])[:4] + b"\1\0" + pcap([])[6:], "byte 4: pcap version 1.4 is not known"),
        (b"\x28\xb5\x2f\xfd rest", "is compressed by zstd: decompress it first"),
        (b"snoop\0\0\0\0\0\0\2", "is a snoop capture: convert it with editcap"),
        (gzip.compress(b"text", mtime=0), "is neither pcap nor pcapng"),
        (gzip.compress(pcap([]), mtime=0)[:11], "the gzip data is cut off at its byte 11"),
        (gzip.compress(b"", mtime=0), "is empty"),
    ],
)
def test_a_file_that_is_no_capture_of_ethernet_is_refused_with_the_reason(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(CaptureError, match=message) as caught:
        read(content, tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "made.cap"))


def test_a_file_that_cannot_be_opened_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CaptureError, match=r"absent\.pcap: can't be read: No such file"):
        read_capture(tmp_path / "absent.pcap")
    with pytest.raises(CaptureError, match="can't be read: Is a directory"):
        read_capture(tmp_path)
    with pytest.raises(CaptureError, match="can't be read"):
        read_capture("nul\0inside")
    with pytest.raises(CaptureError, match="can't be written: No such file"):
        write_capture(tmp_path / "absent" / "a.pcapng", Batch.empty())

    def refuse(path: Path, *_: Any) -> BinaryIO:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(CaptureError, match="can't be read: Permission denied"):
        read_capture(tmp_path / "a.pcap")


TWO = pcap([(1, 0, b"first!", 6), (2, 0, b"second", 6)])
NG = section() + described()
"""28 + 20 bytes."""


@pytest.mark.parametrize(
    ("content", "good", "offset", "message"),
    [
        (TWO[:-1], 1, 46, "cut off in a record: 5 of 6 bytes are there"),
        (TWO[:50], 1, 46, "cut off in a record header: 4 of 16 bytes are there"),
        (TWO[:54] + b"\xff\xff\xff\x7f" + TWO[58:], 1, 46, "a record of 2147483647 bytes, more than 262144"),
        (NG + enhanced(b"abcd") + b"\6\0\0", 1, 84, "cut off in a block: 3 bytes are left"),
        (NG + enhanced(b"abcd") + enhanced(b"efgh")[:-2], 1, 84, "cut off in a block: 34 of 36 bytes are there"),
        (NG + enhanced(b"abcd") + struct.pack("<III", 6, 13, 13), 1, 84, "a block of 13 bytes"),
        (NG + enhanced(b"abcd") + struct.pack("<III", 6, 8, 8), 1, 84, "a block of 8 bytes"),
        (NG + enhanced(b"abcd") + enhanced(b"efgh")[:-4] + bytes(4), 1, 84, "another number at its end"),
        (NG + enhanced(b"abcd") + block(6, bytes(8)), 1, 84, "an enhanced packet block of 20 bytes"),
        (NG + enhanced(b"abcd") + block(2, bytes(8)), 1, 84, "a packet block of 20 bytes"),
        (NG + enhanced(b"abcd") + block(3, b""), 1, 84, "a simple packet block of 12 bytes"),
        (NG + enhanced(b"abcd") + block(1, bytes(4)), 1, 84, "an interface description of 16 bytes"),
        (
            NG + enhanced(b"abcd") + enhanced(b"x", interface=1),
            1,
            84,
            "a packet of interface 1, which nothing describes",
        ),
        (NG + enhanced(b"abcd") + block(6, struct.pack("<5I", 0, 0, 0, 9, 9)), 1, 84, "a packet of 9 bytes in a block"),
        (NG + enhanced(b"abcd") + enhanced(b"x", options=struct.pack("<HHI", 1, 9, 0)), 1, 84, "option 1 of 9 bytes"),
        (NG + enhanced(b"abcd") + enhanced(b"x", 2**64 - 1), 1, 84, r"a timestamp \(18446744073709551615 units"),
        (NG + described(linktype=113) + enhanced(b"a") + enhanced(b"b", interface=1), 1, 104, "link type 113"),
        (NG + section()[:8] + b"\1\2\3\4" + section()[12:], 0, 48, "byte-order magic 01 02 03 04"),
        (NG + section()[:12] + b"\2\0" + section()[14:], 0, 48, r"pcapng version 2\.0 is not known"),
        (NG + block(0x0A0D0D0A, b"\x4d\x3c\x2b\x1a"), 0, 48, "a section header of 16 bytes"),
    ],
)
def test_a_damaged_file_is_read_up_to_the_bad_record_and_names_its_byte(
    tmp_path: Path, content: bytes, good: int, offset: int, message: str
) -> None:
    found = read(content, tmp_path)
    assert len(found.batch) == good
    assert found.error is not None
    assert found.error.offset == offset
    assert str(found.error).startswith(f"{tmp_path / 'made.cap'}: byte {offset}: ")
    with pytest.raises(CaptureError, match=message):
        raise found.error


def test_a_time_offset_that_leads_out_of_all_times_is_damage(tmp_path: Path) -> None:
    for offset in (-(2**40), 2**62):
        options = option(14, struct.pack("<q", offset))
        found = read(section() + described(options=options) + enhanced(b"abcd", 5), tmp_path)
        assert len(found.batch) == 0
        assert found.error is not None and found.error.offset == 60


def test_damaged_gzip_gives_all_that_stands_before_the_damage(tmp_path: Path) -> None:
    frames = [random.Random(i).randbytes(100) for i in range(50)]
    packed = bytearray(gzip.compress(pcap([(0, 0, frame, 100) for frame in frames]), mtime=0))
    cut = read(bytes(packed[: len(packed) // 2]), tmp_path)
    assert 20 <= len(cut.batch) < 50
    assert list(cut.batch) == frames[: len(cut.batch)]
    assert cut.error is not None and cut.error.offset == 24 + 116 * len(cut.batch)
    packed[-8] ^= 1  # the checksum
    found = read(bytes(packed), tmp_path)
    assert list(found.batch) == frames
    assert found.error is not None and "the gzip data is damaged" in str(found.error)
    packed[-8] ^= 1
    found = read(bytes(packed) + b"more", tmp_path)
    assert list(found.batch) == frames
    assert f"behind the gzip data, at byte {len(packed)}, there is something else" in str(found.error)


def samples() -> Iterator[tuple[str, bytes]]:
    yield "pcap", pcap([(1, 2, b"abc", 3), (3, 4, b"defgh", 9), (5, 6, b"", 1)])
    yield "pcap-be", pcap([(1, 2, b"abc", 3), (3, 4, b"defgh", 9)], ">", nano=True)
    options = option(1, b"why") + option(2, struct.pack("<I", 4 << 5)) + option(6, bytes(4)) + option(0, b"")
    ng = section() + described(options=option(2, b"port0.wire") + option(9, b"\x09") + option(14, bytes(8)))
    ng += enhanced(b"abcdefgh", 7, options=options) + block(3, struct.pack("<I", 2) + b"ij") + block(5, bytes(8))
    yield "pcapng", ng + block(2, struct.pack("<HHIIII", 0, 0, 0, 5, 2, 2) + b"kl")
    yield "pcapng-be", section(">") + described(">") + enhanced(b"abc", 7, ">")
    yield "gzip", gzip.compress(pcap([(1, 2, b"abc", 3), (3, 4, b"defgh", 9)]), mtime=0)


@pytest.mark.parametrize(
    ("name", "content"), list(samples()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_file_cut_at_any_byte_gives_its_whole_records_and_an_error(tmp_path: Path, name: str, content: bytes) -> None:
    whole = list(read(content, tmp_path).batch)
    for end in range(len(content)):
        try:
            found = read(content[:end], tmp_path)
        except CaptureError:
            continue
        frames = list(found.batch)
        assert frames == whole[: len(frames)], end
        if found.error is None:
            # A cut between two records can't be seen; gzip sees every cut.
            again = read(content[:end] + content[end : end + 1], tmp_path)
            assert again.error is not None and name != "gzip", end
        else:
            assert found.error.offset is not None and found.error.offset <= max(end, 200)


@pytest.mark.parametrize(
    ("name", "content"), list(samples()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_file_with_any_byte_flipped_never_fails_but_by_a_capture_error(
    tmp_path: Path, name: str, content: bytes
) -> None:
    for at in range(len(content)):
        for value in (0x01, 0x80, 0xFF):
            try:
                read(content[:at] + bytes([content[at] ^ value]) + content[at + 1 :], tmp_path)
            except CaptureError as error:
                assert str(error)


@given(st.sampled_from([content for _, content in samples()]), st.data())
def test_a_file_with_pieces_overwritten_never_fails_but_by_a_capture_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, data: Any
) -> None:
    raw = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        raw[at : at + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    try:
        read(bytes(raw), tmp_path_factory.getbasetemp())
    except CaptureError as error:
        assert str(error)


# -- against others ----------------------------------------------------------------------------------------------------


def mixed(seed: int, n: int = 200) -> tuple[Batch, list[str | None]]:
    rng = random.Random(seed)
    frames = [rng.randbytes(rng.randint(14, 300)) for _ in range(n)]
    times = np.cumsum([rng.randrange(10**8) for _ in range(n)]) + 1_700_000_000_000_000_000
    edges = [rng.choice(list(Edge)) for _ in range(n)]
    comments = [f"frame {i}" if rng.random() < 0.3 else None for i in range(n)]
    return Batch.of(frames, time_ns=times, edge=edges, queue=[rng.randrange(4) for _ in range(n)]), comments


def fields(tshark: str, path: Path, *names: str) -> list[list[str]]:
    """What tshark says of each frame."""
    wanted = [part for name in names for part in ("-e", name)]
    run = subprocess.run(
        [tshark, "-n", "-r", str(path), "-T", "fields", *wanted], capture_output=True, text=True, check=False
    )
    return [line.split("\t") for line in run.stdout.splitlines()]


def nanoseconds(text: str) -> int:
    seconds, _, fraction = text.partition(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9] or 0)


def test_tshark_reads_what_is_written(tmp_path: Path, tshark: str, seed: int) -> None:
    batch, comments = mixed(seed)
    write_capture(tmp_path / "a.pcapng", batch, comments)
    write_pcap(tmp_path / "a.pcap", batch)
    for name in ("a.pcapng", "a.pcap"):
        rows = fields(tshark, tmp_path / name, "frame.len", "frame.time_epoch", "frame.interface_name", "frame.comment")
        assert [int(row[0]) for row in rows] == batch.lengths.tolist()
        assert [nanoseconds(row[1]) for row in rows] == batch.time_ns.tolist()
        if name == "a.pcapng":
            assert [row[2] for row in rows] == [f"port0.{Edge(edge).name.lower()}" for edge in batch.edge]
            assert [row[3] or None for row in rows] == comments


def test_scapy_reads_what_is_written(tmp_path: Path, seed: int) -> None:
    batch, _ = mixed(seed)
    write_pcap(tmp_path / "a.pcap", batch)
    write_capture(tmp_path / "a.pcapng", batch)
    with RawPcapReader(str(tmp_path / "a.pcap")) as reader:
        got = [(data, meta.sec * 10**9 + meta.usec) for data, meta in reader]
    assert got == list(zip(batch, batch.time_ns.tolist(), strict=True))
    with PcapNgReader(str(tmp_path / "a.pcapng")) as reader:
        packets = list(reader)
    assert [bytes(packet) for packet in packets] == list(batch)
    assert [round(packet.time * 10**9) for packet in packets] == batch.time_ns.tolist()


def captures(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name.endswith(ENDINGS))


def compare_with_tshark(tshark: str, files: list[Path], scratch: Path) -> int:
    """Lengths and times of all frames of the files against tshark's; returns the number of frames.

    One call of mergecap joins the files that are whole and one of tshark reads them: a call a file would take a minute.
    """
    whole, expected = [], []
    for path in files:
        try:
            found = read_capture(path)
        except CaptureError as error:
            rows = fields(tshark, path, "frame.encap_type")
            assert "link type" in str(error), error
            assert all(row[0] != "1" for row in rows), f"{path}: tshark takes it for Ethernet"
            continue
        rows = list(
            zip(found.original_length.tolist(), found.batch.lengths.tolist(), found.batch.time_ns.tolist(), strict=True)
        )
        if np.any(found.original_length >= 1 << 31):  # tshark counts these in 32 bits with a sign, and their times
            captured = [int(row[0]) for row in fields(tshark, path, "frame.cap_len")]
            assert captured == found.batch.lengths.tolist(), path
        elif found.error is None and not any(interface.fcs_bytes for interface in found.interfaces):
            whole.append(path)
            expected += rows
        else:
            assert_equal_rows(fields(tshark, path, "frame.len", "frame.cap_len", "frame.time_epoch"), rows, str(path))
    joined = scratch / "joined.pcapng"
    subprocess.run(["mergecap", "-a", "-w", str(joined), *map(str, whole)], check=True, capture_output=True)
    assert_equal_rows(
        fields(tshark, joined, "frame.len", "frame.cap_len", "frame.time_epoch"), expected, "all together"
    )
    return len(expected)


def assert_equal_rows(rows: list[list[str]], expected: list[tuple[int, int, int]], where: str) -> None:
    got = [(int(row[0]), int(row[1]), nanoseconds(row[2])) for row in rows]
    assert len(got) == len(expected), where
    for i, (left, right) in enumerate(zip(got, expected, strict=True)):
        assert left == right, f"{where}, frame {i + 1}: tshark (length, captured, ns) {left}, here {right}"


def test_every_capture_of_the_repository_reads_as_tshark_reads_it(tmp_path: Path, tshark: str) -> None:
    files = captures(HERE)
    assert compare_with_tshark(tshark, files, tmp_path) > 3500
    assert all(path.stat().st_size < 100_000 for path in files)


def test_every_published_capture_reads_as_tshark_reads_it(tmp_path: Path, tshark: str, material: Path) -> None:
    files = [path for name in FOLDERS for path in captures(material / name)]
    assert len(files) > 150
    assert compare_with_tshark(tshark, files, tmp_path) > 10_000


def test_the_published_captures_in_the_repository_are_unchanged(material: Path) -> None:
    copies = [path for path in captures(HERE) if path.suffix == ".pcap"]
    assert len(copies) > 40
    for path in copies:
        assert path.read_bytes() == (material / "10_peers" / path.name).read_bytes(), path.name


def test_making_the_captures_again_gives_the_same_bytes(tmp_path: Path) -> None:
    from tests.captures.make_captures import CAPTURES, make

    made = make(tmp_path)
    assert {path.name for path in made} == {path.name for path in HERE.glob("*.pcapng")}
    assert len(made) == len(CAPTURES)
    for path in made:
        assert path.read_bytes() == (HERE / path.name).read_bytes(), f"{path.name}: run tests/captures/make_captures.py"


def test_the_readme_of_the_captures_names_each_of_them() -> None:
    text = (HERE / "README.md").read_text()
    for path in captures(HERE):
        assert f"| `{path.name}` | " in text, path.name


def test_packets_are_read_many_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: a thousand packets or more to one call."""
    n = 5000
    batch = Batch.of([bytes([i & 0xFF]) * (60 + i % 40) for i in range(n)], time_ns=np.arange(n))
    write_capture(tmp_path / "a.pcapng", batch)
    calls = 0
    real: Callable[..., None] = Pcapng._add

    def counted(*arguments: Any) -> None:
        nonlocal calls
        calls += 1
        real(*arguments)

    monkeypatch.setattr(Pcapng, "_add", counted)
    assert read_capture(tmp_path / "a.pcapng").batch == batch
    assert calls == 1
