"""The designs of block ``dma``: the engine, and its pins with the golden model behind them."""

from __future__ import annotations

from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["double_design"]


def double_design() -> Design:
    """No RTL: ``tb/dma/double.py`` plays on the pins."""
    top = ROOT / "tb" / "dma" / "tops" / "dma_double.v"
    return Design("dma/dma_double", "dma_double", (top,), {})
