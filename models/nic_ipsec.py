"""ESP in its slots: what it makes of all frames of a direction, and when they leave it.

``IpsecStage`` hands each frame that is this block's to models/ipsec.py, in order, with the metadata that the stages
before wrote; all others pass, all at once. It changes bytes and lengths, and ends frames in the middle of the pipeline.

What frames did to the SAs stays from play to play: a stage begins with a slot as it was left (``slot``) and never
changes that; ``IpsecPassage.slot`` is the slot behind its frames. A frame is judged when all before it are: one whose
number another in flight takes is ended as a replay early or late, and which of both isn't told (``replay_late``).
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.config import IpsecConfig
from models.frames import BEAT_BYTES, Batch, Int64
from models.ipsec import COUNTERS, Fields, IpsecRx, IpsecTx, Result
from models.ipsec_sa import Cipher, Mode, Natt
from models.ipsec_time import AES, SM4, Come, Kind, SlotTime, blocks
from models.meta import FIELDS as META_FIELDS
from models.meta import Code
from models.nic_stages import Arrival, Bool, Flow, Passage

__all__ = ["UNTOLD", "IpsecPassage", "IpsecStage", "Slot", "slot_of"]

Slot = IpsecRx | IpsecTx

UNTOLD = ("replay_late",)
"""Counters that hang on cycles."""

_PASSING_CYCLES = 3
_ESP, _L4_ESP, _NATT_ESP = 50, 5, 1
_WIDTH = {f.name: f.width for f in META_FIELDS}
_READ = tuple(f.name for f in fields(Fields))


def slot_of(name: str, config: IpsecConfig) -> Slot:
    """A slot as the configuration programs it, before its first frame."""
    if name == "ipsec_rx":
        rx = IpsecRx()
        rx.drop_no_sa, rx.drop_cipher, rx.drop_fragment = config.drop_no_sa, config.drop_cipher, config.drop_fragment
        for number, sa in enumerate(config.rx):
            rx.table.write(number, sa)
        return rx
    tx = IpsecTx()
    tx.max_packet = config.max_packet
    for number, sa in enumerate(config.tx):
        tx.table.write(number, sa)
    return tx


@dataclass(frozen=True)
class _Work:
    """A frame that doesn't simply pass, for its time: as ``Come``; ``needed`` and ``begun`` are beats of the frame, -1:
    none is."""

    kind: Kind
    needed: int = -1
    begun: int = -1
    blocks: int = 0
    engine: str = AES
    short: int = 0
    skipped: int = 0
    behind: int = 0
    tail: int = 0
    out: int = 0

    def come(self, first: int, last: int, beats: int) -> Come:
        """The frame, whose beats come one a cycle from cycle ``first`` on, or so that the last one comes later."""
        needed, begun = (-1 if at < 0 else min(first + at, last) for at in (self.needed, self.begun))
        return Come(
            first,
            last,
            beats,
            self.kind,
            needed=needed,
            begun=begun,
            blocks=self.blocks,
            engine=self.engine,
            short=self.short,
            skipped=self.skipped,
            behind=self.behind,
            tail=self.tail,
            out=self.out,
        )


@dataclass(frozen=True)
class IpsecPassage(Passage):
    """What the slot makes of n frames of one direction.

    slot    the slot behind them
    work    by place: the frames that don't simply pass
    number  int64[n]  the SA that decrypted, encrypted or ended the frame, -1: none
    sequence uint64[n]  the frame's whole sequence number, 0: it has none, or isn't known
    """

    name: str = field(kw_only=True)
    slot: Slot = field(kw_only=True)
    work: Mapping[int, _Work] = field(kw_only=True)
    number: Int64 = field(kw_only=True)
    sequence: NDArray[np.uint64] = field(kw_only=True)

    def leave(self, flow: Flow, index: Int64) -> Flow:
        """Of frames that end here the cycles say nothing."""
        if not self.work:
            return super().leave(flow, index)
        first, last, beats = self._times(flow.first, flow.last, flow, index)
        latest = last if flow.exact else self._times(flow.latest - flow.beats + 1, flow.latest, flow, index)[1]
        return replace(flow, first=first, last=last, latest=latest, beats=beats)

    def _times(self, begins: Int64, ends: Int64, flow: Flow, index: Int64) -> tuple[Int64, Int64, Int64]:
        first, last, beats = (np.zeros(len(index), np.int64) for _ in range(3))
        epoch, time = -1, SlotTime(self.name)
        rows = zip(
            index.tolist(), begins.tolist(), ends.tolist(), flow.beats.tolist(), flow.epoch.tolist(), strict=True
        )
        for k, (place, begin, end, size, resets) in enumerate(rows):
            if resets != epoch:
                epoch, time = resets, SlotTime(self.name)
            work = self.work.get(place)
            come = Come(begin, end, size) if work is None else work.come(begin, end, size)
            times = time.take(come)
            first[k], last[k] = times.first_out, times.last_out
            beats[k] = size if come.passes else come.out
        return first, last, beats


@dataclass(frozen=True)
class IpsecStage:
    """``ipsec_rx`` or ``ipsec_tx``, programmed with ``config``. ``slot``: as frames before left it; None: none was."""

    name: str
    config: IpsecConfig = field(default_factory=IpsecConfig)
    slot: Slot | None = None

    @property
    def counters(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{name}" for name in COUNTERS if name not in UNTOLD)

    def start(self) -> Slot:
        """A slot of its own as the first frame finds it."""
        return slot_of(self.name, self.config) if self.slot is None else copy.deepcopy(self.slot)

    def take(self, come: Arrival, written: Mapping[str, int]) -> IpsecPassage:
        n = len(come.frames)
        slot = self.start()
        own = np.flatnonzero(self._own(come))
        results: dict[int, Result] = {}
        work: dict[int, _Work] = {}
        number, sequence = np.full(n, -1, np.int64), np.zeros(n, np.uint64)
        tally: dict[str, NDArray[np.int64]] = {"frames": np.ones(n, np.int64), "passed": np.ones(n, np.int64)}
        for place in own.tolist():
            before = slot.counters.copy()
            tally["passed"][place] = 0
            results[place], work[place], number[place], sequence[place] = _one(slot, come, place)
            for name, value in _more(slot.counters, before).items():
                tally.setdefault(name, np.zeros(n, np.int64))[place] = value
        user, latency, gone = come.user, np.full(n, _PASSING_CYCLES, np.int64), np.zeros(n, np.bool_)
        if results:
            user = user.copy()
        for place, result in results.items():
            if result.frame is None:
                gone[place] = True
                user[place] = result.code << 1 | 1
            elif result.user is not None:
                user[place] = result.user
            latency[place] = _alone(self.name, int(come.frames.beats[place]), work[place])
        return IpsecPassage(
            user,
            latency,
            _PASSING_CYCLES,
            _fields(come, results),
            {},
            frames=_frames(come.frames, results),
            gone=gone if gone.any() else None,
            sums={f"{self.name}.{name}": values for name, values in tally.items() if name not in UNTOLD},
            name=self.name,
            slot=slot,
            work=work,
            number=number,
            sequence=sequence,
        )

    def _own(self, come: Arrival) -> Bool:
        """bool[n]: frames that this block looks at."""
        n = len(come.frames)

        def of(name: str) -> NDArray[Any]:
            found = come.fields.get(name)
            return np.zeros(n, np.uint8) if found is None else found

        if self.name == "ipsec_tx":
            protect: Bool = of("acl_protect") != 0
            return protect
        esp: Bool = (of("l4_kind") == _L4_ESP) | (of("natt") == _NATT_ESP)
        esp |= (of("fragment") != 0) & (of("protocol") == _ESP)
        return esp


def _one(slot: Slot, come: Arrival, place: int) -> tuple[Result, _Work, int, int]:
    """What becomes of one frame, its time, its SA and its sequence number (-1, 0: none)."""
    frame, given = come.frames.frame(place), Fields.of(_meta(come, place))
    bad = int(come.user[place]) & 0xFF
    beats = -(-len(frame) // BEAT_BYTES)
    if isinstance(slot, IpsecRx):
        flight = slot.begin(frame, given)
        result = slot.finish(flight, bad)
        if flight.left or flight.code is not Code.NONE or flight.state is None:
            esp = given.l4_offset + 8 * (given.natt == _NATT_ESP)
            skipped = max(1, blocks(len(frame) - esp))
            if flight.left:
                return result, _Work(Kind.LEFT, skipped=skipped, out=beats), -1, 0
            return result, _Work(Kind.ENDED, skipped=skipped), flight.sa, flight.number
        sa = flight.state.sa
        n = flight.end - flight.esp - 16 - sa.tag
        there = blocks(len(frame) - flight.esp)
        skipped = max(0, there - 1 - blocks(n + sa.tag))
        short = max(0, blocks(n) - max(0, there - 1) + _rest(len(frame), flight.esp))
        places, engine = ((flight.esp + 15) // 16, (flight.esp + 31) // 16), _engine(sa.cipher)
        work = _Work(Kind.WORKED, *places, blocks(n), engine, short, skipped, out=_out(result))
        return result, work, flight.sa, flight.number
    state = slot.table.read(given.acl_sa)
    used = -1 if state is None else state.used
    result = slot.encap(frame, given, bad)
    transport = state is not None and state.sa.mode is Mode.TRANSPORT
    at = BEAT_BYTES if not given.l3_kind else given.l3_payload_offset if transport else given.l3_offset
    there = max(1, blocks(len(frame) - at))
    if state is None or state.used == used:
        return result, _Work(Kind.ENDED, skipped=1 + there), given.acl_sa, 0
    sa, text = state.sa, given.end - at
    n = text + -(text + 2) % 4 + 2
    front = 16 + 8 * (sa.natt is Natt.YES) + (0 if transport else 40 if sa.ipv6 else 20)
    behind = blocks(front + n + sa.tag)
    work = _Work(
        Kind.WORKED,
        blocks=blocks(n),
        engine=_engine(sa.cipher),
        short=max(0, blocks(n) - there + _rest(len(frame), at)),
        skipped=max(0, there - blocks(text)),
        behind=behind,
        tail=behind - front // 16 - blocks(n),
        out=_out(result),
    )
    return result, work, given.acl_sa, state.used


def _rest(length: int, at: int) -> int:
    """1: bytes of a frame's last beat stand in a beat of their own when what begins at ``at`` is moved to lane 0."""
    return int(length > at and at % BEAT_BYTES != 0 and (length - 1) % BEAT_BYTES + 1 > at % BEAT_BYTES)


