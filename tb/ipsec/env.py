"""The pyuvm environment of a slot of IPsec.

    AxisAgent "input" (sequencer, driver)     Watch (beats in, dispositions, idle)     AxisAgent "output" (tready)
              |                                    |        (analysis ports)                 |
              v                                    v                                         v
           frames out of ``Slot.flight``       Scoreboard (tb/ipsec/books.py) -> models/ipsec.py, models/ipsec_time.py
                                                   |
                                                   v
                                               Coverage

``$NICLOOP_SLOT`` is the design, ``$NICLOOP_SM4`` and ``$NICLOOP_HOLD`` are its parameters; SAS is read from ``size``.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import Event, RisingEdge
from cocotb.types import Logic
from pyuvm import (
    uvm_analysis_port,
    uvm_component,
    uvm_env,
    uvm_monitor,
    uvm_root,
    uvm_sequence,
    uvm_subscriber,
    uvm_test,
)

from models.ipsec import Fields
from models.ipsec_sa import Cipher, Mode, Natt, Sa
from models.meta import FIELDS, META_W, Code, pack, unpack
from tb.ipsec.books import Books, Done, Flight, RxSide, TxSide
from tb.ipsec.driver import MAP, SaDriver, SlotBus
from tb.ipsec.frames import metadata
from tb.lib import cover
from tb.lib.agent import AxisAgent, AxisItem, Role
from tb.lib.axis import AxisFrame
from tb.lib.clock import CORE_PS, cycle, high_within, start_clock, wait_cycles
from tb.lib.pause import PAUSES
from tb.lib.protocol import ProtocolChecker
from tb.lib.suite import four_state, seeded

__all__ = ["HOLD", "SLOT", "SM4", "Slot", "test"]

SLOT = os.environ["NICLOOP_SLOT"]
SM4 = os.environ.get("NICLOOP_SM4", "1") == "1"
HOLD = int(os.environ.get("NICLOOP_HOLD", "1024"))
READY_CYCLES = 6000
"""SAs, keys and windows are cleared one by one."""
QUIET_CYCLES = 4000
"""Nothing moves for longer only when something is stuck."""
IDLE_CYCLES = 100
"""Beats of frames that ended may still be on their way out of the queue in front of the engine."""
_ONE = Logic("1")
_SIDES = {"ipsec_rx": RxSide, "ipsec_tx": TxSide}
_DIRECTION = SLOT.removeprefix("ipsec_")
_OTHERS = tuple(f.name for f in FIELDS if f.writer != "parser" and f.name not in ("acl_protect", "acl_sa"))

_RX_CODES = [code.name.lower() for code in Code if 56 <= code <= 67 or code in (69, 70)]
_TX_NAMES = ("no_sa", "cipher", "fragment", "policy", "truncated", "lifetime", "sequence", "mtu")
_TX_CODES = [f"ipsec_{name}" for name in _TX_NAMES]
_CODES = {"rx": _RX_CODES, "tx": _TX_CODES}[_DIRECTION]
_WAYS = ["passed", "left_no_sa", "left_cipher", "left_fragment"] if _DIRECTION == "rx" else ["passed"]
_seen_end = cover.point(f"ipsec.{_DIRECTION}.end", [*_WAYS, "secured", "bad_in", *_CODES])
_seen_form = cover.cross(
    f"ipsec.{_DIRECTION}.form",
    [f"{mode}_{natt}" for mode in ("transport", "tunnel") for natt in ("esp", "natt")],
    ["ipv4", "ipv6"],
)
_seen_inner = cover.cross(f"ipsec.{_DIRECTION}.inner", ["inner4", "inner6"], ["outer4", "outer6"])
_seen_cipher = cover.cross(f"ipsec.{_DIRECTION}.cipher", [c.name for c in Cipher if c < 3], ["8", "12", "16"])
_seen_change = cover.cross(f"ipsec.{_DIRECTION}.engine", ["AES", "SM4"], ["AES", "SM4"])
# ESP is a multiple of 4 bytes, and an Ethernet header with its tags 2 more.
_seen_tail = cover.point(f"ipsec.{_DIRECTION}.tail", list(range(1, 17)) if _DIRECTION == "rx" else [2, 6, 10, 14])
_seen_behind = cover.cross(f"ipsec.{_DIRECTION}.behind", ["passed", "secured", "ended"], ["passed", "secured", "ended"])
_seen_esn = cover.point(f"ipsec.{_DIRECTION}.esn", ["32", "64"])
_pauses = cover.cross(f"ipsec.{_DIRECTION}.pauses", list(PAUSES), list(PAUSES))


class Watch(uvm_monitor):
    """Beats in, dispositions and ``idle``, once a cycle."""

    books: Books
    dut: Any

    def build_phase(self) -> None:
        self.beats, self.told = uvm_analysis_port("beats", self), uvm_analysis_port("told", self)
        self.stalls = 0
        """Cycles in which a beat waited at the input."""
        self.halted = 0
        """Cycles in which the output wasn't ready."""

    async def run_phase(self) -> None:
        dut, edge = self.dut, RisingEdge(self.dut.clk)
        s_valid, s_ready, told, rst = dut.s_axis_tvalid, dut.s_axis_tready, dut.disp_valid, dut.rst
        m_ready, m_valid = dut.m_axis_tready, dut.m_axis_tvalid
        resets = 0
        while True:
            await edge
            if rst.value == _ONE:
                resets += 1
                if resets > 1:
                    for name in ("s_axis_tready", "m_axis_tvalid", "disp_valid", "ready"):
                        text = str(getattr(dut, name).value)
                        assert text == "0", f"cycle {cycle(dut.clk)}: {name} is {text} in reset"
                continue
            resets = 0
            if s_valid.value == _ONE:
                if s_ready.value == _ONE:
                    self.beats.write(cycle(dut.clk))
                else:
                    self.stalls += 1
            if m_valid.value == _ONE and m_ready.value != _ONE:
                self.halted += 1
            if told.value == _ONE:
                values = [str(getattr(dut, f"disp_{name}").value) for name in ("seq", "code", "queue")]
                self.told.write((cycle(dut.clk), *(int(text, 2) for text in values)))
            if self.books.entered > self.books.gone and self.books.last_beat < cycle(dut.clk):
                assert str(dut.idle.value) == "0", f"cycle {cycle(dut.clk)}: idle with a frame in the slot"


