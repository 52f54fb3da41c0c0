"""The designs of block ``mac``: each module alone, and the loops of MAC and PCS."""

from __future__ import annotations

from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["loop_design", "mac_design"]

_RTL = ROOT / "rtl" / "mac"
_TOPS = ROOT / "tb" / "mac" / "tops"


def mac_design(module: str, **parameters: int) -> Design:
    """A module of rtl/mac as the top. parameters: of the module."""
    sources = sorted(_RTL.glob("*.v"), key=lambda path: (path.stem == module, path.stem))
    return Design(f"mac/{module}", module, tuple(sources), parameters)


def loop_design(top: str, **parameters: int) -> Design:
    """``mac_loop``: mac_tx and mac_rx back to back, with ``PCS`` 1 the PCS between; ``pcs_loop``: the PCS alone."""
    return Design(f"mac/{top}", top, (*sorted(_RTL.glob("*.v")), _TOPS / f"{top}.v"), parameters)
