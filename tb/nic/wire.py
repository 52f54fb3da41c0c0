"""What a bench of a port with MACs has: three clocks, cocotbext-eth at XGMII, agents at the host, registers, ends.

The two XGMII clocks may be off by +-100 ppm against the core's. The simulator counts whole ps, so a second of the bench
is 3.9 of the port: a core cycle lasts 15,600 ps and a cycle of XGMII 9,983, 9,984 or 9,985.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from cocotbext.eth import XgmiiFrame, XgmiiSink, XgmiiSource

from models.mac import padded
from models.mac_xgmii import START, Word, characters
from models.meta import Code
from models.nic_wire import MAC_COUNTERS
from models.port_map import PORT
from tb.lib.axis import AxisFrame, AxisSink, AxisSource
from tb.lib.clock import high_within, start_clock, wait_cycles
from tb.lib.suite import four_state, seeded
from tb.targets.axil import AxilMaster

__all__ = ["CORE_PS", "XGMII_PS", "Ended", "Sent", "WirePort"]

CORE_PS = 15_600
XGMII_PS = 9_984
PATIENCE = 4000
"""Cycles of the core without any sign of life, behind which something is stuck."""


@dataclass(frozen=True)
class Ended:
    """A disposition."""

    seq: int
    code: int


@dataclass(frozen=True)
class Sent:
    """What stood on `wire_tx_*` beside a start on XGMII; ``now``: the port's time at the beginning of that cycle."""

    seq: int
    direction: int
    time: int
    now: int
    lane: int


