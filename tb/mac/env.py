"""The environment of the MAC's benches: one coroutine drives and samples ``tops/mac_bench.v`` once a cycle.

Cycle ``n`` ends with the rising edge at which its values are sampled; what is written behind that edge holds in cycle
``n + 1``. Everything is recorded, and a test compares the record with the golden models.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from cocotb.types import LogicArray

from models.mac import TX_LATENCY, End, MacRxModel, MacTxModel, RxFrame
from models.mac_xgmii import IDLE_WORD, TERMINATE, Word, characters
from models.meta import Code
from tb.lib import cover
from tb.lib.clock import WIRE_PS, cycle, reset, start_clock
from tb.lib.suite import four_state, seeded

__all__ = ["RX_STATS", "TX_STATS", "Bench", "Received", "Sent", "hexed", "word_bits", "word_of_bits"]

_COMMON = ("frames_ok", "unicast", "multicast", "broadcast", "size_64", "size_65_127", "size_128_255", "size_256_511")
_COMMON += ("size_512_1023", "size_1024_1518", "size_1519_max", "pause")
TX_STATS = (*_COMMON, "underrun", "errored", "fault_dropped")
"""Strobes of ``mac_tx`` in the order in which ``mac_bench`` packs them, bit 0 first; behind them stands bytes_ok."""
RX_STATS = (*_COMMON, "fcs_errors", "undersize", "fragments", "oversize", "jabbers", "symbol_errors", "bad_preamble")
RX_STATS += ("local_fault", "remote_fault")
INCREMENT = round(2.56 * 2**32)
ROUTE_PORT, ROUTE_XGMII, ROUTE_PCS = 0, 1, 2
"""``route``: where ``mac_rx`` gets its words from."""

LANES = [str(lane) for lane in range(8)]
seen_lanes = cover.cross("mac.lanes", [f"terminate{lane}" for lane in LANES], ["start0", "start4"])
seen_events = {
    "tx": cover.point("mac.tx_event", [*TX_STATS]),
    "rx": cover.point("mac.rx_event", [*RX_STATS]),
}
seen_codes = cover.point("mac.rx_code", [0, *(int(code) for code in (17, 22, 23, 24))])


@dataclass(slots=True)
class Sent:
    """A frame into ``mac_tx``. stall_at: no beat is offered for ``stall`` cycles before beat ``stall_at``."""

    data: bytes
    bad: bool = False
    stall_at: int | None = None
    stall: int = 1
    before: int = 0
    """Cycles without a beat before the first one."""
    taken: int = field(default=-1, compare=False)
    """Cycle of the first beat's handshake."""


@dataclass(slots=True)
class Received:
    """A frame out of ``mac_rx``."""

    data: bytes
    user: int
    first_cycle: int
    time: int


def word_bits(word: Word) -> int:
    """A word as ``tx_word`` has it: c above d."""
    return word[0] | word[1] << 64


def word_of_bits(bits: int) -> Word:
    return bits & (1 << 64) - 1, bits >> 64


def hexed(word: Word | int) -> str:
    d, c = word if isinstance(word, tuple) else word_of_bits(word)
    return f"d={d:016x} c={c:02x}"


Beat = tuple[int | LogicArray, int, int, int, Sent | None]
"""tdata, tkeep, tlast, tuser; the frame that it is the first beat of."""


