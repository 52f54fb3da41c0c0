"""Golden model of block ``parser``: what a frame's headers say, its checksum verdict, and the cycle of its first beat.

Written from docs/parser.md and the standards that it names; the numbers in the methods' docstrings are sections of
these. ``ParserModel.parse`` takes one frame; models/parser_batch.py does the same for a million at once.

A tunnel (VXLAN, GENEVE) leads to a second chain of headers. The same methods read it, from inner Ethernet or inner IP
on; what they set is kept in a ``Parsed`` of its own, whose fields then get their ``inner_`` names.

The walk goes a layer at a time. A layer asks for its bytes part by part (``_Walk.ask``), and each part that it gets
moves ``_Walk.decided`` to the beat that holds the part's last byte. ``a(i)``, the beat that decided layer i, follows:

  the layer is set, or a check of values fails  beat of the last byte of the last part that it got
  the frame ends before the part does           the frame's last beat, B - 1
  the part goes beyond ``l3_end`` or            beat of the last byte of the part before; if there is none, no byte of
  ``parse_bytes``                               this layer decided: ``a(i) = a(i-1)`` (0 for the first layer), which
                                                gives t(i) = t(i-1) + 1
  a fifth extension header; a BTH or a tunnel   ``a(i) = a(i-1)`` likewise
  header that the UDP length has no room for;
  NAT-T with 0, 2 or 3 bytes of payload

The walk has ``parse_bytes / 16 + 2`` turns: a chain that leads on behind the last turn is ``too_deep``, and the layer
that has no turn is no entry of ``layers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from struct import unpack_from

from models.frames import BEAT_BYTES
from models.meta import FIELDS, Code

__all__ = [
    "EXTENSION_BIT",
    "GENEVE_PORT",
    "INNERMOST_FIELDS",
    "INNER_FIELDS",
    "MOST_EXTENSIONS",
    "NATT_PORT",
    "PARSER_FIELDS",
    "ROCE_PORT",
    "TUNNEL_FIELDS",
    "VXLAN_PORT",
    "ChecksumVerdict",
    "EtherType",
    "L3Kind",
    "L4Kind",
    "NatT",
    "Parsed",
    "ParserModel",
    "Protocol",
    "TunnelKind",
    "first_out",
    "first_out_of_arrivals",
    "l4_checksum",
    "last_out",
    "last_turn",
    "latency",
    "ones_complement_sum",
]

PARSER_FIELDS: tuple[str, ...] = tuple(f.name for f in FIELDS if f.writer == "parser")
"""Names of the metadata fields that the parser writes, in the order of the word."""

INNER_FIELDS: dict[str, str] = {
    name.removeprefix("inner_"): name for name in PARSER_FIELDS if name.startswith("inner_")
}
"""Fields of the headers in a tunnel: from the name that the layer gives a field to its name in the word."""

INNERMOST_FIELDS: tuple[str, ...] = ("payload_offset", "tcp_flags", "icmp_type", "icmp_code", "spi", "esp_seq")
"""Fields that the headers in a tunnel set under their own names."""

TUNNEL_FIELDS: frozenset[str] = frozenset({"tunnel_kind", "tunnel_flags", "vni", *INNER_FIELDS.values()})
"""Fields that are 0 where no tunnel is read."""

MOST_EXTENSIONS = 4
"""Extension headers that the parser reads, outside and once more in a tunnel; one more is ``too_deep``."""

ROCE_PORT = 4791
"""UDP destination port of RoCEv2 (IB annex A17)."""
NATT_PORT = 4500
"""UDP port of ESP and IKE behind a NAT (RFC 3948 section 2)."""
VXLAN_PORT = 4789
"""UDP destination port of VXLAN (RFC 7348 section 5)."""
GENEVE_PORT = 6081
"""UDP destination port of GENEVE (RFC 8926 section 3.3)."""

_FIRST_CODE = 32
_UNBOUNDED = 1 << 30


class EtherType(IntEnum):
    """Types that the walk knows (IEEE 802 numbers)."""

    IPV4 = 0x0800
    TRANSPARENT_ETHERNET = 0x6558
    CTAG = 0x8100
    IPV6 = 0x86DD
    MAC_CONTROL = 0x8808
    STAG = 0x88A8


class Protocol(IntEnum):
    """IP protocol and next-header values that the walk knows (IANA protocol numbers)."""

    HOP_BY_HOP = 0
    ICMP = 1
    TCP = 6
    UDP = 17
    ROUTING = 43
    FRAGMENT = 44
    ESP = 50
    AH = 51
    ICMPV6 = 58
    NO_NEXT = 59
    DESTINATION = 60


class L3Kind(IntEnum):
    """Values of ``l3_kind``."""

    NONE = 0
    IPV4 = 1
    IPV6 = 2


class L4Kind(IntEnum):
    """Values of ``l4_kind``."""

    NONE = 0
    TCP = 1
    UDP = 2
    ICMP = 3
    ICMPV6 = 4
    ESP = 5


class NatT(IntEnum):
    """Values of ``natt``."""

    NONE = 0
    ESP = 1
    IKE = 2
    KEEPALIVE = 3


class TunnelKind(IntEnum):
    """Values of ``tunnel_kind``."""

    NONE = 0
    VXLAN = 1
    GENEVE = 2


class ChecksumVerdict(IntEnum):
    """Values of ``ip_checksum`` (never UNKNOWN) and of ``tuser[9:8]``."""

    NONE = 0
    GOOD = 1
    BAD = 2
    UNKNOWN = 3


EXTENSION_BIT = {
    Protocol.HOP_BY_HOP: 0,
    Protocol.ROUTING: 1,
    Protocol.FRAGMENT: 2,
    Protocol.DESTINATION: 3,
    Protocol.AH: 4,
}
"""Bits of ``ext_mask``."""


@dataclass(slots=True)
class Parsed:
    """What the parser says of one frame.

    The fields of the metadata word by their names in models/meta.py, then:

    code            the frame's code: ``parse_code``, or L3_BEYOND_FRAME, or 0. Of a frame that came in bad too
    user            10 bit: ``tuser`` of the last beat out. ``user >> 1 & 127`` is what the register block counts
    layers          a(i): for each layer that was walked the index of the beat that decided it
    latency_cycles  first beat in to first beat out of the isolated frame that comes without gaps
    """

    parse_code: int = 0
    dst_mac: int = 0
    src_mac: int = 0
    ethertype: int = 0
    vlan_count: int = 0
    vlan0: int = 0
    vlan1: int = 0
    vlan0_ad: int = 0
    vlan1_ad: int = 0
    mac_control: int = 0
    mac_opcode: int = 0
    l3_kind: int = 0
    l3_offset: int = 0
    l3_length: int = 0
    l3_payload_offset: int = 0
    ip_src: int = 0
    ip_dst: int = 0
    dscp: int = 0
    ecn: int = 0
    ttl: int = 0
    protocol: int = 0
    protocol_offset: int = 0
    ip_checksum: int = 0
    ip_options: int = 0
    ext_mask: int = 0
    segments_left: int = 0
    fragment: int = 0
    more_fragments: int = 0
    dont_fragment: int = 0
    frag_offset: int = 0
    l4_kind: int = 0
    l4_offset: int = 0
    payload_offset: int = 0
    src_port: int = 0
    dst_port: int = 0
    udp_length: int = 0
    tcp_flags: int = 0
    icmp_type: int = 0
    icmp_code: int = 0
    natt: int = 0
    spi: int = 0
    esp_seq: int = 0
    roce: int = 0
    bth_opcode: int = 0
    bth_flags: int = 0
    bth_pkey: int = 0
    bth_fecn: int = 0
    bth_becn: int = 0
    bth_dest_qp: int = 0
    bth_ack_req: int = 0
    bth_psn: int = 0
    tunnel_kind: int = 0
    tunnel_flags: int = 0
    vni: int = 0
    inner_dst_mac: int = 0
    inner_src_mac: int = 0
    inner_ethertype: int = 0
    inner_vlan_count: int = 0
    inner_vlan0: int = 0
    inner_vlan1: int = 0
    inner_vlan0_ad: int = 0
    inner_vlan1_ad: int = 0
    inner_l3_kind: int = 0
    inner_l3_offset: int = 0
    inner_l3_length: int = 0
    inner_ip_src: int = 0
    inner_ip_dst: int = 0
    inner_dscp: int = 0
    inner_ecn: int = 0
    inner_ttl: int = 0
    inner_protocol: int = 0
    inner_ip_checksum: int = 0
    inner_ip_options: int = 0
    inner_ext_mask: int = 0
    inner_fragment: int = 0
    inner_more_fragments: int = 0
    inner_dont_fragment: int = 0
    inner_frag_offset: int = 0
    inner_l4_kind: int = 0
    inner_l4_offset: int = 0
    inner_src_port: int = 0
    inner_dst_port: int = 0
    inner_udp_length: int = 0
    code: int = 0
    user: int = 0
    layers: list[int] = field(default_factory=list)
    latency_cycles: int = 0

    @property
    def l3_end(self) -> int:
        """First byte behind the IP packet by its own length field; what follows is Ethernet padding."""
        return self.l3_offset + self.l3_length

    def meta_fields(self) -> dict[str, int]:
        """The parser's fields of the metadata word by name, as ``models.meta.pack`` takes them."""
        return {name: getattr(self, name) for name in PARSER_FIELDS}

    def take_inner(self, inner: Parsed) -> None:
        """Take over what the headers in the tunnel say."""
        for name, inner_name in INNER_FIELDS.items():
            setattr(self, inner_name, getattr(inner, name))
        for name in INNERMOST_FIELDS:
            setattr(self, name, getattr(inner, name) or getattr(self, name))


