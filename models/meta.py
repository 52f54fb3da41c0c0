"""The metadata word that travels beside a frame, and the codes of a frame's end.

Everything here is written down once: ``rtl/lib/meta.vh`` is generated from it (``python -m models.meta``) and a test
checks that it is current. The word is packed from bit 0 upwards in the order of ``FIELDS``. It is valid on a frame's
first beat, so nothing that is known only at a frame's end (its length, its checksum verdict) can be in it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BUDGET",
    "FIELDS",
    "FIRST_DROP",
    "META_W",
    "META_WORDS",
    "Code",
    "Disposition",
    "Field",
    "Words",
    "disposition",
    "field_of",
    "pack",
    "pack_words",
    "unpack",
    "verilog_header",
    "word_of",
    "words_of",
]

BUDGET = 1664
"""Most bits that the word may take."""


class Disposition(IntEnum):
    """What became of a frame."""

    DELIVERED = 1
    CONSUMED = 2
    DROPPED = 3


class Code(IntEnum):
    """Why a frame ended: one code a frame, 0 to 127 (7 bits: it travels in ``tuser[7:1]``).

    A block takes its codes from its own range: nic, mac and buffers 16..31, parser 32..47, acl 48..55, ipsec 56..71,
    tls 72..79, roce 80..103, flow 104..111, dma 112..127.
    """

    NONE = 0
    DELIVERED = 1
    CONSUMED = 2
    BAD_FRAME = 16
    OVERSIZE = 17
    PORT_DISABLED = 18
    RX_BUFFER_FULL = 19
    RESET = 20
    MAC_OVERFLOW = 21
    BAD_FCS = 22
    RUNT = 23
    RX_ERROR = 24
    MAC_UNDERRUN = 25
    LINK_FAULT = 26
    MAC_RESET = 27
    L2_TRUNCATED = 32
    L3_TRUNCATED = 33
    BAD_IP_VERSION = 34
    BAD_IHL = 35
    BAD_L3_LENGTH = 36
    TOO_DEEP = 37
    EXT_TRUNCATED = 38
    L4_TRUNCATED = 39
    BAD_TCP_OFFSET = 40
    BAD_UDP_LENGTH = 41
    BTH_TRUNCATED = 42
    ESP_TRUNCATED = 43
    L3_BEYOND_FRAME = 44
    TUNNEL_TRUNCATED = 45
    BAD_TUNNEL = 46
    ACL_DENIED = 48
    ACL_POLICED = 49
    ACL_NO_PORT = 50
    IPSEC_NO_SA = 56
    IPSEC_CIPHER = 57
    IPSEC_FRAGMENT = 58
    IPSEC_POLICY = 59
    IPSEC_TRUNCATED = 60
    IPSEC_REPLAY = 61
    IPSEC_LIFETIME = 62
    IPSEC_BAD_TAG = 63
    IPSEC_BAD_PADDING = 64
    IPSEC_DUMMY = 65
    IPSEC_BAD_INNER = 66
    IPSEC_ECN = 67
    IPSEC_SEQUENCE = 68
    IPSEC_MTU = 69
    IPSEC_BAD_CHECKSUM = 70


FIRST_DROP = 16
"""Lowest disposition code that is the reason of a drop."""


def disposition(code: int) -> Disposition:
    """Class of a code: every code from `FIRST_DROP` upwards is the reason of a drop."""
    if code == Code.DELIVERED:
        return Disposition.DELIVERED
    if code == Code.CONSUMED:
        return Disposition.CONSUMED
    if code >= FIRST_DROP:
        return Disposition.DROPPED
    raise ValueError(f"code {code} ends no frame")


@dataclass(frozen=True)
class Field:
    """One field of the metadata word: its width in bits, the block that writes it, the blocks that read it."""

    name: str
    width: int
    writer: str
    readers: tuple[str, ...]
    doc: str


FIELDS: tuple[Field, ...] = (
    Field(
        "seq",
        16,
        "nic_ingress",
        ("nic_port", "nic_egress", "nic_buffer", "nic_slot_mac_tx", "nic_wire_ends", "ipsec"),
        "sequence number of the frame at its port and direction",
    ),
    Field("port", 8, "nic_ingress", ("acl", "host"), "port at which the frame came in"),
    Field(
        "direction",
        1,
        "nic_ingress",
        ("nic_buffer", "nic_egress", "nic_port", "nic_slot_mac_tx", "nic_wire_ends", "host"),
        "0 received, 1 to be transmitted",
    ),
    Field(
        "tclass",
        3,
        "nic_ingress",
        ("nic_port", "acl", "host"),
        "priority class, set once from the outermost headers (0 until parser lands)",
    ),
    Field(
        "queue",
        8,
        "nic_ingress",
        ("nic_port", "acl", "nic_egress", "nic_buffer", "nic_wire_ends", "ipsec"),
        "host queue; acl may set another",
    ),
    Field(
        "timestamp",
        64,
        "nic_ingress",
        ("nic_slot_mac_rx", "nic_port", "acl", "host"),
        "`now` in ns at the frame's first beat; where it came by XGMII, at its start there, as nic_slot_mac_rx tells",
    ),
    Field(
        "parse_code", 7, "parser", ("ipsec", "host"), "why the header chain ended early (a Code), 0 where it ended well"
    ),
    Field("dst_mac", 48, "parser", ("host",), "destination address"),
    Field("src_mac", 48, "parser", ("host",), "source address"),
    Field("ethertype", 16, "parser", ("acl", "ipsec", "host"), "EtherType behind the tags, or a length below 0x0600"),
    Field("vlan_count", 2, "parser", ("acl", "host"), "VLAN tags: 0, 1, 2"),
    Field("vlan0", 16, "parser", ("acl", "host"), "TCI of the outer tag: PCP 15:13, DEI 12, VID 11:0"),
    Field("vlan1", 16, "parser", ("host",), "TCI of the inner tag"),
    Field("vlan0_ad", 1, "parser", ("host",), "the outer tag is an 802.1ad service tag"),
    Field("vlan1_ad", 1, "parser", ("host",), "the inner tag is an 802.1ad service tag"),
    Field("mac_control", 1, "parser", ("host",), "a MAC control frame (802.3 clause 31)"),
    Field("mac_opcode", 16, "parser", ("host",), "its opcode"),
    Field("l3_kind", 2, "parser", ("acl", "ipsec", "host"), "0 none, 1 IPv4, 2 IPv6"),
    Field("l3_offset", 8, "parser", ("acl", "ipsec", "host"), "first byte of the IP header"),
    Field("l3_length", 17, "parser", ("ipsec", "host"), "bytes of the IP packet by its own length field"),
    Field(
        "l3_payload_offset",
        9,
        "parser",
        ("ipsec", "host"),
        "first byte behind the IP header, its options and the extension headers that were read",
    ),
    Field("ip_src", 128, "parser", ("acl", "ipsec", "host"), "source address; IPv4 in the low 32 bits"),
    Field("ip_dst", 128, "parser", ("acl", "ipsec", "host"), "destination address; IPv4 in the low 32 bits"),
    Field("dscp", 6, "parser", ("acl", "ipsec", "host"), "differentiated services code point (RFC 2474)"),
    Field("ecn", 2, "parser", ("acl", "ipsec", "host"), "explicit congestion notification (RFC 3168)"),
    Field("ttl", 8, "parser", ("ipsec", "host"), "time to live, hop limit"),
    Field("protocol", 8, "parser", ("acl", "ipsec", "host"), "last protocol or next-header value that was read"),
    Field("protocol_offset", 8, "parser", ("ipsec", "host"), "the byte that protocol was read from"),
    Field("ip_checksum", 2, "parser", ("ipsec", "host"), "IPv4 header checksum: 0 none, 1 good, 2 bad"),
    Field("ip_options", 1, "parser", ("ipsec", "host"), "the IPv4 header has options"),
    Field(
        "ext_mask",
        5,
        "parser",
        ("ipsec", "host"),
        "extension headers seen: 0 hop-by-hop, 1 routing, 2 fragment, 3 destination, 4 AH",
    ),
    Field("segments_left", 1, "parser", ("ipsec", "host"), "a routing header has segments left (RFC 8200 4.4)"),
    Field("fragment", 1, "parser", ("acl", "ipsec", "host"), "part of a fragmented packet"),
    Field("more_fragments", 1, "parser", ("ipsec", "host"), "MF"),
    Field("dont_fragment", 1, "parser", ("ipsec", "host"), "DF"),
    Field("frag_offset", 13, "parser", ("ipsec", "host"), "fragment offset in units of 8 bytes"),
    Field("l4_kind", 3, "parser", ("acl", "ipsec", "host"), "0 none, 1 TCP, 2 UDP, 3 ICMP, 4 ICMPv6, 5 ESP"),
    Field("l4_offset", 8, "parser", ("ipsec", "host"), "first byte of the L4 header"),
    Field(
        "payload_offset",
        9,
        "parser",
        ("ipsec", "host"),
        "first byte behind the last header that was read (L4 and above)",
    ),
    Field("src_port", 16, "parser", ("acl", "ipsec", "host"), "source port"),
    Field("dst_port", 16, "parser", ("acl", "ipsec", "host"), "destination port"),
    Field("udp_length", 16, "parser", ("ipsec", "host"), "UDP length field"),
    Field(
        "tcp_flags",
        12,
        "parser",
        ("acl", "ipsec", "host"),
        "TCP reserved bits and flags, FIN lowest; of the innermost L4",
    ),
    Field("icmp_type", 8, "parser", ("acl", "ipsec", "host"), "ICMP or ICMPv6 type; of the innermost L4"),
    Field("icmp_code", 8, "parser", ("acl", "ipsec", "host"), "ICMP or ICMPv6 code; of the innermost L4"),
    Field("natt", 2, "parser", ("ipsec", "host"), "UDP port 4500 (RFC 3948): 0 none, 1 ESP, 2 IKE, 3 keepalive"),
    Field("spi", 32, "parser", ("ipsec", "host"), "ESP security parameters index; of the innermost L4"),
    Field("esp_seq", 32, "parser", ("ipsec", "host"), "ESP sequence number, low half; of the innermost L4"),
    Field("roce", 1, "parser", ("acl", "ipsec", "host"), "a BTH was read (UDP port 4791)"),
    Field("bth_opcode", 8, "parser", ("acl", "ipsec", "host"), "BTH opcode"),
    Field("bth_flags", 8, "parser", ("ipsec", "host"), "BTH byte 1: SE, M, pad count, TVer"),
    Field("bth_pkey", 16, "parser", ("ipsec", "host"), "P_Key"),
    Field("bth_fecn", 1, "parser", ("ipsec", "host"), "FECN"),
    Field("bth_becn", 1, "parser", ("ipsec", "host"), "BECN"),
    Field("bth_dest_qp", 24, "parser", ("acl", "ipsec", "host"), "destination QP"),
    Field("bth_ack_req", 1, "parser", ("ipsec", "host"), "AckReq"),
    Field("bth_psn", 24, "parser", ("ipsec", "host"), "PSN"),
    Field("tunnel_kind", 2, "parser", ("acl", "ipsec", "host"), "0 none, 1 VXLAN (RFC 7348), 2 GENEVE (RFC 8926)"),
    Field(
        "tunnel_flags", 8, "parser", ("ipsec", "host"), "VXLAN byte 0 (I is bit 3), GENEVE byte 1 (O bit 7, C bit 6)"
    ),
    Field("vni", 24, "parser", ("ipsec", "host"), "virtual network identifier"),
    Field("inner_dst_mac", 48, "parser", ("ipsec", "host"), "destination address in the tunnel"),
    Field("inner_src_mac", 48, "parser", ("ipsec", "host"), "source address in the tunnel"),
    Field(
        "inner_ethertype",
        16,
        "parser",
        ("acl", "ipsec", "host"),
        "EtherType behind the tags in the tunnel, or GENEVE's protocol",
    ),
    Field("inner_vlan_count", 2, "parser", ("acl", "ipsec", "host"), "VLAN tags in the tunnel: 0, 1, 2"),
    Field("inner_vlan0", 16, "parser", ("acl", "ipsec", "host"), "TCI of the outer tag in the tunnel"),
    Field("inner_vlan1", 16, "parser", ("ipsec", "host"), "TCI of the inner tag in the tunnel"),
    Field("inner_vlan0_ad", 1, "parser", ("ipsec", "host"), "the outer tag in the tunnel is an 802.1ad service tag"),
    Field("inner_vlan1_ad", 1, "parser", ("ipsec", "host"), "the inner tag in the tunnel is an 802.1ad service tag"),
    Field("inner_l3_kind", 2, "parser", ("acl", "ipsec", "host"), "0 none, 1 IPv4, 2 IPv6 in the tunnel"),
    Field(
        "inner_l3_offset",
        8,
        "parser",
        ("ipsec", "host"),
        "first byte of the IP header in the tunnel, from the frame's start",
    ),
    Field(
        "inner_l3_length",
        17,
        "parser",
        ("ipsec", "host"),
        "bytes of the IP packet in the tunnel by its own length field",
    ),
    Field(
        "inner_ip_src", 128, "parser", ("acl", "ipsec", "host"), "source address in the tunnel; IPv4 in the low 32 bits"
    ),
    Field(
        "inner_ip_dst",
        128,
        "parser",
        ("acl", "ipsec", "host"),
        "destination address in the tunnel; IPv4 in the low 32 bits",
    ),
    Field("inner_dscp", 6, "parser", ("acl", "ipsec", "host"), "DSCP in the tunnel"),
    Field("inner_ecn", 2, "parser", ("acl", "ipsec", "host"), "ECN in the tunnel"),
    Field("inner_ttl", 8, "parser", ("ipsec", "host"), "time to live, hop limit in the tunnel"),
    Field(
        "inner_protocol",
        8,
        "parser",
        ("acl", "ipsec", "host"),
        "last protocol or next-header value that was read in the tunnel",
    ),
    Field(
        "inner_ip_checksum", 2, "parser", ("ipsec", "host"), "IPv4 header checksum in the tunnel: 0 none, 1 good, 2 bad"
    ),
    Field("inner_ip_options", 1, "parser", ("ipsec", "host"), "the IPv4 header in the tunnel has options"),
    Field("inner_ext_mask", 5, "parser", ("ipsec", "host"), "extension headers in the tunnel, as in ext_mask"),
    Field(
        "inner_fragment", 1, "parser", ("acl", "ipsec", "host"), "the packet in the tunnel is part of a fragmented one"
    ),
    Field("inner_more_fragments", 1, "parser", ("ipsec", "host"), "MF in the tunnel"),
    Field("inner_dont_fragment", 1, "parser", ("ipsec", "host"), "DF in the tunnel"),
    Field("inner_frag_offset", 13, "parser", ("ipsec", "host"), "fragment offset in the tunnel in units of 8 bytes"),
    Field(
        "inner_l4_kind",
        3,
        "parser",
        ("acl", "ipsec", "host"),
        "0 none, 1 TCP, 2 UDP, 3 ICMP, 4 ICMPv6, 5 ESP in the tunnel",
    ),
    Field(
        "inner_l4_offset",
        8,
        "parser",
        ("ipsec", "host"),
        "first byte of the L4 header in the tunnel, from the frame's start",
    ),
    Field("inner_src_port", 16, "parser", ("acl", "ipsec", "host"), "source port in the tunnel"),
    Field("inner_dst_port", 16, "parser", ("acl", "ipsec", "host"), "destination port in the tunnel"),
    Field("inner_udp_length", 16, "parser", ("ipsec", "host"), "UDP length field in the tunnel"),
    Field("decrypted", 1, "ipsec", ("acl",), "ipsec decrypted the frame"),
    Field("sa", 12, "ipsec", ("acl",), "with this security association"),
    Field("acl_rule", 16, "acl", ("host",), "number of the ACL rule that matched, 65535: none"),
    Field("acl_copy", 1, "acl", ("nic_egress", "nic_wire_ends", "host"), "a mirror's copy: it reports no disposition"),
    Field("acl_redirect", 1, "acl", ("nic_port", "host"), "leaves by the other direction"),
    Field("acl_priority", 3, "acl", ("host",), "scheduling class"),
    Field("acl_protect", 1, "acl", ("ipsec", "host"), "to be protected with acl_sa"),
    Field("acl_sa", 12, "acl", ("ipsec", "host"), "security association"),
)
"""In the order in which they are packed, from bit 0 upwards. Of a frame that ipsec_tx encrypts, it writes anew what the
parser wrote."""

META_W = -(-sum(field.width for field in FIELDS) // 32) * 32
"""Bits of the word: a whole number of 32-bit words."""

META_WORDS = META_W // 32
"""32-bit words that it takes."""

Words = NDArray[np.uint32]
"""uint32[n, META_WORDS]: the metadata of n frames, bits 31:0 first."""


def _offsets() -> dict[str, tuple[int, int]]:
    offsets, low = {}, 0
    for field in FIELDS:
        offsets[field.name] = (low, field.width)
        low += field.width
    return offsets


_OFFSETS = _offsets()


def pack(values: Mapping[str, int]) -> int:
    """Fields by name to the word; a missing field is 0. KeyError: no such field. ValueError: larger than its field."""
    word = 0
    for name, value in values.items():
        low, width = _OFFSETS[name]
        if not 0 <= value < 1 << width:
            raise ValueError(f"meta field {name}: {value} does not fit {width} bits")
        word |= value << low
    return word


def unpack(word: int) -> dict[str, int]:
    """The word to its fields by name."""
    return {name: word >> low & (1 << width) - 1 for name, (low, width) in _OFFSETS.items()}


def words_of(words: list[int]) -> Words:
    """Words as ``pack`` makes them, as an array."""
    raw = b"".join(word.to_bytes(4 * META_WORDS, "little") for word in words)
    return np.frombuffer(raw, "<u4").reshape(len(words), META_WORDS).astype(np.uint32)


def word_of(words: NDArray[np.uint32]) -> int:
    """One row of them as the word."""
    return int.from_bytes(words.astype("<u4").tobytes(), "little")


def _pieces(low: int, width: int) -> list[tuple[int, int, int, int]]:
    """Where a field of at most 64 bits lies: its bit, the 32-bit word, the bit there, how many bits."""
    pieces, at = [], 0
    while at < width:
        word, bit = divmod(low + at, 32)
        take = min(32 - bit, width - at)
        pieces.append((at, word, bit, take))
        at += take
    return pieces


def pack_words(n: int, fields: Mapping[str, NDArray[Any]]) -> Words:
    """As ``pack``, for n frames: an array a field, of n entries; a field of more than 64 bits as uint64[n, 2], the high
    half first. KeyError: no such field. ValueError: a value is larger than its field."""
    rows: dict[int, NDArray[np.uint32]] = {}
    for name, given in fields.items():
        low, width = _OFFSETS[name]
        values = np.asarray(given)
        if values.dtype.kind != "u":
            values = values.astype(np.uint64)
        parts = [(low, width, values)]
        if width > 64:
            parts = [(low, 64, values[:, 1]), (low + 64, width - 64, values[:, 0])]
        for start, size, part in parts:
            largest = int(part.max(initial=0))
            if largest >> size:
                raise ValueError(f"meta field {name}: a value does not fit {width} bits")
            if largest:
                _add(rows, start, size, part)
    # A word is put together in one row, which lies close, and then goes into its column at once.
    words = np.zeros((n, META_WORDS), np.uint32)
    for word, row in rows.items():
        words[:, word] = row
    return words


def _add(rows: dict[int, NDArray[np.uint32]], start: int, size: int, part: NDArray[Any]) -> None:
    """Put values that fit ``size`` bits at bit ``start`` into the rows of their words."""
    for at, word, bit, _ in _pieces(start, size):
        # What is above the word falls off; above the field there is nothing.
        piece = (part >> part.dtype.type(at) if at else part).astype(np.uint32)
        if bit:
            piece <<= np.uint32(bit)
        if word in rows:
            piece |= rows[word]
        rows[word] = piece


def field_of(words: Words, name: str) -> NDArray[np.uint64]:
    """uint64[n]: a field; of more than 64 bits uint64[n, 2], the high half first. KeyError: no such field."""
    low, width = _OFFSETS[name]
    if width > 64:
        return np.stack([_bits_of(words, low + 64, width - 64), _bits_of(words, low, 64)], axis=1)
    return _bits_of(words, low, width)


def _bits_of(words: Words, low: int, width: int) -> NDArray[np.uint64]:
    """uint64[n]: ``width`` bits, at most 64, from bit ``low``."""
    values = np.zeros(len(words), np.uint64)
    for at, word, bit, take in _pieces(low, width):
        piece = (words[:, word] >> np.uint32(bit)).astype(np.uint64) & np.uint64((1 << take) - 1)
        values |= piece << np.uint64(at)
    return values


def verilog_header() -> str:
    """Text of ``rtl/lib/meta.vh``: META_W, each field as MF_<NAME> (a part-select), MF_<NAME>_LSB and MF_<NAME>_W, each
    code as CODE_<NAME>."""
    lines = [
        "// Generated from models/meta.py by `make generate`: do not edit.",
        "`ifndef NICLOOP_META_VH",
        "`define NICLOOP_META_VH",
    ]
    lines.append(f"`define META_W {META_W}")
    for field in FIELDS:
        low, width = _OFFSETS[field.name]
        name = field.name.upper()
        lines.append(f"// {field.doc}; writer: {field.writer}")
        lines += [
            f"`define MF_{name} {low + width - 1}:{low}",
            f"`define MF_{name}_LSB {low}",
            f"`define MF_{name}_W {width}",
        ]
    lines += [f"`define CODE_{code.name} 8'd{code.value}" for code in Code]
    lines.append("`endif")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(verilog_header())
