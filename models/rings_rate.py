"""Loads of block ``rings``: what a frame costs on a PCIe link and on the internal interfaces (docs/rings.md, Rate).

PCI Express Base Specification 4.0: 4.2.1 (128b/130b), 2.2.1 (headers), 3.6.2 and 4.2.2.2 (LCRC and framing).
Bytes are those on the link; beats are those of 512 bits (TLPs) and 128 bits (data of a requester) at 250 MHz.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CYCLE_NS", "Batches", "Load", "frame_ns", "link_bytes_per_second", "load", "worst"]

CYCLE_NS = 4
WIRE_OVERHEAD = 24
"""Preamble, FCS and gap."""
FRAMING = 8
"""STP token with the sequence number, and LCRC."""
REQUEST = 16 + FRAMING
"""A header of 4 DWs: of 3 DWs it is 4 bytes less."""
COMPLETION = 12 + FRAMING
ENTRY = 16
"""Bytes of a descriptor, and of a completion entry."""
SPLIT = 64
"""Read completion boundary: the finest split."""


@dataclass(frozen=True, kw_only=True)
class Batches:
    """How many entries go with one TLP; reports: one of so many frames sent asks for its completion entry; flushes:
    reads of no bytes that a received frame takes, 1 where its buffer lies in a BAR."""

    descriptors: int = 8
    completions: int = 4
    reports: int = 1
    flushes: int = 0


@dataclass(frozen=True)
class Load:
    """What one port in both directions uses, as parts of 1: of the link up and down, of TLP beats, of data beats."""

    up: float
    down: float
    tlp_out: float
    tlp_in: float
    write_data: float
    read_data: float


def frame_ns(length: int) -> float:
    """Time of a frame on the wire at 25 Gb/s."""
    return (length + WIRE_OVERHEAD) * 8 / 25


def link_bytes_per_second(lanes: int = 8) -> float:
    """PCIe 4.0: 16 GT/s a lane, 128b/130b."""
    return lanes * 16e9 * 128 / 130 / 8


def _tlps(length: int, most: int) -> int:
    return -(-length // most)


def load(length: int, batches: Batches | None = None, ports: int = 2, mps: int = 256, mrrs: int = 512) -> Load:
    """Of frames of this length back to back on all ports, in both directions, each in one aligned buffer."""
    b = batches or Batches()
    words = -(-length // 4) * 4
    entries = 1 + 1 / b.reports
    up: float = words + REQUEST * _tlps(length, mps) + REQUEST * _tlps(length, mrrs)
    up += entries * (ENTRY + REQUEST / b.completions) + (2 / b.descriptors + b.flushes) * REQUEST
    down: float = words + COMPLETION * _tlps(length, SPLIT)
    down += b.flushes * (4 + COMPLETION)
    down += 2 * (ENTRY + COMPLETION * _tlps(b.descriptors * ENTRY, SPLIT) / b.descriptors)
    out: float = sum(_tlps(min(mps, length - at), 64) for at in range(0, length, mps)) + _tlps(length, mrrs)
    out += entries * _tlps(b.completions * ENTRY, 64) / b.completions + 2 / b.descriptors + b.flushes
    inward = _tlps(length, SPLIT) + b.flushes + 2 * _tlps(b.descriptors * ENTRY, SPLIT) / b.descriptors
    rate = ports / frame_ns(length)
    bytes_a_ns = link_bytes_per_second() / 1e9
    beats = _tlps(length, 16)
    cycles = frame_ns(length) / CYCLE_NS
    return Load(
        up=up * rate / bytes_a_ns,
        down=down * rate / bytes_a_ns,
        tlp_out=out * rate * CYCLE_NS,
        tlp_in=inward * rate * CYCLE_NS,
        write_data=(beats + entries) / cycles,
        read_data=(beats + 2) / cycles,
    )


def worst(name: str, batches: Batches | None = None) -> tuple[float, int]:
    """The highest load of this kind over all lengths of frames, and the length."""
    return max((getattr(load(length, batches), name), length) for length in range(60, 9597))
