"""The environment of the slots of ``mac_rx`` and ``mac_tx``: ``tops/mac_slots.v``, three clocks, everything recorded.

Time runs ten times slower than in the port, so that clocks 100 ppm apart have whole periods in ps: a cycle of ``clk``
is 40 ns, and ``now`` grows by 4 ns in it. ``NS`` is a ns of ``now`` in ps.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.simtime import get_sim_time
from cocotb.triggers import RisingEdge, Timer

from models.mac import MacRxModel, MacTxModel
from models.mac_xgmii import IDLE_WORD, START, Word, characters
from models.meta import Code
from models.port_map import PORT
from tb.lib.clock import start_clock, wait_cycles
from tb.lib.suite import seeded
from tb.mac.env import word_of_bits

__all__ = ["CORE", "NS", "PPM", "WIRE", "Got", "Put", "Slots", "test"]

test = cocotb.test(timeout_time=20, timeout_unit="ms")
NS = 10_000
CORE = 4 * NS
WIRE = 25_600
PPM = 3
"""Of WIRE: 117 ppm."""


@dataclass(slots=True)
class Got:
    """A frame out of ``mac_rx``'s slot. first: time of the edge of its first beat's handshake."""

    data: bytes
    user: int
    time: int
    first: int


@dataclass(slots=True)
class Put:
    """A frame into ``mac_tx``'s slot, and what became of it."""

    data: bytes
    seq: int
    direction: int = 1
    queue: int = 0
    copy: int = 0
    taken: int = -1
    """Time of the edge of its first beat's handshake."""
    ends: list[tuple[int, int]] = field(default_factory=list)
    """Code and queue of each end that was reported."""


