"""What the benches of the ACL's slot share: agents, register bus, the books of frames, copies and counters.

What must become of a frame comes from ``models/acl.py`` and what docs/acl.md says of streams and metadata; when it
leaves comes from ``times_of``, the page's section "Time". ``$NICLOOP_RULES``, ``$NICLOOP_TUNNEL`` and ``$NICLOOP_IPV6``
are the design's parameters.
"""

from __future__ import annotations

import os
from collections import Counter as Multiset
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from cocotb.types import Logic

from models.acl import AclModel, Judgement, RuleSet, Verdict, first_match, mark_dscp
from models.acl_meter import Colour
from models.meta import FIELDS, META_W, Code, pack, unpack
from models.parser import ParserModel
from models.port_map import PORT
from tb.acl.designs import PORT_ID
from tb.acl.driver import AclDriver
from tb.lib import cover
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.pause import PAUSES
from tb.lib.protocol import ProtocolChecker
from tb.lib.suite import four_state, seeded
from tb.registers.map import read_register

__all__ = [
    "COUNTERS",
    "IPV6",
    "PORT_ID",
    "RULES",
    "SLOT",
    "TUNNEL",
    "Expected",
    "Flight",
    "MirrorMonitor",
    "SlotBench",
    "SlotBus",
    "Times",
    "acl_test",
    "times_of",
]

RULES = int(os.environ["NICLOOP_RULES"])
TUNNEL = os.environ["NICLOOP_TUNNEL"] == "1"
IPV6 = os.environ["NICLOOP_IPV6"] == "1"

SLOT = "acl_rx"
BASE = PORT[f"{SLOT}.id"].address
NO_RULE = 65535
COUNTERS = (
    "judged",
    "unjudged",
    "denied",
    "policed",
    "no_port",
    "mirrored",
    "redirected",
    "metered_green",
    "metered_yellow",
    "metered_red",
)
"""Registers that count frames; ``mirror_dropped`` counts what happens behind the slot."""
READ_FIELDS = tuple(f.name for f in FIELDS if "acl" in f.readers)
_INNER_FIELDS = tuple(name for name in READ_FIELDS if name.startswith("inner_") or name == "tunnel_kind")
_ONE = Logic("1")

_actions = cover.point(
    "acl.action",
    [
        "permit",
        "deny",
        "queue",
        "mirror",
        "mirror_denied",
        "mirror_policed",
        "redirect",
        "no_port",
        "priority",
        "mark_ipv4",
        "mark_ipv6",
        "mark_nothing",
        "green",
        "yellow",
        "yellow_marked",
        "red",
        "protect",
        "default_permit",
        "default_deny",
        "bad",
    ],
)
_pauses = cover.cross("acl.pauses", list(PAUSES), list(PAUSES))


def acl_test(ms: int = 20) -> Any:
    """A cocotb test that fails when it hangs, after ``ms`` of simulated time (250 000 cycles a ms)."""
    return cocotb.test(timeout_time=ms, timeout_unit="ms")


# Time


@dataclass(frozen=True)
class Times:
    """Cycles of one frame, as docs/acl.md names them. paced: it is metered, or came in bad under a rule that meters."""

    key: int
    turn: int
    out: int
    last: int
    lookups: int
    paced: bool


def times_of(first: int, end: int, beats: int, lookups: int, paced: bool, before: Times | None) -> Times:
    """When a frame leaves whose first beat came in cycle ``first`` and its last in ``end``, if nobody holds it up."""
    key = first + 1
    if before is not None:
        key = max(key, before.key + 4 * before.lookups)
    turn = key + 4 * (lookups - 1) + 11
    if paced:
        turn = max(turn, end + 1)
    if before is not None:
        step = {(True, True): 4, (True, False): 7}.get((before.paced, paced), 1)
        turn = max(turn, before.turn + step)
    out = (turn + 7 if paced else turn) + 1
    if before is not None:
        out = max(out, before.last + 1)
    return Times(key, turn, out, max(out + beats - 1, end + 3), lookups, paced)


# Ports


