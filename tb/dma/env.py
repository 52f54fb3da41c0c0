"""The pyuvm environment of ``dma``.

    PortAgent "ask0", "write0", ...  (sequencer, driver, monitor)      Wires <-> Host (tb/dma/completer.py)
                                                                         |  events
                                                                         v
                                    Coverage <- Monitor "events" -> Scoreboard -> models/dma.py

The model is told each event in its cycle and says what is wrong with it; bytes are compared with memory besides,
through page tables that the bench wrote. What a test leaves behind is judged in ``finish``.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import cocotb
from pyuvm import uvm_component, uvm_env, uvm_root, uvm_subscriber, uvm_test

from models.dma import (
    TIMEOUT_SLACK_NS,
    Came,
    Code,
    Config,
    DmaModel,
    Ended,
    Event,
    Gave,
    Limits,
    Request,
    Sent,
    Submitted,
    play,
)
from models.dma_region import Regions
from models.dma_tlp import MemoryRequest
from tb.dma.broken import device
from tb.dma.completer import BAR, HOST, Credit, Host, Lie, Memory, Rule, Target
from tb.dma.control import COUNTERS, Control
from tb.dma.layout import SINK, SOURCE, base_of, key_of, layout, pieces
from tb.dma.wires import NS, Wires
from tb.lib import cover
from tb.lib.pause import PAUSES
from tb.lib.port_agent import Feed, Monitor, PortAgent, Tap
from tb.lib.suite import four_state, seeded

__all__ = ["CONFIG", "PORTS", "DmaEnv", "test"]

CONFIG = Config(requesters=2, timeout_ns=20_000, requester_id=0x1A5)
"""What a test has unless it asks for another; ``requesters`` is what the design has."""
PORTS = ("ask", "write", "data", "done", "tlp", "completion")
QUIET_CYCLES = 3000
REFUSED = (Code.NO_REGION, Code.BOUNDS, Code.RIGHTS, Code.NO_PAGE)

_seen_done = cover.point(
    "dma.done",
    [
        f"{kind}*{code.name.lower()}"
        for kind in ("read", "write")
        for code in Code
        # A read has no data to be cut, and the answer of a flush is never short: it is one DW.
        if (kind, code) not in (("read", Code.BAD_LENGTH), ("write", Code.SHORT))
    ],
)
_seen_tlp = cover.point("dma.tlp", ["read3", "read4", "write3", "write4", "flush3", "flush4"])
_seen_lanes = cover.cross("dma.lanes", ["read", "write"], [f"{a}{b}" for a in range(4) for b in range(4)])
_seen_pause = cover.cross("dma.pause", list(PORTS), list(PAUSES))
_seen_lie = cover.point("dma.lie", [lie.name.lower() for lie in Lie])


class Scoreboard(uvm_component):
    """Tells the model each event, and holds memory and data against what the bench knows by itself."""

    def __init__(self, name: str, parent: uvm_component) -> None:
        super().__init__(name, parent)
        self.begin(CONFIG, Regions())

    def begin(self, config: Config, regions: Regions) -> None:
        """A reset, with these settings behind it."""
        self.config, self.regions = config, regions
        self.model = DmaModel(config, regions)
        self.expected = Memory()
        self.asked: list[deque[Request]] = [deque() for _ in range(config.requesters)]
        self.log: list[Event] = []
        self.codes: list[tuple[Request, Code]] = []
        self.frames: list[deque[tuple[bytes, bool]]] = [deque() for _ in range(config.requesters)]
        self.partial = [b""] * config.requesters

    @property
    def open(self) -> int:
        """Requests that were taken and aren't done."""
        return sum(map(len, self.asked))

    def event(self, event: Event) -> None:
        self.log.append(event)
        wrong = list(play(self.model, event))
        assert not wrong, f"{event.ns} ns (cycle {event.ns // NS}), {_words(event)}: {'; '.join(wrong)}"
        match event:
            case Submitted(_, request):
                self.asked[request.requester].append(request)
            case Gave(_, requester, data, last, bad):
                self.partial[requester] += b"" if bad else data
                if last:
                    self.frames[requester].append((self.partial[requester], bad))
                    self.partial[requester] = b""
            case Ended(_, requester, request_id, code):
                self._ended(requester, request_id, Code(code))

    def _ended(self, requester: int, request_id: int, code: Code) -> None:
        queue = self.asked[requester]
        request = next(one for one in queue if one.id == request_id)
        queue.remove(request)
        self.codes.append((request, code))
        if request.write:
            if request.len and code not in REFUSED:
                data = request.data[: request.len]
                for address, at in pieces(self.regions, request, len(data)):
                    self.expected.write(address, data[at : at + 4096 - (request.addr + at) % 4096])
        elif request.len:
            data, bad = self.frames[requester].popleft()
            assert bad == (code is not Code.OK), f"request {request_id}: bad end {bad}, {code.name}"
            if request.key in (key_of(requester, SOURCE), 0) and code not in REFUSED:
                for address, at in pieces(self.regions, request, len(data)):
                    size = min(len(data) - at, 4096 - (request.addr + at) % 4096)
                    want = self.expected.read(address, size)
                    assert data[at : at + size] == want, f"request {request_id}: from byte {at}, memory {address:#x}"