class Slots:
    """Both slots. ``rx``, ``tx``: periods of their clocks in ps."""

    def __init__(self, dut: Any, rx: int = WIRE, tx: int = WIRE) -> None:
        self.dut = dut
        self.rng = seeded("mac_slots")
        self.periods = {"clk": CORE, "rx_clk": rx, "tx_clk": tx}
        self.got: list[Got] = []
        self.starts: list[int] = []
        """Time of each edge that took a word with start from ``rx``."""
        self.words: list[int] = []
        self.marks: list[tuple[int, int, int, int]] = []
        """``wire_valid``: seq, direction, time in 2**-32 ns, and the time of the edge that ended that cycle."""
        self.word_times: list[int] = []
        self.put: list[Put] = []
        self.unknown: list[tuple[int, int]] = []
        """Seq and code of ends that belong to no frame."""
        self.order: list[int] = []
        self._nows: list[int] = []
        self.edges_of_clk: list[int] = []
        """Time of each edge of ``clk``."""
        self._wire: deque[Word] = deque()
        self._beats: deque[tuple[int, int, int, Put, bool]] = deque()
        self._chunks: list[bytes] = []
        self.clocks = {
            name: start_clock(getattr(dut, name), period, offset_ps=1 + offset)
            for (name, period), offset in zip(self.periods.items(), (0, 7100, 13300), strict=True)
        }
        for name in (
            "s_axis_tdata", "s_axis_tkeep", "s_axis_tvalid", "s_axis_tlast", "s_axis_seq", "s_axis_queue",
            "s_axis_direction", "s_axis_copy", "reg_tx", "reg_req", "reg_write", "reg_addr", "reg_wdata",
            "time_advance", "time_target",
        ):  # fmt: skip
            getattr(dut, name).value = 0
        dut.m_axis_tready.value = 1
        dut.rx_d.value, dut.rx_c.value = IDLE_WORD

    async def start(self) -> Slots:
        """Resets all clocks, waits until frames can pass."""
        dut = self.dut
        dut.rst.value = dut.rx_rst.value = dut.tx_rst.value = 1
        await wait_cycles(dut.clk, 4)
        dut.rst.value = dut.rx_rst.value = dut.tx_rst.value = 0
        for task in (self._core, self._rx, self._tx):
            cocotb.start_soon(task())
        await self.until(lambda: str(dut.rx_ready.value) == str(dut.tx_ready.value) == "1", 400)
        await wait_cycles(dut.clk, 70)
        return self

    async def until(self, done: Any, cycles: int) -> None:
        """Waits for at most so many cycles of ``clk``."""
        for _ in range(cycles):
            if done():
                return
            await RisingEdge(self.dut.clk)
        raise AssertionError(f"not after {cycles} cycles")

    async def pulse(self, name: str, cycles: int = 1, after: int = 0) -> None:
        """A reset of one clock; ``after``: ps behind now."""
        if after:
            await Timer(after, "ps")
        clock = getattr(self.dut, {"rst": "clk", "rx_rst": "rx_clk", "tx_rst": "tx_clk"}[name])
        await RisingEdge(clock)
        getattr(self.dut, name).value = 1
        await wait_cycles(clock, cycles)
        getattr(self.dut, name).value = 0

    # ------------------------------------------------------------------------------------------------------ stimulus

    def receive(self, frames: Iterable[bytes], model: MacTxModel | None = None) -> list[Word]:
        """Queues frames for ``rx``, as close as they may follow each other."""
        model = model or MacTxModel()
        for data in frames:
            model.add(data, 0)
        last = model.frames[-1].terminate // 8
        words = model.words(2, last + 3)
        self._wire.extend(words)
        return words

    def feed(self, words: Iterable[Word]) -> None:
        self._wire.extend(words)

    def send(self, *frames: Put) -> None:
        """Queues frames for ``mac_tx``."""
        for frame in frames:
            self.put.append(frame)
            for at in range(0, len(frame.data), 16):
                piece = frame.data[at : at + 16]
                last = at + 16 >= len(frame.data)
                self._beats.append((int.from_bytes(piece, "little"), (1 << len(piece)) - 1, last, frame, at == 0))

    def frame(self, length: int) -> bytes:
        return bytes([0x02]) + self.rng.randbytes(length - 1)

    def puts(self, lengths: Iterable[int], first: int = 0) -> list[Put]:
        """Frames with numbers of their own, of both directions."""
        return [
            Put(self.frame(length), first + index, self.rng.getrandbits(1), self.rng.getrandbits(8))
            for index, length in enumerate(lengths)
        ]

    async def drain(self, cycles: int = 4000) -> None:
        """Until everything queued has gone in and both slots are idle."""
        dut = self.dut
        await self.until(
            lambda: not self._wire and not self._beats and str(dut.rx_idle.value) == str(dut.tx_idle.value) == "1",
            cycles,
        )
        await wait_cycles(dut.clk, 12)
        await self.until(lambda: str(dut.rx_idle.value) == str(dut.tx_idle.value) == "1", cycles)

    def forget(self) -> None:
        """Drops what is queued for ``mac_tx``, also the rest of a frame: its source was reset."""
        self._beats.clear()
        self.dut.s_axis_tvalid.value = 0

    @property
    def wire_left(self) -> int:
        """Words that are still queued."""
        return len(self._wire)

    # ----------------------------------------------------------------------------------------------------- registers

    async def access(self, name: str, write: int | None = None, word: int = 0) -> tuple[int, bool, int]:
        """One access to a register ``mac_rx.name``: what was read, whether it was an error, how many cycles it took."""
        register = PORT[name]
        address = register.address + 4 * word
        return await self.access_at(name.startswith("mac_tx"), address & 0x3FFF, write)

    async def access_at(self, tx: bool, address: int, write: int | None = None) -> tuple[int, bool, int]:
        dut = self.dut
        dut.reg_tx.value, dut.reg_addr.value = int(tx), address
        dut.reg_write.value, dut.reg_wdata.value = int(write is not None), write or 0
        dut.reg_req.value = 1
        for cycles in range(1, 700):
            await RisingEdge(dut.clk)
            if str(dut.reg_ack.value) == "1":
                result = dut.reg_rdata.value, str(dut.reg_error.value) == "1"
                dut.reg_req.value = 0
                await RisingEdge(dut.clk)
                return (0 if write is not None else result[0].to_unsigned()), result[1], cycles
        raise AssertionError(f"no answer at {address:#x} in 700 cycles")

    async def read(self, name: str) -> int:
        """A register of one or two words."""
        value = 0
        for word in range(PORT[name].words):
            part, error, _ = await self.access(name, word=word)
            assert not error, f"{name}: error"
            value |= part << 32 * word
        return value

    async def counters(self, slot: str) -> Counter[str]:
        """All counters of a slot that aren't 0, 40 cycles from now: by then they have what was counted."""
        await wait_cycles(self.dut.clk, 40)
        names = [
            register.name for register in PORT if register.name.startswith(f"{slot}.") and register.address & 0x100
        ]
        return Counter({name.partition(".")[2]: value for name in names if (value := await self.read(name))})

    # ---------------------------------------------------------------------------------------------------- each cycle

    async def _rx(self) -> None:
        dut, edge, now_word = self.dut, RisingEdge(self.dut.rx_clk), IDLE_WORD
        while True:
            await edge
            d, c = now_word
            if c & 0x11 and START in characters(d, c):
                self.starts.append(int(get_sim_time("ps")))
            word = self._wire.popleft() if self._wire else IDLE_WORD
            if word != now_word:
                dut.rx_d.value, dut.rx_c.value = now_word = word

    async def _tx(self) -> None:
        dut, edge = self.dut, RisingEdge(self.dut.tx_clk)
        word, mark = dut.tx_word, dut.wire_valid
        while True:
            await edge
            self.words.append(int(str(word.value), 2))
            self.word_times.append(int(get_sim_time("ps")))
            if str(mark.value) == "1":
                values = (dut.wire_seq.value, dut.wire_direction.value, dut.wire_time.value)
                self.marks.append((*(int(str(value), 2) for value in values), self.word_times[-1]))

    async def _core(self) -> None:
        dut, edge = self.dut, RisingEdge(self.dut.clk)
        valid, ready, in_ready, now = dut.m_axis_tvalid, dut.m_axis_tready, dut.s_axis_tready, dut.now
        offered: tuple[int, int, int, Put, bool] | None = None
        while True:
            if offered is not None and not self._beats:
                offered = None
            if offered is None and self._beats:
                offered = self._beats[0]
                value, keep, last, frame, _ = offered
                dut.s_axis_tdata.value, dut.s_axis_tkeep.value, dut.s_axis_tlast.value = value, keep, int(last)
                dut.s_axis_seq.value, dut.s_axis_queue.value = frame.seq, frame.queue
                dut.s_axis_direction.value, dut.s_axis_copy.value = frame.direction, frame.copy
                dut.s_axis_tvalid.value = 1
            elif offered is None:
                dut.s_axis_tvalid.value = 0
            await edge
            self.edges_of_clk.append(int(get_sim_time("ps")))
            self._nows.append(int(str(now.value), 2))
            if str(dut.rst.value) == "1":
                self._chunks = []
                continue
            if offered is not None and str(in_ready.value) == "1":
                if offered[4]:
                    offered[3].taken = self.edges_of_clk[-1]
                if self._beats and self._beats[0] is offered:
                    self._beats.popleft()
                offered = None
            if str(valid.value) == "1" and str(ready.value) == "1":
                self._beat()
            for direction, name in enumerate(("disp_rx_valid", "disp_tx_valid")):
                if str(getattr(dut, name).value) == "1":
                    self._end(direction)

    def _beat(self) -> None:
        dut = self.dut
        if not self._chunks:
            self._first = self.edges_of_clk[-1], int(str(dut.m_axis_time.value), 2)
        data = int(str(dut.m_axis_tdata.value).replace("X", "0"), 2).to_bytes(16, "little")
        keep = int(str(dut.m_axis_tkeep.value), 2)
        if str(dut.m_axis_tlast.value) == "0":
            assert keep == 0xFFFF, f"tkeep {keep:#x} in mid-frame"
            self._chunks.append(data)
            return
        size = keep.bit_length()
        assert keep and keep == (1 << size) - 1, f"tkeep {keep:#x} with tlast"
        self._chunks.append(data[:size])
        user = int(str(dut.m_axis_tuser.value), 2)
        self.got.append(Got(b"".join(self._chunks), user, self._first[1], self._first[0]))
        self._chunks = []

    def _end(self, direction: int) -> None:
        dut = self.dut
        seq, code, queue = (int(str(getattr(dut, f"disp_{name}").value), 2) for name in ("seq", "code", "queue"))
        for frame in self.put:
            if frame.taken >= 0 and frame.seq == seq and frame.direction == direction and not frame.copy:
                frame.ends.append((code, queue))
                self.order.append(seq)
                return
        self.unknown.append((seq, code))

    def forget_record(self) -> None:
        """Of transmitted frames."""
        for kept in (self.words, self.word_times, self.marks, self.put, self.order):
            kept.clear()

    # ------------------------------------------------------------------------------------------------------- verdicts

    def now_at(self, time: int) -> int:
        """The port's ``now`` at a moment."""
        return self._nows[bisect_left(self.edges_of_clk, time)]

    def on_wire(self) -> MacRxModel:
        """What a receiver makes of all that was on ``tx``."""
        return MacRxModel(max_frame=10000).run(map(word_of_bits, self.words))

    def check_ends(self, frames: Iterable[Put], *codes: Code) -> Counter[int]:
        """Each frame has one end, with one of these codes and its own queue, in order; returns how many of each."""
        assert not self.unknown, f"ends of no frame: {self.unknown}"
        seen: Counter[int] = Counter()
        for frame in frames:
            assert len(frame.ends) == 1, f"frame {frame.seq}: ends {frame.ends}"
            code, queue = frame.ends[0]
            assert code in codes and queue == frame.queue, f"frame {frame.seq}: code {code}, queue {queue}"
            seen[code] += 1
        assert self.order == sorted(self.order), f"ends in the order {self.order}"
        return seen