class ParserModel:
    """The parser, which keeps no state from frame to frame.

    parse_bytes  bytes of a frame that it sees: a multiple of 16, at least 32
    drop         register ``drop``: bit ``code - 32`` marks the frames of that code to be dropped; 16 bit
    tunnel       it reads VXLAN, GENEVE and the headers inside: the RTL's TUNNEL_EN
    """

    def __init__(self, parse_bytes: int = 128, drop: int = 0, tunnel: bool = False) -> None:
        if parse_bytes < 32 or parse_bytes % BEAT_BYTES:
            raise ValueError(f"parse_bytes {parse_bytes}: a multiple of 16 and at least 32 is wanted")
        if not 0 <= drop < 1 << 16:
            raise ValueError(f"drop {drop:#x}: 16 bits are wanted")
        self.parse_bytes = parse_bytes
        self.drop = drop
        self.tunnel = tunnel

    def parse(self, frame: bytes, bad: int = 0) -> Parsed:
        """Fields, codes, ``tuser`` and time of one frame.

        frame  the Ethernet frame without FCS, as it came in; ValueError: it has no byte
        bad    ``tuser[7:0]`` of its last beat in: 0, or 1 + (reason << 1)
        """
        if not frame:
            raise ValueError("a frame has at least one byte")
        if not 0 <= bad < 256 or (bad and not bad & 1):
            raise ValueError(f"bad {bad:#x}: 0, or 1 + (reason << 1) is wanted")
        walk = _Walk(frame, self.parse_bytes, self.tunnel)
        walk.run()
        parsed = walk.parsed
        if parsed.parse_code:
            parsed.code = parsed.parse_code
        elif parsed.l3_kind and parsed.l3_end > len(frame):
            parsed.code = int(Code.L3_BEYOND_FRAME)
        if bad:
            mark = bad
        elif parsed.code:
            mark = parsed.code << 1 | self.drop >> (parsed.code - _FIRST_CODE) & 1
        else:
            mark = 0
        parsed.user = int(l4_checksum(frame, parsed, bad)) << 8 | mark
        parsed.latency_cycles = latency(parsed.layers)
        return parsed


