"""Golden model of block ``ipsec``: ESP (RFC 4303) with AES-GCM (RFC 4106) and SM4-GCM, received and transmitted.

Written from docs/ipsec.md and the standards that it names. A frame comes with what the parser and the ACL said of it
(``Fields``); it leaves with what changed in its metadata, or it ends with a code. ``IpsecRx.begin`` makes the checks
before decryption and ``finish`` the others: between them other frames may begin, as they do in hardware.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from models.ipsec_headers import (
    DECAPSULATED_ECN,
    correct_l4,
    inner_length,
    outer_ipv4,
    outer_ipv6,
    resize,
    set_ecn,
    udp,
)
from models.ipsec_sa import Cipher, Df, Event, EventKind, Mode, Natt, Sa, SaState, SaTable
from models.meta import FIELDS, Code

__all__ = ["COUNTERS", "MAX_PACKET", "Fields", "InFlight", "IpsecRx", "IpsecTx", "Result"]

MAX_PACKET = 9582
"""Reset value of ``max_packet``."""

IPSEC_CODES = tuple(code for code in Code if code.name.startswith("IPSEC_"))

COUNTERS: tuple[str, ...] = (
    "frames",
    "passed",
    "secured",
    "left_no_sa",
    "left_cipher",
    "left_fragment",
    "bad_in",
    "replay_late",
    "soft_reached",
    "secured_bytes",
    *(code.name.lower() for code in IPSEC_CODES),
)
"""Names of the counters, as of their registers."""

_IPV4, _IPV6 = 1, 2
_L4_UDP, _L4_ESP = 2, 5
_NATT_ESP = 1
_ESP, _UDP = 50, 17
_IP_IN_IP, _IPV6_IN_IP, _DUMMY = 4, 41, 59
_ETHERTYPE = {_IPV4: 0x0800, _IPV6: 0x86DD}
_BAD = 2
_AH = 1 << 4
_FIXED = 16
"""Bytes of ESP in front of the text: SPI, sequence number, IV."""
_BEAT = 16

_NO_MORE: frozenset[str] = frozenset(
    {
        *(f.name for f in FIELDS if f.writer == "parser" and f.name.startswith(("inner_", "bth_", "tunnel_", "icmp_"))),
        *("vni", "roce", "tcp_flags", "src_port", "dst_port", "udp_length", "l4_kind", "natt", "spi", "esp_seq"),
    }
)
"""Fields of headers behind IP: those of an encrypted frame say what ESP stands in, or nothing."""


@dataclass(frozen=True, slots=True)
class Fields:
    """What the block reads of a frame's metadata: names and values of models/meta.py."""

    parse_code: int = 0
    l3_kind: int = 0
    l3_offset: int = 0
    l3_length: int = 0
    ip_src: int = 0
    ip_dst: int = 0
    dscp: int = 0
    ecn: int = 0
    ttl: int = 0
    protocol: int = 0
    ip_checksum: int = 0
    ext_mask: int = 0
    fragment: int = 0
    dont_fragment: int = 0
    l4_kind: int = 0
    l4_offset: int = 0
    udp_length: int = 0
    natt: int = 0
    spi: int = 0
    esp_seq: int = 0
    protocol_offset: int = 0
    l3_payload_offset: int = 0
    segments_left: int = 0
    acl_protect: int = 0
    acl_sa: int = 0

    @classmethod
    def of(cls, meta: Mapping[str, int]) -> Fields:
        """Those of a metadata word by name (``models.meta.unpack``); missing ones are 0."""
        return cls(**{f.name: int(meta[f.name]) for f in fields(cls) if f.name in meta})

    @property
    def end(self) -> int:
        """First byte behind the IP packet."""
        return self.l3_offset + self.l3_length


@dataclass(frozen=True)
class Result:
    """What became of a frame.

    frame  the frame that leaves; None: it ended here
    code   why it ended (an ``ipsec_`` code, or the reason with which it came in bad); NONE: it leaves
    meta   fields of its metadata that are written anew; empty: it passes as it came
    user   ``tuser`` of its last beat; None: as it came
    """

    frame: bytes | None
    code: int = int(Code.NONE)
    meta: Mapping[str, int] = field(default_factory=dict)
    user: int | None = None