class SlotBus:
    """The register port as a bus of the port's addresses."""

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self._edge, self._answer = RisingEdge(dut.clk), RisingEdge(dut.reg_ack)
        self.asked = self.answered = 0
        """Cycles of the last access: the first with ``reg_req``, that of ``reg_ack``."""
        dut.reg_req.value = dut.reg_write.value = 0
        dut.reg_addr.value = dut.reg_wdata.value = dut.reg_wstrb.value = 0

    async def access(self, address: int, value: int | None) -> tuple[int, bool]:
        """One access: what came, and whether there is no register."""
        dut = self._dut
        dut.reg_addr.value = (address - BASE) & 0x3FFF
        dut.reg_write.value = int(value is not None)
        dut.reg_wdata.value = value or 0
        dut.reg_wstrb.value = 15
        dut.reg_req.value = 1
        await self._edge
        self.asked = cycle(dut.clk)
        while dut.reg_ack.value != _ONE:
            # What rises may fall again before the edge.
            await self._answer
            await self._edge
        self.answered = cycle(dut.clk)
        found, error = (int(dut.reg_rdata.value) if value is None else 0), dut.reg_error.value == _ONE
        dut.reg_req.value = 0
        await self._edge
        return found, error

    async def read(self, address: int) -> int:
        value, error = await self.access(address, None)
        assert not error, f"no register at {address:#x}"
        return value

    async def write(self, address: int, value: int) -> None:
        _, error = await self.access(address, value)
        assert not error, f"no register at {address:#x}"


class MirrorMonitor:
    """Gathers the copies: a stream that nobody can hold back. Of bad ones the buffer behind makes none."""

    def __init__(self, dut: Any, prefix: str = "m_axis_mirror") -> None:
        self._dut = dut
        self._signals = {n: getattr(dut, f"{prefix}_{n}") for n in ("tdata", "tkeep", "tlast", "tuser", "meta")}
        self._valid = getattr(dut, f"{prefix}_tvalid")
        self.clear()
        self._task = cocotb.start_soon(self._run())

    def clear(self) -> None:
        """Forget all."""
        self.frames: list[AxisFrame] = []
        self.data = b""
        self._meta = 0

    def _int(self, name: str, bits: int | None = None) -> int:
        text = str(self._signals[name].value)
        text = text if bits is None else text[len(text) - bits :]
        assert not text.strip("01"), f"{name} of a copy is {text}"
        return int(text, 2)

    async def _run(self) -> None:
        edge, rise = RisingEdge(self._dut.clk), RisingEdge(self._valid)
        while True:
            await edge
            if self._valid.value != _ONE:
                await rise
                continue
            if self._dut.rst.value == _ONE:
                continue
            if not self.data:
                self._meta = self._int("meta")
            keep = self._int("tkeep")
            size = keep.bit_length()
            last = self._int("tlast")
            assert keep == (1 << size) - 1 and (last or size == 16), f"tkeep of a copy is {keep:#x}"
            self.data += self._int("tdata", 8 * size).to_bytes(size, "little")
            if last:
                self.frames.append(AxisFrame(self.data, self._int("tuser"), self._meta))
                self.data = b""


# Frames


@dataclass
class Flight:
    """A frame on its way: what is sent, and its fields that the engine reads."""

    sent: AxisFrame
    fields: dict[str, int]
    cycles: Times | None = None

    @property
    def came_bad(self) -> bool:
        return self.sent.bad

    @property
    def lookups(self) -> int:
        return 2 if TUNNEL and self.fields.get("tunnel_kind", 0) else 1


@dataclass
class Expected:
    """What must come out, and the copy; paced: in time it is as a metered frame."""

    frame: AxisFrame
    copy: AxisFrame | None
    paced: bool
    judgement: Judgement | None
    counts: list[str] = field(default_factory=list)


def _ended(sent: AxisFrame, code: Code) -> int:
    """``tuser`` of a frame that ends here."""
    return sent.user & 0x300 | code << 1 | 1


