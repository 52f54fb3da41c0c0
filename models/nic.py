"""The golden model of ``nic_port``: what must become of every frame, and in which cycle.

Source: docs/architecture.md, section 4 (stages, order of precedence, registers), and the pages of the blocks. The port
decides by a frame's length, its bad mark, its headers, a few registers, the ACL's rules and IPsec's SAs. What it
passes, it passes unchanged, but for ESP and a DSCP that a rule marks, to the other edge or, redirected, to the one
where it came in, to the host with the metadata beside it. Some things hang on timing and can't be told beforehand:
whether ``rx_buffer`` had room or that of a mirror, what was in flight at a reset, and the port's time, by which meters
go. These are taken from the device and held against bounds that its own cycles give.

| module | what |
| --- | --- |
| models/nic_pipeline.py | the stages and buffers of each direction, names of the counters |
| models/nic_stages.py, models/nic_acl.py, models/nic_ipsec.py | what stands in a pipeline |
| models/nic_lane.py | frames of one edge, with and without a device's cycles |
| models/nic_meters.py | colours of metered frames, the port's time |
| models/nic_played.py | a play as the model sees it |
| models/nic_check.py, models/nic_timing.py, models/nic_counters.py | what is held against the model |
| models/nic_wire.py | what is otherwise where the wire is XGMII |
| models/nic_report.py | differences |
| models/nic_reference.py | the rules a frame at a time, which tests prove equal to the above |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from models.config import IpsecConfig, NicConfig
from models.frames import BEAT_BYTES, Batch, Edge, Int64, Outcome, UInt8
from models.meta import META_WORDS, Code
from models.nic_acl import AclStage
from models.nic_check import FramesCheck, codes_of, meta_of, queues_of
from models.nic_counters import check_counters, expected_counters, zero_counters
from models.nic_ipsec import IpsecStage, Slot, slot_of
from models.nic_lane import Course
from models.nic_meters import Banks, Clock, full
from models.nic_pipeline import COUNTERS, CYCLE_NS, INGRESS_CYCLES, IPSEC_COUNTERS, RX, TX, Pipeline, direction_of
from models.nic_played import Played, changed_bytes, copied_bytes, played
from models.nic_reference import reference_code, reference_first_out, reference_held
from models.nic_report import Mismatch, Report, code_name
from models.nic_stages import Arrival, Bool, ParserStage, UInt16
from models.nic_timing import TimingCheck
from models.nic_wire import padded, received
from models.port_map import PORT
from models.registers import Access, Register

__all__ = [
    "COUNTERS",
    "CYCLE_NS",
    "INGRESS_CYCLES",
    "IPSEC_COUNTERS",
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

_BUFFERS = {"rx_buffer": Edge.WIRE, "tx_sched": Edge.HOST}
_SLOTS = ("acl_rx", "acl_tx")
_NO_MAC = ("mac_rx", "mac_tx")
"""The port's wire is a stream here (MAC_EN 0): of these there is ``id`` alone."""
_IPSEC_SLOTS = ("ipsec_rx", "ipsec_tx", "parser_inner")
"""With ``ipsec`` False likewise."""
_SLOT_NAMES = {Edge.WIRE: "ipsec_rx", Edge.HOST: "ipsec_tx"}

Slots = Mapping[Edge, Slot]
"""The slots of IPsec by the edge at which their frames come in; none where they are left out."""


class AddressError(LookupError):
    """There is no register at this address: the port answers DECERR."""

    def __init__(self, address: int) -> None:
        super().__init__(f"no register at address {address:#07x}")
        self.address = address


@dataclass(frozen=True)
class Prediction:
    """What must become of a batch of n frames, m of which come out: ``code`` and ``queue`` uint8[n], ``source``
    int64[m] (index of each frame out; those of one edge in order), ``frames``, the frames out, ``user`` uint16[m],
    tuser beside their last beat, and ``copy`` bool[m], which are a mirror's copies."""

    code: UInt8
    queue: UInt8
    source: Int64
    frames: Batch
    user: UInt16
    copy: Bool


@dataclass(frozen=True)
class _Alone:
    """Frames that are alone in the port: their courses with the colours that their times give, the meters behind them,
    and when they go in and come out; ``copied``: when the first beat of a copy comes out, -1: there is none."""

    courses: Mapping[Edge, Course]
    banks: Banks
    code: UInt8
    first_in: Int64
    first_out: Int64
    copied: Int64
    cycles: int


