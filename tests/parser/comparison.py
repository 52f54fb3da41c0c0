"""The parser's model held against tshark's dissection of the same frame (tests/parser/tshark.py).

Where docs/parser.md ends the chain and tshark goes on, or the other way round, one of the rules of ``RULES`` says why,
and is counted; a difference that none explains is one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from models.meta import FIELDS, Code
from models.parser import Parsed
from tests.parser.tshark import TUNNELS, Dissection, Header

__all__ = ["RULES", "Comparison", "compare"]

RULES: dict[str, str] = {
    "third tag": "docs/parser.md reads two tags; a third is too_deep, and nothing of the link layer is set",
    "fifth extension header": "docs/parser.md reads four",
    "beyond PARSE_BYTES": "the header ends behind byte PARSE_BYTES: too_deep",
    "no turn left": "docs/parser.md gives the walk PARSE_BYTES/16 + 2 turns; a layer more is too_deep",
    "beyond the IP packet": "the header ends behind the IP packet: what is there is padding, or its length field lies",
    "beyond the frame": "tshark shows the part of a header that is there; the parser sets it whole or not at all",
    "no byte left": "the IP packet or the frame ends where a header should begin: tshark has nothing to show",
    "bad UDP length": "tshark shows a UDP header whose length can't be right; the parser refuses it",
    "both stop": "tshark met a header that is cut or bogus and so did the parser, at the same place",
    "ICMP of the other version": "docs/parser.md takes ICMPv6 over IPv4, and ICMP over IPv6, for unknown protocols",
    "keepalive": "tshark takes a last byte 0xFF for a keepalive, whatever UDP's length; the parser goes by the length",
    "lower port": "tshark looks up the lower UDP port first: what the parser finds by the other one isn't compared",
    "segments left": "the parser doesn't judge a checksum whose last destination isn't in the IPv6 header; tshark does",
    "sum beyond the frame": "tshark sums the bytes that are there; the parser says unknown where some are missing",
    "no tunnel header": "tshark reads on behind VXLAN without flag I and GENEVE of another version; bad_tunnel",
    "tunnel by its source port": "tshark takes UDP from port 4789 or 6081 for a tunnel too; the parser only UDP to it",
    "packet beyond its tunnel": "tshark shows an IP header whose packet ends behind its tunnel; bad_l3_length",
}
"""Why the chains may end at different headers, where a code is predicted from what tshark shows, and where a checksum
isn't judged by both. Each is applied only where what tshark shows says so, but for "both stop"."""

_FIXED = {"mac_control": 2, "ipv4": 20, "ipv6": 40, "extension": 8, "tcp": 20, "bth": 12, "vxlan": 8, "geneve": 8}
_TRUNCATED = {
    "ethernet": Code.L2_TRUNCATED,
    "mac_control": Code.L3_TRUNCATED,
    "ipv4": Code.L3_TRUNCATED,
    "ipv6": Code.L3_TRUNCATED,
    "extension": Code.EXT_TRUNCATED,
    "bth": Code.BTH_TRUNCATED,
    "natt": Code.ESP_TRUNCATED,
    "vxlan": Code.TUNNEL_TRUNCATED,
    "geneve": Code.TUNNEL_TRUNCATED,
}
_IP = (Code.L3_TRUNCATED, Code.BAD_IP_VERSION, Code.BAD_IHL, Code.BAD_L3_LENGTH)
_ABOVE_IP = (Code.EXT_TRUNCATED, Code.L4_TRUNCATED, Code.BAD_TCP_OFFSET, Code.BAD_UDP_LENGTH)
_STOPS: dict[str, tuple[Code, ...]] = {
    "": (Code.L2_TRUNCATED,),
    "ethernet": _IP,
    "ipv4": _ABOVE_IP,
    "ipv6": _ABOVE_IP,
    "extension": _ABOVE_IP,
    "udp": (Code.BTH_TRUNCATED, Code.ESP_TRUNCATED, Code.TUNNEL_TRUNCATED),
    "vxlan": (Code.L2_TRUNCATED,),
    "geneve": (Code.L2_TRUNCATED, *_IP),
}
"""By the last header that both have: codes that the next one may fail with."""
_CHECKSUM = {0: 2, 1: 1, 2: 3, 3: 0, 4: 0}
"""tshark's checksum status (bad, good, unverified, not present, illegal: a zero over IPv6) as ``tuser[9:8]``."""
_UNKNOWN = 3
_INNER = frozenset(f.name.removeprefix("inner_") for f in FIELDS if f.name.startswith("inner_"))
_OUTSIDE_ONLY = ("protocol_offset", "l3_payload_offset", "segments_left")
"""Fields of the outermost IP header, which have no place for what is in a tunnel."""
_TUNNEL_PORTS = (4789, 6081)
_KIND_BY_PORT = {4791: "bth", 4789: "vxlan", 6081: "geneve", 4500: "natt"}
_OF_TUNNELS = ("tunnel_kind", "inner_ethertype", "inner_vlan_count", "inner_l3_kind", "inner_ext_mask", "inner_l4_kind")
_ZERO = (
    "vlan_count",
    "mac_control",
    "l3_kind",
    "ext_mask",
    "segments_left",
    "protocol_offset",
    "l3_payload_offset",
    "l4_kind",
    "roce",
    "natt",
    *_OF_TUNNELS,
)
_AIDS = ("carries", "refused")
"""What a header's fields hold for the comparison alone."""


