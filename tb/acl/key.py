"""The matcher's key, as docs/acl.md has it in "The matcher": its layout, a frame's key, what a rule asks of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from models.acl import INNERMOST, L3_KIND, L4_ICMP, L4_PORTS, OF_FRAME, Masked, Range, Rule

__all__ = ["ALL_PORTS", "Key", "KeyField", "KeyRule", "encode", "fields", "key_of", "key_width"]

ALL_PORTS = (0, 0xFFFF)
"""The range that asks nothing."""
_NO_PORT = (0xFFFF, 0)
"""A range that no port is in."""

_L4_CODE = {0: 0, 5: 1, 1: 2, 2: 3, 3: 4, 4: 5}
"""``l4`` of the key by the parser's ``l4_kind``."""
_L4_PAIR = 6
"""Mask of ``l4`` that takes TCP and UDP for one, or either ICMP."""

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


@dataclass(frozen=True)
class Key:
    """What is looked up: the ternary bits, and the ports."""

    bits: int
    src: int
    dst: int


@dataclass(frozen=True)
class KeyRule:
    """What a rule asks of a key: the bits of ``value`` where ``mask`` is 1; ranges with both ends."""

    value: int
    mask: int
    src: tuple[int, int] = ALL_PORTS
    dst: tuple[int, int] = ALL_PORTS

    def matches(self, key: Key) -> bool:
        return (
            (key.bits ^ self.value) & self.mask == 0
            and self.src[0] <= key.src <= self.src[1]
            and self.dst[0] <= key.dst <= self.dst[1]
        )


@cache
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


@cache
def _field(name: str, ipv6: bool) -> KeyField:
    return next(field for field in fields(ipv6) if field.name == name)


class _Asked:
    """Collects what a rule asks of the key's fields."""

    def __init__(self, ipv6: bool) -> None:
        self._ipv6 = ipv6
        self.value = self.mask = 0
        self.empty = False
        """Two conditions contradict each other."""

    def ask(self, name: str, value: int, mask: int | None = None) -> None:
        """Bits of a field, all of them without a mask."""
        field = _field(name, self._ipv6)
        bits = field.mask if mask is None else mask << field.low
        placed = value << field.low
        self.empty |= (self.value ^ placed) & self.mask & bits != 0
        self.value |= placed & bits
        self.mask |= bits

    def ask_masked(self, name: str, condition: Masked) -> None:
        self.ask(name, condition.value, condition.mask)


def encode(rule: Rule, ipv6: bool = True) -> KeyRule:
    """What a rule asks of the key. ValueError: of IPv6, where the key has no room for it."""
    if rule.ip == 6 and not ipv6:
        raise ValueError("the rule asks for IPv6 and the engine has no keys for it")
    asked = _Asked(ipv6)
    asked.ask("inner", int(rule.inner))
    _ask_frame(asked, rule)
    _ask_ip(asked, rule)
    _ask_l4(asked, rule)
    if asked.empty:
        return KeyRule(asked.value, asked.mask, _NO_PORT, _NO_PORT)
    return KeyRule(asked.value, asked.mask, _ends(rule.src_port), _ends(rule.dst_port))


def _ends(ports: Range | None) -> tuple[int, int]:
    return ALL_PORTS if ports is None else (ports.first, ports.last)


def _ask_frame(asked: _Asked, rule: Rule) -> None:
    """Ethernet, tags, and what is of the frame as a whole."""
    if rule.ethertype is not None:
        asked.ask("ethertype", rule.ethertype)
    for name in ("vlan", "pcp"):
        number = getattr(rule, name)
        if number is not None:
            asked.ask(name, number)
            asked.ask("vlan_valid", 1)
    for name in OF_FRAME:
        number = getattr(rule, name)
        if number is not None:
            asked.ask(name, int(number))


def _ask_ip(asked: _Asked, rule: Rule) -> None:
    if rule.ip is not None:
        asked.ask("l3", 1 if rule.ip == 4 else 3)
    for name in ("src", "dst"):
        address = getattr(rule, name)
        if address is not None:
            asked.ask_masked(name, address)
    if rule.protocol is not None:
        asked.ask_masked("protocol", rule.protocol)
    for name in ("dscp", "ecn", "fragment"):
        number = getattr(rule, name)
        if number is not None:
            asked.ask(name, int(number))
    if any(condition is not None for condition in (rule.protocol, rule.dscp, rule.ecn, rule.fragment)):
        asked.ask("l3", 1, 1)


def _ask_l4(asked: _Asked, rule: Rule) -> None:
    if rule.src_port is not None or rule.dst_port is not None:
        asked.ask("l4", _L4_CODE[1], _L4_PAIR)
    if rule.tcp_flags is not None:
        asked.ask("l4", _L4_CODE[1])
        asked.ask_masked("l4_bits", rule.tcp_flags)
    for low, condition in ((8, rule.icmp_type), (0, rule.icmp_code)):
        if condition is not None:
            asked.ask("l4", _L4_CODE[3], _L4_PAIR)
            asked.ask("l4_bits", condition.value << low, condition.mask << low)
    if rule.bth_opcode is not None or rule.dest_qp is not None:
        asked.ask("bth_valid", 1)
        # No BTH is read in a tunnel.
        asked.empty |= rule.inner
    if rule.bth_opcode is not None:
        asked.ask_masked("bth_opcode", rule.bth_opcode)
    if rule.dest_qp is not None:
        asked.ask("dest_qp", rule.dest_qp)


def key_of(frame: Mapping[str, int], inner: bool = False, ipv6: bool = True) -> Key | None:
    """The key of a frame's outer or inner headers; None: it has no tunnel. frame: fields of the metadata by name."""
    if inner and not frame.get("tunnel_kind", 0):
        return None

    def of(name: str) -> int:
        shared = name in OF_FRAME + INNERMOST or not inner
        return frame.get(name if shared else f"inner_{name}", 0)

    l3, l4 = of("l3_kind"), of("l4_kind")
    values = {"ethertype": of("ethertype"), "l4": _L4_CODE[l4], "inner": int(inner)}
    values |= {name: of(name) for name in OF_FRAME}
    if of("vlan_count"):
        values |= {"vlan": of("vlan0") & 0xFFF, "vlan_valid": 1, "pcp": of("vlan0") >> 13}
    if l3:
        values |= {name: of(name) for name in ("protocol", "dscp", "ecn", "fragment")}
        values |= {"l3": 1 if l3 == L3_KIND[4] else 3, "src": of("ip_src"), "dst": of("ip_dst")}
    if l4 == 1:
        values["l4_bits"] = of("tcp_flags")
    elif l4 in L4_ICMP:
        values["l4_bits"] = of("icmp_type") << 8 | of("icmp_code")
    if not inner and of("roce"):
        values |= {"bth_opcode": of("bth_opcode"), "dest_qp": of("bth_dest_qp"), "bth_valid": 1}
    bits = 0
    for name, value in values.items():
        field = _field(name, ipv6)
        bits |= value << field.low & field.mask
    ports = l4 in L4_PORTS
    return Key(bits, of("src_port") if ports else 0, of("dst_port") if ports else 0)