class _Failed(Exception):
    """A layer failed, with this code."""

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.code = code


class _OutOfTurns(Exception):
    """There is no turn left for the next layer."""


class _Walk:
    """One frame's way through the header chain. ``pos`` is the first byte of the layer in hand."""

    __slots__ = ("decided", "end", "frame", "headers", "parse_bytes", "parsed", "pos", "tunnel", "turn")

    def __init__(self, frame: bytes, parse_bytes: int, tunnel: bool) -> None:
        self.frame = frame
        self.parse_bytes = parse_bytes
        self.tunnel = tunnel
        self.parsed = Parsed()
        self.headers = self.parsed
        """What the headers of the chain in hand say: another ``Parsed`` in a tunnel."""
        self.pos = 0
        self.decided = 0
        self.turn = 0
        """t(i) of the last layer that was decided."""
        self.end = _UNBOUNDED
        """``l3_end`` for the layers above IP; the end of what the tunnel and the packet in it may take."""

    def run(self) -> None:
        """From the first byte to the end of the chain or to the layer that fails."""
        try:
            self._ethernet()
            self._network()
        except _Failed as failure:
            self.parsed.parse_code = int(failure.code)
            self.done()
        except _OutOfTurns:
            self.parsed.parse_code = int(Code.TOO_DEEP)
        if self.inside:
            self.parsed.take_inner(self.headers)

    @property
    def inside(self) -> bool:
        """The layer in hand is in a tunnel."""
        return self.headers is not self.parsed

    def begin(self) -> None:
        """The chain leads to another layer: is there a turn for it?"""
        if self.turn == last_turn(self.parse_bytes):
            raise _OutOfTurns

    def ask(self, n: int, truncated: Code) -> None:
        """Ask for bytes ``pos .. pos+n-1`` of the layer: is there room?"""
        end = self.pos + n
        if end > self.end:
            raise _Failed(truncated)
        if end > self.parse_bytes:
            raise _Failed(Code.TOO_DEEP)
        if end > len(self.frame):
            self.decided = (len(self.frame) - 1) // BEAT_BYTES
            raise _Failed(truncated)
        self.decided = (end - 1) // BEAT_BYTES

    def done(self) -> None:
        """The layer in hand is decided: t(i) = max(t(i-1) + 1, a(i) + 1)."""
        self.parsed.layers.append(self.decided)
        self.turn = max(self.turn, self.decided) + 1

    def _network(self) -> None:
        """What the EtherType leads to, and all that follows. There is no MAC control in a tunnel."""
        ethertype = self.headers.ethertype
        if ethertype == EtherType.MAC_CONTROL and not self.inside:
            self._mac_control()
            return
        if ethertype == EtherType.IPV4:
            self._ipv4()
        elif ethertype == EtherType.IPV6:
            self._ipv6()
        else:
            return
        self.end = min(self.end, self.headers.l3_end)
        if self._extensions():
            self._layer4()

    # Link layer

    def _ethernet(self) -> None:
        """802.3 clause 3.1.1: destination, source, type or length; 802.1Q clause 9: up to two tags before the type."""
        self.begin()
        self.ask(14, Code.L2_TRUNCATED)
        high, low, src_high, src_low, ethertype = unpack_from(">HIHIH", self.frame, self.pos)
        tags: list[tuple[int, int]] = []
        size = 14
        while ethertype in (EtherType.CTAG, EtherType.STAG):
            if len(tags) == 2:
                raise _Failed(Code.TOO_DEEP)
            self.ask(size + 4, Code.L2_TRUNCATED)
            tpid = ethertype
            tci, ethertype = unpack_from(">HH", self.frame, self.pos + size)
            tags.append((tci, tpid))
            size += 4
        headers = self.headers
        headers.dst_mac = high << 32 | low
        headers.src_mac = src_high << 32 | src_low
        headers.ethertype = ethertype
        headers.vlan_count = len(tags)
        if tags:
            headers.vlan0, headers.vlan0_ad = tags[0][0], int(tags[0][1] == EtherType.STAG)
        if len(tags) == 2:
            headers.vlan1, headers.vlan1_ad = tags[1][0], int(tags[1][1] == EtherType.STAG)
        self.done()
        self.pos += size

    def _mac_control(self) -> None:
        """802.3 clause 31.4.1: opcode."""
        self.begin()
        self.ask(2, Code.L3_TRUNCATED)
        self.headers.mac_control = 1
        (self.headers.mac_opcode,) = unpack_from(">H", self.frame, self.pos)
        self.done()

    # Internet layer

    def _beyond_end(self, length: int) -> bool:
        """The packet or datagram is longer than what carries it, which is no piece. Outside, IP has no bound."""
        return not self.parsed.fragment and self.pos + length > self.end

    def _ipv4(self) -> None:
        """RFC 791 section 3.1."""
        self.begin()
        self.ask(20, Code.L3_TRUNCATED)
        version_ihl, tos, total_length, _, flags_offset, ttl, protocol, _, src, dst = unpack_from(
            ">BBHHHBBHII", self.frame, self.pos
        )
        size = (version_ihl & 15) * 4
        if version_ihl >> 4 != 4:
            raise _Failed(Code.BAD_IP_VERSION)
        if size < 20:
            raise _Failed(Code.BAD_IHL)
        if total_length < size or self._beyond_end(total_length):
            raise _Failed(Code.BAD_L3_LENGTH)
        self.ask(size, Code.L3_TRUNCATED)
        headers = self.headers
        headers.l3_kind = int(L3Kind.IPV4)
        headers.l3_offset = self.pos
        headers.l3_length = total_length
        headers.ip_src, headers.ip_dst = src, dst
        headers.dscp, headers.ecn = tos >> 2, tos & 3
        headers.ttl, headers.protocol = ttl, protocol
        headers.protocol_offset, headers.l3_payload_offset = self.pos + 9, self.pos + size
        headers.dont_fragment = flags_offset >> 14 & 1
        headers.more_fragments = flags_offset >> 13 & 1
        headers.frag_offset = flags_offset & 0x1FFF
        headers.fragment = int(flags_offset & 0x3FFF != 0)
        headers.ip_options = int(size > 20)
        header = self.frame[self.pos : self.pos + size]
        good = ones_complement_sum(header) == 0xFFFF
        headers.ip_checksum = int(ChecksumVerdict.GOOD if good else ChecksumVerdict.BAD)
        self.done()
        self.pos += size

    def _ipv6(self) -> None:
        """RFC 8200 section 3."""
        self.begin()
        self.ask(40, Code.L3_TRUNCATED)
        first, payload_length, next_header, hop_limit = unpack_from(">IHBB", self.frame, self.pos)
        if first >> 28 != 6:
            raise _Failed(Code.BAD_IP_VERSION)
        if self._beyond_end(40 + payload_length):
            raise _Failed(Code.BAD_L3_LENGTH)
        headers = self.headers
        headers.l3_kind = int(L3Kind.IPV6)
        headers.l3_offset = self.pos
        headers.l3_length = 40 + payload_length
        headers.ip_src = int.from_bytes(self.frame[self.pos + 8 : self.pos + 24], "big")
        headers.ip_dst = int.from_bytes(self.frame[self.pos + 24 : self.pos + 40], "big")
        headers.dscp, headers.ecn = first >> 22 & 0x3F, first >> 20 & 3
        headers.ttl, headers.protocol = hop_limit, next_header
        headers.protocol_offset, headers.l3_payload_offset = self.pos + 6, self.pos + 40
        self.done()
        self.pos += 40

    def _extensions(self) -> bool:
        """RFC 8200 section 4, RFC 4302 section 2: the chain of extension headers. False: what follows is a later piece
        of a fragmented packet, without an L4 header."""
        headers = self.headers
        count = 0
        while not headers.frag_offset and self._is_extension(headers.protocol):
            self.begin()
            if count == MOST_EXTENSIONS:
                raise _Failed(Code.TOO_DEEP)
            self._extension(headers.protocol)
            count += 1
        return not headers.frag_offset

    def _is_extension(self, protocol: int) -> bool:
        """AH goes over both versions; the others are extension headers over IPv6 only."""
        return protocol == Protocol.AH or (self.headers.l3_kind == L3Kind.IPV6 and protocol in EXTENSION_BIT)

    def _extension(self, kind: int) -> None:
        """RFC 8200 sections 4.3 to 4.6: next header, length in 8 octets without the first 8; the fragment header always
        has 8. RFC 4302 section 2.2: the length of AH is in 4 octets, minus 2."""
        self.ask(8, Code.EXT_TRUNCATED)
        next_header, length, third, fourth = unpack_from("4B", self.frame, self.pos)
        if kind == Protocol.FRAGMENT:
            size = 8
        elif kind == Protocol.AH:
            size = (length + 2) * 4
        else:
            size = (length + 1) * 8
        self.ask(size, Code.EXT_TRUNCATED)
        headers = self.headers
        if kind == Protocol.FRAGMENT:
            offset_flags = third << 8 | fourth
            headers.frag_offset = offset_flags >> 3
            headers.more_fragments = offset_flags & 1
            headers.fragment |= int(offset_flags & 0xFFF9 != 0)
        if kind == Protocol.ROUTING and fourth:
            headers.segments_left = 1
        headers.ext_mask |= 1 << EXTENSION_BIT[Protocol(kind)]
        headers.protocol = next_header
        headers.protocol_offset, headers.l3_payload_offset = self.pos, self.pos + size
        self.done()
        self.pos += size

    # Transport

    def _layer4(self) -> None:
        protocol, kind = self.headers.protocol, self.headers.l3_kind
        if protocol == Protocol.TCP:
            self._tcp()
        elif protocol == Protocol.UDP:
            self._udp()
        elif protocol == Protocol.ICMP and kind == L3Kind.IPV4:
            self._icmp(L4Kind.ICMP)
        elif protocol == Protocol.ICMPV6 and kind == L3Kind.IPV6:
            self._icmp(L4Kind.ICMPV6)
        elif protocol == Protocol.ESP:
            self.begin()
            self.ask(8, Code.L4_TRUNCATED)
            self._set_layer4(L4Kind.ESP, 8)
            self._esp(self.headers.l4_offset)
            self.done()

    def _set_layer4(self, kind: L4Kind, size: int) -> None:
        self.headers.l4_kind = int(kind)
        self.headers.l4_offset = self.pos
        self.pos += size
        self.headers.payload_offset = self.pos

    def _tcp(self) -> None:
        """RFC 9293 section 3.1."""
        self.begin()
        self.ask(20, Code.L4_TRUNCATED)
        src_port, dst_port, offset_flags = unpack_from(">HH8xH", self.frame, self.pos)
        size = (offset_flags >> 12) * 4
        if size < 20:
            raise _Failed(Code.BAD_TCP_OFFSET)
        self.ask(size, Code.L4_TRUNCATED)
        headers = self.headers
        headers.src_port, headers.dst_port = src_port, dst_port
        headers.tcp_flags = offset_flags & 0xFFF
        self._set_layer4(L4Kind.TCP, size)
        self.done()

    def _udp(self) -> None:
        """RFC 768; what rides in it, unless it is in a tunnel itself: RoCEv2 (IB annex A17), VXLAN (RFC 7348), GENEVE
        (RFC 8926), ESP and IKE (RFC 3948)."""
        self.begin()
        self.ask(8, Code.L4_TRUNCATED)
        src_port, dst_port, length = unpack_from(">HHH", self.frame, self.pos)
        headers = self.headers
        if length < 8 or (not headers.fragment and self._beyond_end(length)):
            raise _Failed(Code.BAD_UDP_LENGTH)
        headers.src_port, headers.dst_port = src_port, dst_port
        headers.udp_length = length
        self._set_layer4(L4Kind.UDP, 8)
        self.done()
        if self.inside:
            return
        if dst_port == ROCE_PORT:
            self._bth()
        elif self.tunnel and dst_port == VXLAN_PORT:
            self._vxlan()
        elif self.tunnel and dst_port == GENEVE_PORT:
            self._geneve()
        elif NATT_PORT in (src_port, dst_port):
            self._nat_traversal(length - 8)

    def _icmp(self, kind: L4Kind) -> None:
        """RFC 792, RFC 4443 section 2.1."""
        self.begin()
        self.ask(8, Code.L4_TRUNCATED)
        self.headers.icmp_type, self.headers.icmp_code = self.frame[self.pos], self.frame[self.pos + 1]
        self._set_layer4(kind, 8)
        self.done()

    def _esp(self, at: int) -> None:
        """RFC 4303 section 2: SPI, sequence number."""
        self.headers.spi, self.headers.esp_seq = unpack_from(">II", self.frame, at)

    # In UDP

    def _bth(self) -> None:
        """IB volume 1 section 9.2: the base transport header."""
        self.begin()
        parsed = self.parsed
        if parsed.udp_length < 20:
            raise _Failed(Code.BTH_TRUNCATED)
        self.ask(12, Code.BTH_TRUNCATED)
        opcode, flags, pkey, congestion_qp, ack_psn = unpack_from(">BBHII", self.frame, self.pos)
        parsed.roce = 1
        parsed.bth_opcode, parsed.bth_flags, parsed.bth_pkey = opcode, flags, pkey
        parsed.bth_fecn, parsed.bth_becn = congestion_qp >> 31, congestion_qp >> 30 & 1
        parsed.bth_dest_qp = congestion_qp & 0xFFFFFF
        parsed.bth_ack_req = ack_psn >> 31
        parsed.bth_psn = ack_psn & 0xFFFFFF
        self.pos += 12
        parsed.payload_offset = self.pos
        self.done()

    def _vxlan(self) -> None:
        """RFC 7348 section 5: flags, 24 reserved bits, VNI, 8 reserved bits. The I flag says that the VNI is valid."""
        self.begin()
        if self.parsed.udp_length < 8 + 8:
            raise _Failed(Code.TUNNEL_TRUNCATED)
        self.ask(8, Code.TUNNEL_TRUNCATED)
        flags, vni = unpack_from(">B3xI", self.frame, self.pos)
        if not flags & 0x08:
            raise _Failed(Code.BAD_TUNNEL)
        self._set_tunnel(TunnelKind.VXLAN, flags, vni >> 8, 8)
        self._ethernet()
        self._network()

    def _geneve(self) -> None:
        """RFC 8926 section 3.4: version and length of the options in 4 bytes, flags, protocol type, VNI, 8 reserved
        bits, options."""
        self.begin()
        parsed = self.parsed
        if parsed.udp_length < 8 + 8:
            raise _Failed(Code.TUNNEL_TRUNCATED)
        self.ask(8, Code.TUNNEL_TRUNCATED)
        version_length, flags, protocol_type, vni = unpack_from(">BBHI", self.frame, self.pos)
        size = 8 + (version_length & 0x3F) * 4
        if version_length >> 6:
            raise _Failed(Code.BAD_TUNNEL)
        if parsed.udp_length < 8 + size:
            raise _Failed(Code.TUNNEL_TRUNCATED)
        self.ask(size, Code.TUNNEL_TRUNCATED)
        self._set_tunnel(TunnelKind.GENEVE, flags, vni >> 8, size)
        if protocol_type == EtherType.TRANSPARENT_ETHERNET:
            self._ethernet()
        else:
            self.headers.ethertype = protocol_type
        self._network()

    def _set_tunnel(self, kind: TunnelKind, flags: int, vni: int, size: int) -> None:
        """The tunnel's header is read. What follows are the headers inside, and they end with the tunnel."""
        parsed = self.parsed
        parsed.tunnel_kind, parsed.tunnel_flags, parsed.vni = int(kind), flags, vni
        self.pos += size
        parsed.payload_offset = self.pos
        self.done()
        self.end = min(self.end, parsed.l4_offset + parsed.udp_length)
        self.headers = Parsed()

    def _nat_traversal(self, payload: int) -> None:
        """RFC 3948 section 2: 2.1 ESP in UDP, 2.2 IKE behind the non-ESP marker, 2.3 keepalive."""
        self.begin()
        parsed = self.parsed
        if payload == 1:
            self.ask(1, Code.ESP_TRUNCATED)
            if self.frame[self.pos] == 0xFF:
                parsed.natt = int(NatT.KEEPALIVE)
        elif payload >= 4:
            self.ask(4, Code.ESP_TRUNCATED)
            if self.frame[self.pos : self.pos + 4] == b"\0\0\0\0":
                parsed.natt = int(NatT.IKE)
            else:
                if payload < 8:
                    raise _Failed(Code.ESP_TRUNCATED)
                self.ask(8, Code.ESP_TRUNCATED)
                parsed.natt = int(NatT.ESP)
                self._esp(self.pos)
                parsed.payload_offset = self.pos + 8
        self.done()


