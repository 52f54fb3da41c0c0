"""What tshark says of frames, in the parser's words: the outside oracle of block ``parser``.

``dissect`` hands frames to one tshark and reads its PDML, which gives each field with its place in the frame. So the
outermost headers are told apart from those of tunnels and of packets quoted by ICMP, and offsets are judged too. Every
frame is dissected alone: no reassembly, no streams, no heuristics about padding or FCS.

``compare`` holds a ``Parsed`` against a ``Dissection``. Where docs/parser.md ends the chain and tshark goes on, or the
other way round, one of the rules of ``RULES`` says why, and is counted; a difference that none explains is one.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np

from models.frames import Batch, Int64
from models.meta import Code
from models.parser import Parsed
from tb.replay.capture import write_pcap

__all__ = ["RULES", "Comparison", "Dissection", "Header", "compare", "dissect"]

PARSE_BYTES = 128
EXTENSIONS = {
    "ipv6.hopopts": 0,
    "ipv6.routing": 1,
    "ipv6.fraghdr": 2,
    "ipv6.dstopts": 3,
    "ah": 4,
}
"""Extension headers by tshark's names, with their bit in ``ext_mask``."""

_OPTIONS = (
    "ip.defragment:FALSE",
    "ipv6.defragment:FALSE",
    "tcp.desegment_tcp_streams:FALSE",
    "tcp.analyze_sequence_numbers:FALSE",
    "ip.check_checksum:TRUE",
    "udp.check_checksum:TRUE",
    "tcp.check_checksum:TRUE",
    "ip.tso_support:FALSE",
    "ipv6.tso_support:FALSE",
    "eth.fcs:Never",
    "eth.padding:Never",
    "esp.do_esp_sequence_analysis:FALSE",
    "udp.ignore_ipv6_zero_checksum:FALSE",
    # Another type of tag than the two that the parser knows; 0x88A8 is a tag anyway.
    "vlan.qinq_ethertype:0x88a8",
)
_SHOWN = "eth vlan ieee8021ad macc ip ipv6 ah tcp udp icmp icmpv6 esp infiniband udpencap isakmp"
"""Protocols whose trees are asked for; IPv6 extension headers stand in that of IPv6."""
_PLAIN = bytes(byte if 32 <= byte < 127 or byte == 10 else 0x3F for byte in range(256))
"""tshark puts bytes of payloads into its XML that XML doesn't allow."""
_ENDED = frozenset(("_ws.malformed", "_ws.short", "_ws.unreassembled"))


@dataclass
class _Tree:
    """A protocol of the dissection: its fields in order, as (name, place, value)."""

    name: str
    start: int
    fields: list[tuple[str, int, str]] = field(default_factory=list)

    def find(self, name: str) -> int | None:
        """Value of the first field of that name."""
        return next((_number(value) for n, _, value in self.fields if n == name), None)

    def has(self, name: str) -> bool:
        """Whether there is such a field, with or without a value."""
        return any(n == name for n, _, _ in self.fields)


def _number(shown: str) -> int:
    """tshark shows numbers in decimal, in hex, as MAC addresses and as IP addresses; raw bytes come as hex."""
    if shown.startswith("bytes "):
        return int(shown[6:], 16)
    return int(shown, 0)


@dataclass(frozen=True)
class Header:
    """A header that tshark found. ``kind`` is the parser's layer; ``end`` is its first byte behind it, by the header's
    own length field; ``fields`` by the names of models/meta.py."""

    kind: str
    start: int
    end: int
    fields: dict[str, int]


@dataclass
class Dissection:
    """The outermost chain of headers of a frame, as far as tshark got.

    ended     it met the end of the bytes (malformed, or short in a snapped capture), or a bogus header
    checksum  its status of the L4 checksum, None: it has none
    beyond    it finds the IP packet longer than the frame was
    snapped   not all of the frame was captured
    """

    headers: list[Header] = field(default_factory=list)
    ended: bool = False
    checksum: int | None = None
    beyond: bool = False
    snapped: bool = False


# Reading PDML


