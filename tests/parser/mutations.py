"""Frames for the parser, whole and malformed, with what is known of them from how they were built.

``build`` makes the frame of a ``Shape`` and says which fields, layers and length fields it has. Nothing here asks the
parser's model: sums and lengths are computed on their own, plainly. From whole frames come malformed ones:
``truncations`` cuts at every byte, ``wrong_lengths`` gives each length field every value around its right one,
``mutated`` changes random bytes, ``deep_chains`` builds header chains up to and beyond the parser's depth.
``tunnel_shapes``, ``random_tunnel`` and ``deep_tunnels`` do the same for tunnels: ``Built.meta`` is then what a parser
says that reads them, and ``Built.outer()`` what one says that doesn't. The same seed gives the same frames.
"""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from models.meta import FIELDS, Code

__all__ = [
    "L4_KINDS",
    "TUNNEL_KINDS",
    "Built",
    "Layer",
    "LengthField",
    "Shape",
    "build",
    "deep_chains",
    "deep_tunnels",
    "mutated",
    "nested_pieces",
    "plain_sum",
    "random_shape",
    "random_tunnel",
    "shapes",
    "truncations",
    "tunnel_shapes",
    "wrong_lengths",
]

CTAG, STAG = 0x8100, 0x88A8
HOP_BY_HOP, ROUTING, FRAGMENT, AH, DESTINATION = 0, 43, 44, 51, 60
EXTENSIONS = (HOP_BY_HOP, ROUTING, FRAGMENT, AH, DESTINATION)
L4_KINDS = ("tcp", "udp", "roce", "natt_esp", "ike", "keepalive", "natt_short", "icmp", "esp", "no_next", "unknown")
"""What may follow IP: natt_short is UDP port 4500 with fewer than 4 bytes, unknown a protocol that nobody reads."""
TUNNEL_KINDS = ("vxlan", "geneve")
"""What else may: UDP that carries the headers of ``Shape.inner``."""

_FIELD_NAMES = frozenset(field.name for field in FIELDS)
_INNERMOST = ("tcp_flags", "icmp_type", "icmp_code", "spi", "esp_seq")
"""Fields of an L4 header that stand under their own name in a tunnel too."""
_LAYER4 = ("tcp", "udp", "icmp", "esp")
_PROTOCOL = {"tcp": 6, "icmp": 1, "esp": 50, "no_next": 59, "unknown": 253}
_ODD = (0, 1, 2, 4, 8, 0x0F, 0x11, 0x2B, 0x2C, 0x32, 0x33, 0x3A, 0x3B, 0x3C, 0x40, 0x45, 0x4F, 0x60, 0x7F, 0x80, 0xFF)
"""Byte values that mean something somewhere in a header."""


@dataclass(frozen=True)
class Shape:
    """What a frame is made of.

    tags            TPIDs, outer first; three are one too many
    ip              4, 6, or 0: no IP (``ethertype`` says what instead)
    options         32-bit words of IPv4 options, 0 to 10
    extensions      (kind, length field) of each extension header; over IPv4 only AH is one
    fragment        (offset in 8 bytes, more fragments): IPv4's own, or that of each IPv6 fragment header
    cut             of a first piece, bytes that later pieces hold: at most all that there are behind the last header
    segments_left   of each routing header
    l4              one of L4_KINDS or TUNNEL_KINDS
    tcp_options     32-bit words of TCP options, 0 to 10
    payload         bytes behind the last header
    padding         bytes of Ethernet padding behind the IP packet
    checksum        "good", "bad" or "none" (UDP only) at L4
    ip_checksum     IPv4 header checksum is right
    inner           what a tunnel carries; None: a plain frame
    bridged         a GENEVE tunnel carries Ethernet; else it names the type of what comes next. VXLAN always does
    tunnel_options  32-bit words of GENEVE options, 0 to 63
    """

    tags: tuple[int, ...] = ()
    ip: int = 4
    ethertype: int = 0x0806
    options: int = 0
    extensions: tuple[tuple[int, int], ...] = ()
    fragment: tuple[int, int] = (0, 0)
    cut: int = 0
    segments_left: int = 0
    l4: str = "udp"
    tcp_options: int = 0
    payload: int = 18
    padding: int = 0
    checksum: str = "good"
    ip_checksum: bool = True
    inner: Shape | None = None
    bridged: bool = True
    tunnel_options: int = 0
    seed: int = 1


@dataclass(frozen=True)
class Layer:
    """A layer of the frame: bytes ``start .. end-1``, and the code of a frame that is cut within it."""

    name: str
    start: int
    end: int
    truncated: Code


@dataclass(frozen=True)
class LengthField:
    """A length field: the bits of ``mask`` (16 bit) in the two bytes from ``at`` on; ``right`` is its right value."""

    name: str
    at: int
    mask: int
    right: int

    @property
    def most(self) -> int:
        """Its largest value."""
        return self.mask // (self.mask & -self.mask)

    def put(self, frame: bytes, value: int) -> bytes:
        """The frame with another value in the field."""
        (word,) = struct.unpack_from(">H", frame, self.at)
        word = word & ~self.mask | value * (self.mask & -self.mask)
        return frame[: self.at] + struct.pack(">H", word) + frame[self.at + 2 :]


