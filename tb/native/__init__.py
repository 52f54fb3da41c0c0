"""Frame queues, pacing, back-pressure and checks in C++, shared by the simulator's frame BFM and the native target."""

from __future__ import annotations

from pathlib import Path

__all__ = ["BFM", "DEVICE", "DPI", "PORT_PATHS", "SOURCES"]

_HERE = Path(__file__).resolve().parent

SOURCES: tuple[Path, ...] = tuple(_HERE / name for name in ("stream.cpp", "xgmii.cpp", "harness.cpp", "c_api.cpp"))
"""The harness and its C ABI: all that a program without a simulator needs."""

DPI: tuple[Path, ...] = (*SOURCES, _HERE / "dpi.cpp")
"""``native`` of a :class:`tb.build.Design` whose top holds the modules of ``BFM``."""

_LOOP = ("device.cpp", "clocks.cpp", "idle.cpp", "axil.cpp", "waves.cpp", "taps.cpp", "device_api.cpp", "zeroed.cpp")

DEVICE: tuple[Path, ...] = (*SOURCES, *(_HERE / name for name in _LOOP))
"""``native`` of a design for :func:`tb.build.build_native`, with the file that binds its pins."""

BFM: tuple[Path, ...] = tuple(_HERE / f"bfm_{name}.sv" for name in ("source", "sink", "path", "cycle"))
"""Verilog of the frame BFM, to stand before the top in ``sources``."""

PORT_PATHS = {"rx": ("wire", "host", True), "tx": ("host", "wire", True)}
"""The paths of a port: source, sink, and that each frame's end is reported."""