def _words(event: Event) -> str:
    match event:
        case Sent(_, requester, tlp):
            return f"TLP of requester {requester}, tag {tlp.tag:#x}: {tlp}"
        case Ended(_, requester, request_id, code):
            return f"done of requester {requester}, id {request_id}, code {code}"
    return str(event)


class Coverage(uvm_subscriber):
    """Counts the cases of the test plan."""

    def build_phase(self) -> None:
        self.writes: dict[tuple[int, int], list[bool]] = {}

    def write(self, event: Event) -> None:
        if isinstance(event, Submitted):
            place = event.request.requester, event.request.id
            self.writes.setdefault(place, []).append(event.request.write)
        elif isinstance(event, Sent):
            tlp = event.tlp
            kind = "write" if tlp.write else "read" if tlp.first_be else "flush"
            _seen_tlp(f"{kind}{tlp.header_dws}")
            if kind != "flush" and tlp.length > 1:
                first = (tlp.first_be & -tlp.first_be).bit_length() - 1
                _seen_lanes(kind, f"{first}{tlp.last_be.bit_length() - 1}")
        elif isinstance(event, Ended):
            write = self.writes[event.requester, event.id].pop(0)
            _seen_done(f"{'write' if write else 'read'}*{Code(event.code).name.lower()}")


