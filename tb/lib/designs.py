"""The designs of block ``lib``: each module with the sets of parameters that are built.

A key is ``module.set``. Which sets only regress builds is said by the tests that launch them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from tb.build import Design
from tb.toolchain import ROOT

__all__ = ["DESIGNS", "current", "environment"]

_RTL = ROOT / "rtl" / "lib"
_TOPS = ROOT / "tb" / "lib" / "tops"
_SVA = ROOT / "tb" / "lib" / "sva"


def _design(
    module: str, parameters: Mapping[str, int | str], *, top: bool = False, more: tuple[str, ...] = ()
) -> Design:
    """``top``: the module is packed beyond what agents can drive, and stands in a top that unpacks it."""
    sources = [_RTL / f"{name}.v" for name in (*more, module)]
    sva = (_SVA / "axis_sva.sv", _SVA / f"{module}_bind.sv") if module.startswith("axis_") else ()
    if top:
        sources.append(_TOPS / f"{module}_top.v")
    return Design(f"lib/{module}", f"{module}_top" if top else module, tuple(sources), parameters, sva=sva)


def _fifo(**parameters: int) -> Design:
    """``axis_fifo``; what isn't given is 0 or narrow, and its bench can read every parameter."""
    fixed = {"FRAME_MODE": 0, "DROP_BAD": 0, "DROP_FULL": 0, "DATA_W": 128, "META_W": 48}
    return _design("axis_fifo", fixed | parameters)


def _adapter(s_width: int, m_width: int) -> Design:
    parameters: dict[str, int | str] = {"S_DATA_W": s_width, "M_DATA_W": m_width, "META_W": 48}
    return _design("axis_adapter", parameters, more=("axis_register",))


def _async(**parameters: int) -> Design:
    return _design("axis_async_fifo", dict(parameters), more=("sync_bit",))


def _sync() -> Design:
    """The four cells side by side."""
    cells = ("sync_bit", "sync_pulse", "sync_reset", "sync_bus")
    return Design("lib/sync", "sync_top", (*(_RTL / f"{cell}.v" for cell in cells), _TOPS / "sync_top.v"))


DESIGNS: dict[str, Design] = {
    "axis_register.w128": _design("axis_register", {"DATA_W": 128, "META_W": 48}),
    "axis_register.w64": _design("axis_register", {"DATA_W": 64, "USER_W": 1, "META_W": 1}),
    "axis_fifo.cut": _fifo(DEPTH=16, FRAMES=16),
    "axis_fifo.frame": _fifo(DEPTH=16, FRAMES=4, FRAME_MODE=1),
    "axis_fifo.bad": _fifo(DEPTH=16, FRAMES=8, FRAME_MODE=1, DROP_BAD=1),
    "axis_fifo.full": _fifo(DEPTH=16, FRAMES=8, FRAME_MODE=1, DROP_BAD=1, DROP_FULL=1),
    "axis_fifo.full_only": _fifo(DEPTH=32, FRAMES=16, FRAME_MODE=1, DROP_FULL=1, DATA_W=64),
    "axis_arb_mux.n4": _design("axis_arb_mux", {"N": 4}, top=True, more=("axis_register",)),
    "axis_arb_mux.first2": _design("axis_arb_mux", {"N": 4, "FIRST": 2}, top=True, more=("axis_register",)),
    "axis_arb_mux.n3": _design("axis_arb_mux", {"N": 3, "DATA_W": 64}, top=True, more=("axis_register",)),
    "axis_demux.n3": _design("axis_demux", {"N": 3}, top=True, more=("axis_register",)),
    "axis_demux.n4": _design("axis_demux", {"N": 4, "DATA_W": 64}, top=True, more=("axis_register",)),
    "axis_adapter.up": _adapter(64, 128),
    "axis_adapter.down": _adapter(128, 64),
    "axis_async_fifo.d32": _async(DEPTH=32, META_W=48),
    "axis_async_fifo.d16w64": _async(DEPTH=16, DATA_W=64, META_W=32),
    "sync.all": _sync(),
    "crc32.w128": _design("crc32_128", {}),
    "crc32.w64": _design("crc32_64", {}),
    "agents.faulty": Design(
        "lib/faulty_stream",
        "faulty_stream",
        (_TOPS / "faulty_stream.v",),
        sva=(_SVA / "axis_sva.sv", _SVA / "faulty_stream_bind.sv"),
    ),
    "agents.no_sva": Design("lib/faulty_stream", "faulty_stream", (_TOPS / "faulty_stream.v",)),
}
"""Every set of parameters."""


def environment(key: str) -> dict[str, str]:
    """What a simulation of ``DESIGNS[key]`` finds in its environment, so that its bench knows the parameters."""
    return {"NICLOOP_DESIGN": key}


def current() -> Design:
    """Inside the simulator: the design that runs."""
    return DESIGNS[os.environ["NICLOOP_DESIGN"]]
