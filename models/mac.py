"""Golden model of block ``mac``: frames to XGMII and back, in exact cycles (docs/mac.md).

IEEE 802.3: 3.2 (frame, padding, FCS), 4.2 (deference and gap), 46.2 (data streams), 46.3.1.4 (deficit idle count),
46.3.4 (link faults). The names of counters are those of RFC 3635 and RFC 2819 as docs/mac.md shortens them. A cycle is
the number of a word on XGMII. The PCS is in ``models/mac_pcs.py``.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from models.mac_xgmii import (
    CONTROL,
    ERROR,
    IDLE,
    IDLE_WORD,
    SEQUENCE,
    START,
    TERMINATE,
    Fault,
    LinkFault,
    Word,
    characters,
    word_of,
)
from models.meta import Code

__all__ = [
    "FCS_BYTES",
    "LOOP_LATENCY",
    "MIN_FRAME",
    "PAD_TO",
    "PREAMBLE",
    "RX_LATENCY",
    "TX_LATENCY",
    "End",
    "MacRxModel",
    "MacTime",
    "MacTxModel",
    "Placed",
    "RxFrame",
    "fcs",
    "good_events",
    "padded",
]

TX_LATENCY = 2
"""Cycles from the handshake of a frame's first beat to its start character on XGMII, where the gap allows it."""
RX_LATENCY = 5
"""Cycles from the word with start to the first beat."""
LOOP_LATENCY = TX_LATENCY + RX_LATENCY

PAD_TO = 60
FCS_BYTES = 4
MIN_GAP = 12
"""interPacketGap in octets (4.4.2): a smaller one that is asked for counts as this."""
MIN_FRAME = PAD_TO + FCS_BYTES
"""minFrameSize in octets (4.4.2)."""
PREAMBLE = (START, *[0x55] * 6, 0xD5)
"""46.2.2: start takes the place of the first octet of preamble."""
TAGS = (0x8100, 0x88A8)
FLOW_CONTROL = 0x8808
BROADCAST = b"\xff" * 6
SIZES = (
    (64, "size_64"),
    (127, "size_65_127"),
    (255, "size_128_255"),
    (511, "size_256_511"),
    (1023, "size_512_1023"),
    (1518, "size_1024_1518"),
)
"""Longest frame of each bin, with FCS."""


def fcs(data: bytes) -> bytes:
    """Frame check sequence in the order of the wire (3.2.9)."""
    return zlib.crc32(data).to_bytes(FCS_BYTES, "little")


def padded(data: bytes) -> bytes:
    """A frame with its pad (3.2.8): zeros up to 60 octets."""
    return data.ljust(PAD_TO, b"\0")


def good_events(data: bytes) -> Counter[str]:
    """What a good frame counts; ``data`` is padded and without FCS. ``bytes_ok`` counts octets, the others frames."""
    size = len(data) + FCS_BYTES
    events = Counter({"frames_ok": 1, "bytes_ok": size})
    events[next((name for most, name in SIZES if size <= most), "size_1519_max")] = 1
    events["broadcast" if data[:6] == BROADCAST else "multicast" if data[0] & 1 else "unicast"] = 1
    if int.from_bytes(data[12:14], "big") == FLOW_CONTROL:
        events["pause"] = 1
    return events


# ---------------------------------------------------------------------------------------------------------- transmit


class End(Enum):
    """How a frame ends on the wire."""

    GOOD = "good"
    BAD = "bad"
    """Its last beat said so: padded, then error characters in the place of the FCS."""
    UNDERRUN = "underrun"
    """Its source had no beat when one was due: what was there ends like a bad frame."""


@dataclass(frozen=True)
class Placed:
    """A frame on XGMII: its characters from start (at ``start``) to terminate (at ``terminate``), counted 8 a cycle.
    gap: characters from the terminate character before, which is the first of them, to start."""

    data: bytes
    end: End
    start: int
    chars: tuple[int, ...]
    gap: int | None

    @property
    def start_cycle(self) -> int:
        return self.start // 8

    @property
    def start_lane(self) -> int:
        return self.start % 8

    @property
    def terminate(self) -> int:
        return self.start + len(self.chars) - 1

    @property
    def events(self) -> Counter[str]:
        if self.end is End.GOOD:
            return good_events(padded(self.data))
        return Counter({"underrun" if self.end is End.UNDERRUN else "errored": 1})