def ones_complement_sum(data: bytes) -> int:
    """RFC 1071 section 1: the 16-bit ones' complement sum of the bytes, an odd last one padded with a zero.

    Addition with the carry brought round is addition modulo 0xFFFF, and 2**16 is 1 there: so the sum of the words is
    the remainder of the whole number that they spell. 0 comes of zeros alone. Over data that hold their own checksum
    the sum is 0xFFFF if it is right.
    """
    number = int.from_bytes(data, "big")
    if not number:
        return 0
    if len(data) % 2:
        number <<= 8
    return number % 0xFFFF or 0xFFFF


def l4_checksum(frame: bytes, parsed: Parsed, bad: int) -> ChecksumVerdict:
    """RFC 9293 section 3.1, RFC 768, RFC 8200 section 8.1: verdict on the checksum of TCP and UDP, with the
    pseudo-header."""
    at = parsed.l4_offset
    if parsed.l4_kind == L4Kind.TCP:
        length = parsed.l3_end - at
    elif parsed.l4_kind == L4Kind.UDP and frame[at + 6 : at + 8] != b"\0\0":
        length = parsed.udp_length
    else:
        return ChecksumVerdict.NONE
    if parsed.fragment or parsed.segments_left or bad or at + length > len(frame):
        return ChecksumVerdict.UNKNOWN
    width = 4 if parsed.l3_kind == L3Kind.IPV4 else 16
    pseudo_header = (
        parsed.ip_src.to_bytes(width, "big")
        + parsed.ip_dst.to_bytes(width, "big")
        + length.to_bytes(4, "big")
        + parsed.protocol.to_bytes(4, "big")
    )
    good = ones_complement_sum(pseudo_header + frame[at : at + length]) == 0xFFFF
    return ChecksumVerdict.GOOD if good else ChecksumVerdict.BAD


