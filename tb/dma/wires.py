"""The streams of ``dma``, driven and sampled by one coroutine once a cycle; the host is asked and told here.

Cycle ``n`` ends with the rising edge at which its values are sampled; what is written behind that edge holds in cycle
``n + 1``. What is seen in one cycle is told as events of the model in this order: limits, requests taken, completions,
TLPs out, data, done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import Event as Flag
from cocotb.triggers import RisingEdge, Timer
from cocotb.types import Logic

from models.dma import BEAT, Came, Ended, Event, Gave, Limits, Request, Sent, Submitted
from models.dma_tlp import Beat, Completion, MemoryRequest, from_beats
from tb.dma.completer import Host
from tb.lib.channel import Channel, Taken
from tb.lib.clock import CORE_PS, start_clock
from tb.lib.pause import Reactive

__all__ = ["NS", "Wires"]

NS = CORE_PS // 1000
"""Of a cycle."""
FIRST_NS = (1 << 32) - 50_000
"""The NIC's time in cycle 0: its lower half turns over in the first tests."""
_ONE = Logic("1")
REQUEST = {"write": 1, "remote": 1, "key": 32, "addr": 64, "len": 32, "id": 8, "fence": 1, "flush": 1, "ro": 1}


class Vector:
    """A packed vector with a part for each requester: written in parts, driven whole once a cycle."""

    def __init__(self, handle: Any, count: int) -> None:
        self.handle = handle
        self.width = len(handle) // count
        self.values: list[int | str] = [0] * count
        self.changed = True
        self.text = ""

    def drive(self) -> None:
        if not self.changed:
            return
        self.changed = False
        if all(isinstance(value, int) for value in self.values):
            whole = 0
            for value in reversed(self.values):
                whole = whole << self.width | int(value)
            self.handle.value = whole
        else:
            texts = (value if isinstance(value, str) else f"{value:0{self.width}b}" for value in self.values)
            self.handle.value = "".join(reversed(list(texts)))

    def sample(self) -> None:
        self.text = str(self.handle.value)

    def seen(self, index: int) -> str:
        """Part of what was sampled."""
        end = len(self.text) - index * self.width
        return self.text[end - self.width : end]


class Part:
    """One requester's part of a vector, with the ways of a handle."""

    def __init__(self, vector: Vector, index: int) -> None:
        self.vector, self.index = vector, index

    def __len__(self) -> int:
        return self.vector.width

    @property
    def value(self) -> int | str:
        return self.vector.seen(self.index)

    @value.setter
    def value(self, value: int | str) -> None:
        self.vector.values[self.index] = value
        self.vector.changed = True


class _Namespace:
    """Parts by name."""


def number(text: str, what: str) -> int:
    """Bits that must be known."""
    try:
        return int(text, 2)
    except ValueError:
        raise AssertionError(f"X in {what}: {text}") from None


