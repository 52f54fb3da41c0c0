"""Smoke bench of ``nic_port`` with its MACs: frames of both directions from and to XGMII, their ends, their times."""

from __future__ import annotations

from collections import Counter
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from models.mac import MacRxModel, MacTxModel
from models.mac_xgmii import IDLE_WORD
from models.meta import Code, unpack
from tb.lib.clock import WIRE_PS, wait_cycles
from tb.lib.suite import seeded
from tb.mac.env import word_of_bits
from tb.nic.bench_registers import started
from tb.registers.map import read_register

__all__: list[str] = []


@cocotb.test(timeout_time=200, timeout_unit="us")
async def frames_pass_between_xgmii_and_the_host_and_end_at_the_wire(dut: Any) -> None:
    rng = seeded("wire_smoke")
    bus = await started(dut)
    dut.m_axis_host_tready.value = 1
    frames = [b"\x02" + rng.randbytes(length - 1) for length in (*range(60, 90), 1500, 60, 61)]
    model = MacTxModel()
    for data in frames:
        model.add(data, 0)
    words = model.words(2, model.frames[-1].terminate // 8 + 2)
    got: list[bytes] = []
    times: list[int] = []
    sent: list[int] = []
    ends: Counter[tuple[str, int]] = Counter()
    marks: list[tuple[int, int]] = []

    async def feed() -> None:
        for word in [*words, IDLE_WORD]:
            await RisingEdge(dut.rx_clk)
            dut.xgmii_rx_d.value, dut.xgmii_rx_c.value = word

    async def watch_wire() -> None:
        while True:
            await RisingEdge(dut.tx_clk)
            sent.append(int(dut.xgmii_tx_d.value) | int(dut.xgmii_tx_c.value) << 64)
            if int(dut.wire_tx_valid.value):
                assert abs((int(dut.wire_tx_time.value) >> 32) - int(dut.now.value)) <= 8 + WIRE_PS // 1000
                marks.append((int(dut.wire_tx_seq.value), int(dut.wire_tx_direction.value)))

    async def watch_core() -> None:
        body = b""
        while True:
            await RisingEdge(dut.clk)
            for way in ("rx", "tx"):
                if int(getattr(dut, f"{way}_disp_valid").value):
                    ends[way, int(getattr(dut, f"{way}_disp_code").value)] += 1
            if int(dut.m_axis_host_tvalid.value):
                if not body:
                    times.append(unpack(int(dut.m_axis_host_meta.value))["timestamp"])
                size = int(dut.m_axis_host_tkeep.value).bit_length()
                body += int(dut.m_axis_host_tdata.value).to_bytes(16, "little")[:size]
                if int(dut.m_axis_host_tlast.value):
                    got.append(body)
                    body = b""

    async def send() -> None:
        for data in frames:
            for at in range(0, len(data), 16):
                piece = data[at : at + 16]
                dut.s_axis_host_tdata.value = int.from_bytes(piece, "little")
                dut.s_axis_host_tkeep.value = (1 << len(piece)) - 1
                dut.s_axis_host_tlast.value = int(at + 16 >= len(data))
                dut.s_axis_host_tvalid.value = 1
                await RisingEdge(dut.clk)
                while not int(dut.s_axis_host_tready.value):
                    await RisingEdge(dut.clk)
        dut.s_axis_host_tvalid.value = 0

    tasks = [cocotb.start_soon(task()) for task in (watch_wire, watch_core)]
    both = cocotb.start_soon(feed()), cocotb.start_soon(send())
    for task in both:
        await task
    await wait_cycles(dut.clk, 60)
    while not int(dut.idle.value):
        await RisingEdge(dut.clk)
    await wait_cycles(dut.clk, 10)
    assert got == frames and times == sorted(times)
    assert [frame.data for frame in MacRxModel().run(map(word_of_bits, sent)).frames] == frames
    assert marks == [(number, 1) for number in range(len(frames))]
    assert ends == {("rx", Code.DELIVERED): len(frames), ("tx", Code.DELIVERED): len(frames)}
    for name in ("mac_rx.frames_ok", "mac_tx.frames_ok", "nic.rx_frames_out", "nic.tx_frames_out"):
        assert await read_register(bus, name) == len(frames), name
    for task in tasks:
        task.cancel()