class Feed(uvm_sequence):
    """Frames back to back where the driver allows it; it waits for more."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.frames: deque[AxisFrame] = deque()
        self._more = Event()

    def extend(self, frames: Iterable[AxisFrame]) -> None:
        self.frames.extend(frames)
        self._more.set()

    async def body(self) -> None:
        while True:
            while not self.frames:
                self._more.clear()
                await self._more.wait()
            item = AxisItem("frame", self.frames.popleft())
            await self.start_item(item)
            await self.finish_item(item)


class _Tap(uvm_subscriber):
    """Calls a function with what an analysis port gives."""

    def __init__(self, name: str, parent: uvm_component, call: Callable[[Any], None]) -> None:
        super().__init__(name, parent)
        self._call = call

    def write(self, item: object) -> None:
        self._call(item)


class Scoreboard(uvm_component):
    """Holds what comes against the books."""

    def __init__(self, name: str, parent: uvm_component) -> None:
        super().__init__(name, parent)
        self.done: list[Done] = []
        self.clear(1)

    def build_phase(self) -> None:
        self.ap = uvm_analysis_port("ap", self)

    def clear(self, sas: int) -> None:
        """A reset: there is none of so many SAs, and nothing under way."""
        self.books = Books(_SIDES[SLOT](sas, SM4, HOLD), self._end)
        self.done.clear()

    def _end(self, done: Done) -> None:
        self.done.append(done)
        self.ap.write(done)


class Coverage(uvm_subscriber):
    """Counts the cases of the test plan."""

    def build_phase(self) -> None:
        self._before = self._engine = ""

    def write(self, done: Done) -> None:
        flight = done.flight
        result, state = flight.result, flight.state
        assert result is not None
        if result.frame is None:
            end = result.code
            _seen_end("bad_in" if flight.sent.bad else Code(end).name.lower())
            kind = "ended"
        elif not result.meta:
            left = "passed" if flight.head is None else flight.head.left
            _seen_end(left)
            kind = "passed"
        else:
            _seen_end("secured")
            kind = "secured"
        if self._before:
            _seen_behind(self._before, kind)
        self._before = kind
        if kind != "secured" or state is None:
            return
        sa, out = state.sa, unpack(pack(flight.meta | dict(result.meta)))
        family = "ipv6" if flight.given.l3_kind == 2 else "ipv4"
        if SLOT == "ipsec_rx":
            kept = result.frame[flight.given.l3_offset :][:8]
            natt, tunnel, inner = flight.given.natt == 1, _is_tunnel(flight, kept), kept[0] >> 4
        else:
            natt, tunnel, inner = sa.natt is not Natt.NO, sa.mode is not Mode.TRANSPORT, 6 if family == "ipv6" else 4
            family = "ipv6" if out["l3_kind"] == 2 else "ipv4"
        _seen_form(f"{'tunnel' if tunnel else 'transport'}_{'natt' if natt else 'esp'}", family)
        if tunnel:
            _seen_inner(f"inner{inner}", f"outer{family[-1]}")
        _seen_cipher(sa.cipher.name, str(sa.tag))
        _seen_esn("64" if sa.esn else "32")
        engine = "SM4" if sa.cipher is Cipher.SM4_GCM else "AES"
        if self._engine:
            _seen_change(self._engine, engine)
        self._engine = engine
        _seen_tail((len(result.frame) - 1) % 16 + 1)


def _is_tunnel(flight: Flight, kept: bytes) -> bool:
    """An rx SA of either mode: a tunnel's packet isn't the outer one."""
    assert flight.state is not None
    mode = flight.state.sa.mode
    if mode is not Mode.EITHER:
        return mode is Mode.TUNNEL
    outer = flight.sent.data[flight.given.l3_offset : flight.given.l3_offset + 8]
    return kept[4:6] != outer[4:6] or kept[0] != outer[0]


class Slot(uvm_env):
    """Everything around one slot. rng: all randomness of the test."""

    def __init__(self, name: str, parent: uvm_component, dut: Any, rng: Random) -> None:
        super().__init__(name, parent)
        self.dut, self.rng = dut, rng
        self.clk = dut.clk
        self.seq = 0
        self.sas = 0

    def build_phase(self) -> None:
        dut = self.dut
        start_clock(dut.clk, CORE_PS)
        dut.rst.value = 1
        dut.now.value = 0
        self.bus = SlotBus(dut)
        self.driver = SaDriver(
            self.bus, lambda *told: self.books.commanded(*told), lambda *told: self.books.answered(*told)
        )
        self.input = AxisAgent("input", self, dut, "s_axis", dut.clk, Role.SOURCE, undefined=four_state())
        self.feed = Feed("feed")
        self.output = AxisAgent("output", self, dut, "m_axis", dut.clk, Role.SINK)
        self.watch = Watch("watch", self)
        self.watch.dut = dut
        self.scoreboard = Scoreboard("scoreboard", self)
        self.watch.books = self.scoreboard.books
        self.coverage = Coverage("coverage", self)
        self._taps = (
            _Tap("beats_tap", self, self._beat),
            _Tap("told_tap", self, self._told),
            _Tap("out_tap", self, self._out),
        )

    def connect_phase(self) -> None:
        self.watch.beats.connect(self._taps[0].analysis_export)
        self.watch.told.connect(self._taps[1].analysis_export)
        self.output.ap.connect(self._taps[2].analysis_export)
        self.scoreboard.ap.connect(self.coverage.analysis_export)

    async def run_phase(self) -> None:
        """Frames go in; what was seen is entered all the time, so that a fault is told soon."""
        cocotb.start_soon(self.feed.start(self.input.sequencer))
        while True:
            await wait_cycles(self.clk, 100)
            if self.books:
                self.books.settle(cycle(self.clk) - 64)

    @property
    def books(self) -> Books:
        return self.scoreboard.books

    @property
    def model(self) -> Any:
        """``IpsecRx`` or ``IpsecTx``: its SAs, counters, events."""
        return self.books.side.model

    def _beat(self, now: int) -> None:
        self.books.beat(now)

    def _told(self, told: tuple[int, int, int, int]) -> None:
        self.books.saw(told[0], self.books.disposed, *told[1:])

    def _out(self, item: AxisItem) -> None:
        exact = self.watch.halted == self._halted
        self._halted = self.watch.halted
        self.books.saw(item.frame.last_cycle, self.books.left, item.frame, exact)

    # -- reset --------------------------------------------------------------------------------------------------------

    async def reset(self, cycles: int = 3, *, wait: bool = True) -> None:
        """Forget everything, reset, and wait until the slot is ready; it then has no SA."""
        dut = self.dut
        self.feed.frames.clear()
        self.input.bus.clear()
        self.bus.clear()
        dut.rst.value = 1
        await wait_cycles(self.clk, cycles)
        self.input.bus.clear()
        self.output.bus.clear()
        self.driver.forget()
        self.scoreboard.clear(self.sas or 1)
        self.watch.books = self.books
        self._halted = self.watch.halted
        dut.rst.value = 0
        if wait:
            assert await high_within(dut.clk, dut.ready, READY_CYCLES), "ready stays low after reset"
            if not self.sas:
                self.sas = MAP["size"].decode(await self.driver.get("size"))["sas"]
                self.scoreboard.clear(self.sas)
                self.watch.books = self.books

    # -- frames -------------------------------------------------------------------------------------------------------

    def pause(self, source: str, sink: str) -> None:
        """Choose gaps at the input and back-pressure at the output by name (``tb.lib.pause``)."""
        _pauses(source, sink)
        for bus, name in ((self.input.bus, source), (self.output.bus, sink)):
            bus.pause = None if name == "none" else PAUSES[name](seeded(SLOT, source, sink))

    def flight(self, frame: bytes, protect: int | None = None, bad: int = 0, **fields: int) -> Flight:
        """A frame with what the parser says of it and noise in what others write. protect: the SA that the ACL names.
        bad: ``tuser[7:0]``. fields: of the metadata, written over."""
        noise = unpack(self.rng.getrandbits(META_W))
        meta = metadata(frame) | {name: noise[name] for name in _OTHERS}
        meta |= {"acl_protect": 0, "acl_sa": noise["acl_sa"]}
        if protect is not None:
            meta |= {"acl_protect": 1, "acl_sa": protect}
        meta |= {"seq": self.seq, **fields}
        self.seq = (self.seq + 1) & 0xFFFF
        user = self.rng.getrandbits(2) << 8 | (bad or self.rng.choice((0, 0, Code.BAD_IHL << 1)))
        return Flight(AxisFrame(frame, user, pack(meta)), unpack(pack(meta)), Fields.of(meta))

    def send(self, flights: Iterable[Flight]) -> None:
        """Queue frames, back to back."""
        flights = list(flights)
        self.books.sent.extend(flights)
        self.feed.extend(flight.sent for flight in flights)

    async def play(self, flights: Iterable[Flight]) -> list[Done]:
        """Send frames, and see what becomes of them."""
        flights = list(flights)
        self.send(flights)
        return await self.finish()

    async def finish(self) -> list[Done]:
        """Wait until nothing is under way, see that the slot is idle and nothing more comes; what was done since the
        last time, in the order in which it was told."""
        books, last, before = self.books, cycle(self.clk), None
        while books.sent or books.entered > books.gone:
            await wait_cycles(self.clk, 16)
            books.settle(cycle(self.clk) - 1)
            now = (books.beats_in, books.gone)
            if now != before:
                last, before = cycle(self.clk), now
            assert cycle(self.clk) - last < QUIET_CYCLES, (
                f"stuck: {len(books.sent)} frames wait to come in, {books.entered - books.gone} to leave or to end"
            )
        await wait_cycles(self.clk, 24)
        books.settle(cycle(self.clk) - 1)
        books.closed()
        dut = self.dut
        assert not self.output.bus.partial, "a frame began that has no end"
        assert await high_within(dut.clk, dut.idle, IDLE_CYCLES), "idle is 0 in a slot that holds nothing"
        assert str(dut.disp_valid.value) == "0" and int(dut.next_deadline.value) == (1 << 64) - 1
        done = list(self.scoreboard.done)
        self.scoreboard.done.clear()
        return done

    async def check(self) -> None:
        """Counters, event and the state of every SA are the model's, with nothing under way."""
        model = self.model
        found = await self.driver.counters()
        want = {name: model.counters[name] for name in found}
        wrong = {name: (found[name], want[name]) for name in found if found[name] != want[name]}
        assert not wrong, f"counters (found, must be): {wrong}"
        event, more = await self.driver.event()
        assert (event, more) == (model.events[0] if model.events else None, len(model.events) > 1), (
            f"event {event}, more {more}; there were {model.events}"
        )
        model.events.clear()
        for number in model.table:
            await self.check_state(number)

    async def check_state(self, number: int) -> None:
        """What ``state`` says of an SA."""
        state = self.model.table.read(number)
        found = await self.driver.state(number)
        if state is None:
            assert found["valid"] == 0, f"SA {number} is there"
            return
        sequence = state.window.top if SLOT == "ipsec_rx" else state.used
        want = {"valid": 1, "soft": int(state.soft), "hard": int(state.hard), "ended": int(state.ended)}
        want |= {"packets": state.packets, "bytes": state.bytes, "sequence": sequence}
        assert found == want, f"SA {number}: state {found}, must be {want}"

    async def write(self, number: int, sa: Sa) -> None:
        """SA ``number`` becomes this; frames may be under way."""
        await self.driver.write(number, sa)

    async def ends(self, flights: Iterable[Flight]) -> list[str]:
        """Play frames; how each of them ended: a code's name, ``passed``, ``secured``."""
        flights = list(flights)
        await self.play(flights)
        found = []
        for flight in flights:
            result = flight.result
            assert result is not None
            if result.frame is None:
                found.append(Code(result.code).name.lower())
            else:
                found.append("secured" if result.meta else "passed")
        return found


