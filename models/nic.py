"""The golden model of ``nic_port``: what must become of every frame, and in which cycle.

Source: docs/architecture.md, section 4 (stages, order of precedence, registers), and the pages of the blocks. The port
decides by a frame's length, its bad mark, its headers and a few registers; what it passes, it passes unchanged to the
other edge, to the host with the metadata beside it. Two things hang on timing and can't be told beforehand: whether
``rx_buffer`` had room, and what was in flight at a reset. These are taken from the device and held against bounds that
its own cycles give.

**Time inside the port.** A frame's first beat is taken by ``nic_ingress`` in cycle

    e[k] = max(first_in[k] + 1, e[k-1] + max(4, beats[k-1]))

since one register lies before it and it spends at least 4 cycles on a frame; its last beat in
``l[k] = max(last_in[k] + 1, e[k] + beats[k] - 1)``. Behind it the stages of models/nic_stages.py say when the last beat
gets into the buffer: exactly if the beats came one a cycle, else within a range. Nothing stalls on the way, and the
first beat comes out of the port as many cycles later as the buffer and the registers behind it take, or right behind
the frame delivered before.

Volume is handled in numpy; ``reference_*`` are the same rules written a frame at a time, and a test proves them equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.config import NicConfig
from models.frames import BEAT_BYTES, Batch, Edge, Int64, Outcome, UInt8, first_difference
from models.meta import FIRST_DROP, META_WORDS, Code, Words, field_of, pack, pack_words, unpack, word_of, words_of
from models.nic_stages import AclStage, Bool, Flow, ParserStage, Passage, Registers, Stage, UInt16, follow, pick
from models.parser import ParserModel
from models.port_map import PORT
from models.registers import Access, Register

__all__ = [
    "COUNTERS",
    "CYCLE_NS",
    "INGRESS_CYCLES",
    "RX",
    "TX",
    "AddressError",
    "Mismatch",
    "NicPortModel",
    "Pipeline",
    "Prediction",
    "direction_of",
    "reference_code",
    "reference_first_out",
    "reference_held",
]

CYCLE_NS = 4
"""Length of a cycle of the core clock, in ns."""

INGRESS_CYCLES = 4
"""Fewest cycles that `nic_ingress` spends on a frame."""

_ROOM_SLACK_BEATS = 4
"""The buffer may learn a few cycles late that beats have left it, so that a frame is lost that just fitted."""
_ROOM_SLACK_FRAMES = 2
_STALL_SLACK = 96
"""Cycles by which a frame may be late after the transmit buffer was full: what stands in the slots before it."""


@dataclass(frozen=True)
class Pipeline:
    """One direction: the stages between ingress and the buffer (a register lies in front of ingress, and ingress is
    one), the registers behind the buffer, and cycles from a frame's last beat into the buffer to its first beat out."""

    name: str
    stages: tuple[Stage, ...]
    after: int
    buffer: int = 2

    @property
    def to_stages(self) -> int:
        """Cycles from a frame's first beat in to its first beat at the first of the stages, where ingress is free."""
        return 2

    @property
    def elastic(self) -> int:
        """Most beats that stand behind the buffer when the output stalls: two a register, and the buffer's own two."""
        return 2 * self.after + self.buffer


def direction_of(edge: int, parse_bytes: int = 128, tunnel: bool = False) -> Pipeline:
    """The pipeline of frames that enter at this edge, with the parsers' parameters."""
    if edge == Edge.WIRE:
        return Pipeline(
            "rx", (ParserStage("parser_rx", parse_bytes, tunnel), Registers(4), AclStage("acl_rx")), after=5
        )
    return Pipeline("tx", (ParserStage("parser_tx", parse_bytes, tunnel), AclStage("acl_tx"), Registers(3)), after=3)


RX = direction_of(Edge.WIRE)
TX = direction_of(Edge.HOST)


_PLAIN = ("frames_in", "bytes_in", "frames_out", "bytes_out")


def _counter_registers() -> dict[str, str]:
    found = {f"{way.name}_{name}": f"nic.{way.name}_{name}" for way in (RX, TX) for name in _PLAIN}
    found |= {
        f"{way.name}_disposition.{code.name}": f"nic.{way.name}_disposition[{code.value}]"
        for way in (RX, TX)
        for code in Code
        if code != Code.NONE
    }
    return found | {name: name for way in (RX, TX) for stage in way.stages for name in stage.counters}


COUNTERS: Mapping[str, str] = _counter_registers()
"""The port's counters: their names in an ``Outcome``, and the 64-bit registers that hold them."""

_BUFFERS = {"rx_buffer": Edge.WIRE, "tx_sched": Edge.HOST}
_CODES = frozenset(int(code) for code in Code)


class AddressError(LookupError):
    """There is no register at this address: the port answers DECERR."""

    def __init__(self, address: int) -> None:
        super().__init__(f"no register at address {address:#07x}")
        self.address = address


@dataclass(frozen=True)
class Prediction:
    """What must become of a batch of n frames, m of which come out: ``code`` and ``queue`` uint8[n], ``source``
    int64[m] (index of each frame out; those of one edge in order), ``frames``, the frames out, and ``user`` uint16[m],
    tuser beside their last beat."""

    code: UInt8
    queue: UInt8
    source: Int64
    frames: Batch
    user: UInt16


@dataclass(frozen=True)
class Mismatch:
    """One way in which a device differs from the model. ``frame``: index in the batch, -1: no frame in is concerned;
    ``cycle``: where in the play to look, -1: unknown."""

    frame: int
    what: str
    expected: Any
    got: Any
    cycle: int = -1

    def __str__(self) -> str:
        where = f"frame {self.frame}: " if self.frame >= 0 else ""
        when = f" (cycle {self.cycle})" if self.cycle >= 0 else ""
        return f"{where}{self.what}: expected {self.expected}, got {self.got}{when}"