def _engine(cipher: Cipher) -> str:
    return SM4 if cipher is Cipher.SM4_GCM else AES


def _out(result: Result) -> int:
    return 0 if result.frame is None else -(-len(result.frame) // BEAT_BYTES)


def _alone(name: str, beats: int, work: _Work) -> int:
    """First beat in to first beat out of a frame alone; of one that ends, to its verdict."""
    times = SlotTime(name).take(work.come(0, beats - 1, beats))
    return times.first_out if times.first_out >= 0 else times.judged.verdict


def _meta(come: Arrival, place: int) -> dict[str, int]:
    """What the block reads of a frame's metadata."""
    return {name: _number(come.fields[name][place]) for name in _READ if name in come.fields}


def _number(value: Any) -> int:
    """A field of more than 64 bits is its halves, the high one first."""
    return int(value[0]) << 64 | int(value[1]) if np.ndim(value) else int(value)


def _more(after: Counter[str], before: Counter[str]) -> dict[str, int]:
    return {name: value - before[name] for name, value in after.items() if value != before[name]}


def _fields(come: Arrival, results: Mapping[int, Result]) -> dict[str, NDArray[Any]]:
    """Metadata that is written anew, as arrays; of the other frames as they came."""
    n, written = len(come.frames), sorted({name for result in results.values() for name in result.meta})
    found: dict[str, NDArray[Any]] = {}
    for name in written:
        wide = _WIDTH[name] > 64
        kind = np.uint64 if wide else np.min_scalar_type((1 << _WIDTH[name]) - 1)
        before = come.fields.get(name)
        values = np.zeros((n, 2) if wide else n, kind) if before is None else before.astype(kind)
        for place, result in results.items():
            if name in result.meta:
                value = int(result.meta[name])
                values[place] = (value >> 64, value & (1 << 64) - 1) if wide else value
        found[name] = values
    return found


def _frames(frames: Batch, results: Mapping[int, Result]) -> Batch | None:
    """The frames as they leave; those that end stay what they were. None: all are as they came."""
    changed = {place: result.frame for place, result in results.items() if result.meta and result.frame is not None}
    if not changed:
        return None
    out = Batch.of(list(changed.values()))
    order = np.arange(len(frames))
    order[list(changed)] = len(frames) + np.arange(len(changed))
    whole = Batch.concat([frames, out]).select(order)
    return replace(frames, data=whole.data, offset=whole.offset)
