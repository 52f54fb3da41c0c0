"""Bench of ``mac_rx``: any characters on XGMII, judged by a reader that goes through them one by one.

The reader knows no words and no lanes beyond "a start stands at a multiple of four": 46.1.7.5.2 and 46.3.3 as they
read.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from models.meta import Code
from tb.lib import cover
from tb.lib.clock import WIRE_PS, cycle, reset, start_clock, wait_cycles
from tb.lib.suite import four_state, seeded, test

__all__: list[str] = []

IDLE, START, TERMINATE, ERROR, SEQUENCE = 0x107, 0x1FB, 0x1FD, 0x1FE, 0x19C
PREAMBLE = [START, *[0x55] * 6, 0xD5]
MAX_FRAME = 200
COUNTERS = (
    "frames_ok", "unicast", "multicast", "broadcast", "pause", "size_64", "size_65_127", "size_128_255", "size_256_511",
    "size_512_1023", "size_1024_1518", "size_1519_max", "fcs_errors", "undersize", "fragments", "oversize", "jabbers",
    "symbol_errors", "bad_preamble",
)  # fmt: skip

_ends = cover.cross(
    "mac_rx.smoke",
    ["ok", "oversize", "jabbers", "symbol_errors", "undersize", "fragments", "fcs_errors"],
    ["lane_0", "lane_4"],
)


@dataclass
class Frame:
    """A frame: the word of its start, what m_axis shows of it (None: nothing), its reason."""

    word: int
    data: bytes
    reason: int
    counter: str


@dataclass
class Expected:
    """What must come of a row of characters."""

    frames: list[Frame] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTERS, 0))
    bytes_ok: int = 0


def read(characters: list[int], max_frame: int) -> Expected:
    """Goes through the characters; their number is a multiple of 8."""
    out = Expected()
    bad_words = set()
    place = 0
    while place < len(characters):
        if characters[place] != START:
            place += 1
            continue
        head = characters[place + 1 : place + 8]
        if (
            place % 4
            or not _may_start(characters[max(place - 4, 0) : place])
            or any(character > 0xFF for character in head)
            or head[-1:] != [0xD5]
        ):
            bad_words.add(place // 8)
            place += 1
            continue
        end = next(i for i in range(place + 8, len(characters)) if characters[i] > 0xFF)
        frame = _judge(bytes(characters[place + 8 : end]), characters[end] == TERMINATE, max_frame, out)
        frame.word = place // 8
        _ends(frame.counter, f"lane_{place % 8}")
        out.frames.append(frame)
        place = end
    out.counts["bad_preamble"] = len(bad_words)
    return out


def _may_start(column: list[int]) -> bool:
    return (
        not column
        or column == [IDLE] * 4
        or (column[0] == SEQUENCE and all(character < 0x100 for character in column[1:]))
        or TERMINATE in column
    )


def _judge(body: bytes, terminated: bool, max_frame: int, out: Expected) -> Frame:
    right = terminated and len(body) >= 4 and zlib.crc32(body[:-4]) == int.from_bytes(body[-4:], "little")
    data = body[:-4]
    tags = 0
    if data[12:14] in (b"\x81\x00", b"\x88\xa8") and len(body) >= 14:
        tags = 1 + (body[16:18] in (b"\x81\x00", b"\x88\xa8"))
    limit = max_frame + 4 * tags
    if len(data) > limit:
        reason, counter, data = Code.OVERSIZE, "oversize" if right else "jabbers", data[:limit]
    elif not terminated:
        reason, counter = Code.RX_ERROR, "symbol_errors"
    elif len(body) < 64:
        reason, counter = Code.RUNT, "undersize" if right else "fragments"
    elif not right:
        reason, counter = Code.BAD_FCS, "fcs_errors"
    else:
        reason, counter = Code.NONE, "ok"
    if counter != "ok":
        out.counts[counter] += 1
        return Frame(0, data, reason, counter)
    out.counts["frames_ok"] += 1
    out.bytes_ok += len(body)
    broadcast = body[:6] == b"\xff" * 6
    out.counts["broadcast" if broadcast else "multicast" if body[0] & 1 else "unicast"] += 1
    out.counts["pause"] += body[12:14] == b"\x88\x08"
    out.counts["size_64" if len(body) == 64 else "size_65_127" if len(body) < 128 else "size_128_255"] += 1
    return Frame(0, data, 0, counter)


class Bench:
    """Drives characters, collects m_axis and the counters."""

    def __init__(self, dut: Any, name: str) -> None:
        self.dut = dut
        self.rng = seeded("mac_rx", name)
        start_clock(dut.clk, WIRE_PS)
        self.edge = RisingEdge(dut.clk)
        dut.rst.value = 1
        dut.xgmii_d.value = 0x0707070707070707
        dut.xgmii_c.value = 0xFF
        dut.cfg_enable.value = 1
        dut.cfg_max_frame.value = MAX_FRAME
        dut.now.value = 0
        self.max_frame = MAX_FRAME
        self.frames: list[tuple[int, int, bytes, int]] = []
        self.counts = dict.fromkeys(COUNTERS, 0)
        self.bytes_ok = 0
        self._data: bytearray | None = None
        self._first = self._time = 0

    async def start(self) -> Bench:
        await reset(self.dut.rst, self.dut.clk)
        cocotb.start_soon(self._watch())
        return self

    async def _watch(self) -> None:
        dut = self.dut
        strobes = {name: getattr(dut, f"stat_{name}") for name in COUNTERS}
        while True:
            await self.edge
            for name, handle in strobes.items():
                self.counts[name] += int(handle.value)
            self.bytes_ok += dut.stat_bytes_ok.value.to_unsigned()
            if int(dut.m_axis_tvalid.value):
                if self._data is None:
                    self._data = bytearray()
                    self._first = cycle(dut.clk)
                    self._time = dut.m_axis_time.value.to_unsigned()
                count = dut.m_axis_tkeep.value.to_unsigned().bit_count()
                self._data += dut.m_axis_tdata.value.to_unsigned().to_bytes(8, "little")[:count]
                if int(dut.m_axis_tlast.value):
                    user = dut.m_axis_tuser.value.to_unsigned()
                    self.frames.append((self._first, self._time, bytes(self._data), user))
                    self._data = None

    async def run(self, characters: list[int]) -> None:
        """Everything that the reader says, and the cycle and time of each first beat."""
        characters = characters + [IDLE] * (-len(characters) % 8 + 8)
        expected = read(characters, self.max_frame)
        dut = self.dut
        self.frames.clear()
        self.counts = dict.fromkeys(COUNTERS, 0)
        self.bytes_ok = 0
        begun = cycle(dut.clk) + 1
        for place in range(0, len(characters), 8):
            word = characters[place : place + 8]
            dut.xgmii_d.value = int.from_bytes(bytes(character & 0xFF for character in word), "little")
            dut.xgmii_c.value = sum((character >> 8) << lane for lane, character in enumerate(word))
            dut.now.value = place // 8
            await self.edge
        await wait_cycles(dut.clk, 12)
        want = [
            (begun + frame.word + 5, frame.word, frame.data, frame.reason << 1 | (frame.reason != 0))
            for frame in expected.frames
            if frame.data
        ]
        for due, came in zip(want, self.frames, strict=False):
            assert came == due, f"came {came}\n due {due}"
        assert len(want) == len(self.frames)
        assert self.counts == expected.counts
        assert self.bytes_ok == expected.bytes_ok
        assert self._data is None and int(dut.idle.value)


def frame(body: bytes) -> list[int]:
    return [*PREAMBLE, *body, *zlib.crc32(body).to_bytes(4, "little"), TERMINATE]


def to_lane(characters: list[int], lane: int) -> list[int]:
    """Idles up to a lane."""
    return [IDLE] * ((lane - len(characters)) % 8)


@test
async def every_length_from_every_lane_is_judged(dut: Any) -> None:
    """0 to 230 bytes with the FCS, right and wrong FCS, by terminate and by error, least gaps and long ones."""
    b = await Bench(dut, "lengths").start()
    for gap in (4,) if four_state() else (0, 4):
        row: list[int] = []
        for lane in (0, 4):
            for length in range(231):
                for kind in range(3):
                    row += [IDLE] * gap
                    row += to_lane(row, lane if gap else len(row) + 3 & 4)
                    piece = (
                        [*PREAMBLE, *b.rng.randbytes(length)] if length < 4 else frame(b.rng.randbytes(length - 4))[:-1]
                    )
                    if kind == 1:
                        piece[-1] ^= 1
                    row += [*piece, ERROR if kind == 2 else TERMINATE]
        await b.run(row)


def _tagged(b: Bench) -> list[int]:
    body = bytearray(b.rng.randbytes(b.max_frame + b.rng.randint(-2, 12)))
    body[12:14] = b.rng.choice([b"\x81\x00", b"\x88\xa8", b"\x08\x00"])
    body[16:18] = b.rng.choice([b"\x81\x00", b"\x88\xa8", b"\x08\x00"])
    return frame(bytes(body))


def _piece(b: Bench) -> list[int]:
    rng = b.rng
    kind = rng.randrange(11)
    body = rng.randbytes(rng.choice([60, 61, 64, 75, rng.randint(1, 230)]))
    if kind == 0:
        return [rng.choice([IDLE, START, TERMINATE, ERROR, SEQUENCE, rng.randrange(256), rng.randrange(512)])
                for _ in range(rng.randint(1, 30))]  # fmt: skip
    if kind == 1:
        return [SEQUENCE, *rng.randbytes(3)]
    if kind == 2:
        return _tagged(b)
    whole = frame(body)
    if kind == 3:
        whole[rng.randrange(len(whole))] = rng.choice([IDLE, START, TERMINATE, ERROR, SEQUENCE])
    elif kind == 4:
        whole = whole[: rng.randrange(1, len(whole))]
    elif kind == 5:
        whole[rng.randrange(len(whole) - 1)] ^= 1 << rng.randrange(8)
    elif kind == 6:
        whole = frame(b"\xff" * 6 + body)
    elif kind == 7:
        whole = frame(body[:12].ljust(12, b"\1") + b"\x88\x08" + bytes(46))
    return whole


@test
async def any_characters_are_judged_as_they_read(dut: Any) -> None:
    """Frames of every kind among garbage; starts in any lane; a good frame behind all of it."""
    b = await Bench(dut, "any").start()
    for _ in range(10 if four_state() else 30):
        row: list[int] = []
        for _ in range(60):
            row += _piece(b)
            row += [IDLE] * b.rng.choice([0, 1, 4, 5, 8, 13])
            if b.rng.randrange(8):
                row += to_lane(row, b.rng.choice([0, 4]))
        row += [TERMINATE, *[IDLE] * 4]
        row += to_lane(row, 0)
        await b.run(row + frame(b.rng.randbytes(77)))
        assert b.frames[-1][3] == 0


@test
async def tags_lengthen_a_frame_and_longer_ones_are_cut(dut: Any) -> None:
    """The limit at each place of a word."""
    b = await Bench(dut, "tags").start()
    for more in range(8):
        dut.cfg_max_frame.value = b.max_frame = MAX_FRAME + more
        row: list[int] = []
        for _ in range(20 if four_state() else 100):
            row += [IDLE] * 5
            row += to_lane(row, b.rng.choice([0, 4]))
            row += _tagged(b)
        await b.run(row)


@test
async def a_reset_in_mid_frame_shows_nothing_until_the_next_start(dut: Any) -> None:
    b = await Bench(dut, "reset").start()
    row = frame(b.rng.randbytes(100))
    for delay in range(20):
        for place in range(0, 8 * delay, 8):
            word = (row + [IDLE] * 64)[place : place + 8]
            dut.xgmii_d.value = int.from_bytes(bytes(character & 0xFF for character in word), "little")
            dut.xgmii_c.value = sum((character >> 8) << lane for lane, character in enumerate(word))
            await b.edge
        dut.xgmii_d.value, dut.xgmii_c.value = 0, 0
        await reset(dut.rst, dut.clk, 1)
        b._data = None
        await b.run([*b.rng.randbytes(24), ERROR, *[IDLE] * 7, *frame(b.rng.randbytes(61 + delay))])


@test
async def nothing_is_received_while_it_is_disabled(dut: Any) -> None:
    b = await Bench(dut, "enable").start()
    dut.cfg_enable.value = 0
    for word in range(0, 200, 8):
        piece = (frame(bytes(70)) + [START] * 100)[word : word + 8]
        dut.xgmii_d.value = int.from_bytes(bytes(character & 0xFF for character in piece), "little")
        dut.xgmii_c.value = sum((character >> 8) << lane for lane, character in enumerate(piece))
        await b.edge
    await wait_cycles(dut.clk, 10)
    assert not b.frames and not any(b.counts.values())
    dut.cfg_enable.value = 1
    dut.xgmii_d.value, dut.xgmii_c.value = 0x0707070707070707, 0xFF
    await wait_cycles(dut.clk, 4)
    await b.run(frame(b.rng.randbytes(99)))


async def columns(b: Bench, kinds: str) -> list[str]:
    """l, r: a local or remote fault sequence; o: another; dot: idle. Returns the state behind each word."""
    dut = b.dut
    states = []
    kinds += "." * (len(kinds) % 2)
    words = {".": (0x07070707, 15), "l": (0x0100009C, 1), "r": (0x0200009C, 1), "o": (0x0300009C, 1)}
    for place in range(0, len(kinds), 2):
        (low, low_c), (high, high_c) = words[kinds[place]], words[kinds[place + 1]]
        dut.xgmii_d.value, dut.xgmii_c.value = low | high << 32, low_c | high_c << 4
        await b.edge
        states.append("l" if int(dut.local_fault.value) else "r" if int(dut.remote_fault.value) else ".")
    return states


@test
async def link_faults_come_and_go_by_the_columns(dut: Any) -> None:
    """Figure 46-11 in plain Python, column by column, against random and pointed rows of columns."""
    b = await Bench(dut, "fault").start()
    rows = ["l" * 4, "l" * 3 + "." * 200, ("l" + "." * 127) * 6, ("l" + "." * 128) * 6, "r" * 4 + "lllrllll"]
    rows += ["llll" + "." * 127 + "l" + "." * 127 + "l" + "." * 140, "rrr" + "o" * 40 + "r" + "o" * 300]
    for _ in range(10 if four_state() else 60):
        row = ""
        while len(row) < 600:
            row += b.rng.choice("lro.") * b.rng.choice([1, 2, 3, 4, 5, 126, 127, 128, 129])
        rows.append(row)
    row = "".join(rows) + "...."
    row += "." * (len(row) % 2)
    state, kind, count, since = ".", "", 0, 128
    due = []
    for place, column in enumerate(row):
        if column in "lr":
            count = min(count + 1, 4) if column == kind and count else 1
            kind, since = column, 0
            state = column if count == 4 else state
        else:
            since = min(since + 1, 128)
            if since == 128:
                count, state = 0, "."
        if place % 2:
            due.append(state)
    states = await columns(b, row)
    assert states[2:] == due[:-2]
    assert {"l", "r", "."} == set(due)
