"""The designs of block ``dma``: the engine, and its pins with the golden model behind them."""

from __future__ import annotations

from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["dma_design", "double_design"]

_RTL = ROOT / "rtl" / "dma"
_LIB = ROOT / "rtl" / "lib"


def double_design(**parameters: int) -> Design:
    """No RTL: ``tb/dma/double.py`` plays on the pins."""
    top = ROOT / "tb" / "dma" / "tops" / "dma_double.v"
    return Design("dma/dma_double", "dma_double", (top,), parameters)


def dma_design(**parameters: int) -> Design:
    """``dma`` as the top. parameters: of the module."""
    sources = sorted(_RTL.glob("*.v"), key=lambda path: (path.stem == "dma", path.stem))
    return Design("dma/dma", "dma", (_LIB / "word_queue.v", *sources), parameters, includes=(_LIB, _RTL))