class _Reader:
    """Callbacks of expat: collects the trees of a packet that matter, in their order."""

    _BYTES = frozenset(("eth.dst", "eth.src", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "infiniband.reserved"))

    def __init__(self) -> None:
        self.packets: list[list[_Tree]] = []
        self._depth = 0
        self._open: list[tuple[int, _Tree]] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if tag == "field":
            if self._open:
                name = attributes["name"]
                tree = self._open[-1][1]
                if name.startswith(tree.name) or name.startswith(("ieee8021ah.etype", "infiniband.", "udpencap.")):
                    value = (
                        "bytes " + attributes.get("value", "") if name in self._BYTES else attributes.get("show", "")
                    )
                    tree.fields.append((name, int(attributes["pos"]), value))
        elif tag == "packet":
            self.packets.append([])
        elif tag == "proto":
            name = attributes["name"]
            # Below the top level only extension headers are headers of the frame: ICMP quotes whole packets.
            if self._depth == 3 or name in EXTENSIONS or name in _ENDED:
                tree = _Tree(name, int(attributes.get("pos", 0)))
                self.packets[-1].append(tree)
                self._open.append((self._depth, tree))

    def end(self, tag: str) -> None:
        if self._open and self._open[-1][0] == self._depth:
            self._open.pop()
        self._depth -= 1


