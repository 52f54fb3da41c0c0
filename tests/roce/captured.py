"""The RoCEv2 packets of captures, for this folder's tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from models.roce import Route, packet_of
from models.roce_packet import MalformedError, Packet
from tb.replay.capture import read_capture

CAPTURES = Path(__file__).parents[1] / "captures"


@dataclass(frozen=True)
class Seen:
    frame: bytes
    route: Route
    packet: Packet


@cache
def seen(path: Path) -> tuple[Seen, ...]:
    """Every RoCEv2 packet of a capture, in its order."""
    batch = read_capture(path).batch
    found = []
    for n in range(len(batch)):
        frame = bytes(batch.frame(n))
        try:
            found.append(Seen(frame, *packet_of(frame)))
        except (MalformedError, IndexError):
            assert b"\x12\xb7" not in frame[34:58], f"{path.name}: frame {n} isn't understood"
    return tuple(found)
