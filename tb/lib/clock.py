"""Clocks, resets and cycle numbers of a bench.

A cycle number is simulation time divided by the period: it costs nothing while nobody asks. Cycle *k* of a clock is the
one that ends with the rising edge at which its signals are sampled, so two numbers of one clock differ by exactly the
number of edges between them, which is how the architecture counts latency.
"""

from __future__ import annotations

import cocotb
from cocotb.clock import Clock
from cocotb.handle import LogicObject
from cocotb.simtime import get_sim_time
from cocotb.triggers import RisingEdge, Timer
from cocotb.types import Logic

__all__ = [
    "CORE_PS",
    "WIRE_PS",
    "cycle",
    "cycle_at",
    "edge_ps",
    "high_within",
    "next_valid",
    "period_ps",
    "reset",
    "start_clock",
    "wait_cycles",
]

CORE_PS = 4000
"""Period of the core clock, 250 MHz, in ps."""
WIRE_PS = 2560
"""Period of the 25G MAC's clock, 390.625 MHz, in ps."""

_ONE = Logic("1")
_clocks: dict[LogicObject, tuple[int, int]] = {}


def start_clock(signal: LogicObject, period_ps: int = CORE_PS, *, offset_ps: int = 0) -> Clock:
    """Start a clock and remember its period, so that agents can number its cycles.

    The simulator's precision must be 1 ps. An odd period gets its longer half low. ``offset_ps`` delays the first
    rising edge; the signal is low until then.
    """
    clock = Clock(signal, period_ps, "ps", period_high=period_ps // 2)
    start = get_sim_time("ps")
    _clocks[signal] = (int(start) + offset_ps, period_ps)
    if offset_ps:
        signal.value = 0

        async def later() -> None:
            await Timer(offset_ps, "ps")
            clock.start()

        cocotb.start_soon(later())
    else:
        clock.start()
    return clock


def period_ps(signal: LogicObject) -> int:
    """Period of a clock that ``start_clock`` started, in ps."""
    return _lookup(signal)[1]


def cycle(signal: LogicObject) -> int:
    """Number of the cycle that ends now, at a rising edge of ``signal``."""
    start, period = _lookup(signal)
    return (int(get_sim_time("ps")) - start) // period


def edge_ps(signal: LogicObject, number: int) -> int:
    """Time of the rising edge that ends cycle ``number``, in ps."""
    start, period = _lookup(signal)
    return start + number * period


def cycle_at(signal: LogicObject, time_ps: int) -> int:
    """Number of the last cycle of ``signal`` that has ended at ``time_ps``; an edge at that very time counts."""
    start, period = _lookup(signal)
    return (time_ps - start) // period


def _lookup(signal: LogicObject) -> tuple[int, int]:
    try:
        return _clocks[signal]
    except KeyError:
        raise RuntimeError(
            f"clock {signal._path} has no known period: start it with tb.lib.clock.start_clock(signal, period_ps)"
        ) from None


async def wait_cycles(signal: LogicObject, count: int) -> None:
    """Wait for ``count`` rising edges."""
    edge = RisingEdge(signal)
    for _ in range(count):
        await edge


async def high_within(clk: LogicObject, signal: LogicObject, count: int) -> bool:
    """Wait until ``signal`` is 1 at a rising edge of ``clk``; False: it wasn't at the next ``count`` of them."""
    edge = RisingEdge(clk)
    for _ in range(count):
        await edge
        if signal.value == _ONE:
            return True
    return False


async def next_valid(clk: LogicObject, rst: LogicObject, valid: LogicObject) -> None:
    """Wait for the next rising edge of ``clk`` at which ``valid`` is 1 and ``rst`` isn't; nothing wakes meanwhile."""
    edge, rise = RisingEdge(clk), RisingEdge(valid)
    while True:
        await edge
        while valid.value != _ONE:
            await rise
            await edge
        if rst.value != _ONE:
            return


async def reset(rst: LogicObject, clk: LogicObject, cycles: int = 4) -> None:
    """Hold a synchronous, active-high reset for ``cycles`` edges and return right after the edge that releases it."""
    rst.value = 1
    await wait_cycles(clk, cycles)
    rst.value = 0
    await RisingEdge(clk)