@dataclass
class Comparison:
    """Of one frame: the fields that were compared, what differs, which of ``RULES`` were applied."""

    compared: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)

    def see(self, name: str, own: int, outside: int) -> None:
        """Compare a field."""
        self.compared[name] += 1
        if own != outside:
            self.differences.append(f"{name}: parser {own:#x}, tshark {outside:#x}")


class _Limits:
    """Which of tshark's headers the parser must set, by docs/parser.md."""

    def __init__(self, frame_length: int, parse_bytes: int, tunnel: bool) -> None:
        self.kept: list[Header] = []
        self.length = frame_length
        self.parse_bytes = parse_bytes
        self.tunnel = tunnel
        self.turns = parse_bytes // 16 + 2
        self.turn = 0
        self.end = 1 << 30
        """Where the packet in hand ends, and the tunnel that holds it."""
        self.pieces = {False: False, True: False}
        """Whether the packet outside, and the one inside, is a piece."""

    def take(self, header: Header) -> tuple[str, int] | None:
        """The next header. The rule that ends the chain before it, with the code that the parser must give; None: the
        parser sets it."""
        ends = self._ends(header) or self._room(header)
        if ends:
            return ends
        self.kept.append(header)
        self.turn = max(self.turn, (header.end - 1) // 16) + 1
        fields = header.fields
        if header.kind in ("ipv4", "ipv6"):
            self.end = min(self.end, header.start + fields["l3_length"])
        elif header.kind == "udp" and not header.inner and _own_port(fields, self.tunnel) in _TUNNEL_PORTS:
            self.end = min(self.end, header.start + fields["udp_length"])
        self.pieces[header.inner] |= bool(fields.get("more_fragments"))
        return None

    def _ends(self, header: Header) -> tuple[str, int] | None:
        """What is said before the parser looks at the header's bytes."""
        fields, level = header.fields, [h for h in self.kept if h.inner == header.inner]
        if header.kind == "ethernet" and fields["vlan_count"] > 2:
            return "third tag", Code.TOO_DEEP
        if header.kind == "extension" and sum(h.kind == "extension" for h in level) == 4:
            return "fifth extension header", Code.TOO_DEEP
        if header.kind in ("icmp", "icmpv6") and (header.kind == "icmp") != any(h.kind == "ipv4" for h in level):
            return "ICMP of the other version", 0
        if header.kind in TUNNELS and self.kept[-1].fields["dst_port"] not in _TUNNEL_PORTS:
            return "tunnel by its source port", 0
        if self.turn == self.turns:
            return "no turn left", Code.TOO_DEEP
        if fields.get("natt") == 3 and self.kept[-1].fields["udp_length"] != 9:
            return "keepalive", Code.ESP_TRUNCATED if self.kept[-1].fields["udp_length"] >= 12 else 0
        return None

    def _room(self, header: Header) -> tuple[str, int] | None:
        truncated = _TRUNCATED.get(header.kind, Code.L4_TRUNCATED)
        fields = header.fields
        for end in (header.start + _FIXED.get(header.kind, 0), header.end):
            if end > self.end:
                return "beyond the IP packet", truncated
            if end > self.parse_bytes:
                return "beyond PARSE_BYTES", Code.TOO_DEEP
            if end > self.length:
                return "beyond the frame", truncated
            if fields.get("refused"):
                return "no tunnel header", Code.BAD_TUNNEL
            judged = header.inner and header.kind in ("ipv4", "ipv6") and not self.pieces[False]
            if judged and header.start + fields["l3_length"] > self.end:
                return "packet beyond its tunnel", Code.BAD_L3_LENGTH
        if header.kind == "udp":
            udp_length = fields["udp_length"]
            if udp_length < 8 or (not any(self.pieces.values()) and header.start + udp_length > self.end):
                return "bad UDP length", Code.BAD_UDP_LENGTH
        return None

    def behind(self) -> tuple[str, int] | None:
        """tshark has no further header; the parser may still ask for one."""
        if not self.kept:
            return None
        last, late = self.kept[-1], self.turn == self.turns
        own = _own_port(last.fields, self.tunnel) if last.kind == "udp" and not last.inner else 0
        if own and late:
            return "no turn left", Code.TOO_DEEP
        if own in _TUNNEL_PORTS and last.end >= self.end:
            return "no byte left", Code.TUNNEL_TRUNCATED
        known, truncated = _following(last, any(h.kind == "ipv6" for h in self.kept if h.inner == last.inner))
        if not known or last.end < min(self.end, self.length):
            return None
        return ("no turn left", Code.TOO_DEEP) if late else ("no byte left", truncated)


def _following(last: Header, ipv6: bool) -> tuple[bool, int]:
    """Whether a header that the parser reads follows a tunnel's, an IP or an extension header, and its code if it isn't
    there."""
    if last.kind in TUNNELS:
        carries = last.fields["carries"]
        return carries in (0x6558, 0x0800, 0x86DD), Code.L2_TRUNCATED if carries == 0x6558 else Code.L3_TRUNCATED
    if last.kind not in ("ipv4", "ipv6", "extension"):
        return False, 0
    protocol = last.fields["protocol"]
    if protocol == 51 or (ipv6 and protocol in (0, 43, 44, 60)):
        return True, Code.EXT_TRUNCATED
    return protocol in (6, 17, 50, 58 if ipv6 else 1), Code.L4_TRUNCATED


def _limits(headers: list[Header], length: int, parse_bytes: int, tunnel: bool) -> tuple[list[Header], str, int]:
    """The headers that the parser must set, of those that tshark found; the rule that ends them early ("": none does);
    the code that the parser must give."""
    limits = _Limits(length, parse_bytes, tunnel)
    for header in headers:
        ends = limits.take(header)
        if ends:
            return limits.kept, *ends
        if header.fields.get("frag_offset"):
            # Neither goes on behind it. If tshark did, the comparison would show a layer that the parser hasn't set.
            return headers, "", 0
    return limits.kept, *(limits.behind() or ("", 0))


def _verdict(found: Dissection, kept: list[Header], length: int) -> tuple[int, str]:
    """The verdict on the L4 checksum that the parser must give; the rule that makes it another one than tshark's."""
    assert found.checksum is not None
    ip = next(header for header in kept if header.kind in ("ipv4", "ipv6"))
    last = kept[-1] if kept[-1].kind in ("tcp", "udp") else kept[-2]
    end = ip.start + ip.fields["l3_length"]
    if last.kind == "udp":
        end = last.start + last.fields["udp_length"]
    verdict = _CHECKSUM[found.checksum]
    if verdict in (1, 2):
        if any(header.fields.get("segments_left") for header in kept):
            return _UNKNOWN, "segments left"
        if end > length:
            return _UNKNOWN, "sum beyond the frame"
    return verdict, ""


def _own_port(udp: dict[str, int], tunnel: bool) -> int:
    """The port by which the parser reads on behind UDP, 0: none."""
    if udp["dst_port"] == 4791 or (tunnel and udp["dst_port"] in _TUNNEL_PORTS):
        return udp["dst_port"]
    return 4500 if 4500 in (udp["src_port"], udp["dst_port"]) else 0


def _lower_port(udp: dict[str, int], kinds: set[str], tunnel: bool) -> bool:
    """The parser reads on by one port of UDP, and tshark by the other, which is lower. kinds: tshark's headers."""
    own = _own_port(udp, tunnel)
    return own != 0 and min(udp["src_port"], udp["dst_port"]) != own and _KIND_BY_PORT[own] not in kinds


def _named(header: Header) -> dict[str, int]:
    """A header's fields by their own names in the metadata word."""
    fields = {name: value for name, value in header.fields.items() if name not in _AIDS}
    if not header.inner:
        return fields
    fields = {name: value for name, value in fields.items() if name not in _OUTSIDE_ONLY}
    return {f"inner_{name}" if name in _INNER else name: value for name, value in fields.items()}


def compare(
    frame: bytes, parsed: Parsed, found: Dissection, parse_bytes: int = 128, tunnel: bool = False
) -> Comparison:
    """Every field that tshark has a name for, in every header that both must have read. parse_bytes, tunnel: the
    parser's parameters."""
    result = Comparison()
    headers = [h for h in found.headers if tunnel or not (h.inner or h.kind in TUNNELS)]
    kept, rule, code = _limits(headers, len(frame), parse_bytes, tunnel)
    last = kept[-1].kind if kept else ""
    if not code and found.ended and parsed.parse_code in _STOPS.get(last, ()):
        rule, code = "both stop", parsed.parse_code
    outer = [header for header in kept if not header.inner and header.kind not in TUNNELS]
    udp = next((header.fields for header in outer if header.kind == "udp"), None)
    unlike = udp is not None and _lower_port(udp, {header.kind for header in kept}, tunnel)
    if unlike:
        rule, kept = "lower port", [header for header in outer if header.kind not in ("bth", "natt")]
        code = parsed.parse_code if parsed.parse_code in (*_STOPS["udp"], Code.TOO_DEEP) else 0
    expected: dict[str, int] = {"parse_code": code}
    # What is not set stays 0: so no layer may be there that tshark hasn't found.
    expected |= dict.fromkeys(_ZERO, 0)
    for header in kept:
        fields = _named(header)
        if header.kind == "extension":
            mask, fragment = (f"inner_{name}" if header.inner else name for name in ("ext_mask", "fragment"))
            fields[mask] = expected[mask] | fields.pop("bit")
            if fields.pop("segments_left", 0):
                fields["segments_left"] = 1
            if "frag_offset" in header.fields:
                piece = header.fields["frag_offset"] != 0 or header.fields["more_fragments"] != 0
                fields[fragment] = expected.get(fragment, 0) | int(piece)
        expected |= fields
    if unlike:
        for name in ("roce", "natt", "payload_offset", *_OF_TUNNELS):
            del expected[name]
    for name, value in expected.items():
        result.see(name, getattr(parsed, name), value)
    if rule:
        result.rules.append(rule)
    if expected["l3_kind"] and not code and not found.snapped:
        result.see("l3_beyond_frame", int(parsed.code == Code.L3_BEYOND_FRAME), int(found.beyond))
    if expected["l4_kind"] in (1, 2) and found.checksum is not None:
        verdict, rule = _verdict(found, [header for header in kept if header in outer], len(frame))
        result.see("checksum", parsed.user >> 8, verdict)
        if rule:
            result.rules.append(rule)
    return result
