"""Bench of tests/tools/counter.v: what tests/tools/test_build.py builds and runs."""

import os

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer


async def _start(dut):
    cocotb.start_soon(Clock(dut.clk, 4, "ns", impl="gpi").start())
    dut.rst.value, dut.enable.value = 1, 1
    for _ in range(2):
        await RisingEdge(dut.clk)
    dut.rst.value = 0


@cocotb.test
async def counts(dut):
    """Ten enabled cycles count to ten; the parameter gives the width."""
    await _start(dut)
    for _ in range(11):
        await RisingEdge(dut.clk)
    assert int(dut.count.value) == 10
    assert len(dut.count) == int(os.environ["WIDTH"])


@cocotb.test(skip="PROBE" not in os.environ)
async def sees_only_ports(dut):
    """A signal that nobody named public isn't there."""
    await _start(dut)
    assert hasattr(dut, "parity") == (os.environ["PROBE"] == "visible")
    await RisingEdge(dut.clk)


@cocotb.test(skip="FAIL" not in os.environ)
async def fails(dut):
    """Fails, for the test of the report."""
    await _start(dut)
    await RisingEdge(dut.clk)
    assert int(dut.count.value) == 99, "expected 99"


@cocotb.test(skip="HANG" not in os.environ)
async def hangs(dut):
    """Never ends."""
    await _start(dut)
    while True:
        await Timer(1, "ms")
