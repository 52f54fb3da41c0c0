"""Protocol checker of any stream: raises an AssertionError with the stream's name, the cycle and what was wrong.

It reads every signal once a cycle, so it belongs in protocol benches and not where volume matters. The rules are those
of docs/architecture.md section 2 (AMBA 4 AXI4-Stream, IHI 0051A, sections 2.2.1 and 2.7 stand behind them):

* ``tvalid``, once high, stays until ``tready``, and the beat stays as it is meanwhile;
* ``tkeep`` is all ones before the last beat, contiguous from lane 0 and not zero on the last;
* nothing that is valid is X or Z (four-state simulators): ``tvalid`` and ``tready`` always, ``tlast``, ``tkeep`` and
  the kept lanes with each beat, ``tuser`` with the last, ``meta`` and ``dest`` with the first;
* the device drives neither ``tvalid`` nor ``tready`` while reset is high, from its first edge on.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import cocotb
from cocotb.handle import HierarchyObject, LogicObject
from cocotb.triggers import RisingEdge

from tb.lib.clock import cycle

__all__ = ["LatencyChecker", "ProtocolChecker"]


class ProtocolChecker:
    """Checks stream ``name`` of ``entity`` from its construction to the end of the test.

    ``output``: the device drives ``tvalid`` (true) or ``tready`` (false); by default true for names that start with
    ``m_``. ``beats``, ``frames`` and ``stalls`` count what was seen, so that a test can tell that something was.
    """

    def __init__(
        self, entity: HierarchyObject, name: str, clock: LogicObject, reset: LogicObject, *, output: bool | None = None
    ) -> None:
        self.name = name
        self.output = name.startswith("m_") if output is None else output
        self.beats = self.frames = self.stalls = 0
        self._clock, self._reset = clock, reset
        required = ("tvalid", "tready", "tdata", "tkeep", "tlast")
        signals: list[Any] = [getattr(entity, f"{name}_{signal}") for signal in required]
        self._tvalid, self._tready, self._tdata, self._tkeep, self._tlast = signals
        self._tuser: Any = getattr(entity, f"{name}_tuser", None)
        self._first: list[Any] = [
            getattr(entity, f"{name}_{s}") for s in ("meta", "dest") if hasattr(entity, f"{name}_{s}")
        ]
        self._width = len(self._tdata) // 8
        self._task = cocotb.start_soon(self._run())

    def stop(self) -> None:
        """Stop checking."""
        self._task.cancel()

    def _fail(self, what: str) -> None:
        raise AssertionError(f"{self.name}: cycle {cycle(self._clock)}: {what}")

    def _beat(self, first: bool) -> tuple[str, ...]:
        """What is valid of the beat on the stream, as binary strings, after checks of ``tkeep`` and of X."""
        last, keep, data = str(self._tlast.value), str(self._tkeep.value), str(self._tdata.value)
        if last not in ("0", "1"):
            self._fail(f"tlast is {last} while tvalid is 1")
        if keep.strip("01"):
            self._fail(f"tkeep is {keep} while tvalid is 1")
        lanes = keep.count("1")
        if keep != "0" * (self._width - lanes) + "1" * lanes or not lanes:
            self._fail(f"tkeep {keep} is not contiguous from lane 0, or zero")
        if last == "0" and lanes != self._width:
            self._fail(f"tkeep {keep} is not all ones before the last beat")
        parts = [last, keep, data[len(data) - 8 * lanes :]]
        if last == "1" and self._tuser is not None:
            parts.append(str(self._tuser.value))
        if first:
            parts += [str(handle.value) for handle in self._first]
        for part in parts:
            if part.strip("01"):
                self._fail(f"X or Z in a valid beat: {part}")
        return tuple(parts)

    async def _run(self) -> None:
        edge = RisingEdge(self._clock)
        powered = False
        waiting: tuple[str, ...] | None = None
        first = True
        while True:
            await edge
            valid, ready, reset = str(self._tvalid.value), str(self._tready.value), str(self._reset.value)
            if reset == "1":
                if powered and self.output and valid != "0":
                    self._fail(f"tvalid is {valid} in reset")
                if powered and not self.output and ready != "0":
                    self._fail(f"tready is {ready} in reset")
                powered, waiting, first = True, None, True
                continue
            if not powered:
                continue
            if valid not in ("0", "1") or ready not in ("0", "1"):
                self._fail(f"tvalid is {valid}, tready is {ready}")
            if valid == "0":
                if waiting is not None:
                    self._fail("tvalid fell before tready")
                continue
            beat = self._beat(first)
            if waiting is not None and beat != waiting:
                self._fail(f"the beat changed before tready: {waiting} to {beat}")
            if ready == "1":
                self.beats += 1
                first = beat[0] == "1"
                self.frames += first
                waiting = None
            else:
                self.stalls += 1
                waiting = beat


class LatencyChecker:
    """Checks, beat by beat and under any back-pressure, that a module with one input and one output has no bubble.

    In each cycle the output's ``tvalid`` must be 1 exactly when a beat is due: a beat is due ``latency`` cycles after
    its own handshake, or with ``frame_mode`` after its frame's last handshake, as soon as the beats before it are gone.
    Both streams have one clock and one width, and every frame that goes in comes out.
    """

    def __init__(
        self,
        entity: HierarchyObject,
        clock: LogicObject,
        reset: LogicObject,
        latency: int,
        *,
        frame_mode: bool = False,
        source: str = "s_axis",
        sink: str = "m_axis",
    ) -> None:
        self.beats = 0
        self._clock, self._reset, self._latency, self._frame_mode = clock, reset, latency, frame_mode
        self._sink = sink
        self._in: list[Any] = [getattr(entity, f"{source}_{s}") for s in ("tvalid", "tready", "tlast")]
        self._out: list[Any] = [getattr(entity, f"{sink}_{s}") for s in ("tvalid", "tready")]
        self._task = cocotb.start_soon(self._run())

    def stop(self) -> None:
        """Stop checking."""
        self._task.cancel()

    async def _run(self) -> None:
        edge = RisingEdge(self._clock)
        s_valid, s_ready, s_last = self._in
        m_valid, m_ready = self._out
        due: deque[int] = deque()
        open_beats = 0
        now = 0
        while str(self._reset.value) != "1":
            await edge
        while True:
            await edge
            now += 1
            if str(self._reset.value) == "1":
                due.clear()
                open_beats = 0
                continue
            offered = str(m_valid.value) == "1"
            expected = bool(due) and due[0] <= now
            if offered != expected:
                when = f"due in {due[0] - now} cycles" if due else "none held"
                raise AssertionError(
                    f"{self._sink}: cycle {cycle(self._clock)}: tvalid is {int(offered)}, next beat: {when}"
                )
            if offered and str(m_ready.value) == "1":
                due.popleft()
                self.beats += 1
            if str(s_valid.value) == "1" and str(s_ready.value) == "1":
                open_beats += 1
                if not self._frame_mode or str(s_last.value) == "1":
                    due.extend([now + self._latency] * open_beats)
                    open_beats = 0
