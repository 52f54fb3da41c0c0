"""Destination-address filter of block ``rings`` (docs/rings.md, Receive)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["ADDRESSES", "Filter"]

ADDRESSES = 32
BROADCAST = (1 << 48) - 1
GROUP = 1 << 40
"""The first bit on the wire (802.3 3.2.3): bit 0 of the first byte."""


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Registers. addresses: those whose bit ``valid`` is set, first byte in bits 47:40."""

    promiscuous: bool = False
    all_multicast: bool = False
    broadcast: bool = True
    addresses: frozenset[int] = frozenset()

    def passes(self, meta: Mapping[str, int]) -> bool:
        """Broadcast is a case of its own: all_multicast doesn't open it, the table may."""
        address = meta.get("dst_mac", 0)
        if self.promiscuous or meta.get("acl_copy", 0) or meta.get("acl_redirect", 0) or address in self.addresses:
            return True
        if address == BROADCAST:
            return self.broadcast
        return bool(address & GROUP) and self.all_multicast
