"""What stands in a pipeline between `nic_ingress` and the buffer: one object a stage, and the time that each takes.

A pipeline is a row of stages. A stage takes all frames of one direction at once and says what it makes of them
(``Passage``): the mark beside their last beat, the metadata that it writes, what its registers count, which bytes it
changes, and when the frames leave it. It is told what the stages before it made of them (``Arrival``). `Registers` are
the slots without a block; `ParserStage` is the parser in its slot, `AclStage` (models/nic_acl.py) the ACL. A further
block brings one more class with the same ``take``, and its place in ``models.nic_pipeline.direction_of``.

**Time.** A stage that cuts through sends a frame's first beat ``latency`` cycles after it came, or right behind the
frame before; a beat follows each cycle or as it comes in; the last leaves at least ``tail`` cycles after it came:

    first out = max(first in + latency, last out of the frame before + 1)
    last out  = max(first out + B - 1, last in + tail)

A register has latency and tail 1. Of a frame whose beats came with gaps nobody outside knows where the gaps were. At
best all of them came behind what the latency depends on, at worst right behind the first beat. So ``Flow`` carries the
earliest and the latest cycle: what is exact stays exact, and the rest lies between. A stage whose queues may have been
full stalls those before it; frames that may have met that are named (``Flow.stalled``) and have only an earliest cycle.
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

__all__ = ["Arrival", "Flow", "ParserStage", "Passage", "Registers", "Stage", "begin", "follow", "pick"]

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

    first    cycle in which the first beat passes, at the earliest
    last     cycle in which the last beat passes, at the earliest
    latest   cycle in which the last beat passes, at the latest; the same array as ``last`` where all are exact
    beats    beats of the frame
    epoch    number of resets before it
    stalled  bool[n]: the frame may have met a full queue, so that it may pass later than ``latest``; None: none has
    """

    first: Int64
    last: Int64
    latest: Int64
    beats: Int64
    epoch: Int64
    stalled: Bool | None = None

    def only(self, on: Bool) -> Flow:
        """These frames alone."""
        stalled = None if self.stalled is None else self.stalled[on]
        latest = self.latest[on]
        last = latest if self.exact else self.last[on]
        return Flow(self.first[on], last, latest, self.beats[on], self.epoch[on], stalled)

    def among(self, on: Bool) -> Flow:
        """The same with others between them, of no beat, each where the frame before it was: ``on`` says of all
        frames which are these."""
        place = np.maximum(np.cumsum(on) - 1, 0)
        if not len(self.first):
            none = np.zeros(len(on), np.int64)
            return Flow(none, none, none, none, none)

        def spread(values: Int64) -> Int64:
            here: Int64 = values[place]
            return here

        latest = spread(self.latest)
        last = latest if self.exact else spread(self.last)
        stalled = None if self.stalled is None else self.stalled[place]
        return Flow(spread(self.first), last, latest, np.where(on, self.beats[place], 0), self.epoch[place], stalled)

    @property
    def exact(self) -> bool:
        """All beats came one a cycle, and nothing lies between the earliest and the latest cycle."""
        return self.latest is self.last


@dataclass(frozen=True)
class Arrival:
    """n frames of one direction as they come to a stage, in order.

    frames  their bytes as they come
    user    uint16[n]  tuser beside the last beat
    fields  by name: metadata that was written before, n entries each (as models.meta.pack_words); a missing one is 0
    gone    bool[n]    the frame ended in a stage before: its mark says why, and nothing sees it; None: none did
    """

    frames: Batch
    user: UInt16
    fields: Mapping[str, NDArray[Any]]
    gone: Bool | None = None

    def behind(self, passage: Passage) -> Arrival:
        """The same frames as they come to what stands behind a stage."""
        gone = self.gone
        if passage.gone is not None:
            gone = passage.gone if gone is None else gone | passage.gone
        return Arrival(passage.changed(self.frames), passage.user, {**self.fields, **passage.fields}, gone)


@dataclass(frozen=True)
class Passage:
    """What a stage makes of n frames of one direction.

    user     uint16[n]  tuser beside the last beat out
    latency  int64[n]   cycles from first beat in to first beat out, of a frame alone that comes without gaps
    tail     cycles from last beat in to last beat out, at the least
    fields   by name: metadata that it writes, n entries each (models.meta.pack_words)
    counts   by register: bool[n], which frames its counter counts
    sums     by register: int64[n], what its counter adds with each frame
    frames   the frames as they leave, with other bytes; None: as they came
    gone     bool[n]    the frame ends in this stage, and nothing leaves; None: none does
    """

    user: UInt16
    latency: Int64
    tail: int
    fields: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    counts: Mapping[str, Bool] = field(default_factory=dict)
    sums: Mapping[str, Int64] = field(default_factory=dict)
    frames: Batch | None = None
    gone: Bool | None = None

    def changed(self, frames: Batch) -> Batch:
        """These frames, which came, as they leave."""
        return frames if self.frames is None else self.frames

    def leave(self, flow: Flow, index: Int64) -> Flow:
        """When the frames ``index`` of the n leave; ``flow``: when they come."""
        beats, latency = flow.beats, pick(self.latency, index)
        last = follow(np.maximum(flow.first + latency + beats - 1, flow.last + self.tail), beats, flow.epoch)
        latest = last if flow.exact else follow(flow.latest + np.maximum(latency, self.tail), beats, flow.epoch)
        return replace(flow, first=begin(flow.first + latency, last, flow.epoch), last=last, latest=latest)


def begin(ready: Int64, last: Int64, epoch: Int64) -> Int64:
    """Cycle of each frame's first beat that is ready in cycle ``ready[k]`` and comes behind the last beat of the frame
    before it."""
    behind = last[:-1] + 1
    if epoch.any():
        behind = np.where(epoch[1:] == epoch[:-1], behind, 0)
    first = ready.copy()
    np.maximum(first[1:], behind, out=first[1:])
    return first


class Stage(Protocol):
    """One place in a pipeline."""

    @property
    def counters(self) -> tuple[str, ...]:
        """Names of the registers that count frames."""
        ...

    def take(self, come: Arrival, written: Mapping[str, int]) -> Passage:
        """What becomes of these frames; ``written``: registers of the port by name, those that were written."""
        ...


@dataclass(frozen=True)
class Registers:
    """So many slots without their block: a register each."""

    count: int
    counters: tuple[str, ...] = ()

    def take(self, come: Arrival, written: Mapping[str, int]) -> Passage:
        return Passage(come.user, np.full(len(come.frames), self.count, np.int64), self.count)


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

    def take(self, come: Arrival, written: Mapping[str, int]) -> Passage:
        frames, user = come.frames, come.user
        came_bad = (user & 1) != 0
        marked = replace(frames, bad=np.where(came_bad, user & 0xFF, 0).astype(np.uint8))
        drop = written.get(f"{self.name}.drop", 0)
        parsed = parse_batch(marked, self.parse_bytes, drop, self.tunnel)
        counts = {f"{self.name}.frames": np.ones(len(frames), np.bool_)}
        for name, code in PARSER_CODES.items():
            counts[f"{self.name}.{name}"] = ~came_bad & (parsed["code"] == code)
        if come.gone is not None:
            counts = {name: hits & ~come.gone for name, hits in counts.items()}
        fields = {name: parsed[name] for name in PARSER_FIELDS if self.tunnel or name not in TUNNEL_FIELDS}
        return Passage(parsed["user"], parsed["latency_cycles"], 2, fields, counts)
