"""The designs of block ``nic``: the whole port, bare for the agents and inside the frame BFM's top."""

from __future__ import annotations

from pathlib import Path

from tb import native
from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["port_design"]

_TOP = "nic_port"
_LIB = ("axis_arb_mux", "axis_fifo", "axis_register")
"""Of the shared RTL, what the port is made of."""


def _rtl() -> list[Path]:
    """The port's Verilog, the top last."""
    lib = [ROOT / "rtl" / "lib" / f"{name}.v" for name in _LIB]
    parser = sorted((ROOT / "rtl" / "parser").glob("*.v"))
    return lib + parser + sorted((ROOT / "rtl" / "nic").glob("*.v"), key=lambda path: (path.stem == _TOP, path.stem))


def port_design(engine: str, **parameters: int) -> Design:
    """``nic_port`` for an engine: "agents" (any simulator), "bfm" (Verilator), or "native" for `tb.build.build_native`.

    parameters: of ``nic_port``.
    """
    if engine == "agents":
        return Design("nic/nic_port", _TOP, tuple(_rtl()), parameters)
    if engine == "native":
        pins = ROOT / "tb" / "nic" / "nic_port_pins.cpp"
        return Design("nic/nic_port_native", _TOP, tuple(_rtl()), parameters, native=(*native.DEVICE, pins))
    top = ROOT / "tb" / "nic" / "nic_port_tb.sv"
    return Design("nic/nic_port_tb", "nic_port_tb", (*_rtl(), *native.BFM, top), parameters, native=native.DPI)