@dataclass
class WirePort:
    """``nic_port`` with MAC_EN. ``start`` first."""

    dut: Any
    rx_ps: int = XGMII_PS
    tx_ps: int = XGMII_PS
    ends: dict[str, list[Ended]] = field(default_factory=lambda: {"rx": [], "tx": []})
    history: dict[str, list[Ended]] = field(default_factory=lambda: {"rx": [], "tx": []})
    """All ends, ``ends`` those since `forget`."""
    entered: Counter[str] = field(default_factory=Counter)
    sent: list[Sent] = field(default_factory=list)
    starts: list[tuple[int, int]] = field(default_factory=list)
    """The port's time, 64.32, at the beginning of each cycle in which a start stood on xgmii_rx; its lane."""
    words: list[Word] = field(default_factory=list)
    """xgmii_tx in each cycle, while ``keep_words`` is set."""
    keep_words: bool = False
    host_frames: list[AxisFrame] = field(default_factory=list)

    async def start(self) -> WirePort:
        """Clocks, resets, agents; returns when the port is ready and both MACs run."""
        dut = self.dut
        self.rng = seeded("wire", self.rx_ps, self.tx_ps)
        for name in (
            "time_advance", "time_target", "time_target_fraction", "mem_req_ready", "m_axis_mem_tready",
            "mem_done_valid", "mem_done_id", "mem_done_code",
            *(f"s_axis_mem_{s}" for s in ("tdata", "tkeep", "tvalid", "tlast")),
            *(f"s_axis_wire_{s}" for s in ("tdata", "tkeep", "tvalid", "tlast", "tuser")), "m_axis_wire_tready",
        ):  # fmt: skip
            getattr(dut, name).value = 0
        dut.rst.value = dut.rx_rst.value = dut.tx_rst.value = 1
        self.clocks = {
            "clk": start_clock(dut.clk, CORE_PS),
            "rx_clk": start_clock(dut.rx_clk, self.rx_ps, offset_ps=1 + self.rng.randrange(self.rx_ps)),
            "tx_clk": start_clock(dut.tx_clk, self.tx_ps, offset_ps=1 + self.rng.randrange(self.tx_ps)),
        }
        for name in ("xgmii_rx_d", "xgmii_rx_c", "xgmii_tx_d"):
            logging.getLogger(f"cocotb.{getattr(dut, name)._path}").setLevel(logging.WARNING)
        self.source = XgmiiSource(dut.xgmii_rx_d, dut.xgmii_rx_c, dut.rx_clk)
        self.host_in = AxisSource(dut, "s_axis_host", dut.clk, rng=seeded("host"), undefined=four_state())
        self.host_sink = AxisSink(dut, "m_axis_host", dut.clk, callback=self.host_frames.append)
        self.axil = AxilMaster(dut, "s_axil", dut.clk)
        await wait_cycles(dut.clk, 8)
        dut.rst.value = dut.rx_rst.value = dut.tx_rst.value = 0
        await wait_cycles(dut.clk, 8)
        self.sink = XgmiiSink(dut.xgmii_tx_d, dut.xgmii_tx_c, dut.tx_clk)
        for way in self.ends:
            cocotb.start_soon(self._watch_ends(way))
        cocotb.start_soon(self._watch_tx())
        cocotb.start_soon(self._watch_rx())
        assert await high_within(dut.clk, dut.ready, 20_000), "ready stays low after reset"
        await wait_cycles(dut.clk, 64)
        return self

    # --------------------------------------------------------------------------------------------------------- watchers

    async def _watch_ends(self, way: str) -> None:
        dut, edge = self.dut, RisingEdge(self.dut.clk)
        valid, entry = getattr(dut, f"{way}_disp_valid"), getattr(dut, f"{way}_entry_valid")
        seq, code = getattr(dut, f"{way}_disp_seq"), getattr(dut, f"{way}_disp_code")
        while True:
            await edge
            if str(valid.value) == "1":
                end = Ended(int(str(seq.value), 2), int(str(code.value), 2))
                self.ends[way].append(end)
                self.history[way].append(end)
            if str(entry.value) == "1":
                self.entered[way] += 1

    def now(self) -> int:
        """The port's time, 64.32 ns."""
        return int(str(self.dut.now.value), 2) << 32 | int(str(self.dut.now_fraction.value), 2)

    async def _watch_tx(self) -> None:
        dut, edge = self.dut, RisingEdge(self.dut.tx_clk)
        before = 0
        while True:
            await edge
            word = int(str(dut.xgmii_tx_d.value), 2), int(str(dut.xgmii_tx_c.value), 2)
            if self.keep_words:
                self.words.append(word)
            if str(dut.wire_tx_valid.value) == "1":
                chars = characters(*word)
                assert START in chars, f"wire_tx_valid beside {word[0]:016x}/{word[1]:02x}"
                fields = (dut.wire_tx_seq, dut.wire_tx_direction, dut.wire_tx_time)
                self.sent.append(Sent(*(int(str(each.value), 2) for each in fields), before, chars.index(START)))
            elif word[1] not in (0, 0xFF):
                assert START not in characters(*word), "a start without wire_tx_valid"
            before = self.now()

    async def _watch_rx(self) -> None:
        dut, edge = self.dut, RisingEdge(self.dut.rx_clk)
        before = 0
        while True:
            await edge
            control = str(dut.xgmii_rx_c.value)
            if control in ("00000001", "00011111"):
                chars = characters(int(str(dut.xgmii_rx_d.value), 2), int(control, 2))
                if START in (chars[0], chars[4]):
                    self.starts.append((before, chars.index(START)))
            before = self.now()

    # ---------------------------------------------------------------------------------------------------------- traffic

    def receive(self, frames: Iterable[bytes]) -> None:
        """Puts good frames on the wire, back to back."""
        for data in frames:
            self.source.send_nowait(XgmiiFrame.from_payload(data))

    def transmit(self, frames: Iterable[bytes]) -> None:
        """Offers frames at the host edge, back to back."""
        for data in frames:
            self.host_in.append(AxisFrame(data))

    async def words_in(self, words: Sequence[Word]) -> None:
        """Puts words on xgmii_rx, in the place of the source, which must be idle."""
        assert self.source.idle()
        edge = RisingEdge(self.dut.rx_clk)
        for d, c in words:
            self.dut.xgmii_rx_d.value, self.dut.xgmii_rx_c.value = d, c
            await edge
        self.dut.xgmii_rx_d.value, self.dut.xgmii_rx_c.value = self.source.idle_d, self.source.idle_c
        await edge

    def forget(self) -> None:
        """Begins new lists; frames that are under way would spoil them."""
        for seen in (*self.ends.values(), self.sent, self.starts, self.words, self.host_frames):
            seen.clear()
        self.sink.clear()

    async def ended(self, rx: int, tx: int) -> None:
        """Waits until so many frames of each direction have ended and the port is idle."""
        before, quiet = None, 0
        while (len(self.ends["rx"]), len(self.ends["tx"])) != (rx, tx) or str(self.dut.idle.value) != "1":
            await wait_cycles(self.dut.clk, 20)
            signs = [len(each) for each in self.ends.values()], self.source.queue_occupancy_frames, len(self.sent)
            quiet = 0 if signs != before else quiet + 20
            before = signs
            seen = f"rx {len(self.ends['rx'])} of {rx}, tx {len(self.ends['tx'])} of {tx}, idle {self.dut.idle.value}"
            assert quiet < PATIENCE, f"nothing ends any more: {seen}"
        await wait_cycles(self.dut.clk, 20)
        assert (len(self.ends["rx"]), len(self.ends["tx"])) == (rx, tx), "more ends than frames"

    def at_host(self) -> list[AxisFrame]:
        """The frames that came out at the host so far, taken away."""
        frames, self.host_frames[:] = self.host_frames[:], []
        return frames

    def at_wire(self) -> list[XgmiiFrame]:
        """The frames that came out at the wire so far, taken away."""
        return [self.sink.recv_nowait() for _ in range(self.sink.count())]

    # --------------------------------------------------------------------------------------------------------- verdicts

    def codes(self, way: str) -> list[int]:
        """The ends of a direction, in the order in which its frames entered."""
        return [end.code for end in sorted(self.ends[way], key=lambda end: end.seq)]

    async def counters(self, block: str) -> dict[str, int]:
        """All counters of ``mac_rx`` or ``mac_tx`` that aren't 0."""
        await wait_cycles(self.dut.clk, 40)  # the MAC's counters are that much behind
        names = [name for name in MAC_COUNTERS if name.startswith(f"{block}.")]
        counts = {name.removeprefix(f"{block}."): await self.read64(name) for name in names}
        return {name: count for name, count in counts.items() if count}

    async def read64(self, name: str) -> int:
        address = PORT[name].address
        low = await self.axil.read(address)
        return low | await self.axil.read(address + 4) << 32

    async def status(self, block: str) -> dict[str, int]:
        register = PORT[f"{block}.status"]
        value = await self.axil.read(register.address)
        return {each.name: each.extract(value) for each in register.fields}

    def check_received(self, frames: Sequence[bytes]) -> list[AxisFrame]:
        """Exactly these frames came out at the host, padded, in their order; returns them."""
        got = self.at_host()
        compare([frame.data for frame in got], [padded(data) for data in frames], "host")
        assert not any(frame.user & 1 for frame in got)
        return got

    def check_transmitted(self, frames: Sequence[bytes]) -> list[XgmiiFrame]:
        """Exactly these frames came out at the wire, padded and with their FCS, in their order; returns them."""
        got = self.at_wire()
        for index, frame in enumerate(got):
            assert frame.ctrl is None and frame.check_fcs(), f"wire: frame {index} is bad: {frame}"
        compare([bytes(frame.get_payload()) for frame in got], [padded(data) for data in frames], "wire")
        return got

    async def check_accounts(self) -> None:
        """Of each direction: frames in are the sum of ends, by the reports and by the registers; nothing is lost."""
        for way in ("rx", "tx"):
            codes = Counter(end.code for end in self.history[way])
            numbers = sorted(end.seq for end in self.history[way])
            assert numbers == [*range(self.entered[way])], f"{way}: an end is missing, or there is one too many"
            assert await self.read64(f"nic.{way}_frames_in") == self.entered[way] == codes.total(), way
            for code, count in codes.items():
                counted = await self.read64(f"nic.{way}_disposition[{code}]")
                assert counted == count, f"{way} {Code(code).name}: the register has {counted}, {count} were reported"
        status = await self.axil.read(PORT["nic.status"].address)
        assert status & 0b1101 == 0b0001, f"status {status:#x}: not idle, or a disposition was lost"


def compare(got: Sequence[bytes], due: Sequence[bytes], where: str) -> None:
    """Fails with the first frame that differs."""
    for index, (mine, theirs) in enumerate(zip(got, due, strict=False)):
        if mine != theirs:
            at = next((n for n, (x, y) in enumerate(zip(mine, theirs, strict=False)) if x != y), -1)
            sizes = f"{len(mine)} bytes, due {len(theirs)}"
            raise AssertionError(f"{where}: frame {index} differs from byte {at} on ({sizes})")
    assert len(got) == len(due), f"{where}: {len(got)} frames, due {len(due)}"
