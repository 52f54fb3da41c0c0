"""RoCEv2 packets from the BTH on: opcodes, headers, parse and build (docs/roce.md, Packets).

InfiniBand Architecture Specification, volume 1, 9.2 (BTH, opcodes), 9.3 (extended headers).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum

__all__ = [
    "CNP",
    "HEADERS",
    "PSN_SPACE",
    "Aeth",
    "AtomicEth",
    "Deth",
    "MalformedError",
    "Op",
    "Packet",
    "Reth",
    "Service",
    "ahead",
    "build",
    "opcode",
    "operation",
    "parse",
    "service",
]

PSN_SPACE = 1 << 24
CNP = 0x81
"""Opcode of a congestion notification (annex A17.9.3); 16 bytes of zeros follow the BTH."""
BTH = 12


class Service(IntEnum):
    """Bits 7:5 of the opcode."""

    RC = 0
    UC = 1
    RD = 2
    UD = 3


class Op(IntEnum):
    """Bits 4:0 of the opcode (table 38)."""

    SEND_FIRST = 0x00
    SEND_MIDDLE = 0x01
    SEND_LAST = 0x02
    SEND_LAST_IMM = 0x03
    SEND_ONLY = 0x04
    SEND_ONLY_IMM = 0x05
    WRITE_FIRST = 0x06
    WRITE_MIDDLE = 0x07
    WRITE_LAST = 0x08
    WRITE_LAST_IMM = 0x09
    WRITE_ONLY = 0x0A
    WRITE_ONLY_IMM = 0x0B
    READ_REQUEST = 0x0C
    READ_FIRST = 0x0D
    READ_MIDDLE = 0x0E
    READ_LAST = 0x0F
    READ_ONLY = 0x10
    ACK = 0x11
    ATOMIC_ACK = 0x12
    COMPARE_SWAP = 0x13
    FETCH_ADD = 0x14
    SEND_LAST_INV = 0x16
    SEND_ONLY_INV = 0x17


HEADERS: dict[Op, tuple[str, ...]] = {
    Op.SEND_FIRST: (),
    Op.SEND_MIDDLE: (),
    Op.SEND_LAST: (),
    Op.SEND_LAST_IMM: ("imm",),
    Op.SEND_ONLY: (),
    Op.SEND_ONLY_IMM: ("imm",),
    Op.WRITE_FIRST: ("reth",),
    Op.WRITE_MIDDLE: (),
    Op.WRITE_LAST: (),
    Op.WRITE_LAST_IMM: ("imm",),
    Op.WRITE_ONLY: ("reth",),
    Op.WRITE_ONLY_IMM: ("reth", "imm"),
    Op.READ_REQUEST: ("reth",),
    Op.READ_FIRST: ("aeth",),
    Op.READ_MIDDLE: (),
    Op.READ_LAST: ("aeth",),
    Op.READ_ONLY: ("aeth",),
    Op.ACK: ("aeth",),
    Op.ATOMIC_ACK: ("aeth", "original"),
    Op.COMPARE_SWAP: ("atomic",),
    Op.FETCH_ADD: ("atomic",),
    Op.SEND_LAST_INV: ("invalidate",),
    Op.SEND_ONLY_INV: ("invalidate",),
}
"""Extended headers of an operation, in their order; UD puts a DETH before them."""
BARE = {Op.READ_REQUEST, Op.ACK, Op.ATOMIC_ACK, Op.COMPARE_SWAP, Op.FETCH_ADD}
"""Operations without payload."""
UC_OPS = {op for op in Op if op <= Op.WRITE_ONLY_IMM}
UD_OPS = {Op.SEND_ONLY, Op.SEND_ONLY_IMM}
SIZES = {"reth": 16, "atomic": 28, "aeth": 4, "original": 8, "imm": 4, "invalidate": 4, "deth": 8}


class MalformedError(ValueError):
    """Bytes that are no packet of the opcode they name."""


@dataclass(frozen=True)
class Reth:
    """Address, key and length of a WRITE or READ."""

    address: int
    key: int
    length: int


@dataclass(frozen=True)
class AtomicEth:
    """Of a fetch-and-add, ``swap`` is what is added and ``compare`` isn't read."""

    address: int
    key: int
    swap: int
    compare: int = 0


@dataclass(frozen=True)
class Aeth:
    """syndrome: 0x00..0x1f ACK and credits, 0x20..0x3f RNR and timer, 0x60..0x64 NAK and code."""

    syndrome: int
    msn: int


@dataclass(frozen=True)
class Deth:
    """Of a datagram: Q_Key and the sender's queue pair."""

    key: int
    source: int


@dataclass(frozen=True, kw_only=True)
class Packet:
    """What lies between UDP and ICRC. Padding isn't part of ``payload``."""

    opcode: int
    qpn: int
    psn: int
    ack_request: bool = False
    solicited: bool = False
    migrated: bool = False
    key: int = 0xFFFF
    fecn: bool = False
    becn: bool = False
    version: int = 0
    payload: bytes = b""
    deth: Deth | None = None
    reth: Reth | None = None
    atomic: AtomicEth | None = None
    aeth: Aeth | None = None
    original: int | None = None
    imm: int | None = None
    invalidate: int | None = None

    def __str__(self) -> str:
        name = "CNP" if self.opcode == CNP else operation(self.opcode).name
        extra = " ".join(
            f"{one.name}={getattr(self, one.name)}" for one in fields(self)[11:] if getattr(self, one.name) is not None
        )
        return f"{name} qpn {self.qpn:#x} psn {self.psn:#x} {len(self.payload)} bytes {extra}".rstrip()


