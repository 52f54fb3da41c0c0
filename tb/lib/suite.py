"""What the benches of block ``lib`` share: a harness around one input and one output stream, and the checks that every
stream module must pass.

A check is a coroutine that takes a ``Harness``; a bench calls it from a cocotb test of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly, RisingEdge, Timer

from models.lib import beat_count, first_out_cycle
from tb.lib import cover
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import CORE_PS, period_ps, reset, start_clock, wait_cycles
from tb.lib.pause import PAUSES
from tb.lib.protocol import LatencyChecker, ProtocolChecker

__all__ = [
    "Harness",
    "boundary_lengths",
    "check_every_length",
    "check_no_combinational_path",
    "check_pause_pairs",
    "check_reset_in_mid_frame",
    "check_throughput",
    "four_state",
    "random_frame",
    "seeded",
    "test",
]

test = cocotb.test(timeout_time=500, timeout_unit="us")
"""A cocotb test that fails when it hangs: the longest take 0.1 ms of simulated time."""


def four_state() -> bool:
    """The simulator knows X: what is undefined is then driven with it."""
    return not cocotb.SIM_NAME.lower().startswith("verilator")


def seeded(*parts: object) -> Random:
    """Randomness that depends on the run's seed and on ``parts`` alone."""
    return Random(f"{os.environ.get('NICLOOP_SEED', '1')}:{parts}")


def boundary_lengths(width: int) -> list[int]:
    """Every length up to four beats and a byte."""
    return list(range(1, 4 * width + 2))


def random_frame(rng: Random, length: int, dut: HierarchyObject, stream: str = "s_axis") -> AxisFrame:
    """A frame of random bytes, ``tuser`` and ``meta``, each as wide as ``stream`` has it."""

    def bits(signal: str) -> int:
        handle = getattr(dut, f"{stream}_{signal}", None)
        return 0 if handle is None else rng.getrandbits(len(handle))

    return AxisFrame(rng.randbytes(length), bits("tuser"), bits("meta"))


