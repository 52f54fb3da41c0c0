"""Descriptors and completions of block ``rings`` as bytes and fields (docs/rings.md, Descriptors, Completions)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

__all__ = ["ENTRY", "L4", "Completion", "RxDescriptor", "Status", "TxDescriptor", "owner"]

ENTRY = 16
"""Bytes of a descriptor, and of a completion."""


class L4(IntEnum):
    """Which checksum a tx descriptor asks for."""

    NONE = 0
    TCP = 1
    UDP = 2


class Status(IntEnum):
    """What a completion says of its frame or ring; ``CQ`` is told by the register ``state`` alone."""

    OK = 0
    LENGTH = 1
    OFFLOAD = 2
    DESCRIPTOR = 3
    FETCH = 4
    DATA = 5
    DOORBELL = 6
    CQ = 7


@dataclass(frozen=True, kw_only=True)
class TxDescriptor:
    """key: which of the queue's four; l3: in units of 2 bytes; l4_offset: from the IP header, in units of 4."""

    address: int
    length: int
    key: int = 0
    eop: bool = True
    report: bool = False
    ip_checksum: bool = False
    l4: int = L4.NONE
    vlan: bool = False
    ad: bool = False
    tci: int = 0
    l3: int = 0
    l4_offset: int = 0
    reserved: int = 0

    def pack(self) -> bytes:
        flags = self.eop | self.report << 1 | self.ip_checksum << 2 | self.l4 << 3 | self.vlan << 5 | self.key << 6
        last = self.ad | self.reserved << 1
        return struct.pack("<QHBBHBB", self.address, self.length, flags, self.l3, self.tci, self.l4_offset, last)

    @classmethod
    def unpack(cls, data: bytes) -> TxDescriptor:
        address, length, flags, l3, tci, l4_offset, last = struct.unpack("<QHBBHBB", data)
        return cls(
            address=address,
            length=length,
            key=flags >> 6,
            eop=bool(flags & 1),
            report=bool(flags & 2),
            ip_checksum=bool(flags & 4),
            l4=flags >> 3 & 3,
            vlan=bool(flags & 32),
            ad=bool(last & 1),
            tci=tci,
            l3=l3,
            l4_offset=l4_offset,
            reserved=last >> 1,
        )

    def faulty(self, first: bool) -> bool:
        """first: of its frame; of the others only length counts, what else they hold isn't read."""
        return self.length == 0 or (first and (self.l4 == 3 or self.reserved != 0))


@dataclass(frozen=True, kw_only=True)
class RxDescriptor:
    """A buffer. reserved: all bits that must be 0."""

    address: int
    length: int
    key: int = 0
    reserved: int = 0

    def pack(self) -> bytes:
        return struct.pack("<QH", self.address, self.length) + (self.key << 6 | self.reserved).to_bytes(6, "little")

    @classmethod
    def unpack(cls, data: bytes) -> RxDescriptor:
        address, length = struct.unpack("<QH", data[:10])
        rest = int.from_bytes(data[10:], "little")
        return cls(address=address, length=length, key=rest >> 6 & 3, reserved=rest & ~0xC0)

    def faulty(self) -> bool:
        return self.length == 0 or self.reserved != 0


def owner(index: int, size: int) -> int:
    """The ownership bit of a CQ's entry: 1 in the first pass."""
    return 1 - (index >> size & 1)


@dataclass(frozen=True, kw_only=True)
class Completion:
    """One entry of a completion queue."""

    queue: int
    tx: bool
    index: int
    owner: int
    status: int = Status.OK
    length: int = 0
    hash: int = 0
    hash_kind: int = 0
    timestamp: int = 0
    tci: int = 0
    vlan: bool = False
    vlan_ad: bool = False
    l4_checksum: int = 0
    ip_checksum: int = 0

    def pack(self) -> bytes:
        last = self.length | self.vlan << 14 | self.vlan_ad << 15 | self.l4_checksum << 16 | self.ip_checksum << 18
        last |= self.hash_kind << 20 | self.queue << 22 | self.status << 26 | self.tx << 30 | self.owner << 31
        return struct.pack("<IIHHI", self.hash, self.timestamp, self.tci, self.index, last)

    @classmethod
    def unpack(cls, data: bytes) -> Completion:
        hash_, timestamp, tci, index, last = struct.unpack("<IIHHI", data)
        return cls(
            hash=hash_,
            timestamp=timestamp,
            tci=tci,
            index=index,
            length=last & 0x3FFF,
            vlan=bool(last >> 14 & 1),
            vlan_ad=bool(last >> 15 & 1),
            l4_checksum=last >> 16 & 3,
            ip_checksum=last >> 18 & 3,
            hash_kind=last >> 20 & 3,
            queue=last >> 22 & 15,
            status=last >> 26 & 15,
            tx=bool(last >> 30 & 1),
            owner=last >> 31,
        )
