"""The designs of block ``mac``: its modules in ``tops/mac_bench.v``, without the PCS and with it."""

from __future__ import annotations

from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["BER", "mac_design", "pcs_design"]

BER = {"BER_LIMIT": 97, "BER_CYCLES": 2000}
"""25G's limit within a period that a bench can wait for."""


def _design(name: str, parameters: dict[str, int]) -> Design:
    sources = sorted((ROOT / "rtl" / "mac").glob("*.v"))
    top = ROOT / "tb" / "mac" / "tops" / "mac_bench.v"
    return Design(f"mac/{name}", "mac_bench", (*sources, top), parameters)


def mac_design() -> Design:
    """``mac_tx``, ``mac_rx`` and ``mac_time``."""
    return _design("mac", {"PCS": 0})


def pcs_design(ber: dict[str, int] | None = None) -> Design:
    """The same with ``pcs_tx`` and ``pcs_rx``; ber: parameters of the BER monitor."""
    return _design("pcs", {"PCS": 1} | (BER if ber is None else ber))