@dataclass
class InFlight:
    """A frame between the checks before decryption and its verdict."""

    frame: bytes
    fields: Fields
    code: Code = Code.NONE
    left: str = ""
    """The counter of a frame that passes; empty: it doesn't."""
    number: int = 0
    """Its whole sequence number."""
    sa: int = 0
    state: SaState | None = None
    esp: int = 0
    end: int = 0


class _Slot:
    """What both directions have: SAs, counters, events.

    sas         most SAs
    sm4         the engine has SM4-GCM
    hold_beats  beats of 16 bytes that the block can hold
    """

    def __init__(self, sas: int = 256, sm4: bool = True, hold_beats: int = 1024) -> None:
        self.table = SaTable(sas)
        self.sm4 = sm4
        self.hold_bytes = hold_beats * _BEAT
        self.counters: Counter[str] = Counter()
        self.events: list[Event] = []

    def _known(self, sa: Sa) -> bool:
        return sa.cipher is not Cipher.OTHER and (self.sm4 or sa.cipher is not Cipher.SM4_GCM)

    def _pass(self, frame: bytes, counter: str) -> Result:
        self.counters["frames"] += 1
        self.counters[counter] += 1
        return Result(frame)

    def _end(self, code: Code) -> Result:
        self.counters["frames"] += 1
        self.counters[code.name.lower()] += 1
        return Result(None, int(code))

    def _end_bad(self, bad: int) -> Result:
        """A frame that came in bad ends with its own reason."""
        self.counters["frames"] += 1
        self.counters["bad_in"] += 1
        return Result(None, bad >> 1 & 127 or int(Code.BAD_FRAME))

    def _no_room(self, number: int, state: SaState) -> Code:
        if not state.hard:
            state.hard = True
            self.events.append(Event(EventKind.HARD, number))
        return Code.IPSEC_LIFETIME

    def _count(self, number: int, state: SaState, n: int) -> None:
        if state.count(n):
            self.counters["soft_reached"] += 1
            self.events.append(Event(EventKind.SOFT, number))