# Time (docs/parser.md)


def last_turn(parse_bytes: int) -> int:
    """The largest t(i) that the walk has a turn for."""
    return parse_bytes // BEAT_BYTES + 2


def first_out_of_arrivals(layers: Sequence[int], arrivals: Sequence[int], previous_last_out: int = -1) -> int:
    """Cycle in which the first beat leaves, of a frame that may come with gaps.

    layers    a(i) of ``Parsed.layers``
    arrivals  cycle of the input handshake of each beat
    previous_last_out  cycle in which the last beat of the frame before it left, -1 for none

    t(i) = max(t(i-1) + 1, cycle of beat a(i) + 1), and the first beat leaves two cycles after the last layer.
    """
    t = arrivals[0]
    for beat in layers:
        t = max(t, arrivals[beat]) + 1
    return max(t + 2, previous_last_out + 1)


def latency(layers: Sequence[int]) -> int:
    """Cycles from first beat in to first beat out of an isolated frame without gaps, from a(i) of its layers."""
    return first_out_of_arrivals(layers, range(max(layers) + 1))


def first_out(f: int, p: int, latency: int) -> int:
    """Cycle in which the first beat leaves under load, of a frame without gaps before its chain's end.

    f  cycle of its first beat in; p  cycle in which the last beat of the frame before it left, -1 for none;
    latency  ``Parsed.latency_cycles``
    """
    return max(f + latency, p + 1)


def last_out(first_out: int, beats: int, i: int) -> int:
    """Cycle in which the last beat leaves; i: cycle of the last beat in, beats: B."""
    return max(first_out + beats - 1, i + 2)
