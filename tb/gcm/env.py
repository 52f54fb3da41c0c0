"""The pyuvm environment of ``gcm``.

    PortAgent "key", "command", "data"  (sequencer, driver, monitor)     OutMonitor     DoneMonitor
                     |                        (analysis ports)
                     v
                Scoreboard -> models/gcm.py        Coverage

A command is judged with the key that the model's table holds in the cycle in which it is taken; a key is in the table
from the cycle of its ``key_done`` on.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import Event
from pyuvm import (
    uvm_analysis_port,
    uvm_component,
    uvm_env,
    uvm_root,
    uvm_subscriber,
    uvm_test,
)

from models.gcm import BLOCK, TAG_BYTES, CipherKind, Command, GcmModel, Key, Part, Result, State, seal
from tb.gcm.beats import KeyWrite, difference, out_beats
from tb.gcm.wires import OutPacket, Wires
from tb.lib import cover
from tb.lib.channel import Taken
from tb.lib.clock import high_within
from tb.lib.pause import PAUSES
from tb.lib.port_agent import Feed, Monitor, PortAgent, Tap
from tb.lib.suite import four_state, seeded

__all__ = ["Done", "GcmEnv", "test"]

READY_CYCLES = 2000
QUIET_CYCLES = 2000
"""Nothing moves for longer only when something is stuck."""
PORTS = ("key", "command", "data", "out")
KINDS = ("AES-128", "AES-256", "SM4")

_seen_kind = cover.cross("gcm.kind", KINDS, ["encrypt", "decrypt"])
_seen_change = cover.cross("gcm.change", KINDS, KINDS)
_seen_aad = cover.point("gcm.aad_tail", ["none", *range(1, 17)])
_seen_text = cover.point("gcm.text_tail", ["none", *range(1, 17)])
_seen_verdict = cover.point(
    "gcm.verdict", ["encrypted", *(f"{way}_{size}" for way in ("good", "bad") for size in TAG_BYTES), "no_key"]
)
_seen_part = cover.point("gcm.part", ["whole", "first", "middle", "last"])
_seen_offset = cover.point("gcm.offset", list(range(16)))
_seen_key = cover.point("gcm.key", ["new", "replaced", "erased", "under_traffic"])
_seen_pause = cover.cross("gcm.pause", list(PORTS), list(PAUSES))


@dataclass(slots=True)
class Done:
    """A part that has come out and was right."""

    part: Part
    key: Key | None
    result: Result
    command: int
    """Cycle in which its command was taken."""
    first_in: int
    last_in: int
    first_out: int
    """Cycle in which ``tvalid`` of its first beat rose."""
    last_out: int


class Scoreboard(uvm_component):
    """Pairs commands, packets in and packets out in their order, and holds them against the model.

    keys, sm4: parameters of the engine.
    """

    def __init__(self, name: str, parent: uvm_component, keys: int, sm4: bool) -> None:
        super().__init__(name, parent)
        self._parameters = keys, sm4
        self.done: list[Done] = []
        self.clear()

    def build_phase(self) -> None:
        self.ap = uvm_analysis_port("ap", self)

    def clear(self) -> None:
        """A reset: there is no key, and nothing under way."""
        self.model = GcmModel(*self._parameters)
        self.writes: deque[Taken[KeyWrite]] = deque()
        self.key_cycles: list[int] = []
        self._commands: deque[tuple[Command, Key | None, int]] = deque()
        self._packets: deque[Taken[Part]] = deque()
        self.done.clear()

    @property
    def open(self) -> int:
        """Commands and packets that have gone in and not come out."""
        return max(len(self._commands), len(self._packets))

    def key_taken(self, taken: Taken[KeyWrite]) -> None:
        self.writes.append(taken)

    def key_done(self, cycle: int) -> None:
        assert self.writes, f"cycle {cycle}: key_done without a write"
        taken = self.writes.popleft()
        self.key_cycles.append(cycle - taken.first)
        write = taken.item
        old = self.model.key(write.slot)
        _seen_key("erased" if write.key is None else "new" if old is None else "replaced")
        if self.open:
            _seen_key("under_traffic")
        self.model.write(write.slot, write.key)

    def command_taken(self, taken: Taken[Command]) -> None:
        command = taken.item
        self._commands.append((command, self.model.key(command.key), taken.first))

    def packet_taken(self, taken: Taken[Part]) -> None:
        self._packets.append(taken)

    def packet_out(self, packet: OutPacket) -> None:
        where = f"cycle {packet.last}"
        assert self._commands and self._packets, f"{where}: a packet came out that hasn't gone in whole"
        (command, key, cycle), taken = self._commands.popleft(), self._packets.popleft()
        part = taken.item
        assert part.command == command, f"{where}: the bench paired a packet with another's command"
        result = GcmModel.process(key, part)
        wrong = difference(packet.beats, out_beats(part, result))
        assert not wrong, f"{where}: {_words(part, key)}: {wrong}"
        self.done.append(Done(part, key, result, cycle, taken.first, taken.last, packet.valid, packet.last))
        self.ap.write(self.done[-1])


def _words(part: Part, key: Key | None) -> str:
    command = part.command
    what = "decrypt" if command.decrypt else "encrypt"
    name = "no key" if key is None else _kind(key)
    lane = "" if command.resume is None else f", goes on in lane {part.offset}"
    return (
        f"{what} with {name} in slot {command.key}, {len(part.aad)} bytes of AAD, {len(part.text)} of text, tag of "
        f"{command.tag_bytes}{lane}{', saved' if command.save else ''}"
    )


def _kind(key: Key) -> str:
    return "SM4" if key.cipher is CipherKind.SM4 else f"AES-{8 * len(key.data)}"


class Coverage(uvm_subscriber):
    """Counts the cases of the test plan."""

    def build_phase(self) -> None:
        self._before: str | None = None

    def write(self, done: Done) -> None:
        part, command = done.part, done.part.command
        if done.result.no_key:
            _seen_verdict("no_key")
            return
        assert done.key is not None
        kind = _kind(done.key)
        _seen_kind(kind, "decrypt" if command.decrypt else "encrypt")
        if self._before is not None:
            _seen_change(self._before, kind)
        self._before = kind
        for seen, size in ((_seen_aad, len(part.aad)), (_seen_text, part.offset + len(part.text))):
            seen((size - 1) % BLOCK + 1 if size else "none")
        saved, resumed = command.save, command.resume is not None
        _seen_part("middle" if saved and resumed else "first" if saved else "last" if resumed else "whole")
        if resumed:
            _seen_offset(part.offset)
        if not saved:
            size = command.tag_bytes if command.tag_bytes in TAG_BYTES else BLOCK
            verdict = "bad" if done.result.bad else "good"
            _seen_verdict(f"{verdict}_{size}" if command.decrypt else "encrypted")


class GcmEnv(uvm_env):
    """Everything around one ``gcm``. rng: all randomness of the test. keys: what the bench last wrote, by slot."""

    def __init__(self, name: str, parent: uvm_component, dut: Any, rng: Random) -> None:
        super().__init__(name, parent)
        self.dut, self.rng = dut, rng
        self.slots = 1 << len(dut.key_index)
        self.sm4 = os.environ.get("NICLOOP_SM4", "1") != "0"
        self.keys: dict[int, Key] = {}
        self._waited: dict[int, tuple[Part, Event]] = {}

    def build_phase(self) -> None:
        self.wires = Wires(self.dut, self.rng, undefined=four_state())
        self.agents = {name: PortAgent(name, self, channel) for name, channel in self.wires.channels.items()}
        self.feeds = {name: Feed(name) for name in self.agents}
        self.out, self.key_done = Monitor("out", self), Monitor("key_done", self)
        self.scoreboard = board = Scoreboard("scoreboard", self, self.slots, self.sm4)
        self.coverage = Coverage("coverage", self)
        self._finished = Tap("finished", self, self._part_done)
        calls: dict[str, Callable[[Any], None]] = {
            "key": board.key_taken,
            "command": board.command_taken,
            "data": board.packet_taken,
        }
        self._inputs = {name: Tap(f"{name}_tap", self, call) for name, call in calls.items()}
        self._outputs = Tap("out_tap", self, board.packet_out), Tap("key_done_tap", self, board.key_done)

    def connect_phase(self) -> None:
        for name, tap in self._inputs.items():
            self.agents[name].monitor.ap.connect(tap.analysis_export)
        for monitor, tap in zip((self.out, self.key_done), self._outputs, strict=True):
            monitor.ap.connect(tap.analysis_export)
        self.scoreboard.ap.connect(self.coverage.analysis_export)
        self.scoreboard.ap.connect(self._finished.analysis_export)
        self.wires.packet_out = self.out.publish
        self.wires.key_done = self.key_done.publish

    async def run_phase(self) -> None:
        for name, feed in self.feeds.items():
            cocotb.start_soon(feed.start(self.agents[name].sequencer))

    # -- reset and keys ----------------------------------------------------------------------------------------------

    async def reset(self, cycles: int = 3, *, wait: bool = True) -> None:
        """Forget everything, reset, and wait until the engine is ready; it then has no key."""
        for feed in self.feeds.values():
            feed.values.clear()
        for _, event in self._waited.values():
            event.set()
        self._waited.clear()
        self.keys.clear()
        await self.wires.reset(cycles)
        self.scoreboard.clear()
        if wait:
            dut = self.dut
            assert await high_within(dut.clk, dut.ready, READY_CYCLES), "ready stays low after reset"

    def key(self, kind: str | None = None) -> Key:
        """A random key, of any kind that the engine has."""
        kind = kind or self.rng.choice(KINDS if self.sm4 else KINDS[:2])
        cipher = CipherKind.SM4 if kind == "SM4" else CipherKind.AES
        return Key(cipher, self.rng.randbytes(32 if kind == "AES-256" else 16))

    def write(self, slot: int, key: Key | None) -> None:
        """Queue a write; None erases."""
        self.feeds["key"].extend([KeyWrite(slot, key)])
        if key is None:
            self.keys.pop(slot, None)
        else:
            self.keys[slot] = key

    async def written(self) -> None:
        """Wait until every write is done."""
        await self._wait(lambda: bool(self._unwritten()), "key writes")

    def _unwritten(self) -> int:
        return len(self.feeds["key"].values) + self.wires.keys.pending + len(self.scoreboard.writes)

    async def fill(self, count: int | None = None) -> None:
        """Random keys in the first ``count`` slots, all kinds in turn."""
        kinds = KINDS if self.sm4 else KINDS[:2]
        for slot in range(self.slots if count is None else count):
            self.write(slot, self.key(kinds[slot % len(kinds)]))
        await self.written()

    # -- packets -----------------------------------------------------------------------------------------------------

    def pause(self, port: str, generator: str) -> None:
        """Put a generator of `tb.lib.pause` on a port: gaps of an input, back-pressure of the output."""
        pause = None if generator == "none" else PAUSES[generator](seeded("gcm", port, generator))
        _seen_pause(port, generator)
        if port == "out":
            self.wires.out_pause = pause
        else:
            self.wires.channels[port].pause = pause

    def part(
        self,
        slot: int | None = None,
        aad: int | None = None,
        text: int | None = None,
        *,
        decrypt: bool | None = None,
        tag_bytes: int = BLOCK,
        flip: int | None = None,
    ) -> Part:
        """A random packet with the key that stands in a slot. aad, text: bytes. flip: the wrong bit of the tag."""
        rng = self.rng
        slot = rng.choice(list(self.keys)) if slot is None else slot
        decrypt = bool(rng.getrandbits(1)) if decrypt is None else decrypt
        iv = rng.randbytes(12)
        header = rng.randbytes(rng.randint(0, 40) if aad is None else aad)
        data = rng.randbytes(rng.randint(0, 80) if text is None else text)
        command = Command(slot, iv, decrypt, tag_bytes)
        if not decrypt or slot not in self.keys:
            return Part(command, header, data)
        data, tag = seal(self.keys[slot], iv, header, data)
        if flip is not None:
            tag = (int.from_bytes(tag, "little") ^ 1 << flip).to_bytes(BLOCK, "little")
        return Part(command, header, data, tag)

    def send(self, parts: Iterable[Part]) -> None:
        """Queue packets."""
        parts = list(parts)
        self.feeds["command"].extend(part.command for part in parts)
        self.feeds["data"].extend(parts)

    async def run(self, parts: Iterable[Part]) -> list[Done]:
        """Send packets, and wait until they and everything else have come out."""
        self.send(parts)
        return await self.finish()

    async def run_part(self, part: Part) -> Done | None:
        """Send one, and wait for it alone; None: a reset came before."""
        event = Event()
        self._waited[id(part)] = part, event
        self.send([part])
        await event.wait()
        return next((done for done in reversed(self.scoreboard.done) if done.part is part), None)

    def _part_done(self, done: Done) -> None:
        waited = self._waited.pop(id(done.part), None)
        if waited is not None:
            waited[1].set()

    async def stream(self, part: Part, cuts: Sequence[int]) -> None:
        """A packet in parts: it is stopped at these places of its text."""
        state: State | None = None
        command = part.command
        for number, (at, end) in enumerate(zip([0, *cuts], [*cuts, len(part.text)], strict=True)):
            piece = Part(
                replace(command, save=number < len(cuts), resume=state),
                b"" if state else part.aad,
                part.text[at:end],
                part.tag,
            )
            done = await self.run_part(piece)
            if done is None:
                return
            state = done.result.state

    def resumed(self, part: Part, at: int, *, save: bool = False) -> Part:
        """This packet as the rest of a stream that has ``at`` bytes of text behind it, of which nobody knows but the
        state: random GHASH, random block."""
        state = State(self.rng.randbytes(BLOCK), self.rng.randbytes(at % BLOCK), self.rng.getrandbits(16), at)
        return Part(replace(part.command, save=save, resume=state), b"", part.text, part.tag)

    def under_way(self) -> str:
        """Where it is: ``idle``, ``key``, in the ``aad`` or the ``text`` of a packet, or packets come ``out``."""
        if self.wires.beats_out and self.scoreboard.done:
            return "out"
        offered = self.wires.data.offered
        if offered is not None:
            return "aad" if offered["user"] else "text"
        return "key" if self.wires.keys.pending or self.scoreboard.writes else "idle"

    def _moving(self) -> bool:
        return bool(
            self.scoreboard.open
            or self._unwritten()
            or any(feed.values for feed in self.feeds.values())
            or any(channel.pending for channel in self.wires.channels.values())
        )

    async def _wait(self, moving: Callable[[], bool], what: str) -> None:
        last, before = self.wires.cycle, -1
        while moving():
            await self.wires.cycles(1)
            now = (
                len(self.scoreboard.done)
                + self.wires.beats_out
                - self._unwritten()
                - sum(channel.queued for channel in self.wires.channels.values())
            )
            if now != before:
                last, before = self.wires.cycle, now
            waiting = {name: channel.pending for name, channel in self.wires.channels.items()}
            assert self.wires.cycle - last < QUIET_CYCLES, (
                f"{what} don't end: pending {waiting}, open {self.scoreboard.open}"
            )

    async def finish(self) -> list[Done]:
        """Wait until nothing is under way, see that the engine is idle and nothing more comes; what came out since the
        last time."""
        await self._wait(self._moving, "packets")
        await self.wires.cycles(4)
        assert str(self.dut.idle.value) == "1", "idle is 0 in an engine that holds nothing"
        await self.wires.cycles(16)
        assert not self.wires.partial, "a packet began that has no end"
        done = list(self.scoreboard.done)
        self.scoreboard.done.clear()
        return done


Body = Callable[[GcmEnv], Awaitable[None]]


class _GcmTest(uvm_test):
    """Builds the environment and runs the body of one cocotb test in it."""

    bench_dut: Any
    bench_body: Body
    bench_name: str

    def build_phase(self) -> None:
        self.env = GcmEnv("env", self, self.bench_dut, seeded("gcm", self.bench_name))

    async def run_phase(self) -> None:
        self.raise_objection()
        await self.env.reset()
        await type(self).bench_body(self.env)
        self.drop_objection()


def test(body: Body) -> object:
    """Makes of a body, which takes an environment out of reset, a cocotb test of its name."""

    async def run(dut: Any) -> None:
        members = {"bench_dut": dut, "bench_body": staticmethod(body), "bench_name": body.__name__}
        await uvm_root().run_test(type(f"{body.__name__}_uvm", (_GcmTest,), members))

    run.__name__ = run.__qualname__ = body.__name__
    run.__doc__, run.__module__ = body.__doc__, body.__module__
    return cocotb.test(timeout_time=4, timeout_unit="ms")(run)