class IpsecRx(_Slot):
    """``ipsec_rx``. ``drop_no_sa``, ``drop_cipher``, ``drop_fragment``: the bits of ``control``."""

    def __init__(self, sas: int = 256, sm4: bool = True, hold_beats: int = 1024) -> None:
        super().__init__(sas, sm4, hold_beats)
        self.drop_no_sa = False
        self.drop_cipher = False
        self.drop_fragment = False

    def decap(self, frame: bytes, given: Fields, bad: int = 0) -> Result:
        """A frame that comes alone. ``bad``: ``tuser[7:0]`` of its last beat."""
        return self.finish(self.begin(frame, given), bad)

    def begin(self, frame: bytes, given: Fields) -> InFlight:
        """Checks before decryption, with what the SA's state is now. No SA is written while a frame is in flight."""
        flight = InFlight(frame, given)
        is_esp = given.l4_kind == _L4_ESP or given.natt == _NATT_ESP
        if given.fragment and (is_esp or given.protocol == _ESP):
            self._leave_or(flight, Code.IPSEC_FRAGMENT, self.drop_fragment)
        elif is_esp:
            self._find(flight)
        else:
            flight.left = "passed"
        return flight

    def _leave_or(self, flight: InFlight, code: Code, drop: bool) -> None:
        if drop:
            flight.code = code
        else:
            flight.left = code.name.lower().replace("ipsec", "left")

    def _find(self, flight: InFlight) -> None:
        given = flight.fields
        number = self.table.find(given.spi, given.ip_dst, given.l3_kind == _IPV6)
        state = None if number is None else self.table.read(number)
        if number is None or state is None:
            self._leave_or(flight, Code.IPSEC_NO_SA, self.drop_no_sa)
        elif state.sa.cipher is Cipher.OTHER:
            self._leave_or(flight, Code.IPSEC_CIPHER, self.drop_cipher)
        else:
            flight.sa, flight.state = number, state
            flight.esp, flight.end = given.l4_offset, given.end
            if given.natt == _NATT_ESP:
                flight.esp, flight.end = given.l4_offset + 8, given.l4_offset + given.udp_length
            flight.code = self._head(flight, state)

    def _head(self, flight: InFlight, state: SaState) -> Code:
        """Checks of the table "Receive" from the form on to those of the state."""
        given, sa = flight.fields, state.sa
        natt = given.natt == _NATT_ESP
        n = flight.end - flight.esp - _FIXED - sa.tag
        if (
            (sa.natt is not Natt.EITHER and natt != (sa.natt is Natt.YES))
            or given.ext_mask & _AH
            or given.segments_left
        ):
            return Code.IPSEC_POLICY
        if given.ip_checksum == _BAD:
            return Code.IPSEC_BAD_CHECKSUM
        if n < 4:
            return Code.IPSEC_TRUNCATED
        if n % 4:
            return Code.IPSEC_BAD_PADDING
        if flight.end > self.hold_bytes:
            return Code.IPSEC_MTU
        number = state.window.number(given.esp_seq)
        if number is None or not state.window.fresh(number):
            return Code.IPSEC_REPLAY
        flight.number = number
        return Code.NONE

    def finish(self, flight: InFlight, bad: int = 0) -> Result:
        """The verdict, frame by frame in the order in which they began. ``bad``: ``tuser[7:0]`` of the last beat."""
        frame, state = flight.frame, flight.state
        if flight.left:
            return self._pass(frame, flight.left)
        if bad & 1:
            return self._end_bad(bad)
        if flight.code is not Code.NONE or state is None:
            return self._end(flight.code)
        if len(frame) < flight.end:
            return self._end(Code.IPSEC_TRUNCATED)
        if not self._known(state.sa):
            return self._end(Code.IPSEC_CIPHER)
        body = frame[flight.esp + 8 : flight.end]
        text = state.sa.decrypt(flight.number, body[:8], body[8:])
        if text is None:
            return self._end(Code.IPSEC_BAD_TAG)
        if not state.window.fresh(flight.number):
            self.counters["replay_late"] += 1
            return self._end(Code.IPSEC_REPLAY)
        if not state.room(len(text)):
            return self._end(self._no_room(flight.sa, state))
        state.window.accept(flight.number)
        self._count(flight.sa, state, len(text))
        return self._open(flight, state.sa, text)

    def _open(self, flight: InFlight, sa: Sa, text: bytes) -> Result:
        """What the trailer says of the text, and the frame that comes out (RFC 4303 3.4.4)."""
        pads, next_header = text[-2], text[-1]
        payload = text[: -2 - pads]
        if pads + 2 > len(text) or text[len(payload) : -2] != bytes(range(1, pads + 1)):
            return self._end(Code.IPSEC_BAD_PADDING)
        if next_header == _DUMMY:
            return self._end(Code.IPSEC_DUMMY)
        in_ip = next_header in (_IP_IN_IP, _IPV6_IN_IP)
        if sa.mode is Mode.TUNNEL and not in_ip:
            return self._end(Code.IPSEC_POLICY)
        if sa.mode is Mode.TRANSPORT or not in_ip:
            out = _transport_in(flight, sa, payload, next_header)
        else:
            length = inner_length(payload, next_header)
            if length is None:
                return self._end(Code.IPSEC_BAD_INNER)
            packet = bytearray(payload[:length])
            ecn = DECAPSULATED_ECN[_ecn(packet), flight.fields.ecn]
            if ecn is None:
                return self._end(Code.IPSEC_ECN)
            set_ecn(packet, ecn)
            kind = _IPV4 if next_header == _IP_IN_IP else _IPV6
            out = _in_ethernet(flight.frame, flight.fields, kind, bytes(packet))
        self.counters["frames"] += 1
        self.counters["secured"] += 1
        self.counters["secured_bytes"] += len(text)
        return Result(out, meta={"decrypted": 1, "sa": flight.sa}, user=0)


def _ecn(packet: bytearray) -> int:
    return packet[1] >> 4 & 3 if packet[0] >> 4 == 6 else packet[1] & 3


def _in_ethernet(frame: bytes, given: Fields, kind: int, packet: bytes) -> bytes:
    """A packet behind the frame's own Ethernet header and tags."""
    return frame[: given.l3_offset - 2] + _ETHERTYPE[kind].to_bytes(2, "big") + packet


