"""AXI4-Stream agents that handle whole frames: one wake-up a cycle, each signal read or written at most once a beat.

Signals of a stream ``name``: ``name_tdata tkeep tvalid tready tlast``, and where they exist ``name_tuser``,
``name_meta`` and ``name_dest``. Any width of whole bytes; byte lane 0 is first. Agents sample at a rising edge, which
shows the values of the cycle that ends there, and write just after it. Start clocks with ``tb.lib.clock.start_clock``,
so that cycles have numbers.

Whatever the contract leaves undefined is driven with noise, so that a design that looks at it is found out: lanes
beyond ``tkeep``, ``tuser`` before the last beat, ``meta`` and ``dest`` after the first. With ``undefined=True`` (for a
four-state simulator) it is driven with X, and so is everything while ``tvalid`` is low.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import cocotb
from cocotb.handle import HierarchyObject, LogicObject
from cocotb.triggers import Event, RisingEdge, Timer
from cocotb.types import Logic
from cocotb_bus.drivers import BusDriver
from cocotb_bus.monitors import BusMonitor

from tb.lib.clock import cycle
from tb.lib.pause import Reactive

__all__ = ["AxisFrame", "AxisMonitor", "AxisSink", "AxisSource"]

_REQUIRED = ("tdata", "tkeep", "tvalid", "tready", "tlast")
_OPTIONAL = ("tuser", "meta", "dest")
_ONE = Logic("1")


@dataclass(slots=True)
class AxisFrame:
    """A frame on a stream. Two frames are equal when ``data``, ``user`` and ``meta`` are; cycles don't count."""

    data: bytes
    """The bytes, at least one."""
    user: int = 0
    """``tuser`` of the last beat."""
    meta: int = 0
    """``meta`` of the first beat."""
    dest: int = field(default=0, compare=False)
    """``dest`` of the first beat, where the stream has one."""
    valid_cycle: int = field(default=-1, compare=False)
    """Cycle in which ``tvalid`` of the first beat rose; -1 before that."""
    first_cycle: int = field(default=-1, compare=False)
    """Cycle of the first beat's handshake."""
    last_cycle: int = field(default=-1, compare=False)
    """Cycle of the last beat's handshake."""

    @property
    def bad(self) -> bool:
        """Bit 0 of ``user``."""
        return bool(self.user & 1)

    def beats(self, width: int = 16) -> int:
        """Beats that the frame takes on a stream of ``width`` bytes."""
        return -(-len(self.data) // width)

    def __str__(self) -> str:
        text = self.data[:16].hex() + ("…" if len(self.data) > 16 else "")
        return (
            f"{len(self.data)} B user={self.user:#x} meta={self.meta:#x} [{text}] "
            f"cycles {self.valid_cycle}/{self.first_cycle}/{self.last_cycle}"
        )


def _signals(entity: HierarchyObject, name: str, meta: bool | None) -> list[str]:
    """Names of the signals that stream ``name`` of ``entity`` has; ``meta`` false leaves it alone, true demands it."""
    found = list(_REQUIRED)
    for signal in _OPTIONAL:
        if signal == "meta" and meta is not None:
            if meta:
                found.append(signal)
        elif hasattr(entity, f"{name}_{signal}"):
            found.append(signal)
    return found


class AxisSource(BusDriver):
    """Drives frames onto a stream.

    ``append(frame)`` queues a frame; queued frames go out back to back. ``await send(frame)`` queues one and returns
    once its last beat has been taken. The frame's ``valid_cycle``, ``first_cycle`` and ``last_cycle`` are filled in, so
    an ``AxisFrame`` is sent once. ``pause``: an iterator from ``tb.lib.pause`` that decides in which cycles a beat may
    be offered first (a beat once offered stays).
    """

    _thread: Any

    def __init__(
        self,
        entity: HierarchyObject,
        name: str,
        clock: LogicObject,
        *,
        meta: bool | None = None,
        pause: Iterator[bool] | None = None,
        rng: Random | None = None,
        undefined: bool = False,
    ) -> None:
        self._signals = _signals(entity, name, meta)
        self.pause = pause
        self._rng = rng or Random(name)
        self._undefined = undefined
        self._current: tuple[AxisFrame, Event | None] | None = None
        BusDriver.__init__(self, entity, name, clock, case_insensitive=False)
        bus = self.bus
        self._width = len(bus.tdata) // 8
        self._sideband = {
            signal: (getattr(bus, signal), len(getattr(bus, signal))) for signal in self._signals if signal in _OPTIONAL
        }
        bus.tvalid.value = 0
        self._release()

    def _noise(self, bits: int) -> Any:
        """A value for what is undefined."""
        return "X" * bits if self._undefined else self._rng.getrandbits(bits)

    def _release(self) -> None:
        """Drive the first defined values, or X, beside a low ``tvalid``."""
        fill = "X" if self._undefined else "0"
        for signal in self._signals:
            if signal not in ("tvalid", "tready"):
                handle = getattr(self.bus, signal)
                handle.value = fill * len(handle)

    async def send(self, transaction: AxisFrame, sync: bool = True, **kwargs: Any) -> AxisFrame:
        """Queue a frame and wait until its last beat has been taken (or ``clear`` threw it away); returns it."""
        del sync
        done = Event()
        self.append(transaction, event=done, **kwargs)
        await done.wait()
        return transaction

    @property
    def pending(self) -> int:
        """Frames that are queued or under way."""
        return len(self._sendQ) + (self._current is not None)

    async def room(self) -> None:
        """Wait until no queued frame stands behind the one under way."""
        edge = RisingEdge(self.clock)
        while self._sendQ:
            await edge

    async def drained(self) -> None:
        """Wait until every queued frame has been taken."""
        edge = RisingEdge(self.clock)
        while self._sendQ or self._current is not None:
            await edge

    def clear(self) -> None:
        """Forget every queued frame and the one under way, and lower ``tvalid``: for a reset."""
        dropped = [event for _, _, event, _ in self._sendQ]
        self._sendQ.clear()
        if self._current is not None:
            dropped.append(self._current[1])
            self._current = None
        self._thread.cancel()
        self.bus.tvalid.value = 0
        self._release()
        self._thread = cocotb.start_soon(self._send_thread())
        for event in dropped:
            if event is not None:
                event.set()

    async def _send_thread(self) -> None:
        bus, clock, width = self.bus, self.clock, self._width
        edge = RisingEdge(clock)
        tdata, tkeep, tvalid, tready, tlast = bus.tdata, bus.tkeep, bus.tvalid, bus.tready, bus.tlast
        tuser, user_bits = self._sideband.get("tuser", (None, 0))
        full = (1 << width) - 1
        keep_now = last_now = -1
        offered = False
        queue = self._sendQ
        while True:
            if not queue:
                self._current = None
                if offered:
                    tvalid.value = 0
                    offered = False
                    if self._undefined:
                        self._release()
                        keep_now = last_now = -1
                self._pending.clear()
                await self._pending.wait()
                await edge
                continue
            frame, callback, event, _ = queue.popleft()
            self._current = (frame, event)
            data = frame.data
            size = len(data)
            assert size, f"{self.name}: a frame of no bytes cannot be sent"
            for at in range(0, size, width):
                last = at + width >= size
                while (pause := self.pause) is not None:
                    if isinstance(pause, Reactive):
                        pause.see(True, last)
                    if next(pause):
                        break
                    if offered:
                        tvalid.value = 0
                        offered = False
                        if self._undefined:
                            self._release()
                            keep_now = last_now = -1
                    await edge
                word = int.from_bytes(data[at : at + width], "little")
                keep = full
                if last:
                    bytes_left = size - at
                    keep = (1 << bytes_left) - 1
                    unused = (width - bytes_left) * 8
                    if not unused:
                        tdata.value = word
                    elif self._undefined:
                        tdata.value = "X" * unused + f"{word:0{bytes_left * 8}b}"
                    else:
                        tdata.value = word | self._rng.getrandbits(unused) << (bytes_left * 8)
                    if tuser is not None:
                        tuser.value = frame.user
                else:
                    tdata.value = word
                    if at == 0 and tuser is not None:
                        tuser.value = self._noise(user_bits)
                if keep != keep_now:
                    tkeep.value = keep_now = keep
                if last != last_now:
                    tlast.value = last_now = int(last)
                if at == 0:
                    for signal, (handle, _) in self._sideband.items():
                        if signal != "tuser":
                            handle.value = getattr(frame, signal)
                elif at == width:
                    for signal, (handle, bits) in self._sideband.items():
                        if signal != "tuser":
                            handle.value = self._noise(bits)
                if not offered:
                    tvalid.value = 1
                    offered = True
                await edge
                if at == 0:
                    frame.valid_cycle = cycle(clock)
                while tready.value != _ONE:
                    await edge
                if at == 0:
                    frame.first_cycle = cycle(clock)
            frame.last_cycle = cycle(clock)
            self._current = None
            if event is not None:
                event.set()
            if callback is not None:
                callback(frame)


class AxisMonitor(BusMonitor):
    """Watches a stream and gives its frames: to callbacks, or from ``await recv()``.

    A frame's ``valid_cycle`` is the first cycle in which its first beat was offered. An X or Z where the contract
    promises a value, or a ``tkeep`` with a hole or with no bit, is an AssertionError.
    """

    _thread: Any

    def __init__(
        self,
        entity: HierarchyObject,
        name: str,
        clock: LogicObject,
        *,
        meta: bool | None = None,
        callback: Callable[[AxisFrame], None] | None = None,
    ) -> None:
        self._signals = _signals(entity, name, meta)
        BusMonitor.__init__(self, entity, name, clock, callback=callback, case_insensitive=False)
        self._width = len(self.bus.tdata) // 8
        self._start()

    def _start(self) -> None:
        self._chunks: list[bytes] = []
        self._valid_cycle = -1
        self._first_cycle = -1
        self._meta = 0
        self._dest = 0

    @property
    def partial(self) -> bool:
        """A frame has begun and not ended."""
        return bool(self._chunks)

    @property
    def frames(self) -> list[AxisFrame]:
        """Frames received and not yet fetched."""
        return list(self._recvQ)

    async def recv(self) -> AxisFrame:
        """The next frame, waited for."""
        while not self._recvQ:
            await self._wait_event.wait()
        frame: AxisFrame = self._recvQ.popleft()
        return frame

    def clear(self) -> None:
        """Forget a frame in progress and all that was received: for a reset."""
        self._recvQ.clear()
        self._thread.cancel()
        self._start()
        self._thread = cocotb.start_soon(self._monitor_recv())

    def _int(self, handle: Any, what: str, bits: int | None = None) -> int:
        """Value of a signal's low ``bits`` bits; X or Z there is an error, above it doesn't matter."""
        text = str(handle.value)
        if bits is not None:
            text = text[len(text) - bits :]
        try:
            return int(text, 2)
        except ValueError:
            raise AssertionError(f"{self.name}: cycle {cycle(self.clock)}: {what} is {text}") from None

    def _offer(self) -> None:
        """A first beat is on the stream: note the first cycle of it."""
        if self._valid_cycle < 0:
            self._valid_cycle = cycle(self.clock)

    def _beat(self) -> None:
        """A handshake took place in the cycle that ends now."""
        bus, width = self.bus, self._width
        chunks = self._chunks
        if not chunks:
            self._first_cycle = cycle(self.clock)
            signals = self._signals
            if "meta" in signals:
                self._meta = self._int(bus.meta, "meta of a first beat")
            if "dest" in signals:
                self._dest = self._int(bus.dest, "dest of a first beat")
        if not self._int(bus.tlast, "tlast"):
            chunks.append(self._int(bus.tdata, "tdata").to_bytes(width, "little"))
            return
        keep = self._int(bus.tkeep, "tkeep")
        size = keep.bit_length()
        assert keep and keep == (1 << size) - 1, (
            f"{self.name}: cycle {cycle(self.clock)}: tkeep {keep:0{width}b} with tlast is not contiguous from lane 0"
        )
        chunks.append(self._int(bus.tdata, "tdata", size * 8).to_bytes(size, "little"))
        frame = AxisFrame(
            b"".join(chunks),
            self._int(bus.tuser, "tuser of a last beat") if "tuser" in self._signals else 0,
            self._meta,
            self._dest,
            self._valid_cycle,
            self._first_cycle,
            cycle(self.clock),
        )
        chunks.clear()
        self._valid_cycle = -1
        self._recv(frame)

    async def _monitor_recv(self) -> None:
        edge = RisingEdge(self.clock)
        tvalid, tready = self.bus.tvalid, self.bus.tready
        while True:
            await edge
            if tvalid.value == _ONE:
                if not self._chunks:
                    self._offer()
                if tready.value == _ONE:
                    self._beat()


class AxisSink(AxisMonitor):
    """A monitor that also drives ``tready``, by an iterator of ``tb.lib.pause`` (None: always ready).

    ``pause`` may be exchanged at any time. With a ``Reactive`` one the sink looks at the stream one time
    step after the edge, when the design has settled, and sets ``tready`` in that same cycle.
    """

    def __init__(
        self,
        entity: HierarchyObject,
        name: str,
        clock: LogicObject,
        *,
        meta: bool | None = None,
        pause: Iterator[bool] | None = None,
        callback: Callable[[AxisFrame], None] | None = None,
    ) -> None:
        self.pause = pause
        AxisMonitor.__init__(self, entity, name, clock, meta=meta, callback=callback)
        self.bus.tready.value = 0

    async def _monitor_recv(self) -> None:
        edge, settled = RisingEdge(self.clock), Timer(1, "step")
        tvalid, tready, tlast = self.bus.tvalid, self.bus.tready, self.bus.tlast
        rise = RisingEdge(tvalid)
        ready = -1
        await edge
        while True:
            pause = self.pause
            if pause is None:
                grant = 1
            elif isinstance(pause, Reactive):
                await settled
                valid = tvalid.value == _ONE
                pause.see(valid, valid and tlast.value == _ONE)
                grant = int(next(pause))
            else:
                grant = int(next(pause))
            if grant != ready:
                tready.value = ready = grant
            await edge
            if tvalid.value == _ONE:
                if not self._chunks:
                    self._offer()
                if ready:
                    self._beat()
            elif pause is None and self.pause is None:
                await rise
                await edge
                if tvalid.value == _ONE:
                    if not self._chunks:
                        self._offer()
                    self._beat()