Body = Callable[[Slot], Awaitable[None]]


class _SlotTest(uvm_test):
    """Builds the environment and runs the body of one cocotb test in it."""

    bench_dut: Any
    bench_body: Body
    bench_name: str

    def build_phase(self) -> None:
        self.slot = Slot("slot", self, self.bench_dut, seeded(SLOT, self.bench_name))
        if four_state():
            dut = self.bench_dut
            self.checkers = [ProtocolChecker(dut, stream, dut.clk, dut.rst) for stream in ("s_axis", "m_axis")]

    async def run_phase(self) -> None:
        self.raise_objection()
        await self.slot.reset()
        await type(self).bench_body(self.slot)
        await self.slot.finish()
        await self.slot.check()
        self.drop_objection()


def test(body: Body) -> object:
    """Makes of a body, which takes a slot out of reset, a cocotb test of its name. Counters, events and states are
    checked behind it."""

    async def run(dut: Any) -> None:
        members = {"bench_dut": dut, "bench_body": staticmethod(body), "bench_name": body.__name__}
        await uvm_root().run_test(type(f"{body.__name__}_uvm", (_SlotTest,), members))

    run.__name__ = run.__qualname__ = body.__name__
    run.__doc__, run.__module__ = body.__doc__, body.__module__
    return cocotb.test(timeout_time=8, timeout_unit="ms")(run)