def opcode(kind: Service, op: Op) -> int:
    """The byte."""
    return kind << 5 | op


def operation(code: int) -> Op:
    """Of an opcode that ``headers`` knows."""
    return Op(code & 0x1F)


def service(code: int) -> Service:
    """Of an opcode that ``headers`` knows."""
    return Service(code >> 5)


def headers(code: int) -> tuple[str, ...] | None:
    """Names of the extended headers, or None of a reserved opcode, and of RD, which RoCEv2 hasn't."""
    known = {Service.RC: set(HEADERS), Service.UC: UC_OPS, Service.UD: UD_OPS}
    if code >> 5 not in known or code & 0x1F not in known[Service(code >> 5)]:
        return None
    own = HEADERS[operation(code)]
    return ("deth", *own) if service(code) == Service.UD else own


def ahead(psn: int, of: int) -> int:
    """How far a PSN lies ahead of another one, modulo 2^24: -2^23 .. 2^23 - 1 (9.7.1)."""
    return (psn - of + (PSN_SPACE >> 1)) % PSN_SPACE - (PSN_SPACE >> 1)


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big")


def _taken(name: str, data: bytes, at: int) -> Reth | AtomicEth | Aeth | Deth | int:
    if name == "reth":
        return Reth(_number(data, at, 8), _number(data, at + 8, 4), _number(data, at + 12, 4))
    if name == "atomic":
        return AtomicEth(*(_number(data, at + place, size) for place, size in ((0, 8), (8, 4), (12, 8), (20, 8))))
    if name == "aeth":
        return Aeth(data[at], _number(data, at + 1, 3))
    if name == "deth":
        return Deth(_number(data, at, 4), _number(data, at + 5, 3))
    return _number(data, at, SIZES[name])


def _laid(name: str, value: Reth | AtomicEth | Aeth | Deth | int) -> bytes:
    match value:
        case Reth(address, key, length):
            return address.to_bytes(8, "big") + key.to_bytes(4, "big") + length.to_bytes(4, "big")
        case AtomicEth(address, key, swap, compare):
            words = ((address, 8), (key, 4), (swap, 8), (compare, 8))
            return b"".join(word.to_bytes(size, "big") for word, size in words)
        case Aeth(syndrome, msn):
            return bytes([syndrome]) + msn.to_bytes(3, "big")
        case Deth(key, source):
            return key.to_bytes(4, "big") + bytes(1) + source.to_bytes(3, "big")
    return value.to_bytes(SIZES[name], "big")


def parse(data: bytes) -> Packet:
    """A packet of its bytes from the BTH up to the ICRC, which isn't among them. Reserved bits aren't read (9.2)."""
    if len(data) < BTH:
        raise MalformedError(f"{len(data)} bytes are no BTH")
    names = () if data[0] == CNP else headers(data[0])
    if names is None:
        raise MalformedError(f"opcode {data[0]:#04x} is reserved")
    found = {}
    at = BTH
    for name in names:
        if at + SIZES[name] > len(data):
            raise MalformedError(f"{name} of opcode {data[0]:#04x} is cut")
        found[name] = _taken(name, data, at)
        at += SIZES[name]
    pad = data[1] >> 4 & 3
    if at + pad > len(data) or len(data) % 4:
        raise MalformedError(f"{len(data) - at} bytes behind the headers, {pad} of them padding")
    payload = data[at : len(data) - pad]
    if payload and data[0] != CNP and operation(data[0]) in BARE:
        raise MalformedError(f"payload in opcode {data[0]:#04x}")
    return Packet(
        opcode=data[0],
        solicited=bool(data[1] & 0x80),
        migrated=bool(data[1] & 0x40),
        version=data[1] & 15,
        key=_number(data, 2, 2),
        fecn=bool(data[4] & 0x80),
        becn=bool(data[4] & 0x40),
        qpn=_number(data, 5, 3),
        ack_request=bool(data[8] & 0x80),
        psn=_number(data, 9, 3),
        payload=payload,
        **found,  # type: ignore[arg-type]
    )


def build(packet: Packet) -> bytes:
    """The bytes of a packet from the BTH up to the ICRC: reserved bits and padding are 0."""
    names = () if packet.opcode == CNP else headers(packet.opcode)
    if names is None:
        raise ValueError(f"opcode {packet.opcode:#04x} is reserved")
    pad = -len(packet.payload) % 4
    out = bytearray([packet.opcode, packet.solicited << 7 | packet.migrated << 6 | pad << 4 | packet.version])
    out += packet.key.to_bytes(2, "big") + bytes([packet.fecn << 7 | packet.becn << 6])
    out += packet.qpn.to_bytes(3, "big") + bytes([packet.ack_request << 7]) + packet.psn.to_bytes(3, "big")
    for name in names:
        out += _laid(name, getattr(packet, name))
    return bytes(out + packet.payload + bytes(pad))
