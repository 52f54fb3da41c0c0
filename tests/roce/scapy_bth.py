"""RoCEv2 as Scapy reads it, whatever else of Scapy is loaded."""

from __future__ import annotations

from scapy.contrib.roce import BTH
from scapy.layers.inet import UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet

__all__ = ["bth_of"]


def bth_of(frame: bytes) -> Packet:
    """The BTH of a frame, with UDP and what is in front of it as its underlayers. That it is one is told here: of a UDP
    port that several protocols claim, Scapy takes the one that was loaded last."""
    udp = Ether(frame)[UDP]
    bth = BTH(udp.original[8:])
    udp.remove_payload()
    udp.add_payload(bth)
    return bth