class Harness:
    """One stream in, one out: clock, agents, protocol checkers, and the books.

    ``latency``: cycles from the first beat's handshake (with ``frame_mode`` the last's) to ``tvalid`` at the output, or
    a function of a frame's length where it depends on that. ``exact``: attach the beat-by-beat latency checker.
    """

    def __init__(
        self,
        dut: Any,
        name: str,
        latency: int | Callable[[int], int],
        *,
        frame_mode: bool = False,
        exact: bool = False,
        protocol: bool = True,
        source: str = "s_axis",
        sink: str = "m_axis",
    ) -> None:
        self.dut = dut
        self.name = name
        self.clk: Any = self.dut.clk
        self.rst: Any = self.dut.rst
        self.frame_mode = frame_mode
        self.latency = latency if callable(latency) else lambda length: latency
        self.rng = seeded(name)
        start_clock(self.clk, CORE_PS)
        self.rst.value = 1
        self.source = AxisSource(dut, source, self.clk, rng=seeded(name, "noise"), undefined=four_state())
        self.sink = AxisSink(dut, sink, self.clk)
        self.stream = source
        self.s_width = len(getattr(dut, f"{source}_tdata")) // 8
        self.m_width = len(getattr(dut, f"{sink}_tdata")) // 8
        self.checkers = []
        if protocol:
            self.checkers = [ProtocolChecker(dut, stream, self.clk, self.rst) for stream in (source, sink)]
        self.exact = None
        if exact:
            assert not callable(latency)
            self.exact = LatencyChecker(
                dut, self.clk, self.rst, latency, frame_mode=frame_mode, source=source, sink=sink
            )
        self.pauses = cover.cross(f"{name}.pauses", list(PAUSES), list(PAUSES))
        self.lengths = cover.point(f"{name}.last_lanes", list(range(1, self.s_width + 1)))
        self.beats = cover.point(f"{name}.beats", [1, 2, 3, 4, 5])

    async def start(self) -> Harness:
        """Reset the module."""
        await reset(self.rst, self.clk)
        return self

    async def restart(self, cycles: int = 2) -> None:
        """Reset in the middle of whatever goes on; forget it all."""
        self.source.clear()
        self.sink.clear()
        await reset(self.rst, self.clk, cycles)
        self.source.clear()
        self.sink.clear()

    def pause(self, source: str, sink: str) -> None:
        """Choose back-pressure by name."""
        self.source.pause = None if source == "none" else PAUSES[source](seeded(self.name, source, "source"))
        self.sink.pause = None if sink == "none" else PAUSES[sink](seeded(self.name, sink, "sink"))

    def frame(self, length: int, **fields: int) -> AxisFrame:
        """A random frame; ``user`` and ``meta`` can be given."""
        frame = random_frame(self.rng, length, self.dut, self.stream)
        for field, value in fields.items():
            setattr(frame, field, value)
        return frame

    def note(self, frame: AxisFrame) -> None:
        """Count a frame's shape."""
        self.lengths((len(frame.data) - 1) % self.s_width + 1)
        if frame.beats(self.s_width) <= 5:
            self.beats(frame.beats(self.s_width))

    async def transfer(self, frames: Iterable[AxisFrame]) -> list[AxisFrame]:
        """Send frames back to back, receive as many, check that they are the same in order; returns what came out."""
        sent = list(frames)
        for frame in sent:
            self.note(frame)
            self.source.append(frame)
        received = []
        for frame in sent:
            out = await self.sink.recv()
            assert out == frame, f"sent {frame}\ncame {out}\n{_difference(frame, out)}"
            received.append(out)
        return received

    def check_cycles(self, sent: list[AxisFrame], received: list[AxisFrame]) -> None:
        """Each frame's first beat rose in exactly the cycle that the model gives."""
        previous = -1
        for frame, out in zip(sent, received, strict=True):
            arrived = frame.last_cycle if self.frame_mode else frame.first_cycle
            expected = first_out_cycle(arrived, self.latency(len(frame.data)), previous)
            assert out.valid_cycle == expected, f"tvalid rose in cycle {out.valid_cycle}, not {expected}: {frame}"
            previous = out.last_cycle

    async def quiet(self, cycles: int = 20) -> None:
        """Nothing more comes out: no frame, no beat."""
        self.source.pause = self.sink.pause = None
        await wait_cycles(self.clk, cycles)
        assert not self.sink.frames, f"unexpected: {self.sink.frames[0]}"
        assert not self.sink.partial, "a frame began that has no end"
        assert not self.source.pending, "the source is stuck"
        for checker in self.checkers:
            assert checker.beats, f"{checker.name}: the protocol checker saw no beat"


def _difference(a: AxisFrame, b: AxisFrame) -> str:
    """The first thing in which two frames differ."""
    if a.data != b.data:
        for index, (x, y) in enumerate(zip(a.data, b.data, strict=False)):
            if x != y:
                return f"byte {index}: sent {x:#04x}, came {y:#04x}"
        return f"length: sent {len(a.data)}, came {len(b.data)}"
    return f"user: sent {a.user:#x}, came {b.user:#x}" if a.user != b.user else f"meta: {a.meta:#x}, {b.meta:#x}"


async def check_every_length(h: Harness) -> None:
    """Every length to four beats and a byte: alone, with exact latency; then all of them back to back."""
    lengths = boundary_lengths(max(h.s_width, h.m_width))
    for length in lengths:
        frame = h.frame(length)
        (out,) = await h.transfer([frame])
        h.check_cycles([frame], [out])
        assert out.last_cycle - out.first_cycle == beat_count(length, h.m_width) - 1 or h.s_width < h.m_width
        await wait_cycles(h.clk, 2)
    h.rng.shuffle(lengths)
    await h.transfer(h.frame(length) for length in lengths)
    await h.quiet()