class SlotBench:
    """A slot under test and what is known of it. ``model`` holds the rules of the set that is asked."""

    def __init__(self, dut: Any, name: str, *, protocol: bool = False) -> None:
        self.dut: Any = dut
        self.clk: Any = dut.clk
        self.rst: Any = dut.rst
        self.s_width = 16
        self.rng = seeded("acl", name)
        start_clock(self.clk)
        dut.rst.value = 1
        dut.now.value = dut.mirror_dropped.value = 0
        self.bus = SlotBus(dut)
        self.source = AxisSource(dut, "s_axis", self.clk, rng=seeded("noise", name), undefined=four_state())
        self.sink = AxisSink(dut, "m_axis", self.clk)
        self.mirror = MirrorMonitor(dut)
        self.checkers = []
        if protocol or four_state():
            self.checkers = [ProtocolChecker(dut, stream, self.clk, self.rst) for stream in ("s_axis", "m_axis")]
        self.parser = ParserModel(256, tunnel=True) if TUNNEL else ParserModel(128)
        self.forget()

    def forget(self) -> None:
        """What is known right after a reset."""
        self.model = AclModel(RuleSet())
        self.driver = AclDriver(self.bus, SLOT)
        self.before: Times | None = None
        self.copies: list[AxisFrame] = []
        self.counted: Multiset[str] = Multiset()
        self.now_ns = 0

    async def start(self) -> SlotBench:
        """Reset the slot, and wait until its tables are clear."""
        await reset(self.rst, self.clk)
        await self.until_ready()
        return self

    async def until_ready(self) -> None:
        # A cycle for each rule or each meter, whatever is more.
        for _ in range(max(RULES, 256) + 16):
            if self.dut.ready.value == _ONE:
                return
            await wait_cycles(self.clk, 1)
        raise AssertionError("the slot never says that it is ready")

    async def restart(self, cycles: int = 2, *, wait: bool = True) -> None:
        """Reset in the middle of whatever goes on; forget it all. wait: until the slot is ready."""
        self.source.clear()
        self.sink.clear()
        await reset(self.rst, self.clk, cycles)
        self.source.clear()
        self.sink.clear()
        self.mirror.clear()
        self.forget()
        if wait:
            await self.until_ready()

    def pause(self, source: str, sink: str) -> None:
        """Choose back-pressure by name."""
        _pauses(source, sink)
        self.source.pause = None if source == "none" else PAUSES[source](seeded(source, "source"))
        self.sink.pause = None if sink == "none" else PAUSES[sink](seeded(sink, "sink"))

    async def load(self, rule_set: RuleSet) -> None:
        """Another set, in the slot and in the model."""
        await self.driver.load(rule_set)
        self.model.load(rule_set)

    # Making frames

    def flight(self, data: bytes, fields: Mapping[str, int], bad: int = 0, ns: int | None = None) -> Flight:
        """A frame with these fields; what the engine doesn't read, and what it writes, is noise. ns: cycles of time
        that passed since the frame before, None: some."""
        self.now_ns += self.rng.randrange(1000) if ns is None else ns
        values = {name: 0 for name in READ_FIELDS if TUNNEL or name not in _INNER_FIELDS}
        values |= {name: value for name, value in fields.items() if name in values}
        values |= {"timestamp": self.now_ns, "port": fields.get("port", self.rng.getrandbits(8))}
        values |= {name: self.rng.getrandbits(bits) for name, bits in (("queue", 8), ("tclass", 3))}
        meta = pack(unpack(self.rng.getrandbits(META_W)) | values)
        reason = bad or self.rng.choice((0, Code.BAD_IHL << 1))
        return Flight(AxisFrame(data, self.rng.getrandbits(2) << 8 | reason, meta), values)

    def parsed(self, data: bytes, bad: int = 0, ns: int | None = None, **fields: int) -> Flight:
        """A frame with what the parser says of it."""
        return self.flight(data, self.parser.parse(data).meta_fields() | fields, bad, ns)

    def frame(self, length: int) -> AxisFrame:
        """Random bytes of no known kind."""
        return self.flight(self.rng.randbytes(length), {}).sent

    # What must become of them

    def expect(self, flight: Flight, model: AclModel | None = None) -> Expected:
        """What the model says of a frame; its rule counts it."""
        model = model or self.model
        if flight.came_bad:
            return self._expect_bad(flight, model)
        judgement = model.judge(flight.fields, len(flight.sent.data), flight.fields["timestamp"])
        return self.expect_judged(flight, judgement)

    def _expect_bad(self, flight: Flight, model: AclModel) -> Expected:
        """A frame that came in bad keeps its mark and is counted nowhere; its metadata and bytes are its rule's, as its
        first beat may have left before the mark came. So does a copy, and is bad."""
        number = first_match(model.rules, flight.fields)
        if number is None:
            judgement = Judgement(None, Verdict.PASSED)
            paced = False
        else:
            actions = model.rules[number].actions
            paced = actions.permit and actions.meter is not None
            verdict = Verdict.PASSED if actions.permit else Verdict.ACL_DENIED
            names = ("queue", "mirror", "redirect", "priority", "mark_dscp", "protect")
            judgement = Judgement(number, verdict, None, **{name: getattr(actions, name) for name in names})
        want = self.expect_judged(flight, judgement)
        want.frame.user = flight.sent.user
        return Expected(want.frame, want.copy, paced, None, ["unjudged"])

    def expect_judged(self, flight: Flight, judgement: Judgement) -> Expected:
        """What a judgement means for the streams, the metadata and the counters."""
        sent, number = flight.sent, judgement.rule
        rule = NO_RULE if number is None else number
        copy = None
        counts = ["judged"]
        if judgement.colour is not None:
            counts.append(f"metered_{judgement.colour.name.lower()}")
        if judgement.mirror is not None:
            counts.append("mirrored")
            copy = self._out(flight, acl_rule=rule, acl_copy=1, queue=judgement.mirror)
        code = {Verdict.ACL_DENIED: Code.ACL_DENIED, Verdict.ACL_POLICED: Code.ACL_POLICED}.get(judgement.verdict)
        if code is None and judgement.redirect not in (None, PORT_ID):
            code = Code.ACL_NO_PORT
        if code is not None:
            counts.append(code.name.lower().removeprefix("acl_"))
            out = self._out(flight, acl_rule=rule)
            out.user = _ended(sent, code)
        else:
            fields = {"acl_rule": rule, "acl_redirect": int(judgement.redirect is not None)}
            counts += ["redirected"] * fields["acl_redirect"]
            if judgement.queue is not None:
                fields["queue"] = judgement.queue
            if judgement.priority is not None:
                fields["acl_priority"] = judgement.priority
            if judgement.protect is not None:
                fields |= {"acl_protect": 1, "acl_sa": judgement.protect}
            out = self._out(flight, **fields)
            if judgement.mark_dscp is not None:
                out.data = mark_dscp(sent.data, flight.fields, judgement.mark_dscp)
        return Expected(out, copy, judgement.colour is not None, judgement, counts)

    @staticmethod
    def _out(flight: Flight, **written: int) -> AxisFrame:
        """The frame with these fields written, and the others that the engine writes as they are without an action."""
        fields = unpack(flight.sent.meta)
        neutral = {"acl_rule": NO_RULE, "acl_copy": 0, "acl_redirect": 0, "acl_protect": 0, "acl_sa": 0}
        neutral["acl_priority"] = fields["tclass"]
        return AxisFrame(flight.sent.data, flight.sent.user, pack(fields | neutral | written))

    # Playing them

    async def play(
        self, flights: Iterable[Flight], what: str, *, cycles: bool = True, expected: Sequence[Expected] | None = None
    ) -> list[tuple[Flight, Expected, AxisFrame]]:
        """Send frames back to back, and check all that comes out. expected: else the model is asked."""
        flights = list(flights)
        expected = [self.expect(flight) for flight in flights] if expected is None else expected
        for flight in flights:
            self.source.append(flight.sent)
        pairs = []
        for number, (flight, want) in enumerate(zip(flights, expected, strict=True)):
            got = await self.sink.recv()
            self.check(flight, want, got, f"{what}, frame {number}")
            self.check_cycles(flight, want, got, f"{what}, frame {number}", cycles)
            pairs.append((flight, want, got))
        return pairs

    def check(self, flight: Flight, want: Expected, got: AxisFrame, what: str) -> None:
        """Bytes, metadata and the last beat's ``tuser``; then it is entered in the books."""
        if got != want.frame:
            raise AssertionError(f"{what}: {_difference(want.frame, got)}\n{want.judgement}\n{_shown(flight)}")
        if want.copy is not None:
            self.copies.append(want.copy)
        self.counted.update(want.counts)
        _cover_actions(flight, want)

    def check_cycles(self, flight: Flight, want: Expected, got: AxisFrame, what: str, exact: bool = True) -> None:
        """The cycles of the first and the last beat. exact: no sink that pauses decides when the last one leaves."""
        sent = flight.sent
        times = times_of(sent.first_cycle, sent.last_cycle, sent.beats(), flight.lookups, want.paced, self.before)
        last = times.last if exact else got.last_cycle
        assert (got.valid_cycle, got.last_cycle) == (times.out, last), (
            f"{what}: first and last beat left in cycles {got.valid_cycle}, {got.last_cycle}, must be {times.out}, "
            f"{last} (came {sent.first_cycle}..{sent.last_cycle}, {sent.beats()} beats, {times}, before {self.before})"
        )
        flight.cycles = times
        self.before = Times(times.key, times.turn, times.out, got.last_cycle, times.lookups, times.paced)

    async def quiet(self, cycles: int = 30) -> None:
        """Nothing more comes out; all copies came; the slot says that it is idle."""
        await self.source.drained()
        await wait_cycles(self.clk, cycles)
        assert not self.sink.frames and not self.sink.partial, "a frame came that nobody sent"
        assert self.dut.idle.value == _ONE, "not idle with nothing in it"
        assert int(self.dut.disp_valid.value) == 0 and int(self.dut.next_deadline.value) == (1 << 64) - 1
        for number, (want, got) in enumerate(zip(self.copies, self.mirror.frames, strict=False)):
            assert want == got, f"copy {number}: {_difference(want, got)}"
        assert len(self.mirror.frames) == len(self.copies) and not self.mirror.data, (
            f"{len(self.mirror.frames)} copies came of {len(self.copies)}"
        )
        self.copies.clear()
        self.mirror.clear()

    async def check_counters(self) -> None:
        """The slot's counters, and that of each rule and of the default action, with no frame in it."""
        for name in COUNTERS:
            found = await read_register(self.bus, f"{SLOT}.{name}")
            assert found == self.counted[name], f"{name}: {found}, must be {self.counted[name]}"
        await self.check_rule_counters()

    async def check_rule_counters(self) -> None:
        for index, want in self.model.counted():
            found = await self.driver.read(index)
            assert found == want, f"counter of rule {index}: {found}, must be {want}"


