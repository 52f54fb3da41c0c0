"""The designs that the speed bench drives, in the form in which each harness takes them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tb import native
from tb.build import Design

__all__ = ["FROZEN", "REFERENCE", "REFERENCE_BFM", "REFERENCE_NATIVE", "frozen_digest"]

HERE = Path(__file__).resolve().parent / "reference"
MODULES = ("ref_round", "ref_crc", "ref_ghash", "ref_parser", "ref_match", "reference")
SOURCES = tuple(HERE / f"{name}.v" for name in MODULES)
FROZEN = "6a366f8ec366e4ed24ed84191d38d3daae90c548b0004d0f88db55eed65e8b87"
"""SHA-256 of the reference design's sources, one after the other. It does not change: bench/README.md says why."""

REFERENCE = Design("bench/reference", "reference", SOURCES)
"""For the agents and for cocotbext-axi."""
REFERENCE_BFM = Design(
    "bench/reference_tb",
    "reference_tb",
    (*SOURCES, *native.BFM, HERE / "reference_tb.sv"),
    native=native.DPI,
)
REFERENCE_NATIVE = Design(
    "bench/reference_native", "reference", SOURCES, native=(*native.DEVICE, HERE / "reference_pins.cpp")
)


def frozen_digest() -> str:
    """SHA-256 of the sources as they are."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()