@dataclass(frozen=True)
class Built:
    """A whole frame. ``meta``: the parser's fields that aren't 0, where the chain ``fits``; ``l3_end``: end of the IP
    packet, 0 without one; ``l4_checksum``: ``tuser[9:8]``."""

    frame: bytes
    meta: dict[str, int]
    layers: tuple[Layer, ...]
    lengths: tuple[LengthField, ...]
    l3_end: int
    l4_checksum: int

    def fits(self, parse_bytes: int = 128) -> bool:
        """The chain is no deeper than the parser reads: tags, extension headers, bytes, turns."""
        turn = 0
        for layer in self.layers:
            turn = max(turn, (layer.end - 1) // 16) + 1
        names = Counter(layer.name for layer in self.layers)
        extensions = max(names["extension"], names["inner extension"])
        in_bytes = all(layer.end <= parse_bytes for layer in self.layers)
        tags = max(self.meta.get("vlan_count", 0), self.meta.get("inner_vlan_count", 0))
        return tags <= 2 and extensions <= 4 and in_bytes and turn <= parse_bytes // 16 + 2

    def outer(self) -> Built:
        """The same frame for a parser that reads no tunnels: its chain ends with the tunnel's UDP."""
        at = next((i for i, layer in enumerate(self.layers) if layer.name in TUNNEL_KINDS), None)
        if at is None:
            return self
        layers = self.layers[:at]
        meta = {name: value for name, value in self.meta.items() if not name.startswith(("inner_", "tunnel_"))}
        for name in ("vni", *_INNERMOST):
            meta.pop(name, None)
        meta["payload_offset"] = layers[-1].end
        lengths = tuple(field for field in self.lengths if field.at < layers[-1].end)
        return replace(self, meta=meta, layers=layers, lengths=lengths)


def plain_sum(data: bytes) -> int:
    """The ones' complement sum of RFC 1071, word by word as section 4.1 writes it."""
    total = 0
    for at in range(0, len(data) - 1, 2):
        total += data[at] << 8 | data[at + 1]
    if len(data) % 2:
        total += data[-1] << 8
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def build(shape: Shape) -> Built:
    """The frame of a shape. Addresses, ports and payload are random, by the shape's seed."""
    return _Builder(shape).build()


class _Builder:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.rng = random.Random(shape.seed)
        self.meta: dict[str, int] = {}
        self.layers: list[Layer] = []
        self.lengths: list[LengthField] = []

    def build(self) -> Built:
        shape = self.shape
        ethernet = self.ethernet()
        self.layers.append(Layer("ethernet", 0, len(ethernet), Code.L2_TRUNCATED))
        if not shape.ip:
            return self.without_ip(ethernet)
        l3 = len(ethernet)
        ip_size = 20 + 4 * shape.options if shape.ip == 4 else 40
        src, dst = (self.bits(32 if shape.ip == 4 else 128) for _ in range(2))
        self.layers.append(Layer("ip", l3, l3 + ip_size, Code.L3_TRUNCATED))
        extensions, first, last = self.extensions(l3 + ip_size)
        at = l3 + ip_size + len(extensions)
        kinds = [kind for kind, _ in shape.extensions]
        pieces = shape.fragment if shape.ip == 4 or FRAGMENT in kinds else (0, 0)
        readable = not pieces[0] and not (shape.ip == 4 and any(kind != AH for kind in kinds))
        l4 = self.layer4(at) if readable else self.rng.randbytes(shape.payload)
        verdict = 0
        if readable and self.protocol() in (6, 17):
            l4 = self.checksummed(l4, src, dst)
            verdict = self.verdict(kinds, pieces)
        if pieces == (0, 1):
            l4 = l4[: max(len(l4) - shape.cut, self.layers[-1].end - at)]
        length = ip_size + len(extensions) + len(l4)
        meta = {"l3_offset": l3, "l3_length": length, "ip_src": src, "ip_dst": dst, "protocol": last}
        self.meta |= {"protocol_offset": l3 + (9 if shape.ip == 4 else 6), "l3_payload_offset": l3 + ip_size}
        for layer in self.layers:
            if layer.name == "extension":
                self.meta |= {"protocol_offset": layer.start, "l3_payload_offset": layer.end}
        self.meta |= meta | {"fragment": int(pieces != (0, 0)), "frag_offset": pieces[0], "more_fragments": pieces[1]}
        header = self.ipv4(l3, length, first, src, dst) if shape.ip == 4 else self.ipv6(l3, length, first, src, dst)
        frame = ethernet + header + extensions + l4 + self.rng.randbytes(shape.padding)
        return self.built(frame, l3 + length, verdict)

    def built(self, frame: bytes, l3_end: int, verdict: int) -> Built:
        meta = {name: value for name, value in self.meta.items() if value}
        return Built(frame, meta, tuple(self.layers), tuple(self.lengths), l3_end, verdict)

    def bits(self, width: int) -> int:
        return self.rng.getrandbits(width)

    def ethernet(self) -> bytes:
        shape = self.shape
        ethertype = {4: 0x0800, 6: 0x86DD, 0: shape.ethertype}[shape.ip]
        dst, src = self.bits(48), self.bits(48)
        frame = dst.to_bytes(6, "big") + src.to_bytes(6, "big")
        self.meta |= {"dst_mac": dst, "src_mac": src, "ethertype": ethertype, "vlan_count": len(shape.tags)}
        for index, tpid in enumerate(shape.tags):
            tci = self.bits(16)
            frame += struct.pack(">HH", tpid, tci)
            self.meta |= {f"vlan{index}": tci, f"vlan{index}_ad": int(tpid == STAG)}
        return frame + struct.pack(">H", ethertype)

    def without_ip(self, ethernet: bytes) -> Built:
        payload = self.rng.randbytes(self.shape.payload)
        if self.shape.ethertype == 0x8808:
            opcode = self.bits(16)
            payload = struct.pack(">H", opcode) + payload
            self.layers.append(Layer("mac_control", len(ethernet), len(ethernet) + 2, Code.L3_TRUNCATED))
            self.meta |= {"mac_control": 1, "mac_opcode": opcode}
        return self.built(ethernet + payload, 0, 0)

    def protocol(self) -> int:
        if self.shape.l4 == "icmp" and self.shape.ip == 6:
            return 58
        return _PROTOCOL.get(self.shape.l4, 17)

    def extensions(self, at: int) -> tuple[bytes, int, int]:
        """Bytes of the extension headers, the next header of IP, and the last one that the parser reads."""
        shape = self.shape
        chain = [kind for kind, _ in shape.extensions] + [self.protocol()]
        data, last, walking, mask = b"", chain[0], True, 0
        for (kind, length), following in zip(shape.extensions, chain[1:], strict=True):
            size = {FRAGMENT: 8, AH: (length + 2) * 4}.get(kind, (length + 1) * 8)
            body = bytearray(self.rng.randbytes(size))
            body[0], body[1] = following, length
            if kind == FRAGMENT:
                body[2:4] = struct.pack(">H", shape.fragment[0] << 3 | self.bits(2) << 1 | shape.fragment[1])
            if kind == ROUTING:
                body[3] = shape.segments_left
            walking = walking and (shape.ip == 6 or kind == AH)
            if shape.ip == 4 and shape.fragment[0]:
                walking = False
            if walking:
                start = at + len(data)
                self.layers.append(Layer("extension", start, start + size, Code.EXT_TRUNCATED))
                if kind != FRAGMENT:
                    self.lengths.append(LengthField(f"extension {kind}", start, 0x00FF, length))
                if kind == ROUTING and shape.segments_left:
                    self.meta["segments_left"] = 1
                mask |= 1 << {HOP_BY_HOP: 0, ROUTING: 1, FRAGMENT: 2, DESTINATION: 3, AH: 4}[kind]
                last = following
                walking = not (kind == FRAGMENT and shape.fragment[0])
            data += bytes(body)
        self.meta["ext_mask"] = mask
        return data, chain[0], last

    def ipv4(self, at: int, length: int, protocol: int, src: int, dst: int) -> bytes:
        shape = self.shape
        tos, ttl, dont = self.bits(8), self.bits(8), self.bits(1)
        offset, more = shape.fragment
        ihl = 5 + shape.options
        identification, flags_offset = self.bits(16), dont << 14 | more << 13 | offset
        header = struct.pack(">BBHHH", 0x40 | ihl, tos, length, identification, flags_offset)
        header += struct.pack(">BBHII", ttl, protocol, 0, src, dst) + self.rng.randbytes(4 * shape.options)
        checksum = plain_sum(header) ^ 0xFFFF
        if not shape.ip_checksum:
            checksum ^= 1 << self.rng.randrange(16)
        self.lengths += [
            LengthField("ihl", at, 0x0F00, ihl),
            LengthField("version", at, 0xF000, 4),
            LengthField("total_length", at + 2, 0xFFFF, length),
        ]
        self.meta |= {"l3_kind": 1, "dscp": tos >> 2, "ecn": tos & 3, "ttl": ttl, "dont_fragment": dont}
        self.meta |= {"ip_options": int(shape.options > 0), "ip_checksum": 1 if shape.ip_checksum else 2}
        return header[:10] + struct.pack(">H", checksum) + header[12:]

    def ipv6(self, at: int, length: int, protocol: int, src: int, dst: int) -> bytes:
        tclass, flow, hops = self.bits(8), self.bits(20), self.bits(8)
        self.lengths += [
            LengthField("version", at, 0xF000, 6),
            LengthField("payload_length", at + 4, 0xFFFF, length - 40),
        ]
        self.meta |= {"l3_kind": 2, "dscp": tclass >> 2, "ecn": tclass & 3, "ttl": hops}
        fixed = struct.pack(">IHBB", 6 << 28 | tclass << 20 | flow, length - 40, protocol, hops)
        return fixed + src.to_bytes(16, "big") + dst.to_bytes(16, "big")

    def layer4(self, at: int) -> bytes:
        """Header and payload with a checksum of 0."""
        l4 = self.shape.l4
        payload = self.rng.randbytes(self.shape.payload)
        if l4 in ("no_next", "unknown"):
            return payload
        kinds = {"tcp": 1, "icmp": 4 if self.shape.ip == 6 else 3, "esp": 5}
        self.meta |= {"l4_kind": kinds.get(l4, 2), "l4_offset": at}
        if l4 == "tcp":
            header = self.tcp(at)
        elif l4 == "icmp":
            header = self.rng.randbytes(8)
            self.meta |= {"icmp_type": header[0], "icmp_code": header[1]}
        elif l4 == "esp":
            header = self.esp()
        else:
            return self.udp(at, payload)
        self.meta["payload_offset"] = at + len(header)
        self.layers.append(Layer(l4, at, at + len(header), Code.L4_TRUNCATED))
        return header + payload

    def tcp(self, at: int) -> bytes:
        shape = self.shape
        src, dst, flags = self.bits(16), self.bits(16), self.bits(12)
        offset = 5 + shape.tcp_options
        self.lengths.append(LengthField("data_offset", at + 12, 0xF000, offset))
        self.meta |= {"src_port": src, "dst_port": dst, "tcp_flags": flags}
        fixed = struct.pack(
            ">HHIIHHHH", src, dst, self.bits(32), self.bits(32), offset << 12 | flags, self.bits(16), 0, 0
        )
        return fixed + self.rng.randbytes(4 * shape.tcp_options)

    def esp(self) -> bytes:
        spi, sequence = self.bits(32) | 1 << 31, self.bits(32)
        self.meta |= {"spi": spi, "esp_seq": sequence}
        return struct.pack(">II", spi, sequence)

    def udp(self, at: int, payload: bytes) -> bytes:
        l4 = self.shape.l4
        inner, end = self.in_udp(at + 8, payload)
        plain = 1024 + self.bits(11)
        src, dst = plain, plain + 1
        if l4 == "roce":
            src, dst = self.rng.choice((plain, 4500)), 4791
        elif l4 in ("natt_esp", "ike", "keepalive", "natt_short"):
            src, dst = self.rng.choice(((4500, 4500), (plain, 4500), (4500, plain)))
        elif l4 in TUNNEL_KINDS:
            src, dst = 49152 + self.bits(14), 4789 if l4 == "vxlan" else 6081
        length = 8 + len(inner)
        self.meta |= {"src_port": src, "dst_port": dst, "udp_length": length, "payload_offset": end}
        self.layers.insert(self.udp_index, Layer("udp", at, at + 8, Code.L4_TRUNCATED))
        self.lengths.append(LengthField("udp_length", at + 4, 0xFFFF, length))
        return struct.pack(">HHHH", src, dst, length, 0) + inner

    def in_udp(self, at: int, payload: bytes) -> tuple[bytes, int]:
        """What UDP carries, and the first byte behind the last header."""
        l4 = self.shape.l4
        self.udp_index = len(self.layers)
        if l4 == "roce":
            self.layers.append(Layer("bth", at, at + 12, Code.BTH_TRUNCATED))
            return self.bth() + payload + self.rng.randbytes(4), at + 12
        if l4 == "natt_esp":
            self.layers.append(Layer("natt", at, at + 8, Code.ESP_TRUNCATED))
            self.meta["natt"] = 1
            return self.esp() + payload, at + 8
        if l4 == "ike":
            self.layers.append(Layer("natt", at, at + 4, Code.ESP_TRUNCATED))
            self.meta["natt"] = 2
            return bytes(4) + payload, at
        if l4 == "keepalive":
            self.layers.append(Layer("natt", at, at + 1, Code.ESP_TRUNCATED))
            self.meta["natt"] = 3
            return b"\xff", at
        if l4 == "natt_short":
            self.layers.append(Layer("natt", at, at, Code.ESP_TRUNCATED))
            return self.rng.choice((b"", b"\1\2", b"\1\2\3")), at
        if l4 in TUNNEL_KINDS:
            return self.tunnel(at)
        return payload, at

    def tunnel(self, at: int) -> tuple[bytes, int]:
        """The tunnel's header and what it carries, and the first byte behind the last header."""
        shape = self.shape
        bridged = shape.bridged or shape.l4 == "vxlan"
        inner = build(replace(shape.inner or Shape(), seed=self.bits(32)))
        ethernet = 0 if bridged else inner.layers[0].end
        flags, vni = self.bits(8), self.bits(24)
        if shape.l4 == "vxlan":
            flags |= 8
            header = struct.pack(">II", flags << 24 | self.bits(24), vni << 8 | self.bits(8))
        else:
            kind = 0x6558 if bridged else inner.meta.get("ethertype", 0)
            words = shape.tunnel_options
            self.lengths += [
                LengthField("options", at, 0x3F00, words),
                LengthField("tunnel version", at, 0xC000, 0),
            ]
            header = struct.pack(">BBHI", words, flags, kind, vni << 8 | self.bits(8)) + self.tunnel_options(words)
        self.meta |= {"tunnel_kind": 1 + TUNNEL_KINDS.index(shape.l4), "tunnel_flags": flags, "vni": vni}
        end = at + len(header)
        self.layers.append(Layer(shape.l4, at, end, Code.TUNNEL_TRUNCATED))
        return header + inner.frame[ethernet:], self.carried(inner, end - ethernet, bridged)

    def tunnel_options(self, words: int) -> bytes:
        """RFC 8926 section 3.5: class (one for experiments), type, length in words without the first."""
        data = b""
        while words:
            own = self.rng.randrange(min(words, 32))
            data += struct.pack(">HBB", 0xFF00 | self.bits(8), self.bits(7), own) + self.rng.randbytes(4 * own)
            words -= 1 + own
        return data

    def carried(self, inner: Built, base: int, bridged: bool) -> int:
        """Fields, layers and length fields of what a tunnel carries, whose byte 0 is at ``base``; behind the L4 header
        in it nothing is read. Returns the first byte behind the last header."""
        end = self.layers[-1].end
        for layer in inner.layers[0 if bridged else 1 :]:
            if layer.name in ("mac_control", "bth", "natt", *TUNNEL_KINDS):
                break
            self.layers.append(Layer(f"inner {layer.name}", base + layer.start, base + layer.end, layer.truncated))
            if layer.name in _LAYER4:
                end = base + layer.end
        for name, value in inner.meta.items():
            if name.startswith(("dst_mac", "src_mac", "vlan")) and not bridged:
                continue
            if name in ("l3_offset", "l4_offset"):
                self.meta[f"inner_{name}"] = base + value
            elif f"inner_{name}" in _FIELD_NAMES:
                self.meta[f"inner_{name}"] = value
            elif name in _INNERMOST and "natt" not in inner.meta and "tunnel_kind" not in inner.meta:
                self.meta[name] = value
        last = self.layers[-1].end
        for field in inner.lengths:
            if 0 <= base + field.at < last and (bridged or field.at >= inner.layers[0].end):
                self.lengths.append(replace(field, name=f"inner {field.name}", at=base + field.at))
        return end

    def bth(self) -> bytes:
        opcode, flags, pkey = self.bits(8), self.bits(8), self.bits(16)
        fecn, becn, qp, ack, psn = self.bits(1), self.bits(1), self.bits(24), self.bits(1), self.bits(24)
        self.meta |= {"roce": 1, "bth_opcode": opcode, "bth_flags": flags, "bth_pkey": pkey, "bth_fecn": fecn}
        self.meta |= {"bth_becn": becn, "bth_dest_qp": qp, "bth_ack_req": ack, "bth_psn": psn}
        congestion = fecn << 31 | becn << 30 | self.bits(6) << 24 | qp
        return struct.pack(">BBHII", opcode, flags, pkey, congestion, ack << 31 | self.bits(7) << 24 | psn)

    def checksummed(self, l4: bytes, src: int, dst: int) -> bytes:
        """RFC 768, RFC 9293 section 3.1, RFC 8200 section 8.1."""
        if self.shape.checksum == "none" and self.protocol() == 17:
            return l4
        protocol = self.protocol()
        if self.shape.ip == 4:
            pseudo_header = struct.pack(">IIBBH", src, dst, 0, protocol, len(l4))
        else:
            pseudo_header = (
                src.to_bytes(16, "big") + dst.to_bytes(16, "big") + struct.pack(">IHBB", len(l4), 0, 0, protocol)
            )
        checksum = plain_sum(pseudo_header + l4) ^ 0xFFFF
        if protocol == 17:
            checksum = checksum or 0xFFFF
        if self.shape.checksum == "bad":
            # 0 and 0xFFFF are the same sum, and 0 means no checksum in UDP.
            checksum = (checksum + 0x1234) % 0xFFFF or 0x4321
        at = 6 if protocol == 17 else 16
        return l4[:at] + struct.pack(">H", checksum) + l4[at + 2 :]

    def verdict(self, kinds: Sequence[int], pieces: tuple[int, int]) -> int:
        shape = self.shape
        if shape.checksum == "none" and self.protocol() == 17:
            return 0
        if pieces != (0, 0) or (ROUTING in kinds and shape.segments_left):
            return 3
        return 2 if shape.checksum == "bad" else 1


def shapes() -> list[Shape]:
    """A small set that holds every layer, every number of tags, and headers at every place where they can begin."""
    chosen: list[Shape] = []
    tag_sets: tuple[tuple[int, ...], ...] = ((), (CTAG,), (STAG, CTAG), (CTAG, CTAG), (STAG,))
    for ip in (4, 6):
        for index, l4 in enumerate(L4_KINDS):
            chosen.append(Shape(tag_sets[index % len(tag_sets)], ip, l4=l4, payload=13 + index, seed=len(chosen)))
            chosen.append(Shape(tag_sets[(index + 2) % 5], ip, l4=l4, payload=index, padding=7, seed=len(chosen)))
    for tags in tag_sets:
        chosen.append(Shape(tags, 0, payload=40, seed=len(chosen)))
        chosen.append(Shape(tags, 0, 0x8808, payload=44, seed=len(chosen)))
        chosen.append(Shape(tags, 4, options=3, l4="tcp", tcp_options=3, payload=5, seed=len(chosen)))
        chosen.append(Shape(tags, 4, options=10, l4="tcp", tcp_options=0, payload=6, seed=len(chosen)))
        chosen.append(Shape(tags, 4, extensions=((AH, 4),), l4="tcp", payload=7, seed=len(chosen)))
        chosen.append(Shape(tags, 6, l4="tcp", tcp_options=6, payload=8, seed=len(chosen)))
    for kind in EXTENSIONS:
        chosen.append(Shape((), 6, extensions=((kind, 1),), l4="udp", payload=9, seed=len(chosen)))
        chosen.append(Shape((CTAG,), 6, extensions=((kind, 2), (DESTINATION, 0)), l4="roce", seed=len(chosen)))
    chosen.append(Shape((), 6, extensions=((HOP_BY_HOP, 0), (ROUTING, 0), (FRAGMENT, 0), (AH, 1)), l4="udp"))
    chosen.append(Shape((), 6, extensions=((ROUTING, 2),), segments_left=1, l4="tcp"))
    for fragment in ((0, 1), (5, 1), (9, 0)):
        chosen.append(Shape((), 4, fragment=fragment, l4="udp", payload=32))
        chosen.append(Shape((), 6, extensions=((FRAGMENT, 0),), fragment=fragment, l4="tcp", payload=32))
    chosen += [Shape(checksum=c, l4=l4, ip=ip) for c in ("bad", "none") for l4 in ("tcp", "udp") for ip in (4, 6)]
    chosen.append(Shape(ip_checksum=False, options=1))
    return chosen


def random_shape(rng: random.Random) -> Shape:
    """Any shape, most of them well formed and not too deep."""
    ip = rng.choice((4, 4, 6, 6, 6, 0)) if rng.random() < 0.9 else 0
    count = rng.choice((0, 0, 0, 1, 1, 2, 3, 4, 5))
    kinds = EXTENSIONS if ip == 6 else (AH, AH, AH, DESTINATION)
    length = {AH: (0, 1, 4), FRAGMENT: (0, 9)}
    picked = [rng.choice(kinds) for _ in range(count if ip == 6 or rng.random() < 0.3 else 0)]
    return Shape(
        tags=tuple(rng.choice((CTAG, STAG)) for _ in range(rng.choice((0, 0, 0, 1, 1, 2, 2, 3)))),
        ip=ip,
        ethertype=rng.choice((0x0806, 0x8808, 0x88CC, 0x05FF, 0x0000, 0x0600)),
        options=rng.choice((0, 0, 0, 1, 2, 5, 10)),
        extensions=tuple((kind, rng.choice(length.get(kind, (0, 0, 1, 2)))) for kind in picked),
        fragment=rng.choice(((0, 0),) * 5 + ((0, 1), (7, 1), (8191, 0))),
        segments_left=rng.choice((0, 0, 0, 1)),
        l4=rng.choice(L4_KINDS),
        tcp_options=rng.choice((0, 0, 3, 5, 10)),
        payload=rng.choice((0, 1, 2, 3, 4, 7, 8, 11, 12, 16, 17, 33, 64, 200)),
        padding=rng.choice((0, 0, 0, 1, 5, 18, 46)),
        checksum=rng.choice(("good", "good", "bad", "none")),
        ip_checksum=rng.random() < 0.9,
        seed=rng.getrandbits(32),
    )


_INNER_L4 = ("tcp", "udp", "icmp", "esp", "no_next", "unknown")


def tunnel_shapes() -> list[Shape]:
    """A small set that holds both tunnels over both IPs, every layer in them, and inner headers wherever they can begin
    in a beat; all of them fit 256 bytes."""
    chosen: list[Shape] = []
    tag_sets: tuple[tuple[int, ...], ...] = ((), (CTAG,), (STAG, CTAG), (CTAG, CTAG), (STAG,))

    def add(inner: Shape, **fields: Any) -> None:
        chosen.append(Shape(inner=inner, seed=len(chosen), **fields))

    for index, l4 in enumerate(_INNER_L4):
        for kind in TUNNEL_KINDS:
            for outer in (4, 6):
                for ip in (4, 6):
                    inner = Shape(tag_sets[(index + ip) % 5], ip, l4=l4, payload=5 + index)
                    add(inner, l4=kind, ip=outer, tags=tag_sets[len(chosen) % 5], tunnel_options=len(chosen) % 4)
        for ip in (4, 6):
            add(Shape((), ip, l4=l4, payload=index), l4="geneve", ip=10 - ip, bridged=False, tunnel_options=index)
    for kind in TUNNEL_KINDS:
        add(Shape((), 0, 0x0806, payload=28), l4=kind)
        add(Shape((CTAG,), 0, 0x8808, payload=40), l4=kind, ip=6)
        add(Shape((), 0, 0x05DC, payload=20), l4=kind)
        for l4 in ("roce", "natt_esp", "keepalive"):
            add(Shape(l4=l4), l4=kind)
        add(Shape(l4="vxlan", inner=Shape(l4="tcp")), l4=kind)
        for fragment in ((0, 1), (5, 1), (9, 0)):
            add(Shape((), 4, fragment=fragment, l4="udp", payload=32), l4=kind)
            add(Shape((), 6, extensions=((FRAGMENT, 0),), fragment=fragment, l4="tcp", payload=32), l4=kind)
        add(Shape(), l4=kind, fragment=(0, 1))
        # First pieces: what is in the tunnel goes on in the next one.
        for outer in (Shape(), Shape((), 6, extensions=((FRAGMENT, 0),))):
            piece = {"l4": kind, "ip": outer.ip, "extensions": outer.extensions, "fragment": (0, 1)}
            for ip in (4, 6):
                for l4 in ("udp", "tcp"):
                    add(Shape((), ip, l4=l4, payload=40), **piece, cut=24)
            add(Shape(fragment=(0, 1), payload=64, cut=16), **piece, cut=24)
        add(Shape(ip_checksum=False, options=2, l4="tcp", tcp_options=3), l4=kind, checksum="bad")
        add(Shape(options=10, l4="tcp"), l4=kind, options=5, padding=9, checksum="none")
        add(Shape((STAG, CTAG), 6, padding=4), l4=kind)
        for extension in EXTENSIONS:
            add(Shape((), 6, extensions=((extension, 1), (DESTINATION, 0)), l4="udp"), l4=kind)
        add(Shape((), 6, extensions=((ROUTING, 0),), segments_left=1, l4="tcp"), l4=kind)
        add(Shape(extensions=((AH, 4),), l4="tcp"), l4=kind, extensions=((AH, 1),))
    add(Shape((), 0, 0x88B5, payload=9), l4="geneve", bridged=False)
    add(Shape((), 0, 0x8808, payload=9), l4="geneve", bridged=False)
    for words in (1, 2, 7, 16, 30):
        add(Shape(l4="tcp"), l4="geneve", tunnel_options=words)
        add(Shape((), 4), l4="geneve", ip=6, bridged=False, tunnel_options=words)
    return chosen


def random_tunnel(rng: random.Random) -> Shape:
    """Any tunnel with anything in it."""
    inner, outer = random_shape(rng), random_shape(rng)
    if rng.random() < 0.1:
        inner = replace(inner, l4=rng.choice(TUNNEL_KINDS), inner=Shape())
    return replace(
        outer,
        ip=outer.ip or 4,
        tags=outer.tags[:2],
        extensions=outer.extensions if rng.random() < 0.3 else (),
        fragment=outer.fragment if rng.random() < 0.2 else (0, 0),
        cut=rng.choice((0, 8, 40)),
        l4=rng.choice(TUNNEL_KINDS),
        inner=inner,
        bridged=rng.random() < 0.8,
        tunnel_options=rng.choice((0, 0, 0, 1, 2, 3, 9, 40, 63)),
    )


def truncations(frame: bytes) -> Iterator[bytes]:
    """The frame cut behind each of its bytes but the last."""
    return (frame[:length] for length in range(1, len(frame)))


def wrong_lengths(built: Built, around: int = 24) -> Iterator[tuple[LengthField, int, bytes]]:
    """Each length field (and the version) with every wrong value: all of a 4-bit field, else those up to ``around``
    from the right one, those from 0 up, and the largest. The IPv4 header checksum is left as it was."""
    for field in built.lengths:
        near = {*range(field.right - around, field.right + around + 1), *range(around), field.most - 1, field.most}
        for value in sorted(v for v in (range(16) if field.most == 15 else near) if 0 <= v <= field.most):
            if value != field.right:
                yield field, value, field.put(built.frame, value)


def mutated(rng: random.Random, count: int, frames: Sequence[bytes] = (), parse_bytes: int = 128) -> Iterator[bytes]:
    """``count`` frames with random changes: up to four bytes among the headers, now and then a cut, a byte taken out or
    put in, or bytes behind. Of ``frames``, or of random shapes if there are none. Little is changed behind
    ``parse_bytes``."""
    reach = parse_bytes + 12
    for _ in range(count):
        frame = bytearray(rng.choice(frames) if frames else build(random_shape(rng)).frame)
        for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 4))):
            at = rng.randrange(min(len(frame), reach))
            frame[at] = rng.choice((rng.getrandbits(8), rng.choice(_ODD), frame[at] ^ 1 << rng.randrange(8)))
        what = rng.randrange(12)
        if what == 0:
            del frame[rng.randrange(1, len(frame) + 1) :]
        elif what == 1 and len(frame) > 1:
            del frame[rng.randrange(min(len(frame), reach))]
        elif what == 2:
            frame.insert(rng.randrange(min(len(frame), reach)), rng.getrandbits(8))
        elif what == 3:
            frame += rng.randbytes(rng.randrange(1, 40))
        yield bytes(frame)