def _difference(want: AxisFrame, got: AxisFrame) -> str:
    """All that differs."""
    found = []
    if want.user != got.user:
        found.append(f"tuser must be {want.user:#x}, is {got.user:#x}")
    if want.meta != got.meta:
        a, b = unpack(want.meta), unpack(got.meta)
        found += [f"{name} must be {a[name]:#x}, is {b[name]:#x}" for name in a if a[name] != b[name]]
    if len(want.data) != len(got.data):
        found.append(f"{len(want.data)} bytes must come, {len(got.data)} came")
    else:
        found += [
            f"byte {at} must be {x:#04x}, is {y:#04x}"
            for at, (x, y) in enumerate(zip(want.data, got.data, strict=True))
            if x != y
        ][:6]
    return "; ".join(found)


def _shown(flight: Flight) -> str:
    fields = {name: hex(value) for name, value in flight.fields.items() if value}
    return f"frame {flight.sent.data[:96].hex()} ({len(flight.sent.data)} bytes, tuser {flight.sent.user:#x})\n{fields}"


def _cover_actions(flight: Flight, want: Expected) -> None:
    judgement = want.judgement
    if judgement is None:
        _actions("bad")
        return
    passed = judgement.verdict is Verdict.PASSED
    if judgement.rule is None:
        _actions("default_permit" if passed else "default_deny")
        return
    kinds: tuple[tuple[str, Callable[[], bool] | bool], ...] = (
        ("permit", passed),
        ("deny", judgement.verdict is Verdict.ACL_DENIED),
        ("queue", judgement.queue is not None),
        ("mirror", judgement.mirror is not None),
        ("mirror_denied", judgement.mirror is not None and judgement.verdict is Verdict.ACL_DENIED),
        ("mirror_policed", judgement.mirror is not None and judgement.verdict is Verdict.ACL_POLICED),
        ("redirect", judgement.redirect == PORT_ID),
        ("no_port", judgement.redirect not in (None, PORT_ID)),
        ("priority", judgement.priority is not None),
        ("green", judgement.colour == Colour.GREEN),
        ("yellow", judgement.colour == Colour.YELLOW),
        ("red", judgement.colour == Colour.RED),
        ("protect", judgement.protect is not None),
    )
    for name, there in kinds:
        if there:
            _actions(name)
    if judgement.mark_dscp is not None and want.frame.user & 1 == 0:
        _actions(("mark_nothing", "mark_ipv4", "mark_ipv6")[flight.fields["l3_kind"]])
        if judgement.colour == Colour.YELLOW:
            _actions("yellow_marked")