class DmaEnv(uvm_env):
    """Everything around one ``dma``. rng: all randomness of the test."""

    def __init__(self, name: str, parent: uvm_component, dut: Any, rng: Random) -> None:
        super().__init__(name, parent)
        self.dut, self.rng = dut, rng
        self.requesters = len(dut.req_valid)
        self.config = replace(CONFIG, requesters=self.requesters)
        self.regions = layout(self.requesters)
        self.pages = int(os.environ.get("NICLOOP_PAGES", "4096"))
        """Entries of the page table."""
        self._ids = [0] * self.requesters

    def build_phase(self) -> None:
        self.host = Host(self.config, self.rng)
        self.wires = Wires(self.dut, self.rng, self.host, self.requesters, undefined=four_state())
        real = hasattr(self.dut, "reg_req")
        self.control: Any = Control(self.dut) if real else device(self.dut, self.requesters)
        self.agents = [PortAgent(f"ask{n}", self, channel) for n, channel in enumerate(self.wires.asks)]
        self.writers = [PortAgent(f"write{n}", self, channel) for n, channel in enumerate(self.wires.writes)]
        self.feeds = [Feed(f"ask{n}") for n in range(len(self.agents))]
        self.data = [Feed(f"write{n}") for n in range(len(self.writers))]
        self.events = Monitor("events", self)
        self.scoreboard = Scoreboard("scoreboard", self)
        self.coverage = Coverage("coverage", self)
        self._tap = Tap("tap", self, self.scoreboard.event)

    def connect_phase(self) -> None:
        self.events.ap.connect(self._tap.analysis_export)
        self.events.ap.connect(self.coverage.analysis_export)
        self.wires.tell = self.events.publish
        # The monitor of a request's port is the event itself: it must come in its order among the others.
        for channel in self.wires.asks:
            channel.taken = self.wires.taken

    async def run_phase(self) -> None:
        for feeds, agents in ((self.feeds, self.agents), (self.data, self.writers)):
            for feed, agent in zip(feeds, agents, strict=True):
                cocotb.start_soon(feed.start(agent.sequencer))

    # ---- settings

    async def begin(
        self,
        config: Config = CONFIG,
        regions: Regions | None = None,
        targets: Sequence[Target] = (HOST, BAR),
        *,
        reset_cycles: int = 3,
        **host: Any,
    ) -> None:
        """Reset with everything that is under way, and these settings behind it."""
        await self._count_lies()
        limits = {name: int(os.environ.get(f"NICLOOP_{name.upper()}", "0")) for name in ("cplh", "cpld")}
        config = self.config = replace(config, requesters=self.requesters, **limits)
        self.regions = layout(self.requesters) if regions is None else regions
        for feed in (*self.feeds, *self.data):
            feed.values.clear()
        await self.wires.reset(reset_cycles)
        self.host = self.wires.host = Host(config, self.rng, targets, **host)
        self.scoreboard.begin(config, self.regions)
        await self.control.configure(config, self.regions)

    async def _count_lies(self) -> None:
        for lie, told in self.host.told.items():
            for _ in range(told):
                _seen_lie(lie.name.lower())
        self.host.told.clear()

    def pause(self, port: str, generator: str, requester: int | None = None) -> None:
        """Put a generator of `tb.lib.pause` on a port, of one requester or of all."""
        _seen_pause(port, generator)
        wires = self.wires
        for index in range(self.config.requesters) if requester is None else (requester,):
            pause = None if generator == "none" else PAUSES[generator](seeded("dma", port, generator, index))
            match port:
                case "ask":
                    wires.asks[index].pause = pause
                case "write":
                    wires.writes[index].pause = pause
                case "data":
                    wires.data_pause[index] = pause
                case "done":
                    wires.done_pause[index] = pause
                case "tlp":
                    wires.tlp_pause = pause
                case "completion":
                    wires.beat_pause = pause

    def credits(self, kind: str, initial: int | None, hold_ns: int = 0) -> None:
        """What the partner allows of a kind, right behind ``begin``."""
        self.host.credits[kind] = Credit(initial, hold_ns)

    def lie(self, lie: Lie, read: int = 0, at: int = 0) -> Rule:
        """Tell this lie of a completion (-1: the last) of a read TLP, both counted from 0 behind ``begin``."""
        rule = Rule(lie, read, at)
        self.host.rules.append(rule)
        return rule

    # ---- requests

    def read(self, requester: int, offset: int, length: int, kind: int = SOURCE, **fields: Any) -> Request:
        """A read at an offset of a page of the requester's region."""
        return self._request(requester, False, offset, length, kind, b"", fields)

    def write(
        self, requester: int, offset: int, length: int, kind: int = SINK, data: int | None = None, **fields: Any
    ) -> Request:
        """A write of random bytes; data: how many its frame has, where that isn't ``length``."""
        size = length if data is None else data
        return self._request(requester, True, offset, length, kind, self.rng.randbytes(size), fields)

    def _request(
        self, requester: int, write: bool, offset: int, length: int, kind: int, data: bytes, fields: dict[str, Any]
    ) -> Request:
        request_id = self._ids[requester]
        self._ids[requester] = (request_id + 1) % 256
        request = Request(
            requester=requester,
            write=write,
            key=key_of(requester, kind),
            addr=base_of(requester, kind) + offset,
            len=length,
            id=request_id,
            data=data,
        )
        return replace(request, **fields)

    def ask(self, requests: Iterable[Request]) -> None:
        """Queue requests and their data."""
        for request in requests:
            if request.write and request.len:
                self.data[request.requester].extend([request.data])
            self.feeds[request.requester].extend([request])

    async def run(self, requests: Iterable[Request]) -> list[Code]:
        """Ask, and wait until everything has come to its end; codes in the order in which they were told."""
        self.ask(requests)
        return await self.finish()

    def _moving(self) -> bool:
        return bool(
            self.scoreboard.open
            or any(feed.values for feed in (*self.feeds, *self.data))
            or any(channel.pending for channel in (*self.wires.asks, *self.wires.writes))
            or not self.host.quiet
            or self.wires.busy
        )

    async def settled(self, moving: Callable[[], bool] | None = None) -> None:
        """Wait until nothing is under way, or what is asked for isn't."""
        moving = moving or self._moving
        longest = QUIET_CYCLES + 3 * self.config.timeout_ns // NS
        self.wires.moved = self.wires.cycle
        while moving():
            await self.wires.cycles(1)
            still = self.wires.cycle - self.wires.moved
            assert still < longest, f"nothing moves any more: {self.stuck()}"

    async def done(self, request: Request) -> None:
        """Wait until this request is done."""
        await self.settled(lambda: all(one is not request for one, _ in self.scoreboard.codes))

    def hidden(self) -> list[str]:
        """Where memory isn't yet as the writes that are done leave it."""
        self.host.settle(self.wires.ns)
        return list(self.host.memory.differences(self.scoreboard.expected))

    def stuck(self) -> str:
        """What is left."""
        asks = [channel.pending for channel in self.wires.asks]
        data = [channel.pending for channel in self.wires.writes]
        return f"{self.scoreboard.model.finish()}, requests waiting {asks}, data {data}"

    async def finish(self) -> list[Code]:
        """Everything ends; nothing is held, memory is as expected, the counters are the model's."""
        await self.settled()
        await self.wires.cycles(30)
        board = self.scoreboard
        assert board.model.finish() == []
        assert not any(board.frames) and not any(board.partial), "data of no request"
        left = self.hidden()
        assert not left, f"memory: {left}"
        values = await self.control.counters()
        assert {*values} == {*COUNTERS}, sorted(values)
        wrong = board.model.check_counters(values)
        assert not wrong, [f"{one.place}: {one.reason}" for one in wrong]
        ends = Counter(code for _, code in board.codes)
        assert all(values[f"done_{code.name.lower()}"] == ends[code] for code in Code), (values, ends)
        tags, lines = await self.control.held()
        resting = [tag for tag, (until, _) in board.model.resting.items() if until + TIMEOUT_SLACK_NS > self.wires.ns]
        assert lines == 0 and tags <= len(resting), f"{tags} tags and {lines} lines are held, {len(resting)} tags rest"
        await self._count_lies()
        return [code for _, code in board.codes]

    # ---- what was seen

    def sent(self, requester: int | None = None, write: bool | None = None) -> list[tuple[int, MemoryRequest]]:
        """TLPs that left since ``begin``, each with its cycle."""
        return [
            (event.ns // NS, event.tlp)
            for event in self.scoreboard.log
            if isinstance(event, Sent) and requester in (None, event.requester) and write in (None, event.tlp.write)
        ]

    def cycles_of(self, kind: type[Event], requester: int | None = None) -> list[int]:
        """Cycles of all events of a kind."""
        return [
            event.ns // NS
            for event in self.scoreboard.log
            if isinstance(event, kind)
            and (requester is None or isinstance(event, Came | Limits) or _owner(event) == requester)
        ]


def _owner(event: Event) -> int:
    if isinstance(event, Submitted):
        return event.request.requester
    assert isinstance(event, Sent | Gave | Ended)
    return event.requester


Body = Callable[[DmaEnv], Awaitable[None]]


class _DmaTest(uvm_test):
    """Builds the environment and runs the body of one cocotb test in it."""

    bench_dut: Any
    bench_body: Body
    bench_name: str

    def build_phase(self) -> None:
        self.env = DmaEnv("env", self, self.bench_dut, seeded("dma", self.bench_name))

    async def run_phase(self) -> None:
        self.raise_objection()
        await self.env.begin()
        await type(self).bench_body(self.env)
        self.drop_objection()


def test(body: Body) -> object:
    """Makes of a body, which takes an environment out of reset, a cocotb test of its name."""

    async def run(dut: Any) -> None:
        members = {"bench_dut": dut, "bench_body": staticmethod(body), "bench_name": body.__name__}
        await uvm_root().run_test(type(f"{body.__name__}_uvm", (_DmaTest,), members))

    run.__name__ = run.__qualname__ = body.__name__
    run.__doc__, run.__module__ = body.__doc__, body.__module__
    return cocotb.test(timeout_time=8, timeout_unit="ms")(run)