def reference_code(
    edge: int,
    frame: bytes,
    bad: int,
    control: int,
    max_frame: int,
    buffer_beats: int,
    drop: int = 0,
    *,
    parse_bytes: int = 128,
    tunnel: bool = False,
) -> int:
    """Code of one frame that meets an empty port: precedence as in `nic_ingress`, then what the parser drops (``drop``:
    its register; ``parse_bytes`` and ``tunnel``: its parameters), then what no buffer can hold."""
    enabled = control >> (0 if edge == Edge.WIRE else 1) & 1
    if not enabled:
        return Code.PORT_DISABLED
    if len(frame) > max_frame:
        return Code.OVERSIZE
    if bad:
        return bad >> 1 or Code.BAD_FRAME
    parsed = ParserModel(parse_bytes, drop, tunnel).parse(frame)
    if parsed.user & 1:
        return parsed.code
    if -(-len(frame) // BEAT_BYTES) > buffer_beats:
        return Code.OVERSIZE
    return Code.DELIVERED


def reference_first_out(
    edge: int,
    first_in: Sequence[int],
    last_in: Sequence[int],
    beats: Sequence[int],
    latency: Sequence[int],
    last_out: Sequence[int],
    resets: Sequence[int] = (),
) -> list[tuple[int, int]]:
    """Cycle of the first beat out of each frame that entered at one edge, in order, a frame at a time: the earliest and
    the latest, which are one where the frame and those that it follows closely came without gaps. ``latency``: the
    parser's. ``last_out`` is -1 for a frame that is not delivered; the entry of such a frame is where it would have
    come out. None of the frames is oversize. After a reset the port remembers nothing."""
    pipeline = direction_of(edge)
    behind = (5 if edge == Edge.WIRE else 3) + pipeline.buffer + pipeline.after
    cycles: list[tuple[int, int]] = []
    free = previous = parser_least = parser_most = -1
    epoch = 0
    for first, last, count, wait, out in zip(first_in, last_in, beats, latency, last_out, strict=True):
        now = sum(reset < first for reset in resets)
        if now != epoch:
            epoch, free, previous, parser_least, parser_most = now, -1, -1, -1, -1
        entry = max(first + 1, free)
        free = entry + max(INGRESS_CYCLES, count)
        end = max(last + 1, entry + count - 1)
        # At the parser's input the beats pass one cycle after ingress took them.
        least = max(entry + 1 + wait, parser_least + 1)
        parser_least = max(least + count - 1, end + 1 + 2)
        gaps = end - (entry + count - 1)
        most = max(entry + 1 + gaps + wait, parser_most + 1)
        parser_most = max(most + count - 1, end + 1 + 2)
        cycles.append((max(parser_least + behind, previous + 1), max(parser_most + behind, previous + 1)))
        if out >= 0:
            previous = out
    return cycles


def reference_held(
    time: int, first_out: Sequence[int], last_out: Sequence[int], beats: Sequence[int]
) -> tuple[int, int, int]:
    """How many beats of delivered frames have not passed the output before cycle ``time``: the least and the most that
    their cycles allow (a frame passes at most one beat a cycle), and how many of the frames have not passed whole."""
    least = most = frames = 0
    for first, last, count in zip(first_out, last_out, beats, strict=True):
        if last < time:
            continue
        frames += 1
        least += count if time <= first else max(1, count - (time - first))
        most += min(count, last - time + 1)
    return least, most, frames


@dataclass(frozen=True)
class _Course:
    """The frames of one edge on their way to the buffer, whenever they come: their indices in the batch, their beats
    behind ingress, and what each stage makes of them."""

    pipeline: Pipeline
    index: Int64
    kept: Int64
    passages: tuple[Passage, ...]

    @property
    def user(self) -> UInt16:
        """uint16[n]: tuser beside the last beat into the buffer."""
        return self.passages[-1].user

    @property
    def latency(self) -> Int64:
        """int64[n]: cycles from first beat in to first beat out, of frames alone that come without gaps."""
        way = self.pipeline
        to_buffer = way.to_stages + sum(passage.latency for passage in self.passages)
        cycles: Int64 = to_buffer + self.kept - 1 + way.buffer + way.after
        return cycles

    def counts(self) -> dict[str, Bool]:
        """By register, which frames its counter counts."""
        return {name: hits for passage in self.passages for name, hits in passage.counts.items()}

    def meta(self, at: Int64, **others: NDArray[Any]) -> Words:
        """Metadata of frames ``at`` (places in ``index``): what the stages write, and the fields ``others``."""
        whole = _counts_up(at, len(self.index))
        fields = {
            name: values if whole else values[at]
            for passage in self.passages
            for name, values in passage.fields.items()
            if whole or values.any()
        }
        return pack_words(len(at), fields | others)

    def place(self, frames: Int64) -> Int64:
        """Places in ``index`` of these frames, which are among it."""
        whole = len(self.index) and self.index[-1] == len(self.index) - 1
        return frames if whole else np.searchsorted(self.index, frames)


@dataclass(frozen=True)
class _Lane:
    """The frames of one edge that entered the port, in order, with their cycles as the device reports them; ``entry``:
    when ingress took the first beat; ``into``: when they got into the buffer."""

    pipeline: Pipeline
    index: Int64
    first_in: Int64
    last_in: Int64
    beats: Int64
    code: UInt8
    first_out: Int64
    last_out: Int64
    epoch: Int64
    entry: Int64
    into: Flow

    @classmethod
    def of(cls, batch: Batch, outcome: Outcome, course: _Course) -> _Lane:
        entered = np.flatnonzero(pick(outcome.first_in, course.index) >= 0)
        index = pick(course.index, entered)
        first_in, last_in, code, bad = (
            pick(column, index) for column in (outcome.first_in, outcome.last_in, outcome.code, batch.bad)
        )
        beats, kept = pick(batch.beats, index), pick(course.kept, entered)
        # A frame that was cut by a reset has no last beat; it may have had any length up to its own.
        last_in = np.where(last_in < 0, first_in, last_in)
        epoch = _epochs(outcome, first_in)
        spent = np.zeros(len(index), np.int64)
        spent[1:] = np.maximum(INGRESS_CYCLES, beats)[:-1]
        entry = follow(first_in + 1, spent, epoch)
        end = np.maximum(last_in + 1, entry + beats - 1)
        flow = Flow(
            first=entry + 1,
            # Of a frame that is cut at max_frame, the beat at which it is cut.
            last=1 + np.where(kept == beats, end, entry + kept - 1),
            latest=1 + end - (beats - kept),
            beats=kept,
            epoch=epoch,
        )
        for passage in course.passages:
            flow = passage.leave(flow, entered)
        return cls(
            pipeline=course.pipeline,
            index=index,
            first_in=first_in,
            last_in=last_in,
            beats=beats,
            # A frame that came in bad may carry the reason of a drop that depends on timing; its own drop doesn't.
            code=np.where((bad != 0) & (code == bad >> 1), np.uint8(Code.BAD_FRAME), code),
            first_out=pick(outcome.first_out, index),
            last_out=pick(outcome.last_out, index),
            epoch=epoch,
            entry=entry,
            into=flow,
        )

    @property
    def delivered(self) -> Bool:
        chosen: Bool = (self.code == Code.DELIVERED) & (self.last_out >= 0)
        return chosen

    def expected_first_out(self) -> tuple[Int64, Int64]:
        """As ``reference_first_out``: the earliest and the latest."""
        last_out = np.where(self.delivered, self.last_out, -1)
        previous = np.full(len(last_out), -1, np.int64)
        # Outputs of one edge follow each other, so the latest so far is that of the frame before.
        previous[1:] = np.maximum.accumulate(last_out)[:-1]
        behind = self.pipeline.buffer + self.pipeline.after
        previous += 1
        least: Int64 = np.maximum(self.into.last + behind, previous)
        if np.array_equal(self.into.last, self.into.latest):
            return least, least
        return least, np.maximum(self.into.latest + behind, previous)

    def held(self, time: Int64) -> tuple[Int64, Int64, Int64]:
        """For each frame k: of the delivered frames before it, at cycle time[k], as ``reference_held``."""
        sent = self.delivered
        before: Int64 = np.cumsum(sent) - sent
        out = np.flatnonzero(sent)
        first_out, beats = pick(self.first_out, out), pick(self.beats, out)
        last_out = np.maximum.accumulate(pick(self.last_out, out))
        total = np.concatenate([[0], np.cumsum(beats)])
        # Frame at is the first that has not passed whole; it is the only one that may have passed in part.
        at = np.minimum(np.searchsorted(last_out, time, "left"), before)
        whole = total[before] - total[at]
        if not len(last_out):
            return whole, whole, before - at
        partial = at < before
        safe = np.minimum(at, len(last_out) - 1)
        left_least = np.clip(beats[safe] - (time - first_out[safe]), 1, beats[safe])
        left_most = np.minimum(beats[safe], last_out[safe] - time + 1)
        least = whole + np.where(partial, left_least - beats[safe], 0)
        most = whole + np.where(partial, left_most - beats[safe], 0)
        return least, most, before - at

    def lost_before(self) -> tuple[Int64, Int64]:
        """For each frame: beats and number of the frames before it, since the last reset, of which nobody knows when
        they left (lost at a reset, or silently)."""
        lost = (self.code == Code.RESET) | (self.code == Code.NONE)
        start = np.searchsorted(self.epoch, self.epoch, "left")
        sums = []
        for values in (np.where(lost, self.beats, 0), lost.astype(np.int64)):
            earlier: Int64 = np.cumsum(values) - values
            sums.append(earlier - earlier[start])
        return sums[0], sums[1]

    def may_be_full(self, depth: int, frames: int) -> Bool:
        """True where the buffer may have lacked room for the frame, by the most that it can have held."""
        first, last = self.into.first, self.into.last
        lost_beats, lost_frames = self.lost_before()
        after = self.pipeline.after
        # Beats come one a cycle at most, so the beat before the last came at the earliest so long after the first; the
        # last may have come later, when less was held.
        early = np.minimum(first + np.maximum(self.beats - 2, 0), last)
        full: Bool = self.held(early + after)[1] + lost_beats + self.beats > depth - _ROOM_SLACK_BEATS
        slots: Bool = self.held(first + after)[2] + lost_frames + 1 > frames - _ROOM_SLACK_FRAMES
        return full | slots

    def must_be_full(self, depth: int, frames: int) -> Bool:
        """True where the buffer certainly had no room for the frame's last beat, by the least that it can have held."""
        least, _, count = self.held(self.into.latest)
        elastic = self.pipeline.elastic
        return (least - elastic + self.beats > depth) | (count - elastic - 1 + 1 > frames)

    def disturbed(self, depth: int, frames: int) -> Bool:
        """True from a frame that may have met a full buffer until the pipeline has been empty again: the frame before
        had left it, and with it all before that one."""
        position = np.arange(len(self.index))
        empty = np.ones(len(self.index), np.bool_)
        empty[1:] = self.delivered[:-1] & (self.last_out[:-1] < self.first_in[1:])
        calm = np.maximum.accumulate(np.where(empty, position, 0))
        full: Int64 = np.maximum.accumulate(np.where(self.may_be_full(depth, frames), position, -1))
        return full >= calm


class NicPortModel:
    """One port: its registers, and what it does with frames.

    ``config`` programs it (None: reset values); ``port`` is its number. The rest are the RTL's parameters
    ``RX_BUFFER_BEATS``, ``TX_BUFFER_BEATS``, ``BUFFER_FRAMES``, ``PARSE_BYTES`` and ``TUNNEL_EN``. ValueError: a
    ``parse_bytes`` that ``ParserModel`` refuses.
    """

    def __init__(
        self,
        config: NicConfig | None = None,
        port: int = 0,
        *,
        rx_buffer_beats: int = 2048,
        tx_buffer_beats: int = 2048,
        buffer_frames: int = 256,
        parse_bytes: int = 128,
        tunnel: bool = False,
    ) -> None:
        self.port = port
        self.buffer_frames = buffer_frames
        self._pipelines = {edge: direction_of(edge, parse_bytes, tunnel) for edge in Edge}
        self._depth = {Edge.WIRE: rx_buffer_beats, Edge.HOST: tx_buffer_beats}
        programmed = (config or NicConfig()).ports[port].registers()
        self._written = dict(programmed)
        self._counters = self._zero_counters()
        self._high: dict[str, int] = {}
        self._time = 0
        self._peak = {Edge.WIRE: 0, Edge.HOST: 0}
        self._known: tuple[Batch, dict[str, int], dict[Edge, _Course]] | None = None

    # -- registers ---------------------------------------------------------------------------------------------------

    @property
    def counters(self) -> dict[str, int]:
        """All counters by name: rx_frames_in, ..., rx_disposition.<CODE>, ..., parser_rx.frames, ..."""
        return dict(self._counters)

    @property
    def now_ns(self) -> int:
        """The port's time."""
        return self._time >> 32

    def advance(self, cycles: int) -> None:
        """Let so many cycles pass."""
        self._time += cycles * self._written["nic.time_increment"]

    def read(self, address: int) -> int:
        """A 32-bit register by its byte address in the port. Reading the low word of a 64-bit register that hardware
        moves latches the high one. AddressError: there is none."""
        register, word = self._find(address)
        latched = register.volatile and register.words == 2
        if latched and word == 1:
            return self._high.get(register.name, 0)
        value = self._value(register)
        if latched:
            self._high[register.name] = value >> 32 & 0xFFFF_FFFF
        return value >> 32 * word & 0xFFFF_FFFF

    def write(self, address: int, value: int) -> None:
        """Write a 32-bit register; what is read-only stays as it is. AddressError: there is none. ValueError: more than
        32 bits."""
        if not 0 <= value < 1 << 32:
            raise ValueError(f"{value:#x} is not a 32-bit value")
        register, word = self._find(address)
        mask = register.mask(Access.RW) & 0xFFFF_FFFF << 32 * word
        if mask:
            kept = self._written.get(register.name, register.reset)
            self._written[register.name] = kept & ~mask | value << 32 * word & mask

    def _find(self, address: int) -> tuple[Register, int]:
        found = PORT.find(address)
        if found is None:
            raise AddressError(address)
        return found

    def _value(self, register: Register) -> int:
        """Nothing is ever under way between plays: the port is idle and its buffers are empty."""
        instance, _, name = register.name.partition(".")
        if instance in _BUFFERS and name in ("level", "peak"):
            return self._peak[_BUFFERS[instance]] if name == "peak" else 0
        if register.name == "nic.status":
            return register.encode({"idle": 1, "ready": 1})
        if register.name == "nic.now":
            return self.now_ns
        if instance == "nic" and name in self._counters:
            return self._counters[name]
        if register.name in self._counters:
            return self._counters[register.name]
        table, bracket, code = name.partition("[")
        if bracket:
            return self._counters.get(f"{table}.{_code_name(int(code[:-1]))}", 0)
        return self._written.get(register.name, register.reset)

    # -- what must happen --------------------------------------------------------------------------------------------

    def latency_cycles(self, edge: int, frame: bytes) -> int:
        """Cycles from the frame's first beat in to its first beat out, where it is alone in the port and comes without
        gaps. ValueError: it has no byte."""
        batch = Batch.of([frame], edge=int(edge), port=self.port)
        self._check_playable(batch)
        return int(self._courses(batch)[Edge(edge)].latency[0])

    def stage_cycles(self, edge: int, frame: bytes) -> dict[str, int]:
        """How many of `latency_cycles` the frame spends in each stage that has a name of its own. ValueError: it has no
        byte."""
        batch = Batch.of([frame], edge=int(edge), port=self.port)
        self._check_playable(batch)
        course = self._courses(batch)[Edge(edge)]
        return {
            stage.name: int(passage.latency[0])
            for stage, passage in zip(course.pipeline.stages, course.passages, strict=True)
            if isinstance(stage, ParserStage)
        }

    def first_out_cycle(self, edge: int, frame: bytes, first_in: int, previous_last_out: int) -> int:
        """Cycle in which the frame's first beat comes out where it has the port's front to itself and comes without
        gaps: ``first_in`` is the cycle of its first beat in, ``previous_last_out`` that of the last beat out of the
        frame delivered before it (-1: there was none)."""
        return max(first_in + self.latency_cycles(edge, frame), previous_last_out + 1)

    def predict(self, batch: Batch) -> Prediction:
        """What must become of the frames where nothing is reset and ``rx_buffer`` always has room. ValueError: a frame
        without a byte, or of another port."""
        code, queue, user = self._verdicts(batch)
        source = np.flatnonzero(code == Code.DELIVERED).astype(np.int64)
        passed = batch.select(source)
        out_edge = (1 - passed.edge).astype(np.uint8)
        frames = Batch(
            data=passed.data,
            offset=passed.offset,
            port=passed.port,
            edge=out_edge,
            time_ns=np.zeros(len(passed), np.int64),
            queue=np.where(out_edge == Edge.HOST, queue[source], 0).astype(np.uint8),
            bad=np.zeros(len(passed), np.uint8),
            flags=np.zeros(len(passed), np.uint8),
        )
        return Prediction(code, queue, source, frames, user[source])

    def _verdicts(self, batch: Batch) -> tuple[UInt8, UInt8, UInt16]:
        """``code``, ``queue`` of a Prediction, and uint16[n]: tuser beside the last beat of each frame in."""
        self._check_playable(batch)
        beats = batch.beats
        code, user = np.zeros(len(batch), np.uint8), np.zeros(len(batch), np.uint16)
        for edge, course in self._courses(batch).items():
            at = course.index
            user[at] = course.user
            unfit = np.where(pick(beats, at) > self._depth[edge], np.uint8(Code.OVERSIZE), np.uint8(Code.DELIVERED))
            code[at] = np.where(course.user & 1, course.user >> 1 & 0x7F, unfit)
        return code, np.where(batch.edge == Edge.HOST, batch.queue, np.uint8(0)), user

    def _check_playable(self, batch: Batch) -> None:
        for wrong, problem in (
            (batch.lengths == 0, "has no byte, and no stream can carry that"),
            (batch.port != self.port, f"is not of port {self.port}"),
        ):
            if wrong.any():
                raise ValueError(f"frame {int(np.argmax(wrong))} {problem}")

    def _marks(self, batch: Batch) -> UInt8:
        """uint8[n]: tuser[7:0] behind ingress."""
        control = self._written["nic.control"]
        disabled = np.where(batch.edge == Edge.HOST, not control >> 1 & 1, not control & 1)
        oversize = batch.lengths > self._written["nic.max_frame"]
        marked = disabled | oversize | (batch.bad != 0)
        if not marked.any():
            return np.zeros(len(batch), np.uint8)
        code = np.select(
            [disabled, oversize, batch.bad > 1], [Code.PORT_DISABLED, Code.OVERSIZE, batch.bad >> 1], Code.BAD_FRAME
        )
        return np.where(marked, code << 1 | 1, 0).astype(np.uint8)

    def _courses(self, batch: Batch) -> dict[Edge, _Course]:
        """The way of each edge's frames to its buffer. Kept for the batch and the registers that it was asked for last:
        a check asks several times."""
        if self._known is None or self._known[0] is not batch or self._known[1] != self._written:
            self._known = batch, dict(self._written), {edge: self._course(batch, edge) for edge in Edge}
        return self._known[2]

    def _course(self, batch: Batch, edge: Edge) -> _Course:
        index = np.flatnonzero(batch.edge == edge).astype(np.int64)
        frames = batch if len(index) == len(batch) else batch.select(index)
        limit = self._written["nic.max_frame"]
        kept = np.where(frames.lengths > limit, limit // BEAT_BYTES + 1, frames.beats)
        user: UInt16 = self._marks(frames).astype(np.uint16)
        cut, passages = _cut(frames, np.minimum(kept * BEAT_BYTES, frames.lengths)), []
        for stage in self._pipelines[edge].stages:
            passages.append(stage.take(cut, user, self._written))
            user = passages[-1].user
        return _Course(self._pipelines[edge], index, kept, tuple(passages))

    def play(self, batch: Batch) -> Outcome:
        """The frames one after the other, each alone in its direction: it enters, without gaps, when its time has come
        and the frame before it has left; nobody holds the outputs back. Counters and time move on. ValueError: as
        ``predict``."""
        prediction = self.predict(batch)
        n, beats = len(batch), batch.beats
        first_in, latency = np.zeros(n, np.int64), np.zeros(n, np.int64)
        delivered = prediction.code == Code.DELIVERED
        for edge, course in self._courses(batch).items():
            index = course.index
            if not len(index):
                continue
            latency[index] = course.latency
            taken = latency[index] + beats[index]
            before = np.cumsum(taken) - taken
            start = -(-batch.time_ns[index] // CYCLE_NS)
            first_in[index] = np.maximum.accumulate(start - before) + before
            most = np.max(beats[index], where=delivered[index], initial=0)
            self._peak[edge] = max(self._peak[edge], int(most))
        first_out = np.where(delivered, first_in + latency, -1)
        last_out = np.where(delivered, first_out + beats - 1, -1)
        cycles = int(np.max(first_in + latency + beats, initial=0))
        outcome = Outcome(
            frames=replace(prediction.frames, time_ns=first_out[prediction.source] * CYCLE_NS),
            source=prediction.source,
            code=prediction.code,
            queue=prediction.queue,
            latency_cycles=np.where(delivered, latency, -1),
            first_in=first_in,
            last_in=first_in + beats - 1,
            first_out=first_out,
            last_out=last_out,
            cycles=cycles,
            user=prediction.user,
        )
        to_host = prediction.frames.edge == Edge.HOST
        meta = np.zeros((len(to_host), META_WORDS), np.uint32)
        received = prediction.source[to_host]
        stamps = [self._time + self._written["nic.time_increment"] * int(at + 1) >> 32 for at in first_in[received]]
        meta[to_host] = self._meta(batch, outcome, received, self._counters, timestamp=np.array(stamps, np.uint64))
        outcome = replace(outcome, meta=meta)
        for name, value in self.expected_counters(batch, outcome).items():
            self._counters[name] = self._counters.get(name, 0) + value
        outcome.counters.update(self._counters)
        self.advance(cycles)
        return outcome

    def _meta(
        self, batch: Batch, outcome: Outcome, source: Int64, before: Mapping[str, int], **others: NDArray[Any]
    ) -> Words:
        """Metadata beside received frames ``source``, without ``timestamp`` unless it is among ``others``. Frames are
        numbered as they enter, from 0 after a reset; ``before``: the counters at the start of the play."""
        course = self._courses(batch)[Edge.WIRE]
        entered = course.index[pick(outcome.first_in, course.index) >= 0]
        number = np.arange(len(entered))
        if len(outcome.resets):
            epoch = _epochs(outcome, outcome.first_in[entered])
            number -= np.searchsorted(epoch, epoch, "left")
            number[epoch == 0] += before.get("rx_frames_in", 0)
        else:
            number += before.get("rx_frames_in", 0)
        seq = np.zeros(len(batch), np.uint16)
        seq[entered] = number & 0xFFFF
        port = np.full(len(source), self.port, np.uint8)
        return course.meta(course.place(source), seq=seq[source], port=port, **others)

    # -- what did happen ---------------------------------------------------------------------------------------------

    def check(self, batch: Batch, outcome: Outcome, before: Mapping[str, int] | None = None) -> list[Mismatch]:
        """Everything in which the outcome of a play differs from what must be, by frame; empty: nothing.

        The sum of ``check_frames``, ``check_timing`` and ``check_counters`` (``before``: see there). A target without
        cycles uses the first and the last.
        """
        found = self.check_frames(batch, outcome, before)
        if len(outcome) == len(batch):
            found += self.check_timing(batch, outcome) + self.check_counters(batch, outcome, before)
        return sorted(found, key=lambda mismatch: mismatch.frame)

    def check_frames(self, batch: Batch, outcome: Outcome, before: Mapping[str, int] | None = None) -> list[Mismatch]:
        """Codes, queues, the bytes, edges, ports, marks, metadata and order of the frames out, and the accounting sum.
        ``before``: as in ``check_counters``."""
        if len(outcome) != len(batch):
            return [Mismatch(-1, "frames in the outcome", len(batch), len(outcome))]
        found: list[Mismatch] = []
        observed, (expected, queue, _) = outcome.code, self._verdicts(batch)
        wire = batch.edge == Edge.WIRE
        lost = observed == Code.RESET
        allowed = observed == expected
        if not allowed.all():
            allowed |= lost & (len(outcome.resets) > 0)
            # A frame that the buffer could never hold is full or oversize, as the buffer sees it first.
            unfit = (expected == Code.OVERSIZE) & (batch.beats > self._depth[Edge.WIRE])
            allowed |= wire & (observed == Code.RX_BUFFER_FULL) & ((expected == Code.DELIVERED) | unfit)
        self._report(found, outcome, "code", ~allowed, expected, observed, _code_name)
        self._report(found, outcome, "queue", allowed & ~lost & (outcome.queue != queue), queue, outcome.queue)
        self._check_frames_out(batch, outcome, found)
        self._check_beside(batch, outcome, before or {}, found)
        self._check_sum(batch, outcome, found)
        return found

    def _report(
        self,
        found: list[Mismatch],
        outcome: Outcome,
        what: str,
        wrong: Bool,
        expected: Any,
        got: Any,
        show: Callable[[int], Any] = int,
        index: Int64 | None = None,
    ) -> None:
        """A Mismatch for each True in ``wrong``; expected and got: one value, or one an entry; index: frames in of the
        entries."""
        if not wrong.any():
            return
        shape = wrong.shape
        expected, got = np.broadcast_to(expected, shape), np.broadcast_to(got, shape)
        for i in np.flatnonzero(wrong):
            frame = int(i if index is None else index[i])
            cycle = -1
            if frame >= 0:
                cycle = int(max(outcome.first_in[frame], outcome.first_out[frame]))
            found.append(Mismatch(frame, what, show(int(expected[i])), show(int(got[i])), cycle))

    def _check_frames_out(self, batch: Batch, outcome: Outcome, found: list[Mismatch]) -> None:
        source = outcome.source
        known = np.flatnonzero(source >= 0)
        for j in np.flatnonzero(source < 0):
            edge = Edge(int(outcome.frames.edge[j])).name
            found.append(Mismatch(-1, f"frame out {j} ({edge}) without a frame in", "none", "one"))
        source = pick(source, known)
        times = np.bincount(source, minlength=len(batch))
        delivered = outcome.code == Code.DELIVERED
        self._report(found, outcome, "times it came out", times != delivered, delivered, times)
        frames = outcome.frames if len(known) == len(outcome.frames) else outcome.frames.select(known)
        edge_in, port_in = batch.edge, batch.port
        if not _counts_up(source, len(batch)):
            edge_in, port_in = edge_in[source], port_in[source]
        to_host = frames.edge == Edge.HOST
        for what, wrong, expected, got in (
            ("edge out", frames.edge != 1 - edge_in, 1 - edge_in, frames.edge),
            ("port out", frames.port != port_in, port_in, frames.port),
            ("bad mark out", frames.bad != 0, 0, frames.bad),
            ("queue of the frame out", to_host & (frames.queue != 0), 0, frames.queue),
        ):
            self._report(found, outcome, what, wrong, expected, got, index=source)
        for side in Edge:
            order = source[frames.edge == side]
            if _rises(order):
                continue
            latest = np.maximum.accumulate(order)
            late = np.flatnonzero(order[1:] < latest[:-1]) + 1
            for j in late:
                cycle = int(outcome.first_out[order[j]])
                text = f"before frame {latest[j - 1]}", f"behind frame {latest[j - 1]}"
                found.append(Mismatch(int(order[j]), "order", *text, cycle))
        self._check_bytes(batch, source, frames, outcome, found)

    def _check_beside(self, batch: Batch, outcome: Outcome, before: Mapping[str, int], found: list[Mismatch]) -> None:
        """What stands beside the frames to the host: tuser and the metadata, but for the time in it."""
        source = outcome.source
        at = np.flatnonzero((source >= 0) & (outcome.frames.edge == Edge.HOST))
        received = pick(source, at)
        came_in = batch.edge[received] == Edge.WIRE
        if not came_in.all():
            at, received = at[came_in], received[came_in]
        if len(outcome.user):
            course = self._courses(batch)[Edge.WIRE]
            user, came = course.user[course.place(received)], pick(outcome.user, at)
            self._report(found, outcome, "tuser", user != came, user, came, hex, received)
        if not len(outcome.meta):
            return
        expected, beside = self._meta(batch, outcome, received, before), pick(outcome.meta, at)
        difference = expected ^ beside
        difference &= _CHECKED
        if not difference.any():
            return
        wrong = difference.any(axis=1)
        for j in np.flatnonzero(wrong):
            frame = int(received[j])
            wanted, got = unpack(word_of(expected[j])), unpack(word_of(beside[j]))
            for name, value in wanted.items():
                if name != "timestamp" and value != got[name]:
                    cycle = int(outcome.first_out[frame])
                    found.append(Mismatch(frame, f"meta.{name}", f"{value:#x}", f"{got[name]:#x}", cycle))

    def _check_bytes(self, batch: Batch, source: Int64, frames: Batch, outcome: Outcome, found: list[Mismatch]) -> None:
        expected = batch if _counts_up(source, len(batch)) else batch.select(source)
        if np.array_equal(expected.offset, frames.offset) and np.array_equal(expected.data, frames.data):
            return
        same = expected.lengths == frames.lengths
        suspects = set(np.flatnonzero(~same).tolist())
        left, right = expected.select(same), frames.select(same)
        touched = np.searchsorted(left.offset, np.flatnonzero(left.data != right.data), "right") - 1
        suspects |= set(np.flatnonzero(same)[np.unique(touched)].tolist())
        for j in sorted(suspects):
            frame = int(source[j])
            cycle = int(outcome.first_out[frame])
            wanted, came = int(expected.lengths[j]), int(frames.lengths[j])
            if wanted != came:
                found.append(Mismatch(frame, "length", wanted, came, cycle))
            at = first_difference(expected.select([j]), frames.select([j]))
            if at is not None and at.left is not None and at.right is not None:
                beat = cycle + at.offset // BEAT_BYTES if cycle >= 0 else -1
                found.append(Mismatch(frame, f"byte {at.offset}", f"{at.left:#04x}", f"{at.right:#04x}", beat))

    def _check_sum(self, batch: Batch, outcome: Outcome, found: list[Mismatch]) -> None:
        """in + generated + copies = delivered + consumed + drops + in flight."""
        source = outcome.source
        generated = int(np.count_nonzero(source < 0))
        own = source if not generated else source[source >= 0]
        copies = len(own) - int(np.count_nonzero(np.bincount(own)))
        counts = np.bincount(outcome.code, minlength=256)
        consumed, drops, in_flight = int(counts[Code.CONSUMED]), int(counts[FIRST_DROP:].sum()), int(counts[Code.NONE])
        came, went = len(batch) + generated + copies, len(source) + consumed + drops + in_flight
        if came != went:
            left = f"{len(batch)} in + {generated} generated + {copies} copies = {came}"
            right = f"{len(source)} delivered + {consumed} consumed + {drops} dropped + {in_flight} in flight = {went}"
            found.append(Mismatch(-1, "accounting", left, right))

    def check_timing(self, batch: Batch, outcome: Outcome) -> list[Mismatch]:
        """Cycles: that they are possible at all, the exact cycle of each first beat out, latencies, and whether the
        buffer had room for what it took and none for what it dropped."""
        found: list[Mismatch] = []
        beats, code = batch.beats, outcome.code
        delivered, lost = code == Code.DELIVERED, code == Code.RESET
        first_in, last_in = outcome.first_in, outcome.last_in
        first_out, last_out = outcome.first_out, outcome.last_out
        out = first_out >= 0
        for what, wrong, expected, got in (
            ("first_in (it never entered)", ~lost & (first_in < 0), 0, first_in),
            ("last_in, at the earliest", ~lost & (first_in >= 0) & (last_in < first_in + beats - 1),
             first_in + beats - 1, last_in),
            ("first_out of a frame that is not delivered", out & ~delivered & ~lost, -1, first_out),
            ("first_out (it never came out)", ~out & delivered, 0, first_out),
            ("last_out, at the earliest", out & delivered & (last_out < first_out + beats - 1),
             first_out + beats - 1, last_out),
            ("cycles of the play, at least", np.maximum(last_in, last_out) >= outcome.cycles,
             np.maximum(last_in, last_out) + 1, outcome.cycles),
            ("latency_cycles", outcome.latency_cycles != np.where(delivered & out, first_out - first_in, -1),
             np.where(delivered & out, first_out - first_in, -1), outcome.latency_cycles),
        ):  # fmt: skip
            self._report(found, outcome, what, wrong, expected, got)
        if np.any(np.diff(outcome.resets) <= 0):
            found.append(Mismatch(-1, "resets", "rising cycles", outcome.resets.tolist()))
            return found
        for edge, course in self._courses(batch).items():
            if not len(course.index):
                continue
            lane = _Lane.of(batch, outcome, course)
            self._check_lane(lane, edge, outcome, found)
            if edge == Edge.WIRE and len(outcome.meta):
                self._check_timestamps(lane, outcome, found)
        return found

    def _check_lane(self, lane: _Lane, edge: Edge, outcome: Outcome, found: list[Mismatch]) -> None:
        depth, frames = self._depth[edge], self.buffer_frames

        def report(what: str, wrong: Bool, expected: Any, got: Any) -> None:
            self._report(found, outcome, what, wrong, expected, got, index=lane.index)

        if not len(lane.index):
            return
        cut = pick(outcome.last_in, lane.index) < 0
        end_in = np.where(cut, lane.first_in, lane.last_in)
        overlap = np.zeros(len(cut), np.bool_)
        overlap[1:] = lane.first_in[1:] <= np.maximum.accumulate(end_in)[:-1]
        report("first_in (the frame before is still entering)", overlap, np.append(-1, end_in[:-1]) + 1, lane.first_in)
        sent = lane.delivered
        chain = np.flatnonzero(sent)
        begins, ends = pick(lane.first_out, chain)[1:], pick(lane.last_out, chain)[:-1]
        if (begins <= ends).any():
            overlap, earliest = np.zeros(len(cut), np.bool_), np.zeros(len(cut), np.int64)
            overlap[chain[1:]], earliest[chain[1:]] = begins <= ends, ends + 1
            report("first_out (the frame before is still leaving)", overlap, earliest, lane.first_out)

        least, most = lane.expected_first_out()
        early, late = sent & (lane.first_out < least), sent & (lane.first_out > most)
        if edge == Edge.HOST and late.any():
            most = most + np.where(lane.disturbed(depth, frames), _STALL_SLACK, 0)
            late = sent & (lane.first_out > most)
        report("first_out", early | late, np.where(early, least, most), lane.first_out)
        if edge == Edge.WIRE:
            dropped = lane.code == Code.RX_BUFFER_FULL
            unneeded = dropped & ~lane.may_be_full(depth, frames) if dropped.any() else dropped
            for i in np.flatnonzero(unneeded):
                held = int(lane.held(lane.into.last + lane.pipeline.after)[1][i])
                text = f"room for {lane.beats[i]} beats beside at most {held} of {depth}"
                found.append(Mismatch(int(lane.index[i]), "drop for want of room", text, "RX_BUFFER_FULL",
                                      int(lane.first_in[i])))  # fmt: skip
            for i in np.flatnonzero(sent & lane.must_be_full(depth, frames)):
                held = int(lane.held(lane.into.latest)[0][i]) - lane.pipeline.elastic
                text = f"no room for {lane.beats[i]} beats beside at least {held} of {depth}"
                found.append(Mismatch(int(lane.index[i]), "delivery", text, "DELIVERED", int(lane.first_in[i])))
        self._check_lost(lane, outcome, found)

    def _check_timestamps(self, lane: _Lane, outcome: Outcome, found: list[Mismatch]) -> None:
        """The metadata's time is `now` when ingress took the first beat. Nobody knows the time at the play's start, but
        one such time must explain all the frames, up to each reset."""
        at = np.flatnonzero((outcome.source >= 0) & (outcome.frames.edge == Edge.HOST))
        source = pick(outcome.source, at)
        place = np.searchsorted(lane.index, source)
        known = place < len(lane.index)
        known[known] = lane.index[place[known]] == source[known]
        if not known.all():
            at, place = at[known], place[known]
        stamps, entry = field_of(pick(outcome.meta, at), "timestamp"), lane.entry[place]
        increment = self._written["nic.time_increment"]
        whole, fraction = increment >> 32, increment & 0xFFFF_FFFF
        epochs = lane.epoch[place]
        for epoch in np.unique(epochs) if len(outcome.resets) else epochs[:1]:
            chosen = np.flatnonzero(epochs == epoch)
            stamp, cycles = pick(stamps, chosen), pick(entry, chosen)
            cycles = cycles - cycles.min()
            start = (stamp - cycles.astype(np.uint64) * np.uint64(whole)).astype(np.int64)
            # In units of 2**-32 ns, seen from the median: the true start lies in (begin, begin + one ns] of each frame.
            begin = start - start[0] - cycles * fraction / 2**32
            if np.ptp(begin) < 1:
                continue
            begin = start - int(np.median(start)) - cycles * fraction / 2**32
            off = begin - np.median(begin)
            wrong = np.abs(off) >= 1
            if not wrong.any():
                wrong[np.argmax(np.abs(off))] = True
            expected = stamp.astype(np.int64) - np.round(off).astype(np.int64)
            self._report(found, outcome, "meta.timestamp", wrong, expected, stamp, index=lane.index[place[chosen]])

    def _check_lost(self, lane: _Lane, outcome: Outcome, found: list[Mismatch]) -> None:
        """A frame with code RESET was in the port when one came: none before the reset overtook it."""
        for i in np.flatnonzero(lane.code == Code.RESET):
            at = int(lane.epoch[i])
            if at >= len(outcome.resets):
                found.append(Mismatch(int(lane.index[i]), "reset while it was in the port", "one", "none",
                                      int(lane.first_in[i])))  # fmt: skip
                continue
            later = lane.delivered[i + 1 :] & (lane.epoch[i + 1 :] == at)
            if later.any():
                other = int(lane.index[i + 1 + int(np.argmax(later))])
                found.append(Mismatch(int(lane.index[i]), "lost at the reset", f"frame {other} behind it lost too",
                                      "that one delivered", int(lane.first_in[i])))  # fmt: skip

    def expected_counters(self, batch: Batch, outcome: Outcome) -> dict[str, int]:
        """What each counter counts in this play, by the device's own dispositions: since the last reset in it."""
        counters = self._zero_counters()
        last_reset = int(outcome.resets[-1]) if len(outcome.resets) else -1
        lengths = batch.lengths
        for edge, course in self._courses(batch).items():
            name = course.pipeline.name
            counted = (batch.edge == edge) & ((outcome.first_in > last_reset) | (last_reset < 0))
            at = np.flatnonzero(counted)
            out = np.flatnonzero(counted & (outcome.code == Code.DELIVERED))
            counters[f"{name}_frames_in"] = len(at)
            counters[f"{name}_bytes_in"] = int(pick(lengths, at).sum())
            counters[f"{name}_frames_out"] = len(out)
            counters[f"{name}_bytes_out"] = int(pick(lengths, out).sum())
            codes = np.bincount(pick(outcome.code, at), minlength=256)
            for code in np.flatnonzero(codes):
                if code != Code.NONE:
                    counters[f"{name}_disposition.{_code_name(int(code))}"] = int(codes[code])
            counted = pick(counted, course.index)
            for counter, hits in course.counts().items():
                counters[counter] = int(np.count_nonzero(hits & counted))
        return counters

    def check_counters(self, batch: Batch, outcome: Outcome, before: Mapping[str, int] | None = None) -> list[Mismatch]:
        """The counters that the device has read, against what it reported of each frame. ``before``: their values at
        the start of the play, where these were not 0 (a reset in the play clears them). Names that aren't the model's
        are left alone, unless they name a disposition: that must be 0."""
        expected = self.expected_counters(batch, outcome)
        start = before if before is not None and not len(outcome.resets) else {}
        found = []
        for name, got in sorted(outcome.counters.items()):
            if name not in expected and "_disposition." not in name:
                continue
            wanted = expected.get(name, 0) + start.get(name, 0)
            if got != wanted:
                found.append(Mismatch(-1, f"counter {name}", wanted, got))
        return found

    @staticmethod
    def _zero_counters() -> dict[str, int]:
        return dict.fromkeys(COUNTERS, 0)


_CHECKED = ~words_of([pack({"timestamp": (1 << 64) - 1})])[0]
"""Bits of the metadata that the model knows beforehand."""


def _cut(frames: Batch, lengths: Int64) -> Batch:
    """The frames' first bytes, as many as ``lengths`` says."""
    if np.array_equal(frames.lengths, lengths):
        return frames
    place = np.arange(len(frames.data)) - np.repeat(frames.offset[:-1], frames.lengths)
    return Batch.of_arrays(frames.data[place < np.repeat(lengths, frames.lengths)], lengths, edge=frames.edge)


def _counts_up(index: Int64, n: int) -> bool:
    """True of 0, 1, ..., n - 1."""
    return len(index) == n and (not n or bool(index[0] == 0)) and _rises(index) and (not n or bool(index[-1] == n - 1))


def _rises(index: Int64) -> bool:
    """True where each is greater than the one before it."""
    return not (index[1:] <= index[:-1]).any()


def _epochs(outcome: Outcome, first_in: Int64) -> Int64:
    """int64[n]: resets before these cycles."""
    if not len(outcome.resets):
        return np.zeros(len(first_in), np.int64)
    return np.searchsorted(outcome.resets, first_in, "left").astype(np.int64)


def _code_name(code: int) -> str:
    """Name of a disposition code, its number where it has none."""
    return Code(code).name if code in _CODES else str(code)
