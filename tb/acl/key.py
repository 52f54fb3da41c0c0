"""Layout of the matcher's ternary key, as docs/acl.md has it, section "The matcher"."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KeyField", "fields", "key_width"]

_COMMON = (
    ("ethertype", 16),
    ("vlan", 12),
    ("vlan_valid", 1),
    ("pcp", 3),
    ("protocol", 8),
    ("dscp", 6),
    ("ecn", 2),
    ("l4_bits", 16),
    ("fragment", 1),
    ("l4", 3),
    ("port", 8),
    ("bth_opcode", 8),
    ("dest_qp", 24),
    ("bth_valid", 1),
    ("l3", 2),
    ("inner", 1),
    ("decrypted", 1),
    ("sa", 12),
    ("spare", 3),
)
"""From bit 0 on, name and bits."""


@dataclass(frozen=True)
class KeyField:
    """A field of the key: bits ``low`` to ``low + bits - 1``."""

    name: str
    low: int
    bits: int

    @property
    def mask(self) -> int:
        return ((1 << self.bits) - 1) << self.low


def fields(ipv6: bool) -> tuple[KeyField, ...]:
    """All fields of a key with addresses of 128 bits (``ipv6``) or 32, from bit 0 on."""
    address = 128 if ipv6 else 32
    found, low = [], 0
    for name, bits in (*_COMMON, ("dst", address), ("src", address)):
        found.append(KeyField(name, low, bits))
        low += bits
    return tuple(found)


def key_width(ipv6: bool) -> int:
    """Bits of the key: 384 or 192."""
    return sum(field.bits for field in fields(ipv6))