def _transport_in(flight: InFlight, sa: Sa, payload: bytes, next_header: int) -> bytes:
    """The frame without ESP (RFC 4303 3.1.1)."""
    frame, given = flight.frame, flight.fields
    text = bytearray(payload)
    if next_header == _UDP and len(text) >= 8:
        length = int.from_bytes(text[4:6], "big")
        if 8 <= length <= len(text):
            # What follows is TFC padding (RFC 4303 2.7).
            del text[length:]
    if given.natt == _NATT_ESP:
        correct_l4(text, next_header, sa.nat_delta)
    head = bytearray(frame[given.l3_offset : given.l3_payload_offset])
    resize(head, len(head), given.protocol_offset - given.l3_offset, next_header, len(text))
    return frame[: given.l3_offset] + bytes(head) + bytes(text)


class IpsecTx(_Slot):
    """``ipsec_tx``. ``max_packet``: its register."""

    def __init__(self, sas: int = 256, sm4: bool = True, hold_beats: int = 1024) -> None:
        super().__init__(sas, sm4, hold_beats)
        self.max_packet = MAX_PACKET

    def encap(self, frame: bytes, given: Fields, bad: int = 0) -> Result:
        """A frame with what the ACL wants of it. ``bad``: ``tuser[7:0]`` of its last beat."""
        if not given.acl_protect:
            return self._pass(frame, "passed")
        state = self.table.read(given.acl_sa)
        code = Code.IPSEC_NO_SA if state is None else self._head(frame, given, state)
        if bad & 1:
            return self._end_bad(bad)
        if code is not Code.NONE or state is None:
            return self._end(code)
        if len(frame) < given.end:
            return self._end(Code.IPSEC_TRUNCATED)
        if not self._known(state.sa):
            return self._end(Code.IPSEC_CIPHER)
        return self._seal(frame, given, state)

    def _head(self, frame: bytes, given: Fields, state: SaState) -> Code:
        """Checks of the table "Transmit" up to the lifetimes; then the number is taken."""
        sa = state.sa
        transport = sa.mode is Mode.TRANSPORT
        if sa.cipher is Cipher.OTHER:
            return Code.IPSEC_CIPHER
        if not given.l3_kind or (transport and (given.parse_code or given.ext_mask & _AH)):
            return Code.IPSEC_POLICY
        if transport and sa.natt is not Natt.NO and given.segments_left:
            return Code.IPSEC_POLICY
        if transport and given.fragment:
            return Code.IPSEC_FRAGMENT
        shape = _Shape(given, sa)
        limit = min(self.max_packet, sa.mtu) if sa.mtu else self.max_packet
        if shape.packet > limit or given.l3_offset + shape.packet > self.hold_bytes:
            return Code.IPSEC_MTU
        number = state.next_number()
        if number is None:
            if not state.ended:
                state.ended = True
                self.events.append(Event(EventKind.ENDED, given.acl_sa))
            return Code.IPSEC_SEQUENCE
        if not state.room(shape.n):
            return self._no_room(given.acl_sa, state)
        state.used = number
        self._count(given.acl_sa, state, shape.n)
        return Code.NONE

    def _seal(self, frame: bytes, given: Fields, state: SaState) -> Result:
        sa, number, shape = state.sa, state.used, _Shape(given, state.sa)
        text = frame[shape.text_at : given.end] + bytes(range(1, shape.pads + 1)) + bytes((shape.pads, shape.protocol))
        iv = number.to_bytes(8, "big")
        low = number & 0xFFFFFFFF
        esp = sa.spi.to_bytes(4, "big") + low.to_bytes(4, "big") + iv + sa.encrypt(number, iv, text)
        meta, user = shape.meta(sa, low), 0
        if sa.mode is Mode.TRANSPORT:
            header = bytearray(frame[given.l3_offset : given.l3_payload_offset])
            at = given.protocol_offset - given.l3_offset
            resize(header, len(header), at, meta["protocol"], shape.packet - len(header))
        else:
            header = bytearray(_outer(given, sa, shape, low))
        if shape.udp:
            pseudo = bytes(header[8:40]) if shape.kind == _IPV6 else None
            user = 1 << 8 if pseudo is not None else 0
            esp = udp(sa.src_port, sa.dst_port, esp, pseudo)
        out = _in_ethernet(frame, given, shape.kind, bytes(header) + esp)
        self.counters["frames"] += 1
        self.counters["secured"] += 1
        self.counters["secured_bytes"] += len(text)
        return Result(out, meta=meta, user=user)