def deep_chains(parse_bytes: int = 128) -> Iterator[Built]:
    """Chains of zero to six extension headers of every length up to ``parse_bytes``, under no tag, one and two, and
    under one tag too many; AH over IPv4 likewise; TCP and IPv4 options with them. ``Built.meta`` holds for those that
    fit."""
    seed = 0
    for tags in ((), (CTAG,), (STAG, CTAG), (STAG, CTAG, CTAG)):
        for count in range(7):
            for length in range(parse_bytes // 8 // max(count, 1) + 1):
                shape = Shape(tags, 6, extensions=((DESTINATION, length),) * count, payload=40, seed=seed)
                for l4 in ("udp", "tcp", "roce", "natt_esp"):
                    yield build(replace(shape, l4=l4, tcp_options=length % 11))
                seed += 1
                if not count:
                    break
            for length in range(0, parse_bytes // 4, 3):
                ah = Shape(tags, 4, options=length % 11, extensions=((AH, length),) * count, l4="tcp", seed=seed)
                yield build(ah)
                seed += 1
                if not count:
                    break


def deep_tunnels(parse_bytes: int = 256) -> Iterator[Built]:
    """Tunnels whose inner headers end around ``parse_bytes``: by GENEVE options of every length, by extension headers
    outside and inside, one too many of each, by tags, by many short layers near the end."""
    seed = 0
    inners = (
        Shape(l4="tcp", tcp_options=2),
        Shape((STAG, CTAG), 6, l4="udp"),
        Shape((), 6, extensions=((DESTINATION, 0),) * 3, l4="esp"),
        Shape((CTAG,), 4, options=3, l4="icmp"),
    )
    for inner in inners:
        for words in range(64):
            for ip in (4, 6):
                seed += 1
                shape = Shape((CTAG,), ip, l4="geneve", inner=inner, bridged=bool(words % 3), seed=seed)
                yield build(replace(shape, tunnel_options=words))
        for kind in TUNNEL_KINDS:
            for count in range(6):
                for length in range(parse_bytes // 8 // max(count, 1)):
                    seed += 1
                    extensions = ((DESTINATION, length),) * count
                    yield build(Shape((), 6, extensions=extensions, l4=kind, inner=inner, seed=seed))
                    yield build(Shape((), 4, l4=kind, inner=Shape((), 6, extensions=extensions, l4="tcp"), seed=seed))
                    if not count:
                        break
    for tags in ((CTAG,) * 3, (STAG, CTAG, CTAG, CTAG)):
        for kind in TUNNEL_KINDS:
            yield build(Shape(l4=kind, inner=Shape(tags)))
    # Many short layers that begin where the turns run out.
    for words in range(30, 50):
        for count in range(5):
            for l4 in ("tcp", "udp", "esp"):
                inner = Shape((), 6, extensions=((AH, 0),) * count, l4=l4)
                yield build(Shape((), 4, l4="geneve", inner=inner, bridged=False, tunnel_options=words - 3 * count))
    for length in range(14, 26):
        for count in range(5):
            inner = Shape((), 4, extensions=((AH, 0),) * count, l4="udp")
            outer = Shape((), 6, extensions=((DESTINATION, length), *((DESTINATION, 0),) * 3), l4="geneve", inner=inner)
            yield build(replace(outer, bridged=False))


def nested_pieces() -> Iterator[bytes]:
    """Two fragment headers in a packet, each with and without more fragments, an offset, reserved bits; L4 behind."""
    words = (0, 1, 6, 7, 0x28, 0x29)
    for l4 in ("udp", "tcp"):
        frame = build(Shape((), 6, extensions=((FRAGMENT, 0), (FRAGMENT, 0)), l4=l4)).frame
        for first in words:
            for second in words:
                outer = frame[:56] + struct.pack(">H", first) + frame[58:]
                yield outer[:64] + struct.pack(">H", second) + outer[66:]
