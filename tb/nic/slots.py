"""The slots of a port's pipelines in order, and the streams between them as the taps number them.

tb/nic/nic_port_taps.sv gathers the streams: of each direction first the edge at which frames enter, then what comes out
of each slot; what comes out of the last one leaves at the other edge. Demultiplexers and joins count as slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from models.frames import Edge

__all__ = ["LANES", "Lane"]


@dataclass(frozen=True)
class Lane:
    """One direction. first: number of the stream at its entry. numbered: streams from this place on show each frame's
    number (in front of it only the order tells frames)."""

    name: str
    entry: Edge
    first: int
    slots: tuple[str, ...]
    buffer: str
    numbered: int

    @property
    def streams(self) -> int:
        """How many: one more than slots."""
        return len(self.slots) + 1

    def behind(self, place: int) -> str:
        """What takes the frames of a stream, by its place in the lane: a slot, or the edge."""
        return self.slots[place] if place < len(self.slots) else self.exit_name

    @property
    def entry_name(self) -> str:
        return f"{self.entry.name.lower()} edge"

    @property
    def exit_name(self) -> str:
        return f"{self.entry.opposite.name.lower()} edge"


_RX: Final = (
    "mac_rx", "ingress_rx", "parser_rx", "pfc_rx", "ipsec_rx", "parser_inner", "roce_icrc", "acl_rx", "rx_buffer",
    "rx_demux", "tls_rx", "roce", "host_join", "egress_rx",
)  # fmt: skip
_TX: Final = (
    "join", "ingress_tx", "parser_tx", "acl_tx", "tls_tx", "ipsec_tx", "sched_join", "tx_sched", "tx_demux",
    "egress_tx", "mac_tx",
)  # fmt: skip

LANES: Final[dict[Edge, Lane]] = {
    Edge.WIRE: Lane("rx", Edge.WIRE, 0, _RX, "rx_buffer", 2),
    Edge.HOST: Lane("tx", Edge.HOST, len(_RX) + 1, _TX, "tx_sched", 2),
}
"""By the edge at which frames enter."""
