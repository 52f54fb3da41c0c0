"""The ports of ``gcm``, driven and sampled by one coroutine once a cycle.

Cycle ``n`` ends with the rising edge at which its values are sampled; what is written behind that edge holds in cycle
``n + 1``. Ports that offer nothing carry noise, or X under a four-state simulator, and so do lanes that aren't kept.
Whoever listens is called in the order in which things take effect: key done, key taken, command, data in, data out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge, Timer
from cocotb.types import Logic

from models.gcm import Command, Part
from tb.gcm.beats import InBeat, KeyWrite, OutBeat, command_fields, in_beats, key_fields
from tb.lib.channel import Channel
from tb.lib.clock import CORE_PS, cycle, start_clock
from tb.lib.pause import Reactive

__all__ = ["OutPacket", "Wires"]

_ONE = Logic("1")


@dataclass(slots=True)
class OutPacket:
    """What came out. valid: cycle in which ``tvalid`` of the first beat rose; last: of the last beat's handshake."""

    beats: list[OutBeat] = field(default_factory=list)
    valid: int = -1
    last: int = -1


class Wires:
    """All ports of ``gcm``. out_pause: back-pressure of the output, as ``Channel.pause``."""

    def __init__(self, dut: Any, rng: Random, *, undefined: bool) -> None:
        self.dut, self.rng, self._undefined = dut, rng, undefined
        self.out_pause: Iterator[bool] | None = None
        self.key_done: Callable[[int], None] = lambda cycle: None
        self.packet_out: Callable[[OutPacket], None] = lambda packet: None
        self.stalls = 0
        """Cycles in which a beat out waited."""
        self.beats_out = 0
        dut.rst.value = 1
        dut.m_axis_tready.value = 0
        key = {name: f"key_{name}" for name in ("index", "cipher", "256", "erase", "data")}
        command = {name: f"s_cmd_{name}" for name in ("key", "decrypt", "iv", "tag_bytes", "save", "resume", "state")}
        data = {"data": "s_axis_tdata", "keep": "s_axis_tkeep", "last": "s_axis_tlast", "user": "s_axis_tuser"}
        data["tag"] = "s_axis_tag"
        self.keys: Channel[KeyWrite] = Channel(
            dut, "key_valid", "key_ready", key, lambda write: [dict(key_fields(write, rng))], self._noise
        )
        self.commands: Channel[Command] = Channel(
            dut,
            "s_cmd_valid",
            "s_cmd_ready",
            command,
            lambda command: [dict(command_fields(command, rng))],
            self._noise,
        )
        self.data: Channel[Part] = Channel(
            dut,
            "s_axis_tvalid",
            "s_axis_tready",
            data,
            lambda part: list(map(self._fields, in_beats(part, rng))),
            self._noise,
        )
        self.channels: dict[str, Channel[Any]] = {"key": self.keys, "command": self.commands, "data": self.data}
        self._out = OutPacket()
        self._waiting: tuple[str, ...] | None = None
        self._reset = True
        self._reset_cycles = 0
        start_clock(dut.clk, CORE_PS)
        self.cycle = 0
        """The cycle that is under way: what is written now holds in it."""
        self._task = cocotb.start_soon(self._run())

    def _noise(self, bits: int) -> int | str:
        return "X" * bits if self._undefined else self.rng.getrandbits(bits)

    def _fields(self, beat: InBeat) -> dict[str, int | str]:
        data: int | str = beat.data
        if self._undefined:
            octets = beat.data.to_bytes(16, "big")
            data = "".join(
                f"{octet:08b}" if beat.keep >> 15 - place & 1 else "X" * 8 for place, octet in enumerate(octets)
            )
        return {"data": data, "keep": beat.keep, "last": beat.last, "user": beat.user, "tag": beat.tag}

    @property
    def partial(self) -> bool:
        """A packet has begun to come out and not ended."""
        return bool(self._out.beats)

    async def cycles(self, count: int) -> None:
        """Wait."""
        edge = RisingEdge(self.dut.clk)
        for _ in range(count):
            await edge

    async def reset(self, cycles: int = 3) -> None:
        """Forget everything and hold the reset; in it the engine offers and takes nothing."""
        self.dut.rst.value = 1
        self._reset, self._reset_cycles = True, 0
        for channel in self.channels.values():
            channel.clear()
        self._out, self._waiting = OutPacket(), None
        await self.cycles(cycles)
        for channel in self.channels.values():
            channel.clear()  # an item may have been on its way through its driver
        self.dut.rst.value = 0
        self._reset = False

    async def _run(self) -> None:
        dut, edge, settled = self.dut, RisingEdge(self.dut.clk), Timer(1, "step")
        tready, tvalid, tlast, key_done = dut.m_axis_tready, dut.m_axis_tvalid, dut.m_axis_tlast, dut.key_done
        channels = tuple(self.channels.values())
        ready = -1
        await edge
        self.cycle = cycle(dut.clk) + 1
        while True:
            for channel in channels:
                channel.drive()
            pause = self.out_pause
            if isinstance(pause, Reactive):
                await settled
                offered = tvalid.value == _ONE
                pause.see(offered, offered and tlast.value == _ONE)
            grant = 1 if pause is None else int(next(pause))
            if grant != ready:
                tready.value = ready = grant
            await edge
            if self._reset:
                self._check_reset()
            else:
                if key_done.value == _ONE:
                    self.key_done(self.cycle)
                for channel in channels:
                    channel.sample(self.cycle)
                valid = str(tvalid.value)
                if valid == "1":
                    self._beat(ready)
                else:
                    assert valid == "0", f"m_axis: cycle {self.cycle}: tvalid is {valid}"
                    assert self._waiting is None, f"m_axis: cycle {self.cycle}: tvalid fell before tready"
            self.cycle += 1

    def _check_reset(self) -> None:
        """From the second cycle of a reset on nothing is offered, taken or done."""
        self._reset_cycles += 1
        if self._reset_cycles < 2:
            return
        for name in ("key_ready", "s_cmd_ready", "s_axis_tready", "m_axis_tvalid", "key_done", "ready"):
            text = str(getattr(self.dut, name).value)
            assert text == "0", f"cycle {self.cycle}: {name} is {text} in reset"

    def _beat(self, ready: int) -> None:
        """A beat is on ``m_axis``; it must stay as it is until it is taken."""
        dut = self.dut
        last = str(dut.m_axis_tlast.value)
        texts = [str(dut.m_axis_tdata.value), str(dut.m_axis_tkeep.value), last]
        if last == "1":
            texts += [str(handle.value) for handle in (dut.m_axis_tuser, dut.m_axis_tag, dut.m_axis_state)]
        beat = tuple(texts)
        if self._waiting is not None:
            assert beat == self._waiting, f"m_axis: cycle {self.cycle}: the beat changed before tready"
        packet = self._out
        if packet.valid < 0:
            packet.valid = self.cycle
        if not ready:
            self._waiting = beat
            self.stalls += 1
            return
        self._waiting = None
        self.beats_out += 1
        try:
            packet.beats.append(OutBeat(*(int(text, 2) for text in beat)))
        except ValueError:
            raise AssertionError(f"m_axis: cycle {self.cycle}: X in a beat: {beat}") from None
        if last == "1":
            packet.last = self.cycle
            self._out = OutPacket()
            self.packet_out(packet)