class Bench:
    """``mac_bench``: streams, XGMII in and out, strobes. Lists of what came are filled while the clock runs."""

    def __init__(self, dut: Any, *, keep_words: bool = True, rx: bool = True) -> None:
        self.dut = dut
        self.clk = dut.clk
        self.rng = seeded("mac")
        self.cycle = 0
        """The cycle that is under way: what is written now holds in it."""
        self.keep_words = keep_words
        self.watch_rx = rx
        self.words: list[int] = []
        self.first_word = 0
        """Cycle of ``words[0]``."""
        self.received: list[Received] = []
        self.tx_stats: Counter[str] = Counter()
        self.rx_stats: Counter[str] = Counter()
        self.tx_times: list[int] = []
        self.fault_log: list[tuple[int, int]] = []
        """Cycle and ``remote_fault``, ``local_fault`` as a number, each time that they changed."""
        self.sent: list[Sent] = []
        self._beats: deque[Beat | None] = deque()
        self._offered: Beat | None = None
        self.fed_from = -1
        self._wire: deque[Word] = deque()
        self._wire_now: Word = IDLE_WORD
        self._chunks: list[bytes] = []
        self._first = (0, 0)
        start_clock(self.clk, WIRE_PS)
        dut.rst.value = 1
        for name, value in {
            "s_axis_tdata": 0, "s_axis_tkeep": 0, "s_axis_tvalid": 0, "s_axis_tlast": 0, "s_axis_tuser": 0,
            "tx_enable": 1, "cfg_ifg": 12, "cfg_dic": 1, "tx_local_fault": 0, "tx_remote_fault": 0, "couple": 0,
            "route": ROUTE_PORT, "rx_d": IDLE_WORD[0], "rx_c": IDLE_WORD[1], "rx_enable": 1, "cfg_max_frame": 1514,
            "cfg_increment": INCREMENT, "set_valid": 0, "set_time": 0, "line_port": 0, "line_block": 0,
            "flip": 0, "signal_ok": 1, "tx_pattern": 0, "rx_pattern": 0, "seed_a": 0, "seed_b": 0, "data_lf": 0,
            "pattern_clear": 0, "count_clear": 0, "pcs_port": 0, "pcs_d": IDLE_WORD[0], "pcs_c": IDLE_WORD[1],
        }.items():  # fmt: skip
            getattr(dut, name).value = value

    async def start(self, **inputs: int) -> Bench:
        """Resets; ``inputs`` are ports to set first."""
        for name, value in inputs.items():
            getattr(self.dut, name).value = value
        await reset(self.dut.rst, self.clk)
        self.cycle = cycle(self.clk) + 1
        self.first_word = self.cycle
        self._zero = int(str(self.dut.now.value), 2), self.cycle - 1
        self._task = cocotb.start_soon(self._run())
        return self

    def stop(self) -> None:
        """The last act of a bench that another one follows in the same test."""
        self._task.cancel()
        self.dut.s_axis_tvalid.value = 0
        self.dut.rx_d.value, self.dut.rx_c.value = IDLE_WORD

    def time_at(self, cycle: int) -> int:
        """``now`` in a cycle; the increment is that of reset."""
        now, then = self._zero
        return now + (cycle - then) * INCREMENT

    # ------------------------------------------------------------------------------------------------------- stimulus

    def send(self, *frames: Sent) -> None:
        """Queues frames for ``mac_tx``."""
        noise = self.rng
        for frame in frames:
            self.sent.append(frame)
            data = frame.data
            self._beats.extend([None] * frame.before)
            for at in range(0, len(data), 8):
                piece = data[at : at + 8]
                if frame.stall_at is not None and at // 8 == frame.stall_at:
                    self._beats.extend([None] * frame.stall)
                last = int(at + 8 >= len(data))
                value: int | LogicArray = int.from_bytes(piece, "little")
                if len(piece) < 8:  # lanes that aren't kept carry noise: pulp-ethernet#5, cocotbext-axi#64
                    free = 64 - 8 * len(piece)
                    if four_state():
                        value = LogicArray(f"{'X' * free}{value:0{64 - free}b}")
                    else:
                        value |= noise.getrandbits(free) << 64 - free
                user = int(frame.bad) if last else noise.getrandbits(1)
                self._beats.append((value, (1 << len(piece)) - 1, last, user, frame if at == 0 else None))

    def feed(self, words: Iterable[Word]) -> None:
        """Queues words for ``mac_rx``; idle follows them. ``fed_from`` is then the cycle of the first one."""
        if not self._wire:
            self.fed_from = -1
        self._wire.extend(words)

    async def run(self, cycles: int) -> None:
        edge = RisingEdge(self.clk)
        for _ in range(cycles):
            await edge

    @property
    def sending(self) -> bool:
        """Beats for ``mac_tx`` are left."""
        return bool(self._beats) or self._offered is not None

    async def drain(self, more: int = 40) -> None:
        """Waits until everything queued has gone in, and ``more`` cycles."""
        edge = RisingEdge(self.clk)
        while self.sending or self._wire:
            await edge
        await self.run(more)

    # ----------------------------------------------------------------------------------------------------- each cycle

    async def _run(self) -> None:
        dut, edge = self.dut, RisingEdge(self.clk)
        tready, tx_word, probe = dut.s_axis_tready, dut.tx_word, dut.probe
        tdata, tkeep, tvalid, tlast, tuser = (
            getattr(dut, f"s_axis_{name}") for name in ("tdata", "tkeep", "tvalid", "tlast", "tuser")
        )
        rx_d, rx_c = dut.rx_d, dut.rx_c
        beats, wire, words = self._beats, self._wire, self.words
        last_probe = -1
        while True:
            # What holds in this cycle.
            if self._offered is None and beats:
                self._offered = beats.popleft()
                if self._offered is None:
                    tvalid.value = 0
                else:
                    value, keep, last, user, _ = self._offered
                    tdata.value = value
                    tkeep.value = keep
                    tlast.value = last
                    tuser.value = user
                    tvalid.value = 1
            elif self._offered is None:
                tvalid.value = 0
            word = IDLE_WORD
            if wire:
                word = wire.popleft()
                if self.fed_from < 0:
                    self.fed_from = self.cycle
            if word != self._wire_now:
                rx_d.value, rx_c.value = self._wire_now = word
            await edge
            # What it was at its end.
            if self._offered is not None and str(tready.value) == "1":
                frame = self._offered[4]
                if frame is not None:
                    frame.taken = self.cycle
                self._offered = None
            if self.keep_words:
                words.append(int(str(tx_word.value), 2))
            text = str(probe.value)
            if "1" in text:
                self._probe(text)
            faults = int(text[:2], 2)
            if faults != last_probe:
                last_probe = faults
                self.fault_log.append((self.cycle, faults))
            self.cycle += 1

    def _probe(self, text: str) -> None:
        """``probe``, most significant first: remote_fault, local_fault, tx_time_valid, tx stats, rx stats, beat."""
        dut = self.dut
        at = 2
        if text[at] == "1":
            self.tx_times.append(int(str(dut.tx_time.value), 2))
        for name, stats, stat_names in (("tx", self.tx_stats, TX_STATS), ("rx", self.rx_stats, RX_STATS)):
            at += 1 if name == "tx" else 0
            bits = text[at : at + len(stat_names)]
            if "1" in bits:
                for stat, bit in zip(reversed(stat_names), bits, strict=True):
                    if bit == "1":
                        stats[stat] += 1
                        seen_events[name](stat)
                        if stat == "frames_ok":
                            stats["bytes_ok"] += int(str(getattr(dut, f"{name}_bytes").value), 2)
            at += len(stat_names)
        if text[at] == "1" and self.watch_rx:
            self._beat()

    def _beat(self) -> None:
        dut = self.dut
        if not self._chunks:
            self._first = (self.cycle, int(str(dut.m_axis_time.value), 2))
        data = int(str(dut.m_axis_tdata.value), 2).to_bytes(8, "little")
        if str(dut.m_axis_tlast.value) == "0":
            self._chunks.append(data)
            assert str(dut.m_axis_tkeep.value) == "11111111", f"cycle {self.cycle}: a beat that isn't full in mid-frame"
            return
        keep = int(str(dut.m_axis_tkeep.value), 2)
        size = keep.bit_length()
        assert keep and keep == (1 << size) - 1, f"cycle {self.cycle}: tkeep {keep:08b} with tlast"
        self._chunks.append(data[:size])
        user = int(str(dut.m_axis_tuser.value), 2)
        self.received.append(Received(b"".join(self._chunks), user, *self._first))
        self._chunks = []

    # -------------------------------------------------------------------------------------------------------- verdicts

    def placed(self, model: MacTxModel | None = None) -> MacTxModel:
        """The model, with every frame that went in."""
        model = model or MacTxModel()
        for index, frame in enumerate(self.sent):
            assert frame.taken >= 0, f"frame {index} of {len(frame.data)} B was never taken"
            end = End.BAD if frame.bad else End.GOOD
            placed = model.add(frame.data, frame.taken, end)
            assert placed.start_cycle == frame.taken + TX_LATENCY, f"frame {index} was taken in {frame.taken}"
            if placed.gap is not None:
                seen_lanes(f"terminate{model.frames[-2].terminate % 8}", f"start{placed.start_lane}")
        return model

    def check_transmitted(self, model: MacTxModel | None = None) -> MacTxModel:
        """Every word since reset is the model's, and so is each counter; returns the model with the frames."""
        model = self.placed(model)
        expected = model.words(self.first_word, len(self.words))
        for index, (got, (d, c)) in enumerate(zip(self.words, expected, strict=True)):
            assert got == d | c << 64, (
                f"cycle {self.first_word + index}: {hexed(got)}, due {hexed((d, c))}; "
                f"words around: {[hexed(w) for w in self.words[max(0, index - 3) : index + 3]]}"
            )
        events = sum((placed.events for placed in model.frames), Counter())
        assert self.tx_stats == events, f"counted {dict(self.tx_stats)}, due {dict(events)}"
        return model

    def good(self) -> list[bytes]:
        """What an ordinary receiver would make of the words so far: frames without FCS, all of which must be good."""
        model = MacRxModel(max_frame=10000).run(map(word_of_bits, self.words))
        wrong = [frame for frame in model.frames if frame.code]
        assert not wrong, f"a frame of {len(wrong[0].data)} B is bad: {Code(wrong[0].code).name}"
        return [frame.data for frame in model.frames]

    def last_terminate(self) -> int:
        """Cycle of the last terminate character, or of the first word."""
        for index in range(len(self.words) - 1, -1, -1):
            if TERMINATE in characters(*word_of_bits(self.words[index])):
                return self.first_word + index
        return self.first_word

    def check_received(self, words: Sequence[Word], first: int, model: MacRxModel | None = None) -> MacRxModel:
        """What came out is what the model makes of ``words``, whose first one was on XGMII in cycle ``first``."""
        model = model or MacRxModel()
        model.cycle = first
        model.run(words)
        self.check_frames(model.frames)
        assert self.rx_stats == model.events, f"counted {dict(self.rx_stats)}, due {dict(model.events)}"
        return model

    def check_frames(self, expected: Sequence[RxFrame], delay: int = 0) -> None:
        """What came out is ``expected``, ``delay`` cycles later."""
        for index, (got, due) in enumerate(zip(self.received, expected, strict=False)):
            seen_codes(due.code)
            where = f"frame {index} ({len(due.data)} B, start in cycle {due.start_cycle} lane {due.start_lane})"
            assert got.user == due.user, f"{where}: tuser {got.user:#x}, due {due.user:#x} ({Code(due.code).name})"
            assert got.data == due.data, f"{where}: {_difference(got.data, due.data)}"
            cycles = f"first beat in {got.first_cycle}, due {due.first_cycle + delay}"
            assert got.first_cycle == due.first_cycle + delay, f"{where}: {cycles}"
            assert got.time == self.time_at(due.start_cycle + delay), f"{where}: time {got.time:#x}"
        assert len(self.received) == len(expected), (
            f"{len(self.received)} frames, due {len(expected)}; the last ones "
            f"{[(len(f.data), f.user) for f in self.received[-5:]]}, due "
            f"{[(len(f.data), f.user) for f in expected[-5:]]}"
        )

    def clear(self) -> None:
        """Forgets the record, not the queues."""
        assert not self._chunks, "a frame has begun and not ended"
        self.words.clear()
        self.first_word = self.cycle
        for kept in (self.received, self.tx_stats, self.rx_stats, self.tx_times, self.fault_log, self.sent):
            kept.clear()


def _difference(got: bytes, due: bytes) -> str:
    for index, (x, y) in enumerate(zip(got, due, strict=False)):
        if x != y:
            return f"byte {index} is {x:#04x}, due {y:#04x} (lengths {len(got)} and {len(due)})"
    return f"{len(got)} bytes, due {len(due)}"