class MacTxModel:
    """``mac_tx``: where each frame stands on XGMII, given the cycle in which its first beat was taken.

    The gap counts from the terminate character (46.2.4: terminate is its first octet). 46.3.1.4: start is aligned to
    lane 0 of a column by deleting up to three idles while the deficit of deleted ones stays at 3 or below, else by
    inserting; idles that are there anyway pay the deficit back. None is deleted behind a frame that ended in errors: a
    PCS makes an error block of their word, and a start right behind one is lost (figure 49-14).
    """

    def __init__(self, ifg: int = 12, dic: bool = True) -> None:
        self.ifg = max(MIN_GAP, ifg)
        self.dic = dic
        self.deficit = 0
        self.frames: list[Placed] = []
        self._terminate: int | None = None
        self._delete = True
        """Idles may be deleted before the next frame."""

    def add(self, data: bytes, taken: int, end: End = End.GOOD) -> Placed:
        """Puts the next frame on XGMII; ``taken``: cycle of its first beat's handshake."""
        start, gap = 8 * (taken + TX_LATENCY), None
        if self._terminate is not None:
            start = max(start, self._earliest(self._terminate + self.ifg))
            gap = start - self._terminate
            if self.dic:
                self.deficit = max(0, self.deficit - (gap - self.ifg))
        body = padded(data)
        tail = list(fcs(body)) if end is End.GOOD else [ERROR] * FCS_BYTES
        placed = Placed(data, end, start, (*PREAMBLE, *body, *tail, TERMINATE), gap)
        self._terminate = placed.terminate
        self._delete = end is End.GOOD
        self.frames.append(placed)
        return placed

    def _earliest(self, due: int) -> int:
        """The first position of a column at which a frame may start that is due at ``due``."""
        over = due % 4
        if self.dic and self._delete and self.deficit + over <= 3:
            return due - over
        return due + -over % 4

    def words(self, first: int, count: int) -> list[Word]:
        """What is on XGMII in ``count`` cycles from ``first``."""
        made: list[Word] = [IDLE_WORD] * count
        edges: dict[int, list[int]] = {}
        for frame in self.frames:
            chars = frame.chars
            lead = -frame.start % 8
            whole = (len(chars) - lead) // 8
            for index in range(whole):
                cycle = (frame.start + lead) // 8 + index - first
                if 0 <= cycle < count:
                    made[cycle] = word_of(chars[lead + 8 * index : lead + 8 * index + 8])
            for index in (*range(lead), *range(lead + 8 * whole, len(chars))):
                position = frame.start + index
                edges.setdefault(position // 8, [IDLE] * 8)[position % 8] = chars[index]
        for cycle, lanes in edges.items():
            if 0 <= cycle - first < count:
                made[cycle - first] = word_of(lanes)
        return made


# ----------------------------------------------------------------------------------------------------------- receive


@dataclass(frozen=True)
class RxFrame:
    """A frame as ``mac_rx`` hands it on. code: 0 for a good one. start_cycle: of the word with its start character;
    first_cycle: of its first beat."""

    data: bytes
    code: int
    start_cycle: int
    start_lane: int

    @property
    def first_cycle(self) -> int:
        return self.start_cycle + RX_LATENCY

    @property
    def user(self) -> int:
        """``tuser`` of its last beat."""
        return self.code << 1 | (self.code != 0)


class MacRxModel:
    """``mac_rx``: a word a call of ``step``. ``frames`` is what comes out, ``events`` what is counted, ``link`` the
    link fault state.

    A frame whose end isn't a terminate character loses its last four octets like any other: they stood where an FCS
    would.
    """

    def __init__(self, max_frame: int = 1514, enable: bool = True) -> None:
        self.max_frame = max_frame
        self.enable = enable
        self.cycle = 0
        self.frames: list[RxFrame] = []
        self.events: Counter[str] = Counter()
        self.link = LinkFault()
        self._column = [IDLE] * 4
        """The column before the one that is being taken."""
        self._preamble: int | None = None
        """Characters of preamble since a start character, while they are right."""
        self._body: bytearray | None = None
        """Octets of the frame under way."""
        self._start = (0, 0)
        self._bad_word = -1
        """Cycle of the last word that counted as bad preamble."""

    def run(self, words: Iterable[Word]) -> MacRxModel:
        """Takes words one after another; returns itself."""
        for d, c in words:
            self.step(d, c)
        return self

    def step(self, d: int, c: int) -> Fault:
        """Takes the word of one cycle; returns the link fault state behind it."""
        began = dict(self.link.began)
        state = self.link.word(d, c)
        for fault, name in ((Fault.LOCAL, "local_fault"), (Fault.REMOTE, "remote_fault")):
            if self.link.began[fault] != began[fault]:
                self.events[name] += 1
        if c == 0 and self._body is not None:
            self._body += d.to_bytes(8, "little")
            self._column = [0] * 4
        elif (d, c) != IDLE_WORD or self._body is not None or self._preamble is not None:
            chars = characters(d, c)
            for lane in (0, 4):
                column = chars[lane : lane + 4]
                for offset, char in enumerate(column):
                    self._take(char, lane + offset)
                self._column = column
        else:
            self._column = [IDLE] * 4
        self.cycle += 1
        return state

    def _take(self, char: int, lane: int) -> None:
        if self._body is not None:
            if char < CONTROL:
                self._body.append(char)
                return
            self._end(bytes(self._body), char == TERMINATE)
            self._body = None
        elif self._preamble is not None:
            self._preamble += 1
            if char < CONTROL and self._preamble < 7:
                return
            self._preamble = None
            if char == 0xD5:
                self._body = bytearray()
                return
            self._bad_start(self._start[0])
        if char == START and self.enable:
            if lane in (0, 4) and self._start_may_follow():
                self._preamble, self._start = 0, (self.cycle, lane)
            else:
                self._bad_start(self.cycle)

    def _start_may_follow(self) -> bool:
        """46.1.7.5.2: start is behind a column of four idles, a sequence ordered set, or one that holds terminate."""
        before = self._column
        ordered_set = before[0] == SEQUENCE and all(char < CONTROL for char in before[1:])
        return before == [IDLE] * 4 or ordered_set or TERMINATE in before

    def _bad_start(self, cycle: int) -> None:
        """A start character of this cycle begins no frame: once a word."""
        if cycle != self._bad_word:
            self.events["bad_preamble"] += 1
        self._bad_word = cycle

    def _end(self, body: bytes, terminated: bool) -> None:
        data = body[:-FCS_BYTES]
        right = terminated and len(body) >= FCS_BYTES and fcs(data) == body[-FCS_BYTES:]
        limit = self._limit(data)
        code = Code.NONE
        if len(data) > limit:
            code = Code.OVERSIZE
            data = data[:limit]
            self.events["oversize" if right else "jabbers"] += 1
        elif not terminated:
            code = Code.RX_ERROR
            self.events["symbol_errors"] += 1
        elif len(body) < MIN_FRAME:
            code = Code.RUNT
            self.events["undersize" if right else "fragments"] += 1
        elif not right:
            code = Code.BAD_FCS
            self.events["fcs_errors"] += 1
        else:
            self.events += good_events(data)
        if data:
            self.frames.append(RxFrame(data, int(code), *self._start))

    def _limit(self, data: bytes) -> int:
        """Longest frame without FCS: four octets more for each of two tags (3.2.7: envelope frames)."""
        tags = 0
        while tags < 2 and int.from_bytes(data[12 + 4 * tags : 14 + 4 * tags], "big") in TAGS:
            tags += 1
        return self.max_frame + 4 * tags


# -------------------------------------------------------------------------------------------------------------- time


class MacTime:
    """``mac_time``: 64 bits of ns and 32 of fraction. ``step`` is a rising edge; ``increment`` is 8.32."""

    def __init__(self, increment: int = round(2.56 * 2**32)) -> None:
        self.increment = increment
        self.now = 0

    def step(self, set_time: int | None = None) -> int:
        """``now`` behind the edge."""
        self.now = (self.now + self.increment) % 2**96 if set_time is None else set_time
        return self.now
