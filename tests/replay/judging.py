"""Windows that were judged, for tests of what listens to them: frames through the golden model, spoilt on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from struct import pack

import numpy as np

from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from models.nic import NicPortModel
from tb.replay.window import Judged, Window

__all__ = ["begun_at", "byte_flipped", "judge", "udp_frame"]


def udp_frame(size: int, port: int = 9) -> bytes:
    """An Ethernet frame of that many bytes, at least 42, with IPv4 and a UDP header without checksum."""
    header = pack(">BBHHHBBHII", 0x45, 0, size - 14, 0, 0, 64, 17, 0, 0x0A000001, 0x0A000002)
    rest = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, 20, 2))
    rest = (rest & 0xFFFF) + (rest >> 16)
    header = header[:10] + pack(">H", ~((rest & 0xFFFF) + (rest >> 16)) & 0xFFFF) + header[12:]
    ethernet = bytes.fromhex("0200000000020200000000010800")
    return (ethernet + header + pack(">HHHH", 4000, port, size - 34, 0)).ljust(size, b"\x5a")


def byte_flipped(number: int, at: int, mask: int = 0x40) -> Callable[[Outcome], Outcome]:
    """Spoils byte ``at`` of the frame out with that number."""

    def spoil(outcome: Outcome) -> Outcome:
        data = outcome.frames.data.copy()
        data[outcome.frames.offset[number] + at] ^= mask
        return replace(outcome, frames=replace(outcome.frames, data=data))

    return spoil


def begun_at(outcome: Outcome, begin_ns: int) -> Outcome:
    """The outcome of a play from time 0 as if it had begun at another."""
    frames = replace(outcome.frames, time_ns=outcome.frames.time_ns + begin_ns)
    return replace(outcome, begin_ns=begin_ns, frames=frames)


def judge(
    frames: list[bytes],
    *,
    edge: Edge = Edge.WIRE,
    first: int = 0,
    capture: str = "field.pcap",
    begin_ns: int = 0,
    config: NicConfig | None = None,
    spoil: Callable[[Outcome], Outcome] = lambda outcome: outcome,
) -> Judged:
    """The frames as one window, whose first has the number ``first``; the outcome is the model's, then spoilt."""
    batch = Batch.of(frames, edge=edge)
    outcome = begun_at(spoil(NicPortModel(config).play(batch)), begin_ns)
    mismatches = NicPortModel(config).check(batch, outcome)
    number = np.arange(first, first + len(batch), dtype=np.int64)
    return Judged(Window(batch, number, capture, number, batch.lengths), outcome, mismatches, begin_ns, 0)
