"""What stands in a pipeline between `nic_ingress` and the buffer: one object a stage, and the time that each takes.

A pipeline is a row of stages. A stage takes all frames of one direction at once and says what it makes of them
(``Passage``): the mark beside their last beat, the metadata that it writes, what its registers count, and when the
frames leave it. `Registers` are the slots without a block; `ParserStage` is the parser in its slot. A further block
brings one more class with the same ``take``, and its place in ``models.nic.direction_of``.

**Time.** A stage that cuts through sends a frame's first beat ``latency`` cycles after it came, or right behind the
frame before; a beat follows each cycle or as it comes in; the last leaves at least ``tail`` cycles after it came:

    first out = max(first in + latency, last out of the frame before + 1)
    last out  = max(first out + B - 1, last in + tail)

A register has latency and tail 1. Of a frame whose beats came with gaps nobody outside knows where the gaps were. At
best all of them came behind what the latency depends on, at worst right behind the first beat. So ``Flow`` carries the
earliest and the latest cycle: what is exact stays exact, and the rest lies between.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from models.config import PARSER_CODES
from models.frames import Batch, Int64
from models.parser import PARSER_FIELDS, TUNNEL_FIELDS, ParserModel
from models.parser_batch import parse_batch

__all__ = ["AclStage", "Flow", "ParserStage", "Passage", "Registers", "Stage", "follow", "pick"]

UInt16 = NDArray[np.uint16]
Bool = NDArray[np.bool_]


def pick(values: NDArray[Any], index: Int64) -> NDArray[Any]:
    """``values[index]``, where ``index`` rises: if it is as long, that is all of them."""
    return values if len(index) == len(values) else values[index]


def follow(ready: Int64, spent: Int64, epoch: Int64) -> Int64:
    """Cycle of each frame that is ready in cycle ``ready[k]`` and comes ``spent[k]`` cycles after the frame before it
    at the earliest: ``max(ready[k], cycle[k-1] + spent[k])``. ``epoch``, rising: what was before a reset never counts
    behind it."""
    if not len(ready):
        return ready
    passed = np.cumsum(spent)
    if not epoch.any():
        alone: Int64 = np.maximum.accumulate(ready - passed)
        alone += passed
        return alone
    # Further apart than any two cycles of the play.
    apart = epoch * (int(ready.max() - ready.min()) + int(passed[-1]) + 1)
    cycle: Int64 = np.maximum.accumulate(ready - passed + apart) - apart + passed
    return cycle


@dataclass(frozen=True)
class Flow:
    """Frames of one direction where they pass one place, in order. int64[n] each.

    first   cycle in which the first beat passes, at the earliest
    last    cycle in which the last beat passes, at the earliest
    latest  cycle in which the last beat passes, at the latest
    beats   beats of the frame
    epoch   number of resets before it
    """

    first: Int64
    last: Int64
    latest: Int64
    beats: Int64
    epoch: Int64


@dataclass(frozen=True)
class Passage:
    """What a stage makes of n frames of one direction.

    user     uint16[n]  tuser beside the last beat out
    latency  int64[n]   cycles from first beat in to first beat out, of a frame alone that comes without gaps
    tail     cycles from last beat in to last beat out, at the least
    fields   by name: metadata that it writes, n entries each (models.meta.pack_words)
    counts   by register: bool[n], which frames its counter counts
    """

    user: UInt16
    latency: Int64
    tail: int
    fields: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    counts: Mapping[str, Bool] = field(default_factory=dict)

    def leave(self, flow: Flow, index: Int64) -> Flow:
        """When the frames ``index`` of the n leave; ``flow``: when they come."""
        beats, latency = flow.beats, pick(self.latency, index)
        last = follow(np.maximum(flow.first + latency + beats - 1, flow.last + self.tail), beats, flow.epoch)
        latest = follow(flow.latest + np.maximum(latency, self.tail), beats, flow.epoch)
        first = flow.first + latency
        behind = last[:-1] + 1
        if flow.epoch.any():
            behind = np.where(flow.epoch[1:] == flow.epoch[:-1], behind, 0)
        np.maximum(first[1:], behind, out=first[1:])
        return Flow(first, last, latest, beats, flow.epoch)


class Stage(Protocol):
    """One place in a pipeline."""

    @property
    def counters(self) -> tuple[str, ...]:
        """Names of the registers that count frames."""
        ...

    def take(self, frames: Batch, user: UInt16, written: Mapping[str, int]) -> Passage:
        """What becomes of these frames, of one direction, in order; ``user``: tuser beside their last beat in;
        ``written``: registers of the port by name, those that were written."""
        ...


@dataclass(frozen=True)
class Registers:
    """So many slots without their block: a register each."""

    count: int
    counters: tuple[str, ...] = ()

    def take(self, frames: Batch, user: UInt16, written: Mapping[str, int]) -> Passage:
        return Passage(user, np.full(len(frames), self.count, np.int64), self.count)


@dataclass(frozen=True)
class _AclPassage(Passage):
    """Of the ACL: its matcher takes a key every four cycles at most, and a frame waits 12 cycles for its own."""

    def leave(self, flow: Flow, index: Int64) -> Flow:
        beats, spent = flow.beats, np.full(len(flow.beats), _KEY_CYCLES, np.int64)
        key = follow(flow.first + 1, spent, flow.epoch)
        latest_key = follow(flow.latest - beats + 2, spent, flow.epoch)
        latest = np.maximum(latest_key + 12 + beats - 1, flow.latest + self.tail)
        left = super().leave(replace(flow, first=key - 1), index)
        return replace(left, latest=follow(latest, beats, flow.epoch))


_KEY_CYCLES = 4


@dataclass(frozen=True)
class AclStage:
    """The ACL in slot ``name``, without a rule: docs/acl.md, Time."""

    name: str
    counters: tuple[str, ...] = ()

    def take(self, frames: Batch, user: UInt16, written: Mapping[str, int]) -> Passage:
        no_rule = np.full(len(frames), 0xFFFF, np.int64)
        return _AclPassage(user, np.full(len(frames), 13, np.int64), 3, {"acl_rule": no_rule})


@dataclass(frozen=True)
class ParserStage:
    """The parser in slot ``name``: docs/parser.md. ``parse_bytes``, ``tunnel``, ValueError: as ``ParserModel``."""

    name: str
    parse_bytes: int = 128
    tunnel: bool = False

    def __post_init__(self) -> None:
        ParserModel(self.parse_bytes, tunnel=self.tunnel)

    @property
    def counters(self) -> tuple[str, ...]:
        return (f"{self.name}.frames", *(f"{self.name}.{code}" for code in PARSER_CODES))

    def take(self, frames: Batch, user: UInt16, written: Mapping[str, int]) -> Passage:
        came_bad = (user & 1) != 0
        marked = replace(frames, bad=np.where(came_bad, user & 0xFF, 0).astype(np.uint8))
        drop = written.get(f"{self.name}.drop", 0)
        parsed = parse_batch(marked, self.parse_bytes, drop, self.tunnel)
        counts = {f"{self.name}.frames": np.ones(len(frames), np.bool_)}
        for name, code in PARSER_CODES.items():
            counts[f"{self.name}.{name}"] = ~came_bad & (parsed["code"] == code)
        fields = {name: parsed[name] for name in PARSER_FIELDS if self.tunnel or name not in TUNNEL_FIELDS}
        return Passage(parsed["user"], parsed["latency_cycles"], 2, fields, counts)
