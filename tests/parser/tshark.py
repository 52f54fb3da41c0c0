"""What tshark says of frames, in the parser's words: the outside oracle of block ``parser``.

``dissect`` hands frames to one tshark and reads its PDML, which gives each field with its place in the frame. So the
outermost headers are told apart from those in a tunnel and from packets quoted by ICMP, and offsets can be judged too.
Every frame is dissected alone: no reassembly, no streams, no heuristics about padding or FCS.
tests/parser/comparison.py holds it against what the parser says.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.parsers import expat

import numpy as np

from models.frames import Batch, Int64
from tb.replay.capture import write_pcap

__all__ = ["EXTENSIONS", "TUNNELS", "Dissection", "Header", "dissect"]

EXTENSIONS = {
    "ipv6.hopopts": 0,
    "ipv6.routing": 1,
    "ipv6.fraghdr": 2,
    "ipv6.dstopts": 3,
    "ah": 4,
}
"""Extension headers by tshark's names, with their bit in ``ext_mask``."""
TUNNELS = ("vxlan", "geneve")
"""Tunnels by tshark's names, in the order of ``tunnel_kind``, from 1."""

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
_SHOWN = "eth vlan ieee8021ad macc ip ipv6 ah tcp udp icmp icmpv6 esp infiniband udpencap isakmp vxlan geneve"
"""Protocols whose trees are asked for; IPv6 extension headers stand in that of IPv6."""
_PLAIN = bytes(byte if 32 <= byte < 127 or byte == 10 else 0x3F for byte in range(256))
"""tshark puts bytes of payloads into its XML that XML doesn't allow."""
_NO_HEADER = ("geninfo", "pkt_comment", "frame")
_ENDED = frozenset(("_ws.malformed", "_ws.short", "_ws.unreassembled"))


@dataclass
class _Tree:
    """A protocol of the dissection: its fields in order, as (name, place, value). nested: within another's tree."""

    name: str
    start: int
    nested: bool
    fields: list[tuple[str, int, str]] = field(default_factory=list)

    def find(self, name: str) -> int | None:
        """Value of the first field of that name."""
        return next((_number(value) for n, _, value in self.fields if n == name), None)

    def place(self, name: str) -> int:
        """Byte of the frame that the first field of that name, which is there, begins with."""
        return next(place for n, place, _ in self.fields if n == name)

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
    own length field; ``fields`` by the names of models/meta.py, those in a tunnel too (``inner``): without inner_."""

    kind: str
    start: int
    end: int
    fields: dict[str, int]
    inner: bool = False


@dataclass
class Dissection:
    """The outermost chain of headers of a frame and that in its tunnel, as far as tshark got.

    ended     it met the end of the bytes (malformed, or short in a snapped capture), or a bogus header
    checksum  its status of the outer L4 checksum, None: it has none
    beyond    it finds the outer IP packet longer than the frame was
    snapped   not all of the frame was captured
    """

    headers: list[Header] = field(default_factory=list)
    ended: bool = False
    checksum: int | None = None
    beyond: bool = False
    snapped: bool = False


_Layer = Callable[[Dissection, list[_Tree]], list[_Tree]]

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
                tree = _Tree(name, int(attributes.get("pos", 0)), self._depth > 3)
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
    """The headers outside and in a tunnel. A tree that the parser's chain doesn't go on to ends it."""
    found = Dissection(snapped=snapped)
    # What tshark finds wrong with a length it notes within the tree, and reads on.
    rest = [tree for tree in trees if tree.name not in _NO_HEADER and not (tree.nested and tree.name in _ENDED)]
    rest = _read(found, rest, (_link, _network, _transport, _above))
    if rest:
        carried = Dissection()
        bridged = found.headers[-1].fields["carries"] == 0x6558
        _read(carried, rest, (_link, _network, _transport) if bridged else (_network, _transport))
        found.headers += [replace(header, inner=True) for header in carried.headers if header.kind != "mac_control"]
        found.ended = carried.ended
    found.ended = found.ended or any(tree.name in _ENDED for tree in trees)
    return found


def _read(found: Dissection, rest: list[_Tree], layers: Sequence[_Layer]) -> list[_Tree]:
    """Layer by layer; what is left behind the last one, if the chain leads on."""
    for layer in layers:
        if not rest:
            break
        rest = layer(found, rest)
    return rest


def _link(found: Dissection, rest: list[_Tree]) -> list[_Tree]:
    if not rest or rest[0].name != "eth":
        return []
    ethernet = rest.pop(0)
    tags: list[dict[str, int]] = []
    kind, end = ethernet.find("eth.type"), ethernet.start + 14
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
                end = place + 4
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
    found.headers.append(Header("ethernet", ethernet.start, end, fields))
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
    fields |= {"protocol_offset": tree.place("ip.proto"), "l3_payload_offset": tree.start + size}
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
    fields |= {"protocol_offset": tree.place("ipv6.nxt"), "l3_payload_offset": tree.start + 40}
    found.headers.append(Header("ipv6", tree.start, tree.start + 40, fields))
    return True


def _extension(found: Dissection, tree: _Tree) -> bool:
    name = "ah.next_header" if tree.name == "ah" else f"{tree.name}.nxt"
    after = tree.find(name)
    if tree.name == "ah":
        length = tree.find("ah.length")
        size = None if length is None else (length + 2) * 4
    else:
        size = tree.find(f"{tree.name}.len_oct")
        if tree.name == "ipv6.fraghdr":
            size = 8
    if after is None or size is None:
        return False
    fields = {"bit": 1 << EXTENSIONS[tree.name], "protocol": after}
    fields |= {"protocol_offset": tree.place(name), "l3_payload_offset": tree.start + size}
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
    elif tree.name in TUNNELS:
        if not _tunnel(found, tree):
            return _cut(found)
        return rest if found.headers[-1].fields["carries"] in (0x6558, 0x0800, 0x86DD) else []
    return []


def _tunnel(found: Dissection, tree: _Tree) -> bool:
    """``carries``: the type of what is inside; ``refused``: the parser takes no such header."""
    names = {"tunnel_flags": f"{tree.name}.flags", "vni": f"{tree.name}.vni"}
    end = tree.start + 8
    if tree.name == "geneve":
        names |= {"carries": "geneve.proto_type", "refused": "geneve.version"}
        end += tree.find("geneve.option.length") or 0
    fields = _taken(tree, names)
    if fields is None:
        return False
    if tree.name == "vxlan":
        flags = fields["tunnel_flags"] >> 8
        fields |= {"tunnel_flags": flags, "carries": 0x6558, "refused": int(not flags & 8)}
    elif fields["carries"] != 0x6558:
        fields["inner_ethertype"] = fields["carries"]
    fields |= {"tunnel_kind": 1 + TUNNELS.index(tree.name), "payload_offset": end}
    found.headers.append(Header(tree.name, tree.start, end, fields))
    return True