class _Shape:
    """Lengths and places of a frame that is to be encrypted."""

    def __init__(self, given: Fields, sa: Sa) -> None:
        self.given = given
        self.transport = sa.mode is Mode.TRANSPORT
        self.udp = sa.natt is not Natt.NO
        self.kind = given.l3_kind
        self.text_at = given.l3_payload_offset
        self.protocol = given.protocol
        self.headers = given.l3_payload_offset - given.l3_offset
        if not self.transport:
            self.kind = _IPV6 if sa.ipv6 else _IPV4
            self.text_at = given.l3_offset
            self.protocol = _IPV6_IN_IP if given.l3_kind == _IPV6 else _IP_IN_IP
            self.headers = 40 if sa.ipv6 else 20
        text = given.end - self.text_at
        self.pads = -(text + 2) % 4
        self.n = text + self.pads + 2
        """Bytes that the cipher works on."""
        self.payload = 8 * self.udp + _FIXED + self.n + sa.tag
        """Bytes behind the IP headers."""
        self.packet = self.headers + self.payload

    def meta(self, sa: Sa, low: int) -> dict[str, int]:
        """Fields of the metadata as a parser would read the frame out."""
        given = self.given
        l4 = given.l3_offset + self.headers
        meta = dict.fromkeys(_NO_MORE, 0) | {
            "parse_code": 0,
            "ethertype": _ETHERTYPE[self.kind],
            "l3_kind": self.kind,
            "l3_length": self.packet,
            "protocol": _UDP if self.udp else _ESP,
            "l4_kind": _L4_UDP if self.udp else _L4_ESP,
            "l4_offset": l4,
            "payload_offset": l4 + 8 * self.udp + 8,
            "spi": sa.spi,
            "esp_seq": low,
            "sa": given.acl_sa,
            "decrypted": 0,
            "l3_payload_offset": l4,
        }
        if self.udp:
            meta |= {
                "natt": _NATT_ESP,
                "src_port": sa.src_port,
                "dst_port": sa.dst_port,
                "udp_length": self.payload,
            }
        if not self.transport:
            meta |= {
                "ip_src": sa.src,
                "ip_dst": sa.dst,
                "dscp": given.dscp if sa.dscp is None else sa.dscp,
                "ecn": 0 if sa.ecn_compat else given.ecn,
                "ttl": sa.ttl or given.ttl,
                "ip_checksum": int(self.kind == _IPV4),
                "dont_fragment": _df(given, sa) if self.kind == _IPV4 else 0,
                "protocol_offset": given.l3_offset + (9 if self.kind == _IPV4 else 6),
                **dict.fromkeys(("ip_options", "ext_mask", "fragment", "more_fragments", "frag_offset"), 0),
                "segments_left": 0,
            }
        return meta


def _df(given: Fields, sa: Sa) -> int:
    """DF of an outer IPv4 header. IPv6 is never fragmented on its way, so its copy is 1."""
    if sa.df is Df.COPY:
        return 1 if given.l3_kind == _IPV6 else given.dont_fragment
    return int(sa.df is Df.SET)


def _outer(given: Fields, sa: Sa, shape: _Shape, low: int) -> bytes:
    """The outer IP header of a tunnel (RFC 4301 5.1.2.1, 5.1.2.2; RFC 6040 4.1)."""
    dscp = given.dscp if sa.dscp is None else sa.dscp
    ecn = 0 if sa.ecn_compat else given.ecn
    ttl = sa.ttl or given.ttl
    protocol = _UDP if shape.udp else _ESP
    if shape.kind == _IPV6:
        return outer_ipv6(dscp, ecn, sa.flow_label, shape.payload, ttl, protocol, sa.src, sa.dst)
    df = bool(_df(given, sa))
    return outer_ipv4(dscp, ecn, shape.payload, low & 0xFFFF, df, ttl, protocol, sa.src, sa.dst)
