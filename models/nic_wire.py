"""What is otherwise where the port's wire is XGMII (docs/mac.md, In the port) in place of a stream.

A frame's cycles at the wire are those of the port's clock in which its start and its terminate character come on XGMII.
Of what is received, `mac_rx` sees the length and the FCS before the port does. Its beats come with gaps, since the wire
is slower than the port: which cycle ingress takes the first one in, the device says, and it lies so far behind the
start as RX_CYCLES says; of the others a range is known. Metadata has the time of the start as the MAC knows it. What is
sent starts so far behind its first beat at the exit as TX_CYCLES says, or as soon as the frame before and the gap
allow. All else is as with the stream.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models.frames import Batch, Edge, Int64
from models.meta import Code
from models.port_map import PORT

__all__ = [
    "GAP_CYCLES",
    "MAC_COUNTERS",
    "RX_CYCLES",
    "TIME_NS",
    "TX_CYCLES",
    "arrivals",
    "events",
    "padded",
    "received",
    "received_events",
]

RX_CYCLES = (8, 9)
"""Cycles from the one in which a start comes on XGMII to that in which ingress takes the first beat: the header of
rtl/nic/nic_slot_mac_rx.v."""
TX_CYCLES = (3, 3)
"""Cycles from that in which the exit of a stream would show the first beat to that in which the start comes on XGMII:
the header of rtl/nic/nic_slot_mac_tx.v."""
GAP_CYCLES = 2
"""Most cycles from the one in which a terminate character comes on XGMII to that of the next start, of a frame that
waits: 15 characters lie in 3 words."""
TIME_NS = 8
"""How far a timestamp of the MAC may be from the port's `now` at the start."""

_PAD_TO, _FCS = 60, 4
_WORD_CYCLES = 0.64
"""Cycles of 4 ns in which a word of 8 bytes passes."""
_PPM = 2e-4
"""Clocks are off by 100 ppm, each its own way."""
_TAGS = (0x8100, 0x88A8)
_SIZES = ("size_64", "size_65_127", "size_128_255", "size_256_511", "size_512_1023", "size_1024_1518", "size_1519_max")
_MOST = np.array([64, 127, 255, 511, 1023, 1518])
"""Longest frame with FCS of each size but the last."""

MAC_COUNTERS = tuple(
    register.name
    for register in PORT
    if register.name.partition(".")[0] in ("mac_rx", "mac_tx")
    and register.volatile
    and [field.name for field in register.fields] == ["count"]
)
"""The MACs' counters: names in an ``Outcome``, which are those of their registers."""


def padded(batch: Batch, edge: Edge = Edge.WIRE) -> Batch:
    """The frames, those of an edge padded with zeros to 60 bytes, as a sender on XGMII does it (802.3, 3.2.8). One
    without a byte is none."""
    short = (batch.edge == edge) & (batch.lengths > 0) & (batch.lengths < _PAD_TO)
    return _sized(batch, np.where(short, _PAD_TO, batch.lengths)) if short.any() else batch


def received(batch: Batch) -> Batch:
    """What `mac_rx` hands on of the frames from the wire, which are ``padded``: too long ones are cut, those with a bad
    mark had a wrong FCS on the wire."""
    wire = batch.edge == Edge.WIRE
    bad, limit = wire & (batch.bad != 0), _limits(batch)
    long = wire & (batch.lengths > limit)
    if not (bad | long).any():
        return batch
    reason = np.where(long, int(Code.OVERSIZE), int(Code.BAD_FCS))
    marked = replace(batch, bad=np.where(bad | long, reason << 1 | 1, batch.bad).astype(np.uint8))
    return _sized(marked, np.where(long, limit, batch.lengths)) if long.any() else marked


def _limits(batch: Batch) -> Int64:
    """int64[n]: bytes of the longest frame that `mac_rx` takes: four more for each of two tags."""
    limit = np.full(len(batch), PORT["mac_rx.control"].field("max_frame").reset or 0, np.int64)
    if not (batch.lengths > limit).any():
        return limit
    for i in np.flatnonzero(batch.lengths > limit).tolist():
        head, tags = batch.frame(i)[:18], 0
        while tags < 2 and int.from_bytes(head[12 + 4 * tags : 14 + 4 * tags], "big") in _TAGS:
            tags += 1
        limit[i] += 4 * tags
    return limit


def _sized(batch: Batch, lengths: Int64) -> Batch:
    """The frames with these lengths: cut, or with zeros behind."""
    offset = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    kept = np.minimum(lengths, batch.lengths)
    data = np.zeros(int(offset[-1]), np.uint8)
    place = np.arange(int(kept.sum())) - np.repeat(np.cumsum(kept) - kept, kept)
    data[place + np.repeat(offset[:-1], kept)] = batch.data[place + np.repeat(batch.offset[:-1], kept)]
    return replace(batch, data=data, offset=offset)


def arrivals(entry: Int64, beat: Int64, lengths: Int64) -> tuple[Int64, Int64]:
    """int64[n] each: the cycles in which ingress takes beat number ``beat`` (from 0) of frames of these lengths, whose
    first one it took in the cycles ``entry``, at the earliest and at the latest. A beat is there with its second word,
    or its frame's last, which may come a word late; each crosses into the port's clock by itself."""
    word = np.minimum(2 * beat + 1, -(-lengths // 8) - 1)
    early = np.ceil((word - 1) * _WORD_CYCLES * (1 - _PPM)).astype(np.int64) - 1
    late = np.ceil(word * _WORD_CYCLES * (1 + _PPM)).astype(np.int64) + 1
    return entry + np.maximum(beat, early), entry + np.maximum(beat, late)


def events(good: Batch) -> dict[str, int]:
    """What a MAC counts of good frames without FCS, each at least 60 bytes long."""
    found = dict.fromkeys(("frames_ok", "bytes_ok", "unicast", "multicast", "broadcast", "pause", *_SIZES), 0)
    if not len(good):
        return found
    size = good.lengths + _FCS
    found["frames_ok"], found["bytes_ok"] = len(good), int(size.sum())
    bins = np.bincount(np.searchsorted(_MOST, size, "left"), minlength=len(_SIZES))
    found.update(zip(_SIZES, bins.tolist(), strict=True))
    octets = good.data[good.offset[:-1, None] + np.arange(14)]
    broadcast = (octets[:, :6] == 0xFF).all(axis=1)
    group = (octets[:, 0] & 1) != 0
    found["broadcast"] = int(broadcast.sum())
    found["multicast"], found["unicast"] = int((group & ~broadcast).sum()), int((~group).sum())
    found["pause"] = int(((octets[:, 12] == 0x88) & (octets[:, 13] == 0x08)).sum())
    return found


def received_events(sent: Batch) -> dict[str, int]:
    """What `mac_rx` counts of frames as they were on the wire."""
    wrong, long = sent.bad != 0, sent.lengths > _limits(sent)
    return events(sent.select(np.flatnonzero(~wrong & ~long))) | {
        "fcs_errors": int((wrong & ~long).sum()),
        "oversize": int((long & ~wrong).sum()),
        "jabbers": int((long & wrong).sum()),
    }