class NicPortModel:
    """One port: its registers, and what it does with frames.

    ``config`` programs it (None: reset values, no rules); ``port`` is its number. The rest are the RTL's parameters
    ``RX_BUFFER_BEATS``, ``TX_BUFFER_BEATS``, ``BUFFER_FRAMES``, ``PARSE_BYTES``, ``TUNNEL_EN``, ``ACL_RULES`` and
    ``ACL_METERS``, of which the last two are only told of. ``xgmii``: the wire is XGMII (models/nic_wire.py); then only
    checks are asked for, no predictions. ``ipsec``: the RTL's ``IPSEC_EN``; None: 1 where the configuration has
    something for it. ValueError: a ``parse_bytes`` that ``ParserModel`` refuses.

    **Meters** keep what is in their buckets from play to play. A check goes by what was in them before the play and
    changes nothing, however often it is asked; ``commit`` says that the play was the last one, and the next goes by
    what was in them after it. A model that never was told so, and checks a play of a port that has had frames
    (``before``), doesn't know, and leaves colours unjudged.

    **SAs** keep windows, numbers and counts in the same way. A port with SAs that is reset in a play isn't followed.
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
        acl_rules: int = 1024,
        acl_meters: int = 256,
        xgmii: bool = False,
        ipsec: bool | None = None,
    ) -> None:
        self.port = port
        self.xgmii = xgmii
        self.buffer_frames = buffer_frames
        programmed = (config or NicConfig()).ports[port]
        self._rules = {Edge.WIRE: programmed.acl_rx, Edge.HOST: programmed.acl_tx}
        if ipsec is None:
            ipsec = programmed.ipsec is not None
        self._left_out = _NO_MAC if ipsec else (*_NO_MAC, *_IPSEC_SLOTS)
        self.ipsec: IpsecConfig | None = (programmed.ipsec or IpsecConfig()) if ipsec else None
        self._pipelines = {
            edge: direction_of(edge, parse_bytes, tunnel, self._rules[edge], port, self.ipsec) for edge in Edge
        }
        self._slots: Slots = {}
        if self.ipsec is not None:
            self._slots = {edge: slot_of(name, self.ipsec) for edge, name in _SLOT_NAMES.items()}
        self._depth = {Edge.WIRE: rx_buffer_beats, Edge.HOST: tx_buffer_beats}
        self._size = {"rules": acl_rules, "meters": acl_meters, "ipv6": 1, "tunnel": int(tunnel)}
        self._written = dict(programmed.registers())
        self._counters = zero_counters() | (dict.fromkeys(IPSEC_COUNTERS, 0) if ipsec else {})
        self._high: dict[str, int] = {}
        self._time = 0
        self._peak = {Edge.WIRE: 0, Edge.HOST: 0}
        self._banks: Banks = {edge: () if rules is None else full(rules) for edge, rules in self._rules.items()}
        self._committed: tuple[Outcome, Banks, Slots] | None = None
        self._arrived: tuple[Batch, Batch, Batch] | None = None
        self._known: tuple[Batch, dict[str, int], Slots, dict[Edge, Course]] | None = None
        self._seen: tuple[Outcome, dict[Edge, Course], Banks, Played] | None = None

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
        instance, _, name = found[0].name.partition(".")
        if instance in self._left_out and name != "id":
            raise AddressError(address)
        return found

    def _value(self, register: Register) -> int:
        """Nothing is ever under way between plays: the port is idle and its buffers are empty."""
        instance, _, name = register.name.partition(".")
        if instance in _BUFFERS and name in ("level", "peak"):
            return self._peak[_BUFFERS[instance]] if name == "peak" else 0
        if instance in self._left_out:
            return register.encode({"version": 0, "state": 1}, register.reset)
        if instance in _SLOTS and name == "size":
            return register.encode(self._size, 0)
        if instance in _SLOT_NAMES.values() and name == "size":
            return register.encode({"sas": 256, "tx": int(instance == "ipsec_tx"), "sm4": 1}, 0)
        if instance in _SLOTS and name == "status":
            return register.encode({"settled": 1}, 0)
        if register.name == "nic.status":
            return register.encode({"idle": 1, "ready": 1})
        if register.name == "nic.now":
            return self.now_ns
        if instance == "nic" and name in self._counters:
            return self._counters[name]
        if register.name in self._counters:
            return self._counters[register.name]
        table, _, code = name.partition("[")
        if table.endswith("_disposition"):
            return self._counters.get(f"{table}.{code_name(int(code[:-1]))}", 0)
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
            if isinstance(stage, (ParserStage, AclStage, IpsecStage))
        }

    def first_out_cycle(self, edge: int, frame: bytes, first_in: int, previous_last_out: int) -> int:
        """Cycle in which the frame's first beat comes out where it has the port's front to itself and comes without
        gaps: ``first_in`` is the cycle of its first beat in, ``previous_last_out`` that of the last beat out of the
        frame delivered before it (-1: there was none)."""
        return max(first_in + self.latency_cycles(edge, frame), previous_last_out + 1)

    def predict(self, batch: Batch) -> Prediction:
        """What must become of the frames where nothing is reset and the buffers always have room, if they are played
        one after the other from now on (colours of metered frames hang on their times). ValueError: a frame without a
        byte, or of another port."""
        self._check_playable(batch)
        return self._prediction(batch, self._alone(batch))

    def _prediction(self, batch: Batch, alone: _Alone) -> Prediction:
        code, queue = alone.code, queues_of(batch, alone.courses)
        main = np.flatnonzero(code == Code.DELIVERED).astype(np.int64)
        copied = np.flatnonzero(alone.copied >= 0).astype(np.int64)
        source, copy = main, np.zeros(len(main), np.bool_)
        if len(copied):
            # In the order in which they come out.
            source, copy = np.concatenate([main, copied]), np.repeat([False, True], [len(main), len(copied)])
            order = np.argsort(np.concatenate([alone.first_out[main], alone.copied[copied]]), kind="stable")
            source, copy = source[order], copy[order]
        passed = changed_bytes(batch, alone.courses).select(source)
        if len(copied):
            copies = copied_bytes(batch, alone.courses).select(source)
            order = np.where(copy, len(passed), 0) + np.arange(len(passed))
            passed = Batch.concat([passed, copies]).select(order)
        edge, user = (1 - batch.edge).astype(np.uint8), np.zeros(len(batch), np.uint16)
        user_of_copy, queue_of_copy = user.copy(), np.zeros(len(batch), np.uint8)
        for side, course in alone.courses.items():
            user[course.index], user_of_copy[course.index] = course.user, course.acl.come.user
            if course.acl.redirect is not None:
                edge[course.index[course.acl.redirect]] = side
            if course.acl.mirror is not None:
                queue_of_copy[course.index] = np.maximum(course.acl.mirror, 0)
        edge_out = np.where(copy, np.uint8(Edge.HOST), edge[source])
        frames = Batch(
            data=passed.data,
            offset=passed.offset,
            port=passed.port,
            edge=edge_out,
            time_ns=np.where(copy, alone.copied[source], alone.first_out[source]) * CYCLE_NS,
            queue=np.where(edge_out == Edge.HOST, np.where(copy, queue_of_copy[source], queue[source]), 0).astype(
                np.uint8
            ),
            bad=np.zeros(len(passed), np.uint8),
            flags=np.zeros(len(passed), np.uint8),
        )
        return Prediction(code, queue, source, frames, np.where(copy, user_of_copy[source], user[source]), copy)

    def _alone(self, batch: Batch) -> _Alone:
        """Each direction by itself, a frame when the one before it has left; where outputs are shared, all frames one
        after the other."""
        n = len(batch)
        latency, copied = np.zeros(n, np.int64), np.full(n, -1, np.int64)
        courses = self._courses(batch)
        # The longest of what a frame is: as it came, as a mirror copies it, as it leaves.
        beats = np.maximum(batch.beats, changed_bytes(batch, courses).beats)
        beats_of_copy = copied_bytes(batch, courses).beats
        beats = np.maximum(beats, beats_of_copy)
        shared = False
        for course in courses.values():
            index, acl = course.index, course.acl
            latency[index] = course.latency
            shared |= acl.redirect is not None or acl.mirror is not None
            if acl.mirror is not None:
                copied[index] = np.where(acl.mirror >= 0, course.latency_of_copies, -1)
        has_copy = copied >= 0
        if has_copy.any():
            # A frame that comes to the host beside its copy comes behind it.
            at_host = batch.edge == Edge.WIRE
            for edge, course in courses.items():
                if course.acl.redirect is not None:
                    at_host[course.index[course.acl.redirect]] = edge == Edge.HOST
            latency = np.where(has_copy & at_host, np.maximum(latency, copied + beats_of_copy), latency)
        taken = np.maximum(latency, copied) + beats
        start = -(-batch.time_ns // CYCLE_NS)
        first_in = np.zeros(n, np.int64)
        for index in [np.arange(n)] if shared else [course.index for course in courses.values()]:
            before = np.cumsum(taken[index]) - taken[index]
            first_in[index] = np.maximum.accumulate(start[index] - before) + before
        coloured, banks = self._coloured(batch, courses, first_in)
        code = codes_of(batch, coloured, self._depth)
        return _Alone(
            courses=coloured,
            banks=banks,
            code=code,
            first_in=first_in,
            first_out=np.where(code == Code.DELIVERED, first_in + latency, -1),
            copied=np.where(has_copy, first_in + copied, -1),
            cycles=int(np.max(first_in + taken, initial=0)),
        )

    def _coloured(
        self, batch: Batch, courses: Mapping[Edge, Course], first_in: Int64
    ) -> tuple[Mapping[Edge, Course], Banks]:
        """The courses of frames that go in alone in these cycles, from now on."""
        if all(course.acl.meter is None for course in courses.values()):
            return courses, self._banks
        n = len(batch)
        nothing = np.full(n, -1, np.int64)
        # Each is gone before the next one comes: none stands in a buffer.
        ended = np.full(n, Code.CONSUMED, np.uint8)
        outcome = Outcome(
            Batch.empty(), np.zeros(0, np.int64), ended, np.zeros(n, np.uint8), nothing,
            first_in, first_in + batch.beats - 1, nothing, nothing, cycles=0, now=self._time,
        )  # fmt: skip
        play = self._judge(batch, outcome, courses, self._banks)
        return play.courses, play.banks

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

    def _courses(self, batch: Batch, slots: Slots | None = None) -> dict[Edge, Course]:
        """The way of each edge's frames to its buffer, with all that is metered green; ``slots``: those of IPsec as the
        frames before left them, None: as they are now. Kept for the batch, the registers and the slots that it was
        asked for last: a check asks several times."""
        slots = self._slots if slots is None else slots
        known = self._known
        if known is None or known[0] is not batch or known[1] != self._written or known[2] is not slots:
            self._check_playable(batch)
            courses = {edge: self._course(batch, edge, slots) for edge in Edge}
            self._known = known = batch, dict(self._written), slots, courses
        return known[3]

    def _course(self, batch: Batch, edge: Edge, slots: Slots) -> Course:
        index = np.flatnonzero(batch.edge == edge).astype(np.int64)
        frames = batch if len(index) == len(batch) else batch.select(index)
        limit = self._written["nic.max_frame"]
        kept = np.where(frames.lengths > limit, limit // BEAT_BYTES + 1, frames.beats)
        user: UInt16 = self._marks(frames).astype(np.uint16)
        n = len(index)
        entry = {"port": np.full(n, self.port, np.uint8), "queue": np.zeros(n, np.uint8)}
        if edge == Edge.HOST:
            entry |= {"queue": frames.queue, "direction": np.ones(n, np.uint8)}
        come = Arrival(_cut(frames, np.minimum(kept * BEAT_BYTES, frames.lengths)), user, entry)
        return Course.of(self._pipeline(edge, slots), index, kept, come, self._written)

    def _pipeline(self, edge: Edge, slots: Slots) -> Pipeline:
        """The pipeline with its slot of IPsec as the frames before left it."""
        way = self._pipelines[edge]
        if self.ipsec is None:
            return way
        slot = slots[edge]
        stages = (replace(stage, slot=slot) if isinstance(stage, IpsecStage) else stage for stage in way.stages)
        return replace(way, stages=tuple(stages))

    def play(self, batch: Batch) -> Outcome:
        """The frames one after the other, each alone in its direction, or in the port where frames are redirected or
        mirrored: it enters, without gaps, when its time has come and the frame before it has left; nobody holds the
        outputs back. Counters and time move on. ValueError: as ``predict``."""
        self._check_playable(batch)
        alone = self._alone(batch)
        prediction = self._prediction(batch, alone)
        beats, first_in, first_out = batch.beats, alone.first_in, alone.first_out
        delivered = prediction.code == Code.DELIVERED
        sent = changed_bytes(batch, alone.courses).beats
        begun = prediction.frames.time_ns // CYCLE_NS
        outcome = Outcome(
            frames=prediction.frames,
            source=prediction.source,
            code=prediction.code,
            queue=prediction.queue,
            latency_cycles=np.where(delivered, first_out - first_in, -1),
            first_in=first_in,
            last_in=first_in + beats - 1,
            first_out=first_out,
            last_out=np.where(delivered, first_out + sent - 1, -1),
            cycles=alone.cycles,
            user=prediction.user,
            now=self._time,
            begun=begun,
            ended=begun + prediction.frames.beats - 1,
        )
        meta = np.zeros((len(prediction.source), META_WORDS), np.uint32)
        stamps = Clock(self._time, self._written["nic.time_increment"]).stamps(first_in + 1)
        for edge, course in alone.courses.items():
            here = (prediction.frames.edge == Edge.HOST) & (batch.edge[prediction.source] == edge)
            for copies in (False, True):
                at = np.flatnonzero(here & (prediction.copy == copies))
                if len(at):
                    source = prediction.source[at]
                    meta[at] = meta_of(course, outcome, source, self._counters, copies, timestamp=stamps[source])
            most = np.max(sent[course.index], where=delivered[course.index], initial=0)
            self._peak[edge] = max(self._peak[edge], int(most))
        outcome = replace(outcome, meta=meta)
        self._committed = outcome, self._banks, self._slots
        self._banks, self._slots = alone.banks, _slots_behind(alone.courses)
        for name, value in self.expected_counters(batch, outcome).items():
            self._counters[name] = self._counters.get(name, 0) + value
        outcome.counters.update(self._counters)
        self.advance(alone.cycles)
        return outcome

    # -- what did happen ---------------------------------------------------------------------------------------------

    def check(self, batch: Batch, outcome: Outcome, before: Mapping[str, int] | None = None) -> list[Mismatch]:
        """Everything in which the outcome of a play differs from what must be, by frame; empty: nothing.

        The sum of ``check_frames``, ``check_timing`` and ``check_counters`` (``before``: see there). A target without
        cycles uses the first and the last.
        """
        found = self.check_frames(batch, outcome, before)
        if len(outcome) == len(batch):
            found += self.check_timing(batch, outcome, before) + self.check_counters(batch, outcome, before)
        return sorted(found, key=lambda mismatch: mismatch.frame)

    def commit(self, batch: Batch, outcome: Outcome, before: Mapping[str, int] | None = None) -> None:
        """The play is over and another may follow: what is in the meters is what it left there. Once a play, in their
        order; a second time does nothing, and a check of this outcome goes on to say the same. ``before``: as in
        ``check``."""
        if self._committed is not None and self._committed[0] is outcome:
            return
        play = self._played(batch, outcome, before)
        self._committed = outcome, self._banks_before(outcome, before), self._slots
        self._banks, self._slots = play.banks, _slots_behind(play.courses)

    def check_frames(self, batch: Batch, outcome: Outcome, before: Mapping[str, int] | None = None) -> list[Mismatch]:
        """Codes, queues, the bytes, edges, ports, marks, metadata and order of the frames out, copies, and the
        accounting sum. ``before``: the counters at the start of the play, where these were not 0."""
        if len(outcome) != len(batch):
            return [Mismatch(-1, "frames in the outcome", len(batch), len(outcome))]
        report = Report(outcome)
        FramesCheck(self._played(batch, outcome, before), report, self._depth, before or {}).run()
        return report.found

    def check_timing(self, batch: Batch, outcome: Outcome, before: Mapping[str, int] | None = None) -> list[Mismatch]:
        """Cycles: that they are possible at all, the exact cycle of each first beat out, latencies, and whether the
        buffers had room for what they took and none for what they dropped. ``before``: as in ``check_frames``."""
        report, increment = Report(outcome), self._written["nic.time_increment"]
        play = self._played(batch, outcome, before)
        TimingCheck(play, report, self._depth, self.buffer_frames, increment).run()
        return report.found

    def expected_counters(
        self, batch: Batch, outcome: Outcome, before: Mapping[str, int] | None = None
    ) -> dict[str, int]:
        """What each counter counts in this play, by the device's own dispositions: since the last reset in it."""
        return expected_counters(self._played(batch, outcome, before))

    def check_counters(self, batch: Batch, outcome: Outcome, before: Mapping[str, int] | None = None) -> list[Mismatch]:
        """The counters that the device has read, against what it reported of each frame. ``before``: their values at
        the start of the play, where these were not 0 (a reset in the play clears them). Names that aren't the model's
        are left alone, unless they name a disposition or a rule: those must be 0."""
        report = Report(outcome)
        check_counters(self._played(batch, outcome, before), before, report)
        return report.found

    def _banks_before(self, outcome: Outcome, before: Mapping[str, int] | None) -> Banks:
        """What was in the meters at the start of this play."""
        if self._committed is None:
            used = {edge: (before or {}).get(f"{way.name}_frames_in", 0) > 0 for edge, way in self._pipelines.items()}
            return {edge: None if used[edge] and bank else bank for edge, bank in self._banks.items()}
        return self._committed[1] if self._committed[0] is outcome else self._banks

    def _slots_before(self, outcome: Outcome) -> Slots:
        """The slots of IPsec at the start of this play. ValueError: the port was reset in it and has SAs, of which
        nobody knows what frames did to them before and behind it."""
        if self.ipsec is not None and (self.ipsec.rx or self.ipsec.tx) and len(outcome.resets):
            raise ValueError("a play with resets of a port with SAs: the model doesn't follow it")
        if self._committed is not None and self._committed[0] is outcome:
            return self._committed[2]
        return self._slots

    def _played(self, batch: Batch, outcome: Outcome, before: Mapping[str, int] | None) -> Played:
        """Kept for what was asked for last, as ``_courses``."""
        sent, batch = self._of_wire(batch)
        courses, banks = self._courses(batch, self._slots_before(outcome)), self._banks_before(outcome, before)
        seen = self._seen
        if seen is None or seen[0] is not outcome or seen[1] is not courses or seen[2] != banks:
            self._seen = seen = outcome, courses, banks, self._judge(batch, outcome, courses, banks, sent)
        return seen[3]

    def _of_wire(self, batch: Batch) -> tuple[Batch | None, Batch]:
        """Where the wire is XGMII, the frames as they are there, and as the MAC hands them on; else None, and as they
        are. Kept for the batch that it was asked for last."""
        if not self.xgmii:
            return None, batch
        if self._arrived is None or self._arrived[0] is not batch:
            sent = padded(batch)
            self._arrived = batch, sent, received(sent)
        return self._arrived[1], self._arrived[2]

    def played(self, batch: Batch, outcome: Outcome, before: Mapping[str, int] | None = None) -> Played:
        """What became of the frames of a play, and what each frame out is: what ``check`` goes by."""
        return self._played(batch, outcome, before)

    def _judge(
        self, batch: Batch, outcome: Outcome, courses: Mapping[Edge, Course], banks: Banks, sent: Batch | None = None
    ) -> Played:
        increment = self._written["nic.time_increment"]
        return played(batch, outcome, courses, banks, increment, self._depth, self.buffer_frames, sent)


def _slots_behind(courses: Mapping[Edge, Course]) -> Slots:
    """The slots of IPsec behind the frames of these courses."""
    return {edge: course.ipsec.slot for edge, course in courses.items() if course.ipsec is not None}


def _cut(frames: Batch, lengths: Int64) -> Batch:
    """The frames' first bytes, as many as ``lengths`` says."""
    if np.array_equal(frames.lengths, lengths):
        return frames
    place = np.arange(len(frames.data)) - np.repeat(frames.offset[:-1], frames.lengths)
    return Batch.of_arrays(frames.data[place < np.repeat(lengths, frames.lengths)], lengths, edge=frames.edge)
