"""Batch form of the parser's model: the same as models/parser.py, for a million frames in seconds.

The walk is that of ``ParserModel``, in the same order, with arrays of frame indices in place of one frame: a layer
takes the frames whose chain leads to it, asks for their bytes, fails some and sets the fields of the rest. Frames are
walked some thousands at a time, so that what a layer touches stays in the cache. What all of them reach is copied
whole, not picked, since most frames of most traffic take one way. In a tunnel the layers find other arrays under the
same names. Section numbers stand in models/parser.py.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from models.frames import BEAT_BYTES, Batch, Int64, UInt8
from models.meta import FIELDS, Code
from models.parser import (
    EXTENSION_BIT,
    GENEVE_PORT,
    INNER_FIELDS,
    MOST_EXTENSIONS,
    NATT_PORT,
    ROCE_PORT,
    VXLAN_PORT,
    ChecksumVerdict,
    EtherType,
    L3Kind,
    L4Kind,
    NatT,
    ParserModel,
    Protocol,
    TunnelKind,
    last_turn,
)

__all__ = ["MOST_INNER_LAYERS", "MOST_LAYERS", "parse_batch"]

Columns: TypeAlias = dict[str, NDArray[Any]]
Bools: TypeAlias = NDArray[np.bool_]

MOST_LAYERS = 2 + MOST_EXTENSIONS + 2
"""Ethernet, IP, extension headers, L4 or one extension header too many, BTH, NAT-T or a tunnel's header."""
MOST_INNER_LAYERS = 2 + MOST_EXTENSIONS + 1
"""In a tunnel: Ethernet, IP, extension headers, L4 or one extension header too many."""

_CHUNK_FRAMES = 16384
_CHUNK_BYTES = 1 << 24
_MARGIN = 64
"""Bytes that a layer may read behind the frame's end before it knows that they aren't the frame's."""
_UNBOUNDED = 1 << 30
_OUTSIDE_ONLY = ("addresses", "segments_left", "protocol_offset", "l3_payload_offset")
"""What layers in a tunnel set to no effect: it has one place, for the headers outside."""


def parse_batch(batch: Batch, parse_bytes: int = 128, drop: int = 0, tunnel: bool = False) -> Columns:
    """``ParserModel(parse_bytes, drop, tunnel).parse(frame, bad)`` of every frame, with ``batch.bad``.

    By name, n entries each: the parser's fields of models/meta.py as the smallest unsigned type that holds them, the
    addresses of IP as uint64[n, 2] (high half, low half); ``code`` uint8, ``user`` uint16, ``layers``
    int16[n, MOST_LAYERS], with ``tunnel`` MOST_INNER_LAYERS more (-1 behind the last layer), ``latency_cycles`` int64.
    ValueError: a frame without a byte, or what ParserModel refuses.
    """
    model = ParserModel(parse_bytes, drop, tunnel)
    n = len(batch)
    if n and not batch.lengths.min():
        raise ValueError(f"frame {int(np.argmin(batch.lengths))}: a frame has at least one byte")
    columns = _columns(n, MOST_LAYERS + MOST_INNER_LAYERS * tunnel)
    for first, last in _chunks(batch.offset):
        part = {name: column[first:last] for name, column in columns.items()}
        _Walk(part, batch, first, last, model).run(batch.bad[first:last])
    return columns


def _columns(n: int, most_layers: int) -> Columns:
    columns: Columns = {}
    for field in FIELDS:
        if field.writer != "parser":
            continue
        if field.width > 64:
            columns[field.name] = np.zeros((n, 2), np.uint64)
        else:
            columns[field.name] = np.zeros(n, np.min_scalar_type((1 << field.width) - 1))
    columns["code"] = np.zeros(n, np.uint8)
    columns["user"] = np.zeros(n, np.uint16)
    columns["layers"] = np.full((n, most_layers), -1, np.int16)
    columns["latency_cycles"] = np.zeros(n, np.int64)
    return columns


def _chunks(offset: Int64) -> list[tuple[int, int]]:
    """Ranges of frames with few frames and few bytes each, at least one frame."""
    n, chunks, first = len(offset) - 1, [], 0
    while first < n:
        full = int(np.searchsorted(offset, offset[first] + _CHUNK_BYTES, "right")) - 1
        last = max(first + 1, min(first + _CHUNK_FRAMES, full, n))
        chunks.append((first, last))
        first = last
    return chunks


