"""Receive side scaling of block ``rings`` (docs/rings.md, RSS): Microsoft, "RSS hashing functions"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag

__all__ = ["ENTRIES", "KEY_BYTES", "Rss", "Types", "hash_input", "toeplitz"]

KEY_BYTES = 40
ENTRIES = 128
"""Of the indirection table."""
IPV4, IPV6 = 1, 2
TCP, UDP = 1, 2


class Types(IntFlag):
    """What is hashed with ports, and what by addresses."""

    IPV4 = 1
    IPV4_TCP = 2
    IPV4_UDP = 4
    IPV6 = 8
    IPV6_TCP = 16
    IPV6_UDP = 32
    ALL = 63


def toeplitz(key: bytes, data: bytes) -> int:
    """For each bit of the data that is 1, from the left, the 32 bits of the key that begin at that bit are added."""
    if 8 * len(key) < 8 * len(data) + 32:
        raise ValueError(f"a key of {len(key)} bytes for {len(data)} bytes of data")
    whole = int.from_bytes(key, "big")
    result = 0
    for bit in range(8 * len(data)):
        if data[bit // 8] >> (7 - bit % 8) & 1:
            result ^= whole >> (8 * len(key) - 32 - bit) & 0xFFFF_FFFF
    return result


def hash_input(meta: Mapping[str, int], types: int) -> tuple[int, bytes]:
    """``hash_kind`` and the bytes that are hashed. meta: as ``models.meta.unpack`` gives it; absent fields are 0."""
    l3, l4 = meta.get("l3_kind", 0), meta.get("l4_kind", 0)
    if l3 not in (IPV4, IPV6):
        return 0, b""
    size, shift = (4, 0) if l3 == IPV4 else (16, 3)
    addresses = meta["ip_src"].to_bytes(16, "big")[-size:] + meta["ip_dst"].to_bytes(16, "big")[-size:]
    ports = {TCP: Types.IPV4_TCP, UDP: Types.IPV4_UDP}.get(l4, Types(0)).value << shift
    if types & ports and not meta.get("fragment", 0):
        return 2, addresses + meta["src_port"].to_bytes(2, "big") + meta["dst_port"].to_bytes(2, "big")
    if types & Types.IPV4.value << shift:
        return 1, addresses
    return 0, b""


@dataclass(frozen=True, kw_only=True)
class Rss:
    """Registers. table: queue of each entry."""

    enable: bool = False
    types: int = Types.ALL
    key: bytes = bytes(KEY_BYTES)
    table: Sequence[int] = (0,) * ENTRIES

    def choose(self, meta: Mapping[str, int]) -> tuple[int, int, int]:
        """Queue, hash, hash_kind of a frame: a rule's queue beats the table, the hash is told all the same."""
        kind, data = hash_input(meta, self.types) if self.enable else (0, b"")
        value = toeplitz(self.key, data)
        queue = self.table[value % ENTRIES] if self.enable else 0
        return (meta.get("queue", 0) if meta.get("acl_queued", 0) else queue), value, kind
