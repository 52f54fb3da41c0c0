"""The designs of block ``mac``: each module alone, the smoke bench's loop, and the MAC with and without its PCS."""

from __future__ import annotations

from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["BER", "bench_design", "loop_design", "mac_design", "pcs_design", "slots_design"]

_RTL = ROOT / "rtl" / "mac"
_TOPS = ROOT / "tb" / "mac" / "tops"
_NIC = (
    "nic_clock_watch", "nic_disp_fifo", "nic_link", "nic_overflow_cut", "nic_read_cross", "nic_setting_cross",
    "nic_slot", "nic_slot_mac_rx", "nic_slot_mac_tx", "nic_time", "nic_time_cross", "nic_wire_ends", "slot_regs",
)  # fmt: skip
"""Of the port's RTL, what the MAC's slots are made of."""
_LIB = ("axis_adapter", "axis_async_fifo", "axis_register", "sync_bit", "sync_bus")
BER = {"BER_LIMIT": 97, "BER_CYCLES": 2000}
"""25G's limit within a period that a bench can wait for."""


def mac_design(module: str, **parameters: int) -> Design:
    """A module of rtl/mac as the top. parameters: of the module."""
    sources = sorted(_RTL.glob("*.v"), key=lambda path: (path.stem == module, path.stem))
    return Design(f"mac/{module}", module, tuple(sources), parameters)


def loop_design(top: str, **parameters: int) -> Design:
    """A top of ``tops``: all the modules of rtl/mac are there for it."""
    return Design(f"mac/{top}", top, (*sorted(_RTL.glob("*.v")), _TOPS / f"{top}.v"), parameters)


def bench_design() -> Design:
    """``mac_tx``, ``mac_rx`` and ``mac_time`` in ``mac_bench``."""
    return loop_design("mac_bench", PCS=0)


def pcs_design(ber: dict[str, int] | None = None) -> Design:
    """The same with ``pcs_tx`` and ``pcs_rx``; ber: parameters of the BER monitor."""
    return loop_design("mac_bench", PCS=1, **(BER if ber is None else ber))


def slots_design(enable: int = 1) -> Design:
    """The slots of ``mac_rx`` and ``mac_tx`` in ``mac_slots``; enable: their EN."""
    rtl = ROOT / "rtl"
    sources = [rtl / "lib" / f"{name}.v" for name in _LIB] + sorted(_RTL.glob("*.v"))
    sources += [rtl / "nic" / f"{name}.v" for name in _NIC]
    return Design("mac/mac_slots", "mac_slots", (*sources, _TOPS / "mac_slots.v"), {"EN": enable})