async def check_pause_pairs(h: Harness, *, cycles: bool = True, lengths: Iterable[int] | None = None) -> None:
    """Every generator at the source with every generator at the sink; with ``cycles`` also each frame's exact cycle."""
    longest = 4 * max(h.s_width, h.m_width) + 1
    for source in PAUSES:
        for sink in PAUSES:
            h.pause(source, sink)
            h.pauses(source, sink)
            picked = list(lengths) if lengths is not None else [h.rng.randint(1, longest) for _ in range(6)]
            sent = [h.frame(length) for length in picked]
            received = await h.transfer(sent)
            if cycles:
                h.check_cycles(sent, received)
    await h.quiet()


async def check_throughput(h: Harness, frames: int = 40, *, per_frame: int = 0) -> None:
    """Nobody pauses: frames back to back take one cycle a beat of the narrower side, plus ``per_frame``."""
    width = min(h.s_width, h.m_width)
    for length in (1, width, width + 1, 3 * width, 60, 65):
        sent = [h.frame(length) for _ in range(frames)]
        received = await h.transfer(sent)
        took = received[-1].last_cycle - received[0].first_cycle
        # Between the first frame's end and the last one's there are frames - 1 whole frames.
        beats = beat_count(length, width) + per_frame
        assert received[-1].last_cycle - received[0].last_cycle == (frames - 1) * beats, (
            f"{frames} frames of {length} B took {took} cycles"
        )
        await wait_cycles(h.clk, 4)
    await h.quiet()


async def check_reset_in_mid_frame(h: Harness, spread: int = 14) -> None:
    """A reset in each of the first cycles of traffic; then whole frames pass and nothing of the old ones shows."""
    seen = cover.point(f"{h.name}.reset", ["idle", "input_open", "output_open"])
    for delay in range(spread):
        for sink in ("none", "one_in"):
            h.pause("none", sink)
            for _ in range(3):
                h.source.append(h.frame(4 * h.s_width - 3))
            await wait_cycles(h.clk, delay)
            seen("output_open" if h.sink.partial else "input_open" if h.source.pending else "idle")
            await h.restart(1 + delay % 3)
            h.pause("none", "none")
            await h.transfer(h.frame(n) for n in (3, 2 * h.s_width, 60))
            await h.quiet(8)
    h.source.append(h.frame(1))
    await h.sink.recv()
    await wait_cycles(h.clk, 3)
    seen("idle")
    await h.restart()
    await h.transfer([h.frame(33)])


async def check_no_combinational_path(h: Harness, source: str = "s_axis", sink: str = "m_axis") -> None:
    """Inputs of one side, moved in the middle of a cycle, move no output of the other side in that cycle.

    The state under which it is tried is that of every cycle of a stop-and-go transfer: empty, part full, full.
    """
    dut = h.dut
    s_valid, s_ready = getattr(dut, f"{source}_tvalid"), getattr(dut, f"{source}_tready")
    outputs = [getattr(dut, f"{sink}_{s}") for s in ("tvalid", "tlast", "tdata", "tkeep")]
    m_ready = getattr(dut, f"{sink}_tready")
    quarter = Timer(period_ps(h.clk) // 4, "ps")
    h.source.append(h.frame(40 * h.s_width))
    h.pause("bursty", "bursty")
    states = set()
    for _ in range(60):
        await RisingEdge(h.clk)
        await quarter
        before_ready, before_out = str(s_ready.value), [str(o.value) for o in outputs]
        states.add((before_ready, before_out[0]))
        ready, valid = str(m_ready.value), str(s_valid.value)
        m_ready.value = int(ready != "1")
        await quarter
        assert str(s_ready.value) == before_ready, f"{source}_tready follows {sink}_tready within a cycle"
        m_ready.value = int(ready == "1")
        s_valid.value = int(valid != "1")
        await quarter
        assert [str(o.value) for o in outputs] == before_out, f"{sink} follows {source}_tvalid within a cycle"
        s_valid.value = int(valid == "1")
    assert len(states) > 1, "the module never changed its state"
    await ReadOnly()
    await RisingEdge(h.clk)
    await h.sink.recv()