def dissect(batch: Batch, original_length: Int64 | None = None) -> list[Dissection]:
    """What tshark says of each frame, in order. ``original_length``: of snapped frames.

    subprocess.CalledProcessError: tshark failed.
    """
    lengths = batch.lengths if original_length is None else original_length
    still = Batch.of_arrays(batch.data, batch.lengths, port=0, edge=0, time_ns=0, queue=0, bad=0, flags=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frames.pcap"
        write_pcap(path, still, original_length=lengths)
        command = ["tshark", "-n", "-r", str(path), "-T", "pdml", "-J", _SHOWN]
        for option in _OPTIONS:
            command += ["-o", option]
        reader = _Reader()
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
        with (Path(folder) / "stderr").open("w+") as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
            assert process.stdout is not None
            while chunk := process.stdout.read(1 << 20):
                parser.Parse(chunk.translate(_PLAIN))
            parser.Parse(b"", True)
            if process.wait():
                errors.seek(0)
                raise subprocess.CalledProcessError(process.returncode, command, stderr=errors.read())
    assert len(reader.packets) == len(batch), f"tshark gave {len(reader.packets)} of {len(batch)} frames"
    snapped = (np.asarray(lengths) > batch.lengths).tolist()
    return [_chain(trees, cut) for trees, cut in zip(reader.packets, snapped, strict=True)]


def _chain(trees: list[_Tree], snapped: bool) -> Dissection:
    """The outermost headers. A tree that the parser's chain doesn't go on to ends it."""
    found = Dissection(snapped=snapped)
    rest = [tree for tree in trees if tree.name not in ("geninfo", "pkt_comment", "frame")]
    for build in (_link, _network, _transport, _above):
        rest = build(found, rest)
        if not rest:
            break
    found.ended = found.ended or any(tree.name in _ENDED for tree in trees)
    return found


def _link(found: Dissection, rest: list[_Tree]) -> list[_Tree]:
    if not rest or rest[0].name != "eth":
        return []
    ethernet = rest.pop(0)
    tags: list[dict[str, int]] = []
    kind, size = ethernet.find("eth.type"), 14
    if kind is None:
        kind = ethernet.find("eth.len")
    if kind is None:
        kind = ethernet.find("eth.invalid_lentype")
    types = [kind]
    while rest and rest[0].name in ("vlan", "ieee8021ad"):
        for name, place, value in rest.pop(0).fields:
            part = name.rpartition(".")[2]
            if part == "priority":
                tags.append({"tci": _number(value) << 13})
                size = place + 4
            elif part in ("dei", "cfi"):
                tags[-1]["tci"] |= _number(value) << 12
            elif part in ("id", "svid", "cvid") and not name.endswith("id_name"):
                tags[-1]["tci"] |= _number(value)
            elif part in ("etype", "len"):
                kind = _number(value)
                types.append(kind)
    fields = _taken(ethernet, {"dst_mac": "eth.dst", "src_mac": "eth.src"})
    # A tag that is cut shows up as a type without what it announces.
    if fields is None or kind is None or kind in (0x8100, 0x88A8):
        return _cut(found)
    fields |= {"vlan_count": len(tags), "ethertype": kind}
    for number, tag in enumerate(tags[:2]):
        fields[f"vlan{number}"] = tag["tci"]
    if tags:
        fields["vlan0_ad"] = int(types[0] == 0x88A8)
    if len(tags) == 2 and len(types) == 3:  # of two tags in a row behind 0x88A8 tshark doesn't show the second type
        fields["vlan1_ad"] = int(types[1] == 0x88A8)
    found.headers.append(Header("ethernet", 0, size, fields))
    return rest


def _network(found: Dissection, rest: list[_Tree]) -> list[_Tree]:
    tree = rest.pop(0)
    at = tree.start
    if tree.name == "macc":
        opcode = tree.find("macc.opcode")
        if opcode is None:
            return _cut(found)
        found.headers.append(Header("mac_control", at, at + 2, {"mac_control": 1, "mac_opcode": opcode}))
        return []
    if tree.name not in ("ip", "ipv6"):
        return []
    if not (_ipv4 if tree.name == "ip" else _ipv6)(found, tree):
        return _cut(found)
    while rest and rest[0].name in EXTENSIONS and (tree.name == "ipv6" or rest[0].name == "ah"):
        if rest[0].start != found.headers[-1].end:
            return []
        if not _extension(found, rest.pop(0)):
            return _cut(found)
    # What doesn't begin where the last one ended stands behind a header whose tree wasn't asked for (HIP, Shim6).
    return rest if rest and rest[0].start == found.headers[-1].end else []


def _cut(found: Dissection) -> list[_Tree]:
    """The chain ends with a header that isn't there in full, or is bogus."""
    found.ended = True
    return []


def _taken(tree: _Tree, names: dict[str, str]) -> dict[str, int] | None:
    """Fields of a tree by the parser's names; None: tshark hasn't got to all of them."""
    fields = {}
    for own, name in names.items():
        value = tree.find(name)
        if value is None:
            return None
        fields[own] = value
    return fields


def _ipv4(found: Dissection, tree: _Tree) -> bool:
    names = {
        "l3_length": "ip.len",
        "dscp": "ip.dsfield.dscp",
        "ecn": "ip.dsfield.ecn",
        "dont_fragment": "ip.flags.df",
        "more_fragments": "ip.flags.mf",
        "frag_offset": "ip.frag_offset",
        "ttl": "ip.ttl",
        "protocol": "ip.proto",
        "ip_src": "ip.src",
        "ip_dst": "ip.dst",
    }
    fields = _taken(tree, names)
    size, status = tree.find("ip.hdr_len"), tree.find("ip.checksum.status")
    if fields is None or size is None or tree.find("ip.version") != 4:
        return False
    fields |= {"l3_kind": 1, "l3_offset": tree.start, "ip_options": int(size > 20)}
    fields["fragment"] = int(fields["frag_offset"] != 0 or fields["more_fragments"] != 0)
    if status in (0, 1):
        fields["ip_checksum"] = 1 if status else 2
    found.beyond = tree.has("ip.bogus_ip_length")
    found.headers.append(Header("ipv4", tree.start, tree.start + size, fields))
    return True


def _ipv6(found: Dissection, tree: _Tree) -> bool:
    names = {
        "l3_length": "ipv6.plen",
        "dscp": "ipv6.tclass.dscp",
        "ecn": "ipv6.tclass.ecn",
        "ttl": "ipv6.hlim",
        "protocol": "ipv6.nxt",
        "ip_src": "ipv6.src",
        "ip_dst": "ipv6.dst",
    }
    fields = _taken(tree, names)
    if fields is None or tree.find("ipv6.version") != 6:
        return False
    fields["l3_length"] += 40
    found.beyond = tree.has("ipv6.plen_exceeds_framing")
    fields |= {"l3_kind": 2, "l3_offset": tree.start}
    found.headers.append(Header("ipv6", tree.start, tree.start + 40, fields))
    return True


def _extension(found: Dissection, tree: _Tree) -> bool:
    if tree.name == "ah":
        after, length = tree.find("ah.next_header"), tree.find("ah.length")
        size = None if length is None else (length + 2) * 4
    else:
        after, size = tree.find(f"{tree.name}.nxt"), tree.find(f"{tree.name}.len_oct")
        if tree.name == "ipv6.fraghdr":
            size = 8
    if after is None or size is None:
        return False
    fields = {"bit": 1 << EXTENSIONS[tree.name], "protocol": after}
    if tree.name == "ipv6.routing":
        left = tree.find("ipv6.routing.segleft")
        if left is None:
            return False
        fields["segments_left"] = left
    if tree.name == "ipv6.fraghdr":
        offset, more = tree.find("ipv6.fraghdr.offset"), tree.find("ipv6.fraghdr.more")
        if offset is None or more is None:
            return False
        fields |= {"frag_offset": offset, "more_fragments": more}
    found.headers.append(Header("extension", tree.start, tree.start + size, fields))
    return True


def _transport(found: Dissection, rest: list[_Tree]) -> list[_Tree]:
    tree = rest.pop(0)
    at = tree.start
    size, kind = 8, {"tcp": 1, "udp": 2, "icmp": 3, "icmpv6": 4, "esp": 5}.get(tree.name)
    if kind is None:
        return []
    names = {
        "tcp": {"src_port": "tcp.srcport", "dst_port": "tcp.dstport", "tcp_flags": "tcp.flags"},
        "udp": {"src_port": "udp.srcport", "dst_port": "udp.dstport", "udp_length": "udp.length"},
        "icmp": {"icmp_type": "icmp.type", "icmp_code": "icmp.code"},
        "icmpv6": {"icmp_type": "icmpv6.type", "icmp_code": "icmpv6.code"},
        "esp": {"spi": "esp.spi", "esp_seq": "esp.sequence"},
    }[tree.name]
    fields = _taken(tree, names)
    if tree.name == "tcp":
        length = tree.find("tcp.hdr_len")
        if length is None or length < 20:
            return _cut(found)
        size = length
    if fields is None:
        return _cut(found)
    if tree.name in ("tcp", "udp"):
        found.checksum = tree.find(f"{tree.name}.checksum.status")
    fields |= {"l4_kind": kind, "l4_offset": at, "payload_offset": at + size}
    found.headers.append(Header(tree.name, at, at + size, fields))
    return rest if tree.name == "udp" else []


def _above(found: Dissection, rest: list[_Tree]) -> list[_Tree]:
    tree = rest.pop(0)
    at = tree.start
    if tree.name == "infiniband":
        names = {
            "bth_opcode": "infiniband.bth.opcode",
            "bth_pkey": "infiniband.bth.p_key",
            "bth_dest_qp": "infiniband.bth.destqp",
            "bth_ack_req": "infiniband.bth.a",
            "bth_psn": "infiniband.bth.psn",
        }
        fields = _taken(tree, names)
        shifts = {"se": 7, "m": 6, "padcnt": 4, "tver": 0}
        flags = {shift: tree.find(f"infiniband.bth.{name}") for name, shift in shifts.items()}
        congestion = tree.find("infiniband.reserved")
        if fields is None or congestion is None:
            return _cut(found)
        fields["bth_flags"] = sum(value << shift for shift, value in flags.items() if value is not None)
        fields |= {"bth_fecn": congestion >> 7, "bth_becn": congestion >> 6 & 1, "roce": 1}
        fields["payload_offset"] = at + 12
        found.headers.append(Header("bth", at, at + 12, fields))
    elif tree.name == "udpencap":
        if tree.has("udpencap.nat_keepalive"):
            found.headers.append(Header("natt", at, at + 1, {"natt": 3}))
        elif tree.has("udpencap.non_esp_marker"):
            found.headers.append(Header("natt", at, at + 4, {"natt": 2}))
        elif rest and rest[0].name == "esp":
            esp = rest[0]
            fields = _taken(esp, {"spi": "esp.spi", "esp_seq": "esp.sequence"})
            if fields is None:
                return _cut(found)
            fields |= {"natt": 1, "payload_offset": esp.start + 8}
            found.headers.append(Header("natt", at, esp.start + 8, fields))
        else:
            return _cut(found)
    return []


# Comparison

RULES: dict[str, str] = {
    "third tag": "docs/parser.md reads two tags; a third is too_deep, and nothing of the link layer is set",
    "fifth extension header": "docs/parser.md reads four",
    "beyond PARSE_BYTES": "the header ends behind byte 128: too_deep",
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
}
"""Why the chains may end at different headers, where a code is predicted from what tshark shows, and where a checksum
isn't judged by both. Each is applied only where what tshark shows says so, but for "both stop"."""

_FIXED = {"mac_control": 2, "ipv4": 20, "ipv6": 40, "extension": 8, "tcp": 20, "bth": 12}
_TRUNCATED = {
    "ethernet": Code.L2_TRUNCATED,
    "mac_control": Code.L3_TRUNCATED,
    "ipv4": Code.L3_TRUNCATED,
    "ipv6": Code.L3_TRUNCATED,
    "extension": Code.EXT_TRUNCATED,
    "bth": Code.BTH_TRUNCATED,
    "natt": Code.ESP_TRUNCATED,
}
_ABOVE_IP = (Code.EXT_TRUNCATED, Code.L4_TRUNCATED, Code.BAD_TCP_OFFSET, Code.BAD_UDP_LENGTH)
_STOPS: dict[str, tuple[Code, ...]] = {
    "": (Code.L2_TRUNCATED,),
    "ethernet": (Code.L3_TRUNCATED, Code.BAD_IP_VERSION, Code.BAD_IHL, Code.BAD_L3_LENGTH),
    "ipv4": _ABOVE_IP,
    "ipv6": _ABOVE_IP,
    "extension": _ABOVE_IP,
    "udp": (Code.BTH_TRUNCATED, Code.ESP_TRUNCATED),
}
"""By the last header that both have: codes that the next one may fail with."""
_CHECKSUM = {0: 2, 1: 1, 2: 3, 3: 0, 4: 0}
"""tshark's checksum status (bad, good, unverified, not present, illegal: a zero over IPv6) as ``tuser[9:8]``."""
_UNKNOWN = 3
_TURNS = PARSE_BYTES // 16 + 2


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


def _limits(found: Dissection, length: int) -> tuple[list[Header], str, int]:
    """The headers that the parser must set, of those that tshark found; the rule that ends them early ("": none does);
    the code that the parser must give."""
    kept: list[Header] = []
    l3_end = 1 << 30
    fragment = False
    turn = 0
    for header in found.headers:
        truncated = _TRUNCATED.get(header.kind, Code.L4_TRUNCATED)
        if header.kind == "ethernet" and header.fields["vlan_count"] > 2:
            return kept, "third tag", Code.TOO_DEEP
        if header.kind == "extension" and sum(h.kind == "extension" for h in kept) == 4:
            return kept, "fifth extension header", Code.TOO_DEEP
        if header.kind in ("icmp", "icmpv6") and (header.kind == "icmp") != any(h.kind == "ipv4" for h in kept):
            return kept, "ICMP of the other version", 0
        if turn == _TURNS:
            return kept, "no turn left", Code.TOO_DEEP
        if header.fields.get("natt") == 3 and kept[-1].fields["udp_length"] != 9:
            return kept, "keepalive", Code.ESP_TRUNCATED if kept[-1].fields["udp_length"] >= 12 else 0
        for end in (header.start + _FIXED.get(header.kind, 0), header.end):
            if end > l3_end:
                return kept, "beyond the IP packet", truncated
            if end > PARSE_BYTES:
                return kept, "beyond PARSE_BYTES", Code.TOO_DEEP
            if end > length:
                return kept, "beyond the frame", truncated
        if header.kind == "udp":
            udp_length = header.fields["udp_length"]
            if udp_length < 8 or (not fragment and header.start + udp_length > l3_end):
                return kept, "bad UDP length", Code.BAD_UDP_LENGTH
        kept.append(header)
        turn = max(turn, (header.end - 1) // 16) + 1
        if header.kind in ("ipv4", "ipv6"):
            l3_end = header.start + header.fields["l3_length"]
        if header.fields.get("frag_offset"):
            # Neither goes on behind it. If tshark did, the comparison would show a layer that the parser hasn't set.
            return found.headers, "", 0
        fragment = fragment or bool(header.fields.get("more_fragments"))
    if turn == _TURNS and kept[-1].kind == "udp" and _own_port(kept[-1].fields):
        return kept, "no turn left", Code.TOO_DEEP
    if kept and kept[-1].kind in ("ipv4", "ipv6", "extension") and kept[-1].end >= min(l3_end, length):
        protocol, ipv6 = kept[-1].fields["protocol"], any(h.kind == "ipv6" for h in kept)
        known = protocol in (51, 6, 17, 50) or protocol in ((0, 43, 44, 60, 58) if ipv6 else (1,))
        if known and turn == _TURNS:
            return kept, "no turn left", Code.TOO_DEEP
        if protocol == 51 or (ipv6 and protocol in (0, 43, 44, 60)):
            return kept, "no byte left", Code.EXT_TRUNCATED
        if protocol in (6, 17, 50, 58 if ipv6 else 1):
            return kept, "no byte left", Code.L4_TRUNCATED
    return kept, "", 0


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


def _own_port(udp: dict[str, int]) -> int:
    """The port by which the parser reads on behind UDP, 0: none."""
    if udp["dst_port"] == 4791:
        return 4791
    return 4500 if 4500 in (udp["src_port"], udp["dst_port"]) else 0


def _lower_port(udp: dict[str, int], last: str) -> bool:
    """The parser reads on by one port of UDP, and tshark by the other, which is lower. last: tshark's last header."""
    own = _own_port(udp)
    return own != 0 and min(udp["src_port"], udp["dst_port"]) != own and last != ("bth" if own == 4791 else "natt")


def compare(frame: bytes, parsed: Parsed, found: Dissection) -> Comparison:
    """Every field that tshark has a name for, in every header that both must have read."""
    result = Comparison()
    kept, rule, code = _limits(found, len(frame))
    last = kept[-1].kind if kept else ""
    if not code and found.ended and parsed.parse_code in _STOPS.get(last, ()):
        rule, code = "both stop", parsed.parse_code
    udp = next((header.fields for header in kept if header.kind == "udp"), None)
    unlike = udp is not None and _lower_port(udp, kept[-1].kind)
    if unlike:
        rule, kept = "lower port", [header for header in kept if header.kind not in ("bth", "natt")]
        code = parsed.parse_code if parsed.parse_code in (*_STOPS["udp"], Code.TOO_DEEP) else 0
    expected: dict[str, int] = {"parse_code": code}
    # What is not set stays 0: so no layer may be there that tshark hasn't found.
    expected |= dict.fromkeys(("vlan_count", "mac_control", "l3_kind", "ext_mask", "l4_kind", "roce", "natt"), 0)
    for header in kept:
        fields = dict(header.fields)
        if header.kind == "extension":
            fields["ext_mask"] = expected["ext_mask"] | fields.pop("bit")
            fields.pop("segments_left", None)
            if "frag_offset" in fields:
                piece = fields["frag_offset"] != 0 or fields["more_fragments"] != 0
                fields["fragment"] = expected.get("fragment", 0) | int(piece)
        expected |= fields
    if unlike:
        for name in ("roce", "natt", "payload_offset"):
            del expected[name]
    for name, value in expected.items():
        result.see(name, getattr(parsed, name), value)
    if rule:
        result.rules.append(rule)
    if expected["l3_kind"] and not code and not found.snapped:
        result.see("l3_beyond_frame", int(parsed.code == Code.L3_BEYOND_FRAME), int(found.beyond))
    if expected["l4_kind"] in (1, 2) and found.checksum is not None:
        verdict, rule = _verdict(found, kept, len(frame))
        result.see("checksum", parsed.user >> 8, verdict)
        if rule:
            result.rules.append(rule)
    return result
