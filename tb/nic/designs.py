"""The designs of block ``nic``: the whole port, bare for the agents and inside the frame BFM's top."""

from __future__ import annotations

from pathlib import Path

from models.config import NicConfig
from tb import native
from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["least", "needed", "port_design"]

_TOP = "nic_port"
_LIB = (
    "axis_adapter", "axis_arb_mux", "axis_async_fifo", "axis_demux", "axis_fifo", "axis_register", "sync_bit",
    "sync_bus", "word_queue",
)  # fmt: skip
"""Of the shared RTL, what the port is made of."""
_INCLUDES = (ROOT / "rtl" / "lib", ROOT / "rtl" / "gcm")


def _rtl() -> list[Path]:
    """The port's Verilog, the top last."""
    lib = [ROOT / "rtl" / "lib" / f"{name}.v" for name in _LIB]
    blocks = [
        path
        for block in ("mac", "parser", "acl", "gcm", "ipsec")
        for path in sorted((ROOT / "rtl" / block).glob("*.v"))
    ]
    return lib + blocks + sorted((ROOT / "rtl" / "nic").glob("*.v"), key=lambda path: (path.stem == _TOP, path.stem))


def port_design(engine: str, **parameters: int) -> Design:
    """``nic_port`` for an engine: "agents" (any simulator), "bfm" (Verilator), or for `tb.build.build_native` "native",
    "probe", which has the taps, and "wire", whose wire is XGMII.

    parameters: of ``nic_port``.
    """
    if engine == "agents":
        return Design("nic/nic_port", _TOP, tuple(_rtl()), parameters, _INCLUDES)
    here = ROOT / "tb" / "nic"
    if engine == "native":
        native_sources = (*native.DEVICE, here / "nic_port_pins.cpp")
        return Design("nic/nic_port_native", _TOP, tuple(_rtl()), parameters, _INCLUDES, native=native_sources)
    if engine == "wire":
        native_sources = (*native.DEVICE, here / "nic_port_wire_pins.cpp")
        return Design(
            "nic/nic_port_wire", _TOP, tuple(_rtl()), {"MAC_EN": 1} | parameters, _INCLUDES, native=native_sources
        )
    if engine == "probe":
        sources = (here / "nic_port_taps.sv", *_rtl())
        native_sources = (*native.DEVICE, here / "nic_port_probe_pins.cpp")
        return Design("nic/nic_port_probe", _TOP, sources, parameters, _INCLUDES, native=native_sources)
    top = here / "nic_port_tb.sv"
    return Design(
        "nic/nic_port_tb", "nic_port_tb", (*_rtl(), *native.BFM, top), parameters, _INCLUDES, native=native.DPI
    )


def least(sim: str) -> dict[str, int]:
    """Parameters of ``nic_port`` for a simulator: Icarus gets the smallest ACL, since it is slow with wide memories."""
    return {"ACL_RULES": 64} if sim == "icarus" else {}


def needed(config: NicConfig) -> dict[str, int]:
    """Parameters of ``nic_port`` for what a configuration has something for and a port leaves out by default: IPsec,
    which makes a build take twice as long and the simulation slower."""
    return {"IPSEC_EN": 1} if any(port.ipsec is not None for port in config.ports) else {}