class _Walk:
    """Some frames' way through the header chain. All arrays have an entry a frame; a layer's methods take the indices
    of the frames that reach it, which rise."""

    def __init__(self, columns: Columns, batch: Batch, first: int, last: int, model: ParserModel) -> None:
        n = last - first
        self.model = model
        self.columns: Columns = columns | {"addresses": np.zeros(n, np.int64)}
        """The arrays that layers set, by the names that layers use: in a tunnel others than outside. ``addresses`` is
        the sum of the 16-bit words of both IP addresses, for the pseudo-header."""
        self.inside = False
        """The layers in hand are in a tunnel."""
        self.whole: Bools = np.ones(n, np.bool_)
        """The tunnel's packet is no piece of one: all that is in the tunnel is there."""
        parse_bytes = model.parse_bytes
        self.last_turn = last_turn(parse_bytes)
        low = int(batch.offset[first]) & ~1
        high = int(batch.offset[last])
        data = batch.data[low : high + _MARGIN + parse_bytes]
        missing = high + _MARGIN + parse_bytes - low - len(data)
        self.data: UInt8 = np.concatenate([data, np.zeros(missing, np.uint8)]) if missing else data
        self.start: Int64 = batch.offset[first:last] - low
        self.length: Int64 = batch.lengths[first:last]
        self.pos: Int64 = np.zeros(n, np.int64)
        self.decided: Int64 = np.zeros(n, np.int64)
        self.end: Int64 = np.full(n, _UNBOUNDED, np.int64)
        self.reach: Int64 = np.minimum(self.length, parse_bytes)
        """Bytes of the frame that the parser may read."""
        self.count: Int64 = np.zeros(n, np.int64)
        self.time: Int64 = np.zeros(n, np.int64)

    def run(self, bad: UInt8) -> None:
        """From the frames' first bytes to ``tuser`` and the time."""
        in_udp = self._network(self._ethernet(np.arange(len(self.start))))
        if self.model.tunnel:
            self._tunnels(in_udp)
        columns, drop = self.columns, self.model.drop
        code = columns["code"]
        code[:] = columns["parse_code"]
        l3_end = columns["l3_offset"].astype(np.int64) + columns["l3_length"]
        code[(code == 0) & (columns["l3_kind"] != 0) & (l3_end > self.length)] = Code.L3_BEYOND_FRAME
        mark = np.where(bad != 0, bad.astype(np.uint16), code.astype(np.uint16) << 1 | _drops(drop)[code])
        columns["user"][:] = self._l4_checksum(l3_end, bad != 0) << 8 | mark
        columns["latency_cycles"][:] = self.time + 2

    # What every layer uses

    def pick(self, values: NDArray[Any], index: Int64) -> NDArray[Any]:
        """``values[index]``; of all frames the array itself."""
        return values if len(index) == len(self.start) else values[index]

    def put(self, values: NDArray[Any], index: Int64, new: NDArray[Any] | int) -> None:
        """``values[index] = new``."""
        if len(index) == len(self.start):
            values[...] = new
        else:
            # To convert on the way takes more than twice as long.
            values[index] = new.astype(values.dtype, copy=False) if isinstance(new, np.ndarray) else new

    def read(self, index: Int64, n: int, at: Int64 | None = None) -> UInt8:
        """uint8[len(index), n]: bytes from the layer's first on, or from byte ``at`` of the frames."""
        where = self.pick(self.start, index) + (self.pick(self.pos, index) if at is None else at)
        windows = np.ndarray((len(self.data) - n + 1, n), np.uint8, self.data, strides=(1, 1))
        raw: UInt8 = windows[where]
        return raw

    def set(self, index: Int64, **fields: NDArray[Any] | int) -> None:
        """Set fields of these frames."""
        for name, value in fields.items():
            self.put(self.columns[name], index, value)

    def get(self, name: str, index: Int64) -> Int64:
        """A field of these frames."""
        return self.pick(self.columns[name], index).astype(np.int64)

    def bound(self, index: Int64, end: Int64) -> None:
        """What these frames' chain may read ends at byte ``end``, if it didn't before it."""
        self.put(self.end, index, np.minimum(self.pick(self.end, index), end))

    def ask(self, index: Int64, n: Int64 | int, truncated: Code) -> Bools:
        """Ask for bytes ``pos .. pos+n-1``; which frames have room. The others fail."""
        end = self.pick(self.pos, index) + n
        bound = self.pick(self.end, index)
        room: Bools = end <= np.minimum(bound, self.pick(self.reach, index))
        if room.all():
            self.put(self.decided, index, (end - 1) // BEAT_BYTES)
            return room
        self.decided[index[room]] = (end[room] - 1) // BEAT_BYTES
        beyond = end > bound
        deep = ~beyond & (end > self.model.parse_bytes)
        short = ~beyond & ~deep & (end > self.length[index])
        cut = index[short]
        self.decided[cut] = (self.length[cut] - 1) // BEAT_BYTES
        self.fail(index[beyond | short], truncated)
        self.fail(index[deep], Code.TOO_DEEP)
        return room

    def fail(self, index: Int64, code: Code) -> None:
        """The layer fails in these frames."""
        if len(index):
            self.columns["parse_code"][index] = int(code)
            self.done(index)

    def done(self, index: Int64) -> None:
        """The layer is decided in these frames."""
        if not len(index):
            return
        beat, count, time = (self.pick(values, index) for values in (self.decided, self.count, self.time))
        self.put(self.time, index, np.maximum(time, beat) + 1)
        if (count == count[0]).all():
            self.put(self.columns["layers"][:, count[0]], index, beat)
        else:
            self.columns["layers"][index, count] = beat
        self.put(self.count, index, count + 1)

    def begin(self, index: Int64) -> Int64:
        """The frames among these, whose chain leads to another layer, that have a turn for it. The others fail."""
        late: Bools = self.pick(self.time, index) == self.last_turn
        if not late.any():
            return index
        self.columns["parse_code"][index[late]] = int(Code.TOO_DEEP)
        in_time: Int64 = index[~late]
        return in_time

    def _network(self, index: Int64) -> Int64:
        """What the EtherType leads to, and all that follows; the frames with something in UDP that may be a tunnel."""
        ethertype = self.get("ethertype", index)
        if not self.inside:
            self._mac_control(index[ethertype == EtherType.MAC_CONTROL])
        index = _union(self._ipv4(index[ethertype == EtherType.IPV4]), self._ipv6(index[ethertype == EtherType.IPV6]))
        self.bound(index, self.get("l3_offset", index) + self.get("l3_length", index))
        return self._layer4(self._extensions(index))

    # Link layer

    def _ethernet(self, index: Int64) -> Int64:
        index = self.begin(index)
        (index,) = _left(self.ask(index, 14, Code.L2_TRUNCATED), index)
        raw = self.read(index, 22)
        ethertype = _number(raw, 12, 2)
        size: Int64 | int = 14
        if _is_tag(ethertype).any():
            index, raw, ethertype, size = self._tags(index, raw, ethertype)
        self.set(index, dst_mac=_number(raw, 0, 6), src_mac=_number(raw, 6, 6), ethertype=ethertype)
        self.done(index)
        self.put(self.pos, index, self.pick(self.pos, index) + size)
        return index

    def _tags(self, index: Int64, raw: UInt8, ethertype: Int64) -> tuple[Int64, UInt8, Int64, Int64]:
        """Of the frames whose tags are whole: index, bytes, the EtherType behind the tags, and where it ends."""
        size = np.full(len(index), 14, np.int64)
        tci = [np.zeros(len(index), np.int64), np.zeros(len(index), np.int64)]
        service: list[Bools] = [np.zeros(len(index), np.bool_), np.zeros(len(index), np.bool_)]
        whole = np.ones(len(index), np.bool_)
        for tag, at in enumerate((14, 18)):
            tagged = np.flatnonzero(whole & (size == at) & _is_tag(ethertype))
            room = self.ask(index[tagged], at + 4, Code.L2_TRUNCATED)
            whole[tagged[~room]] = False
            tagged = tagged[room]
            service[tag][tagged] = ethertype[tagged] == EtherType.STAG
            tci[tag][tagged] = _number(raw, at, 2)[tagged]
            ethertype[tagged] = _number(raw, at + 2, 2)[tagged]
            size[tagged] += 4
        third = whole & (size == 22) & _is_tag(ethertype)
        self.fail(index[third], Code.TOO_DEEP)
        whole &= ~third
        index, raw, ethertype, size = index[whole], raw[whole], ethertype[whole], size[whole]
        self.set(
            index,
            vlan_count=(size - 14) // 4,
            vlan0=tci[0][whole],
            vlan1=tci[1][whole],
            vlan0_ad=service[0][whole],
            vlan1_ad=service[1][whole],
        )
        return index, raw, ethertype, size

    def _mac_control(self, index: Int64) -> None:
        if not len(index):
            return
        index = self.begin(index)
        index = index[self.ask(index, 2, Code.L3_TRUNCATED)]
        self.set(index, mac_control=1, mac_opcode=_number(self.read(index, 2), 0, 2))
        self.done(index)

    # Internet layer

    def _refuse(self, index: Int64, *checks: tuple[Bools, Code]) -> Bools:
        """Checks of values in their order: the first that is true fails the frame. Which frames none refuses."""
        left = np.ones(len(index), np.bool_)
        for wrong, code in checks:
            refused = left & wrong
            if refused.any():
                self.fail(index[refused], code)
                left &= ~refused
        return left

    def _beyond_end(self, index: Int64, length: Int64) -> Bools:
        """Of which frames the packet or datagram is longer than what carries it, which is no piece as far as the layers
        outside a tunnel tell. For IP outside there is no bound."""
        beyond: Bools = self.whole[index] & (self.pos[index] + length > self.end[index])
        return beyond

    def _ipv4(self, index: Int64) -> Int64:
        if not len(index):
            return index
        index = self.begin(index)
        (index,) = _left(self.ask(index, 20, Code.L3_TRUNCATED), index)
        raw = self.read(index, 20)
        size = (raw[:, 0] & 15).astype(np.int64) * 4
        total_length = _number(raw, 2, 2)
        left = self._refuse(
            index,
            (raw[:, 0] >> 4 != 4, Code.BAD_IP_VERSION),
            (size < 20, Code.BAD_IHL),
            ((total_length < size) | self._beyond_end(index, total_length), Code.BAD_L3_LENGTH),
        )
        index, raw, size, total_length = _left(left, index, raw, size, total_length)
        room = self.ask(index, size, Code.L3_TRUNCATED)
        index, raw, size, total_length = _left(room, index, raw, size, total_length)
        flags_offset = _number(raw, 6, 2)
        addresses = _sum(raw, 12, 20)
        header = _sum(raw, 0, 12) + addresses
        options = size > 20
        if options.any():
            longer = self.read(index[options], 60)
            longer[np.arange(60) >= size[options, None]] = 0
            header[options] = _sum(longer, 0, 60)
        self.set(
            index,
            l3_kind=int(L3Kind.IPV4),
            l3_offset=self.pick(self.pos, index),
            l3_length=total_length,
            dscp=raw[:, 1] >> 2,
            ecn=raw[:, 1] & 3,
            ttl=raw[:, 8],
            protocol=raw[:, 9],
            protocol_offset=self.pick(self.pos, index) + 9,
            l3_payload_offset=self.pick(self.pos, index) + size,
            dont_fragment=flags_offset >> 14 & 1,
            more_fragments=flags_offset >> 13 & 1,
            frag_offset=flags_offset & 0x1FFF,
            fragment=flags_offset & 0x3FFF != 0,
            ip_options=options,
            ip_checksum=_verdict(header),
        )
        self.put(self.columns["ip_src"][:, 1], index, _number(raw, 12, 4))
        self.put(self.columns["ip_dst"][:, 1], index, _number(raw, 16, 4))
        self.set(index, addresses=addresses)
        self.done(index)
        self.put(self.pos, index, self.pick(self.pos, index) + size)
        return index

    def _ipv6(self, index: Int64) -> Int64:
        if not len(index):
            return index
        index = self.begin(index)
        (index,) = _left(self.ask(index, 40, Code.L3_TRUNCATED), index)
        raw = self.read(index, 40)
        length = 40 + _number(raw, 4, 2)
        left = self._refuse(
            index,
            (raw[:, 0] >> 4 != 6, Code.BAD_IP_VERSION),
            (self._beyond_end(index, length), Code.BAD_L3_LENGTH),
        )
        index, raw, length = _left(left, index, raw, length)
        first = _number(raw, 0, 4)
        self.set(
            index,
            l3_kind=int(L3Kind.IPV6),
            l3_offset=self.pick(self.pos, index),
            l3_length=length,
            ip_src=_halves(raw[:, 8:24]),
            ip_dst=_halves(raw[:, 24:40]),
            dscp=first >> 22 & 0x3F,
            ecn=first >> 20 & 3,
            ttl=raw[:, 7],
            protocol=raw[:, 6],
            protocol_offset=self.pick(self.pos, index) + 6,
            l3_payload_offset=self.pick(self.pos, index) + 40,
        )
        self.set(index, addresses=_sum(raw, 8, 40))
        self.done(index)
        self.put(self.pos, index, self.pick(self.pos, index) + 40)
        return index

    def _extensions(self, index: Int64) -> Int64:
        """The frames whose chain leads to an L4 header, or to a protocol that the walk doesn't know."""
        columns = self.columns
        (index,) = _left(self.pick(columns["frag_offset"], index) == 0, index)
        through: list[Int64] = []
        for count in range(MOST_EXTENSIONS + 1):
            extension = _IS_EXTENSION[self.pick(columns["l3_kind"], index), self.pick(columns["protocol"], index)]
            if not extension.any():
                through.append(index)
                break
            through.append(index[~extension])
            index = self.begin(index[extension])
            if count == MOST_EXTENSIONS:
                self.fail(index, Code.TOO_DEEP)
            else:
                index = self._extension(index)
                index = index[columns["frag_offset"][index] == 0]
        return _union(*through)

    def _extension(self, index: Int64) -> Int64:
        columns = self.columns
        index = index[self.ask(index, 8, Code.EXT_TRUNCATED)]
        raw = self.read(index, 4)
        kind = columns["protocol"][index]
        length = raw[:, 1].astype(np.int64)
        size = np.where(kind == Protocol.AH, (length + 2) * 4, (length + 1) * 8)
        size[kind == Protocol.FRAGMENT] = 8
        room = self.ask(index, size, Code.EXT_TRUNCATED)
        index, raw, kind, size = index[room], raw[room], kind[room], size[room]
        piece = kind == Protocol.FRAGMENT
        offset_flags = _number(raw, 2, 2)[piece]
        pieces = index[piece]
        self.set(pieces, frag_offset=offset_flags >> 3, more_fragments=offset_flags & 1)
        columns["fragment"][pieces[offset_flags & 0xFFF9 != 0]] = 1
        columns["segments_left"][index[(kind == Protocol.ROUTING) & (raw[:, 3] != 0)]] = 1
        columns["ext_mask"][index] |= _EXTENSION_MASK[kind]
        columns["protocol"][index] = raw[:, 0]
        columns["protocol_offset"][index] = self.pos[index]
        self.done(index)
        self.pos[index] += size
        columns["l3_payload_offset"][index] = self.pos[index]
        return index

    # Transport

    def _layer4(self, index: Int64) -> Int64:
        """The frames whose UDP leads to a tunnel."""
        protocol, kind = (self.pick(self.columns[name], index) for name in ("protocol", "l3_kind"))
        self._tcp(index[protocol == Protocol.TCP])
        tunnels = self._udp(*_left(protocol == Protocol.UDP, index))
        self._icmp(index[(protocol == Protocol.ICMP) & (kind == L3Kind.IPV4)], L4Kind.ICMP)
        self._icmp(index[(protocol == Protocol.ICMPV6) & (kind == L3Kind.IPV6)], L4Kind.ICMPV6)
        self._esp_header(index[protocol == Protocol.ESP])
        return tunnels

    def _set_layer4(self, index: Int64, kind: L4Kind, size: Int64 | int) -> None:
        at = self.pick(self.pos, index)
        self.set(index, l4_kind=int(kind), l4_offset=at, payload_offset=at + size)
        self.put(self.pos, index, at + size)
        self.done(index)

    def _tcp(self, index: Int64) -> None:
        if not len(index):
            return
        index = self.begin(index)
        index = index[self.ask(index, 20, Code.L4_TRUNCATED)]
        raw = self.read(index, 14)
        size = (raw[:, 12] >> 4).astype(np.int64) * 4
        left = self._refuse(index, (size < 20, Code.BAD_TCP_OFFSET))
        index, raw, size = index[left], raw[left], size[left]
        room = self.ask(index, size, Code.L4_TRUNCATED)
        index, raw, size = index[room], raw[room], size[room]
        self.set(
            index,
            src_port=_number(raw, 0, 2),
            dst_port=_number(raw, 2, 2),
            tcp_flags=_number(raw, 12, 2) & 0xFFF,
        )
        self._set_layer4(index, L4Kind.TCP, size)

    def _udp(self, index: Int64) -> Int64:
        """The frames whose chain leads to a tunnel: none in a tunnel."""
        if not len(index):
            return index
        index = self.begin(index)
        (index,) = _left(self.ask(index, 8, Code.L4_TRUNCATED), index)
        raw = self.read(index, 8)
        length = _number(raw, 4, 2)
        beyond = (self.pick(self.columns["fragment"], index) == 0) & self._beyond_end(index, length)
        left = self._refuse(index, ((length < 8) | beyond, Code.BAD_UDP_LENGTH))
        index, raw, length = _left(left, index, raw, length)
        src_port, dst_port = _number(raw, 0, 2), _number(raw, 2, 2)
        self.set(index, src_port=src_port, dst_port=dst_port, udp_length=length)
        self._set_layer4(index, L4Kind.UDP, 8)
        if self.inside:
            return index[:0]
        roce = dst_port == ROCE_PORT
        self._bth(index[roce])
        tunnel: Bools = self.model.tunnel & ((dst_port == VXLAN_PORT) | (dst_port == GENEVE_PORT))
        natt = ~roce & ~tunnel & ((src_port == NATT_PORT) | (dst_port == NATT_PORT))
        self._nat_traversal(index[natt])
        return index[tunnel]

    def _icmp(self, index: Int64, kind: L4Kind) -> None:
        if not len(index):
            return
        index = self.begin(index)
        index = index[self.ask(index, 8, Code.L4_TRUNCATED)]
        raw = self.read(index, 2)
        self.set(index, icmp_type=raw[:, 0], icmp_code=raw[:, 1])
        self._set_layer4(index, kind, 8)

    def _esp_header(self, index: Int64) -> None:
        if not len(index):
            return
        index = self.begin(index)
        index = index[self.ask(index, 8, Code.L4_TRUNCATED)]
        self._esp(index, self.read(index, 8))
        self._set_layer4(index, L4Kind.ESP, 8)

    def _esp(self, index: Int64, raw: UInt8) -> None:
        self.set(index, spi=_number(raw, 0, 4), esp_seq=_number(raw, 4, 4))

    # In UDP

    def _bth(self, index: Int64) -> None:
        if not len(index):
            return
        index = self.begin(index)
        left = self._refuse(index, (self.columns["udp_length"][index] < 20, Code.BTH_TRUNCATED))
        index = index[left]
        index = index[self.ask(index, 12, Code.BTH_TRUNCATED)]
        raw = self.read(index, 12)
        self.pos[index] += 12
        self.set(
            index,
            roce=1,
            bth_opcode=raw[:, 0],
            bth_flags=raw[:, 1],
            bth_pkey=_number(raw, 2, 2),
            bth_fecn=raw[:, 4] >> 7,
            bth_becn=raw[:, 4] >> 6 & 1,
            bth_dest_qp=_number(raw, 5, 3),
            bth_ack_req=raw[:, 8] >> 7,
            bth_psn=_number(raw, 9, 3),
            payload_offset=self.pos[index],
        )
        self.done(index)

    def _tunnels(self, index: Int64) -> None:
        """The tunnels' own headers, then the headers inside, which set the arrays of their ``inner_`` names."""
        port = self.get("dst_port", index)
        vxlan = self._vxlan(index[port == VXLAN_PORT])
        bridged, routed = self._geneve(index[port == GENEVE_PORT])
        outside = self.columns
        apart = {name: np.zeros_like(outside[name]) for name in _OUTSIDE_ONLY}
        self.whole = outside["fragment"] == 0
        self.columns = outside | {name: outside[inner] for name, inner in INNER_FIELDS.items()} | apart
        self.inside = True
        self._network(_union(self._ethernet(_union(vxlan, bridged)), routed))
        self.columns = outside

    def _vxlan(self, index: Int64) -> Int64:
        """The frames that lead on, to Ethernet."""
        index = self._ask_tunnel(index)
        raw = self.read(index, 8)
        left = self._refuse(index, (raw[:, 0] & 0x08 == 0, Code.BAD_TUNNEL))
        index, raw = index[left], raw[left]
        self._set_tunnel(index, TunnelKind.VXLAN, raw[:, 0], _number(raw, 4, 3), 8)
        return index

    def _geneve(self, index: Int64) -> tuple[Int64, Int64]:
        """The frames with Ethernet inside, and those with another protocol."""
        index = self._ask_tunnel(index)
        raw = self.read(index, 8)
        size = 8 + (raw[:, 0] & 0x3F).astype(np.int64) * 4
        left = self._refuse(
            index,
            (raw[:, 0] >> 6 != 0, Code.BAD_TUNNEL),
            (self.get("udp_length", index) < 8 + size, Code.TUNNEL_TRUNCATED),
        )
        index, raw, size = index[left], raw[left], size[left]
        room = self.ask(index, size, Code.TUNNEL_TRUNCATED)
        index, raw, size = index[room], raw[room], size[room]
        self._set_tunnel(index, TunnelKind.GENEVE, raw[:, 1], _number(raw, 4, 3), size)
        protocol_type = _number(raw, 2, 2)
        ethernet = protocol_type == EtherType.TRANSPARENT_ETHERNET
        self.set(index[~ethernet], inner_ethertype=protocol_type[~ethernet])
        return index[ethernet], index[~ethernet]

    def _ask_tunnel(self, index: Int64) -> Int64:
        """The frames that have the fixed 8 bytes of a tunnel's header."""
        index = self.begin(index)
        index = index[self._refuse(index, (self.columns["udp_length"][index] < 8 + 8, Code.TUNNEL_TRUNCATED))]
        whole: Int64 = index[self.ask(index, 8, Code.TUNNEL_TRUNCATED)]
        return whole

    def _set_tunnel(self, index: Int64, kind: TunnelKind, flags: UInt8, vni: Int64, size: Int64 | int) -> None:
        self.pos[index] += size
        self.set(index, tunnel_kind=int(kind), tunnel_flags=flags, vni=vni, payload_offset=self.pos[index])
        self.done(index)
        self.bound(index, self.get("l4_offset", index) + self.get("udp_length", index))

    def _nat_traversal(self, index: Int64) -> None:
        if not len(index):
            return
        index = self.begin(index)
        payload = self.get("udp_length", index) - 8
        self.done(index[(payload != 1) & (payload < 4)])

        single = index[payload == 1]
        single = single[self.ask(single, 1, Code.ESP_TRUNCATED)]
        self.set(single, natt=np.where(self.read(single, 1)[:, 0] == 0xFF, int(NatT.KEEPALIVE), 0))
        self.done(single)

        index, payload = index[payload >= 4], payload[payload >= 4]
        room = self.ask(index, 4, Code.ESP_TRUNCATED)
        index, payload = index[room], payload[room]
        raw = self.read(index, 8)
        marked = ~raw[:, :4].any(axis=1)
        self.set(index[marked], natt=int(NatT.IKE))
        self.done(index[marked])

        index, payload, raw = index[~marked], payload[~marked], raw[~marked]
        left = self._refuse(index, (payload < 8, Code.ESP_TRUNCATED))
        index, raw = index[left], raw[left]
        room = self.ask(index, 8, Code.ESP_TRUNCATED)
        index, raw = index[room], raw[room]
        self._esp(index, raw)
        self.set(index, natt=int(NatT.ESP), payload_offset=self.pos[index] + 8)
        self.done(index)

    # With the last beat

    def _l4_checksum(self, l3_end: Int64, bad: Bools) -> NDArray[np.uint16]:
        """uint16: ``tuser[9:8]`` of every frame."""
        columns = self.columns
        verdict = np.zeros(len(self.start), np.uint16)
        index = np.flatnonzero((columns["l4_kind"] == L4Kind.TCP) | (columns["l4_kind"] == L4Kind.UDP))
        at = self.get("l4_offset", index)
        udp = columns["l4_kind"][index] == L4Kind.UDP
        none = udp & (_number(self.read(index, 2, at + 6), 0, 2) == 0)
        index, at, udp = _left(~none, index, at, udp)
        length = np.where(udp, self.get("udp_length", index), self.pick(l3_end, index) - at)
        unknown = (self.pick(columns["fragment"], index) != 0) | (self.pick(columns["segments_left"], index) != 0)
        unknown |= self.pick(bad, index) | (at + length > self.pick(self.length, index))
        verdict[index[unknown]] = int(ChecksumVerdict.UNKNOWN)
        index, at, length = _left(~unknown, index, at, length)
        start = self.pick(self.start, index) + at
        pseudo_header = self.pick(columns["addresses"], index) + length + self.pick(columns["protocol"], index)
        self.put(verdict, index, _verdict(pseudo_header + _range_sums(self.data, start, start + length)))
        return verdict


def _is_tag(ethertype: Int64) -> Bools:
    tag: Bools = (ethertype == EtherType.CTAG) | (ethertype == EtherType.STAG)
    return tag


def _extension_tables() -> tuple[Bools, UInt8]:
    """By l3_kind and protocol: is it an extension header? By protocol: its bit of ``ext_mask``."""
    known, mask = np.zeros((3, 256), np.bool_), np.zeros(256, np.uint8)
    for protocol, bit in EXTENSION_BIT.items():
        known[L3Kind.IPV6, protocol] = True
        mask[protocol] = 1 << bit
    known[L3Kind.IPV4, Protocol.AH] = True
    return known, mask


_IS_EXTENSION, _EXTENSION_MASK = _extension_tables()


def _left(mask: Bools, *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """``array[mask]`` of each array; the arrays themselves where the mask is true everywhere."""
    return arrays if mask.all() else tuple(array[mask] for array in arrays)


def _union(*parts: Int64) -> Int64:
    """The indices of all parts, which have none in common, rising."""
    some = [part for part in parts if len(part)]
    if len(some) < 2:
        return some[0] if some else parts[0]
    return np.sort(np.concatenate(some))


@lru_cache(maxsize=16)
def _drops(drop: int) -> NDArray[np.uint16]:
    """By code: 1 where the parser drops the frame."""
    return np.array([drop >> c - 32 & 1 if 32 <= c < 48 else 0 for c in range(256)], np.uint16)


def _number(raw: UInt8, at: int, n: int) -> Int64:
    """int64: the big-endian number in n columns, at most 7."""
    size = 1 << (n - 1).bit_length()
    # From as many columns as a number of the machine has: the right ones, or those that end with them.
    first = at if at + size <= raw.shape[1] else at + n - size
    if first < 0:
        return _number(raw, at, n - 1) << 8 | raw[:, at + n - 1]
    value: Int64 = raw[:, first : first + size].view(f">u{size}")[:, 0].astype(np.int64)
    if size == n:
        return value
    if first < at:
        return value & (1 << 8 * n) - 1
    return value >> 8 * (size - n) & (1 << 8 * n) - 1


def _sum(raw: UInt8, first: int, last: int) -> Int64:
    """int64: of the columns first .. last-1, whose number 4 divides, a number that is the sum of their big-endian
    16-bit words modulo 0xFFFF, and 0 only if all are."""
    value = _number(raw, first, 4)
    for at in range(first + 4, last, 4):
        value += _number(raw, at, 4)
    return value


def _halves(raw: UInt8) -> NDArray[np.uint64]:
    """uint64[m, 2]: high and low half of 16 columns."""
    return np.ascontiguousarray(raw).view(">u8").astype(np.uint64)


def _verdict(sums: Int64) -> NDArray[np.uint16]:
    """Of sums that include the checksum and aren't 0: good where the ones' complement sum is 0xFFFF, 0 modulo that."""
    return np.where(sums % 0xFFFF == 0, int(ChecksumVerdict.GOOD), int(ChecksumVerdict.BAD)).astype(np.uint16)


def _range_sums(data: UInt8, start: Int64, end: Int64) -> Int64:
    """int64: of each range of bytes, none empty, a number that is its ones' complement sum modulo 0xFFFF.

    The words of all the data are taken at even addresses and in the machine's byte order. A range that begins at an odd
    address, and the machine's order, each swap the bytes of every word; the sum then is swapped too (RFC 1071 section
    2B), and swapping is multiplication by 256. The words at both ends count only the byte that belongs to the range.
    """
    words = data[: len(data) & ~1].view("<u2")
    first, last = (start + 1) // 2, end // 2
    pairs = np.stack([first, np.maximum(first, last)], axis=1).reshape(-1)
    sums = np.add.reduceat(words, pairs, dtype=np.int64)[::2] if len(pairs) else np.zeros(0, np.int64)
    sums[last <= first] = 0
    sums += np.where(start % 2 == 1, data[start].astype(np.int64) << 8, 0)
    sums += np.where(end % 2 == 1, data[end - 1].astype(np.int64), 0)
    # In "<u2" the byte at the even address is the low one: an even start needs the swap, an odd one has had it.
    return np.where(start % 2 == 1, sums, sums % 0xFFFF << 8)