class Wires:
    """All streams of ``dma``. tell: called with each event.

    data_pause, done_pause: back-pressure of a requester's read data and done; tlp_pause: of ``m_tlp``;
    beat_pause: gaps between the beats of ``s_tlp``. Each as ``Channel.pause``; None: always.
    """

    def __init__(self, dut: Any, rng: Random, host: Host, requesters: int, *, undefined: bool) -> None:
        self.dut, self.rng, self.host, self.requesters, self._undefined = dut, rng, host, requesters, undefined
        self.tell: Callable[[Event], None] = lambda event: None
        self.data_pause: list[Iterator[bool] | None] = [None] * requesters
        self.done_pause: list[Iterator[bool] | None] = [None] * requesters
        self.tlp_pause: Iterator[bool] | None = None
        self.beat_pause: Iterator[bool] | None = None
        self.tlp_out: Callable[[int, int, MemoryRequest], None] = lambda cycle, requester, tlp: None
        count = requesters
        names = [f"req_{name}" for name in (*REQUEST, "valid", "ready")]
        names += [f"s_axis_mem_t{name}" for name in ("data", "keep", "last", "valid", "ready")]
        names += [f"m_axis_mem_t{name}" for name in ("data", "keep", "last", "user", "valid", "ready")]
        names += [f"done_{name}" for name in ("valid", "ready", "id", "code")]
        self.vectors = {name: Vector(getattr(dut, name), count) for name in names}
        driven = {f"req_{name}" for name in (*REQUEST, "valid")} | {"m_axis_mem_tready", "done_ready"}
        driven |= {f"s_axis_mem_t{name}" for name in ("data", "keep", "last", "valid")}
        self._driven = [self.vectors[name] for name in names if name in driven]
        self._sampled = [
            self.vectors[name] for name in ("req_ready", "s_axis_mem_tready", "m_axis_mem_tvalid", "done_valid")
        ]
        self.asks: list[Channel[Request]] = []
        self.writes: list[Channel[bytes]] = []
        for index in range(count):
            parts = _Namespace()
            for name, vector in self.vectors.items():
                setattr(parts, name, Part(vector, index))
            self.asks.append(
                Channel(
                    parts,
                    "req_valid",
                    "req_ready",
                    {name: f"req_{name}" for name in REQUEST},
                    lambda request: [{name: int(getattr(request, name)) for name in REQUEST}],
                    self._noise,
                )
            )
            self.writes.append(
                Channel(
                    parts,
                    "s_axis_mem_tvalid",
                    "s_axis_mem_tready",
                    {name: f"s_axis_mem_t{name}" for name in ("data", "keep", "last")},
                    self._data_beats,
                    self._noise,
                )
            )
        self._limits: dict[str, int | None] | None = None
        self._said: deque[tuple[Completion, tuple[bool, bool, int, int, int], bool]] = deque()
        self._tlp: list[Beat] = []
        self._owner = 0
        self._waiting: dict[str, tuple[str, ...]] = {}
        self._reset, self._reset_asked, self._reset_left, self._reset_cycles = True, 0, -1, 0
        self._released = Flag()
        self.moved = 0
        """Cycle in which something was taken last, at any port."""
        dut.rst.value = 1
        dut.m_tlp_ready.value = 0
        dut.s_tlp_valid.value = 0
        for kind in ("ph", "pd", "nph", "npd"):
            getattr(dut, f"fc_{kind}_infinite").value = 0
            getattr(dut, f"fc_{kind}_limit").value = 0
        start_clock(dut.clk, CORE_PS)
        self.cycle = 0
        self._task = cocotb.start_soon(self._run())

    @property
    def ns(self) -> int:
        return self.cycle * NS

    def _noise(self, bits: int) -> int | str:
        return "X" * bits if self._undefined else self.rng.getrandbits(bits)

    def _data_beats(self, data: bytes) -> list[dict[str, int | str]]:
        beats: list[dict[str, int | str]] = []
        for at in range(0, len(data), BEAT):
            piece = data[at : at + BEAT]
            value: int | str
            if self._undefined:
                value = "X" * (8 * (BEAT - len(piece))) + "".join(f"{octet:08b}" for octet in reversed(piece))
            else:
                value = int.from_bytes(piece + self.rng.randbytes(BEAT - len(piece)), "little")
            beats.append({"data": value, "keep": (1 << len(piece)) - 1, "last": int(at + BEAT >= len(data))})
        return beats

    def taken(self, taken: Taken[Request]) -> None:
        """A request was taken."""
        self.moved = self.cycle
        self.tell(Submitted(self.ns, taken.item))

    @property
    def busy(self) -> bool:
        """A completion is on its way."""
        return bool(self._said)

    async def cycles(self, count: int) -> None:
        """Wait."""
        edge = RisingEdge(self.dut.clk)
        for _ in range(count):
            await edge

    async def reset(self, cycles: int = 3) -> None:
        """Forget everything and hold the reset, from the next cycle on; in it nothing is offered and taken."""
        self._reset_asked = cycles
        self._released.clear()
        await self._released.wait()

    def _drive_reset(self) -> bool:
        """Whether something may be driven in the cycle that begins; not in the first one behind the reset."""
        if self._reset_asked:
            self._reset, self._reset_left, self._reset_cycles = True, self._reset_asked, 0
            self._reset_asked = 0
            self._clear()
            self.dut.rst.value = 1
            self.dut.s_tlp_valid.value = 0
        elif self._reset and self._reset_left == 0:
            self._clear()
            self._limits = None
            self.dut.rst.value = 0
            self._reset = False
            self._released.set()
            return False
        return not self._reset

    def _clear(self) -> None:
        for channel in (*self.asks, *self.writes):
            channel.clear()
        self._said.clear()
        self._tlp, self._waiting = [], {}

    # ---- each cycle

    async def _run(self) -> None:
        dut, edge, settled = self.dut, RisingEdge(self.dut.clk), Timer(1, "step")
        channels = (*self.asks, *self.writes)
        m_ready = -1
        now = getattr(dut, "now", None)
        await edge
        self.cycle = 1
        while True:
            said = None
            free = self._drive_reset()
            if now is not None:
                now.value = self.ns + FIRST_NS
            for channel in channels:
                channel.drive()
            if free:
                self._drive_limits()
                said = self._drive_completion()
            reactive = any(
                isinstance(pause, Reactive) for pause in (*self.data_pause, *self.done_pause, self.tlp_pause)
            )
            if reactive:
                for vector in self._driven:
                    vector.drive()
                await settled
            self._drive_ready("m_axis_mem_tready", "m_axis_mem_tvalid", self.data_pause, reactive)
            self._drive_ready("done_ready", "done_valid", self.done_pause, reactive)
            grant = self._grant(self.tlp_pause, dut.m_tlp_valid, dut.m_tlp_eop)
            if grant != m_ready:
                dut.m_tlp_ready.value = m_ready = grant
            for vector in self._driven:
                vector.drive()
            await edge
            if self._reset:
                self._check_reset()
            else:
                self._sample(m_ready, said)
            self.cycle += 1

    def _grant(self, pause: Iterator[bool] | None, valid: Any, last: Any) -> int:
        if pause is None:
            return 1
        if isinstance(pause, Reactive):
            offered = valid.value == _ONE
            pause.see(offered, offered and last.value == _ONE)
        return int(next(pause))

    def _drive_ready(self, name: str, valid: str, pauses: list[Iterator[bool] | None], reactive: bool) -> None:
        vector, offers = self.vectors[name], self.vectors[valid]
        if reactive:
            offers.sample()
        for index, pause in enumerate(pauses):
            if isinstance(pause, Reactive):
                offered = offers.seen(index) == "1"
                last = offered and (name == "done_ready" or self._last(index))
                pause.see(offered, last)
            grant = 1 if pause is None else int(next(pause))
            if vector.values[index] != grant:
                vector.values[index] = grant
                vector.changed = True

    def _last(self, index: int) -> bool:
        vector = self.vectors["m_axis_mem_tlast"]
        vector.sample()
        return vector.seen(index) == "1"

    def _drive_limits(self) -> None:
        limits = self.host.limits(self.ns)
        if limits == self._limits:
            return
        self._limits = dict(limits)
        for kind, limit in limits.items():
            bits = 8 if kind.endswith("h") else 12
            getattr(self.dut, f"fc_{kind}_infinite").value = int(limit is None)
            getattr(self.dut, f"fc_{kind}_limit").value = (
                self.rng.getrandbits(bits) if limit is None else limit % (1 << bits)
            )
        self.tell(Limits(self.ns, dict(limits)))

    def _drive_completion(self) -> Completion | None:
        """Offers a beat; what ends with it."""
        dut = self.dut
        if not self._said:
            told = self.host.next(self.ns)
            if told is not None:
                completion, beats = told
                self._said.extend((completion, beat, index == len(beats) - 1) for index, beat in enumerate(beats))
        pause = self.beat_pause
        if self._said and isinstance(pause, Reactive):
            pause.see(True, self._said[0][2])
        if not self._said or not (pause is None or next(pause)):
            if dut.s_tlp_valid.value != 0 or self._undefined:
                dut.s_tlp_valid.value = 0
                for name in ("sop", "eop", "hdr", "data", "keep"):
                    handle = getattr(dut, f"s_tlp_{name}")
                    handle.value = self._noise(len(handle))
            return None
        completion, (sop, eop, hdr, data, keep), last = self._said.popleft()
        self.moved = self.cycle
        dut.s_tlp_valid.value = 1
        dut.s_tlp_sop.value, dut.s_tlp_eop.value = int(sop), int(eop)
        dut.s_tlp_hdr.value = hdr if sop else self._noise(128)
        dut.s_tlp_data.value = self._kept(data, keep)
        dut.s_tlp_keep.value = keep
        return completion if last else None

    def _kept(self, data: int, keep: int) -> int | str:
        count = keep.bit_length()
        if count == 16:
            return data
        if self._undefined:
            return "X" * (512 - 32 * count) + (f"{data:0{32 * count}b}" if count else "")
        return data | self.rng.getrandbits(512 - 32 * count) << 32 * count

    # ---- what was seen

    def _check_reset(self) -> None:
        """From the second cycle of a reset on nothing is offered or taken."""
        self._reset_cycles += 1
        self._reset_left -= 1
        if self._reset_cycles < 2:
            return
        for name in ("req_ready", "s_axis_mem_tready", "m_axis_mem_tvalid", "done_valid", "m_tlp_valid"):
            text = str(getattr(self.dut, name).value)
            assert set(text) == {"0"}, f"cycle {self.cycle}: {name} is {text} in reset"

    def _sample(self, m_ready: int, said: Completion | None) -> None:
        for vector in self._sampled:
            vector.sample()
        for channel in (*self.asks, *self.writes):
            channel.sample(self.cycle)
        if said is not None:
            self.tell(Came(self.ns, said))
        self._sample_tlp(m_ready)
        for index in range(self.requesters):
            self._sample_data(index)
        for index in range(self.requesters):
            self._sample_done(index)

    def _offered(
        self, name: str, valid: str, ready: int, texts: Callable[[], tuple[str, ...]]
    ) -> tuple[str, ...] | None:
        """What was taken; it must stay as it is until then."""
        place = f"{name}, cycle {self.cycle}"
        if valid != "1":
            assert valid == "0", f"{place}: valid is {valid}"
            assert name not in self._waiting, f"{place}: valid fell before ready"
            return None
        beat = texts()
        if name in self._waiting:
            assert beat == self._waiting[name], f"{place}: changed before ready"
        if not ready:
            self._waiting[name] = beat
            return None
        self._waiting.pop(name, None)
        self.moved = self.cycle
        return beat

    def _sample_tlp(self, ready: int) -> None:
        dut = self.dut

        def texts() -> tuple[str, ...]:
            names = ("sop", "eop", "hdr", "data", "keep", "requester")
            found = [str(getattr(dut, f"m_tlp_{name}").value) for name in names]
            sop, keep = found[0] == "1", number(found[4], "m_tlp_keep")
            kept = 32 * keep.bit_length()
            return (
                found[0],
                found[1],
                found[2] if sop else "0",
                found[3][512 - kept :],
                found[4],
                found[5] if sop else "0",
            )

        beat = self._offered("m_tlp", str(dut.m_tlp_valid.value), ready, texts)
        if beat is None:
            return
        sop, eop, hdr, data, keep, owner = (number(text or "0", "m_tlp") for text in beat)
        if sop:
            self._owner = owner
        self._tlp.append(Beat(bool(sop), bool(eop), hdr, data, keep))
        if eop:
            beats, self._tlp = self._tlp, []
            tlp = from_beats(beats)
            assert isinstance(tlp, MemoryRequest), f"cycle {self.cycle}: {tlp} left"
            self.tell(Sent(self.ns, self._owner, tlp))
            self.tlp_out(self.cycle, self._owner, tlp)
            self.host.take(tlp.pack(), self.ns)

    def _sample_data(self, index: int) -> None:
        vectors = self.vectors

        def texts() -> tuple[str, ...]:
            found = []
            for name in ("data", "keep", "last", "user"):
                vectors[f"m_axis_mem_t{name}"].sample()
                found.append(vectors[f"m_axis_mem_t{name}"].seen(index))
            keep = number(found[1], "m_axis_mem_tkeep")
            assert keep and keep == (1 << keep.bit_length()) - 1, f"m_axis_mem: cycle {self.cycle}: tkeep {keep:#x}"
            kept = found[0][128 - 8 * keep.bit_length() :]
            return kept, found[1], found[2], found[3] if found[2] == "1" else "0"

        ready = int(vectors["m_axis_mem_tready"].values[index])
        beat = self._offered(f"m_axis_mem of {index}", vectors["m_axis_mem_tvalid"].seen(index), ready, texts)
        if beat is None:
            return
        data, keep, last, user = (number(text, "m_axis_mem") for text in beat)
        self.tell(Gave(self.ns, index, data.to_bytes(keep.bit_length(), "little"), bool(last), bool(user & 1)))

    def _sample_done(self, index: int) -> None:
        vectors = self.vectors

        def texts() -> tuple[str, ...]:
            for name in ("done_id", "done_code"):
                vectors[name].sample()
            return vectors["done_id"].seen(index), vectors["done_code"].seen(index)

        ready = int(vectors["done_ready"].values[index])
        beat = self._offered(f"done of {index}", vectors["done_valid"].seen(index), ready, texts)
        if beat is not None:
            self.tell(Ended(self.ns, index, *(number(text, "done") for text in beat)))
