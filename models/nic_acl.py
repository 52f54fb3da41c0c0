"""The ACL in its slot: what it makes of all frames of a direction, and when they leave it.

Written from docs/acl.md, "The slot" and "Time". ``AclStage`` looks the frames up in its rule set; the actions of their
rules then say what becomes of them, but for one thing: the colour of a metered frame hangs on the time at which the
device took it. So ``take`` says what holds where every metered frame is green, and ``AclPassage.coloured`` the same for
other colours (models/nic_meters.py has them). ``AclModel.judge`` of models/acl.py says it for one frame, and a test
proves them equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.acl import DEFAULT_RULE, L3_KIND, RuleSet
from models.acl_batch import NO_RULE, Classifier
from models.acl_meter import Colour
from models.frames import Batch, Int64, UInt8
from models.meta import Code
from models.nic_stages import Arrival, Bool, Flow, Passage, UInt16, begin, follow, pick

__all__ = ["COUNTERS", "AclPassage", "AclStage", "mark_dscp_batch"]

COUNTERS = (
    "judged",
    "unjudged",
    "denied",
    "policed",
    "no_port",
    "mirrored",
    "mirror_dropped",
    "redirected",
    "metered_green",
    "metered_yellow",
    "metered_red",
)
"""Registers that count frames."""

_RULE_CYCLES = 11
"""From the cycle in which the matcher takes a frame's last key to that in which the action is known."""
_LOOKUP_CYCLES = 4
_METER_CYCLES = 7
"""From a metered frame's turn to its verdict, and to the turn of a frame behind it that isn't metered."""
_METER_STEP = 4
"""From the turn of a metered frame to that of another."""
_TAIL = 3

KEYS_THAT_WAIT, FRAMES_THAT_WAIT, BEATS_THAT_WAIT = 62, 256, 1024
"""What the slot's queues hold."""
_HELD_BEATS = 640
"""While a metered frame of so many beats is held and leaves, what comes behind it finds room."""
_QUEUE_SLACK = 8
"""A queue may learn some cycles late that there is room again."""

Numbers = NDArray[np.int16]


@dataclass(frozen=True)
class _Table:
    """A rule set made ready for batches: the actions by rule, the default action in the last row. int16[rules + 1]
    each, -1: the rule has none; None: no rule has one."""

    classifier: Classifier
    deny: Bool | None
    numbers: Mapping[str, Numbers | None]
    yellow: Numbers
    """By meter: what yellow frames are marked with, -1: they aren't."""

    def rows(self, columns: Mapping[str, NDArray[Any]], n: int) -> Int64:
        """int64[n]: the row of each frame."""
        found = self.classifier.first_match(columns, n)
        return np.where(found == NO_RULE, self.classifier.rules, found)

    def column(self, name: str, rows: Int64) -> Numbers | None:
        """The action's number of each frame."""
        numbers = self.numbers[name]
        return None if numbers is None else numbers[rows]


@lru_cache(maxsize=8)
def _table(rule_set: RuleSet) -> _Table:
    actions = [rule.actions for rule in rule_set.rules]
    numbers: dict[str, Numbers | None] = {}
    for name in ("queue", "mirror", "redirect", "priority", "mark_dscp", "meter", "protect"):
        given = [getattr(action, name) for action in actions]
        some = any(number is not None for number in given)
        numbers[name] = np.array([-1 if n is None else n for n in [*given, None]], np.int16) if some else None
    deny = np.array([*(not action.permit for action in actions), not rule_set.default_permit])
    yellow = [-1 if rates.yellow_dscp is None else rates.yellow_dscp for rates in rule_set.meters]
    return _Table(Classifier(rule_set.rules), deny if deny.any() else None, numbers, np.array(yellow, np.int16))


@dataclass(frozen=True)
class _Found:
    """What was found of n frames, whatever their colours: how they came, the row of each, whether it came good, how
    often it was looked up, whether its turn is that of a metered frame, the meter that is asked, -1: none, and whether
    it is metered and can't be held."""

    stage: AclStage
    come: Arrival
    rows: Int64 | None
    good: Bool
    lookups: Int64 | None
    held: Bool | None
    meter: Numbers | None
    unfit: Bool | None


@dataclass(frozen=True)
class AclPassage(Passage):
    """What the ACL makes of n frames of one direction. An array is None where no frame has what it says.

    found     what was looked up
    rule      uint16[n]  number of the rule that matched, DEFAULT_RULE where none did
    mirror    int16[n]   host queue of the copy that is made, -1: none is
    redirect  bool[n]    leaves by the other direction
    mark      int16[n]   the new DSCP of the outermost IP header, -1: as it was
    """

    found: _Found = field(kw_only=True)
    rule: UInt16 = field(kw_only=True)
    mirror: Numbers | None = field(kw_only=True)
    redirect: Bool | None = field(kw_only=True)
    mark: Numbers | None = field(kw_only=True)

    @property
    def name(self) -> str:
        """Name of the slot."""
        return self.found.stage.name

    @property
    def rule_set(self) -> RuleSet:
        """The rules that were asked."""
        return self.found.stage.rule_set

    @property
    def good(self) -> Bool:
        """bool[n]: the frame came good, so that it is judged and counted."""
        return self.found.good

    @property
    def meter(self) -> Numbers | None:
        """int16[n]: the meter that is asked, -1: none."""
        return self.found.meter

    @property
    def come(self) -> Arrival:
        """The frames as they came; a copy is such a frame."""
        return self.found.come

    def changed(self, frames: Batch) -> Batch:
        if self.mark is None:
            return frames
        fields = self.come.fields
        return mark_dscp_batch(frames, fields["l3_kind"], fields["l3_offset"], self.mark)

    def coloured(self, colour: UInt8) -> AclPassage:
        """The same where the metered frames have these colours, n of them; others aren't looked at."""
        return _passage(self.found, colour)

    def leave(self, flow: Flow, index: Int64) -> Flow:
        lookups = None if self.found.lookups is None else pick(self.found.lookups, index)
        held = None if self.found.held is None else pick(self.found.held, index)
        key, first, last = _times(flow.first, flow.last, flow, lookups, held)
        latest = last
        if not flow.exact:
            _, _, latest = _times(flow.latest - flow.beats + 1, flow.latest, flow, lookups, held)
        stalled = _stalled(flow, key, latest, lookups, held)
        if flow.stalled is not None:
            stalled = flow.stalled if stalled is None else stalled | flow.stalled
        return replace(flow, first=first, last=last, latest=latest, stalled=stalled)


def _times(
    first: Int64, end: Int64, flow: Flow, lookups: Int64 | None, held: Bool | None
) -> tuple[Int64, Int64, Int64]:
    """Docs/acl.md, Time: the cycle in which the matcher takes each frame's first key, its first and its last beat out;
    ``first``, ``end``: its first and its last beat in."""
    n, beats, epoch = len(first), flow.beats, flow.epoch
    spent = np.full(n, _LOOKUP_CYCLES, np.int64)
    rule_cycles: Int64 | int = _RULE_CYCLES
    if lookups is not None:
        spent[1:] *= lookups[:-1]
        rule_cycles = _RULE_CYCLES + _LOOKUP_CYCLES * (lookups - 1)
    key = follow(first + 1, spent, epoch)
    ready = key + rule_cycles
    if held is None:
        turn = done = follow(ready, np.ones(n, np.int64), epoch)
    else:
        ready = np.where(held, np.maximum(ready, end + 1), ready)
        step = np.ones(n, np.int64)
        step[1:] = np.where(held[:-1], np.where(held[1:], _METER_STEP, _METER_CYCLES), 1)
        turn = follow(ready, step, epoch)
        done = turn + _METER_CYCLES * held
    last = follow(np.maximum(done + beats, end + _TAIL), beats, epoch)
    return key, begin(done + 1, last, epoch), last


def _stalled(flow: Flow, key: Int64, latest: Int64, lookups: Int64 | None, held: Bool | None) -> Bool | None:
    """From a frame that may have met a full queue until the slot has been empty again. Where all are looked up once,
    only a long metered frame gets there: ingress lets one through in four cycles, as many as a lookup takes."""
    if not len(key) or (lookups is None and (held is None or int(flow.beats.max()) <= _HELD_BEATS)):
        return None
    place = np.arange(len(key))
    start = np.searchsorted(flow.epoch, flow.epoch, "left") if flow.epoch.any() else 0
    left = np.maximum(np.minimum(np.searchsorted(latest, flow.first, "left"), place), start)
    taken = np.maximum(np.minimum(np.searchsorted(key, flow.first, "left"), place), start)
    total = np.concatenate([[0], np.cumsum(flow.beats)])
    full = place - taken + 1 > KEYS_THAT_WAIT - _QUEUE_SLACK
    full |= place - left + 1 > FRAMES_THAT_WAIT - _QUEUE_SLACK
    full |= total[1:] - total[left] > BEATS_THAT_WAIT - _QUEUE_SLACK
    if not full.any():
        return None
    calm = np.maximum.accumulate(np.where(left == place, place, 0))
    stalled: Bool = np.maximum.accumulate(np.where(full, place, -1)) >= calm
    return stalled


@dataclass(frozen=True)
class AclStage:
    """The ACL in slot ``name`` of port ``port`` with these rules. ``tunnel``: TUNNEL_EN, a second lookup of frames with
    a tunnel."""

    name: str
    rule_set: RuleSet = field(default_factory=RuleSet)
    port: int = 0
    tunnel: bool = False

    @property
    def counters(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{counter}" for counter in COUNTERS)

    def take(self, come: Arrival, written: Mapping[str, int]) -> AclPassage:
        n = len(come.frames)
        table = _table(self.rule_set)
        rows = table.rows(come.fields, n) if self.rule_set.rules else None
        good = (come.user & 1) == 0
        tunnels = come.fields.get("tunnel_kind") if self.tunnel else None
        lookups = None
        if tunnels is not None and tunnels.any():
            lookups = 1 + (tunnels != 0).astype(np.int64)
        held = meter = unfit = None
        if rows is not None:
            meter = table.column("meter", rows)
        if meter is not None and rows is not None:
            if table.deny is not None:
                meter = np.where(table.deny[rows], np.int16(-1), meter)
            unfit = (meter >= 0) & (come.frames.beats > BEATS_THAT_WAIT)
            held = (meter >= 0) & ~unfit
            if come.gone is not None:
                held, unfit = held & ~come.gone, unfit & ~come.gone
            meter = np.where(good & held, meter, np.int16(-1))
        return _passage(_Found(self, come, rows, good, lookups, held, meter, unfit), None)


def _passage(found: _Found, colour: UInt8 | None) -> AclPassage:
    """``colour``: None where all that is metered is green."""
    actions = _Actions(found, colour)
    fields = actions.fields()
    mirror, redirect = actions.mirror(), actions.redirect()
    return AclPassage(
        actions.user,
        _latency(found),
        _TAIL,
        fields,
        {f"{found.stage.name}.{name}": hits for name, hits in actions.counts.items()},
        found=found,
        rule=fields["acl_rule"],
        mirror=mirror,
        redirect=redirect,
        mark=actions.mark(),
    )


class _Actions:
    """What the actions of their rules make of frames.

    user    uint16[n]  tuser beside the last beat
    counts  by register, without the slot's name: bool[n]
    """

    def __init__(self, found: _Found, colour: UInt8 | None) -> None:
        self.found, self.n = found, len(found.good)
        self.table = _table(found.stage.rule_set)
        good = found.good
        gone = found.come.gone
        self.user = found.come.user
        self.counts = {"judged": good, "unjudged": ~good if gone is None else ~good & ~gone}
        self.over: Bool | None = None
        """Frames that end here, or would if they had come good: they have no action but a copy."""
        if self.table.deny is not None:
            rows = self._default_rows() if found.rows is None else found.rows
            self._end(self.table.deny[rows], Code.ACL_DENIED, "denied")
        if found.unfit is not None:
            self._end(found.unfit, Code.OVERSIZE, None)
        if found.meter is not None:
            tint = np.zeros(self.n, np.uint8) if colour is None else colour
            for shade in Colour:
                self.counts[f"metered_{shade.name.lower()}"] = (found.meter >= 0) & (tint == shade)
            self._end(self.counts["metered_red"], Code.ACL_POLICED, "policed")
        self.port = self._numbers("redirect")
        if self.port is not None:
            self._end((self.port >= 0) & (self.port != found.stage.port), Code.ACL_NO_PORT, "no_port")

    def _default_rows(self) -> Int64:
        return np.full(self.n, len(self.found.stage.rule_set.rules))

    def _numbers(self, name: str) -> Numbers | None:
        return None if self.found.rows is None else self.table.column(name, self.found.rows)

    def _end(self, which: Bool, code: Code, counter: str | None) -> None:
        if self.over is not None:
            which = which & ~self.over
        if not which.any():
            return
        self.over = which if self.over is None else self.over | which
        hits = which & self.found.good
        self.user = np.where(hits, self.user & 0x300 | code << 1 | 1, self.user).astype(np.uint16)
        if counter is not None:
            self.counts[counter] = hits

    def _having(self, numbers: Numbers | None) -> Bool | None:
        """Frames that have the action."""
        if numbers is None:
            return None
        has: Bool = numbers >= 0
        if self.over is not None:
            has = has & ~self.over
        return has if has.any() else None

    def fields(self) -> dict[str, NDArray[Any]]:
        """The metadata. The first beat of a frame leaves before it is known to be bad, so those of a bad frame are what
        they would be if it were good and green."""
        found, come = self.found, self.found.come
        if found.rows is None:
            rule = np.full(self.n, DEFAULT_RULE, np.uint16)
        else:
            last = len(found.stage.rule_set.rules)
            rule = np.where(found.rows == last, DEFAULT_RULE, found.rows).astype(np.uint16)
        fields: dict[str, NDArray[Any]] = {"acl_rule": rule}
        for name, action, before in (("queue", "queue", "queue"), ("acl_priority", "priority", "tclass")):
            without, numbers = come.fields.get(before), self._numbers(action)
            has = self._having(numbers)
            if has is not None and numbers is not None:
                fields[name] = np.where(has, numbers, 0 if without is None else without).astype(np.uint8)
            elif without is not None:
                fields[name] = without
        numbers = self._numbers("protect")
        has = self._having(numbers)
        if has is not None and numbers is not None:
            fields["acl_protect"] = has.astype(np.uint8)
            fields["acl_sa"] = np.where(has, numbers, 0).astype(np.uint16)
        has = self._having(self.port)
        if has is not None:
            fields["acl_redirect"] = has.astype(np.uint8)
        return fields

    def mirror(self) -> Numbers | None:
        """int16[n]: host queue of the copy, -1: none is made."""
        numbers = self._numbers("mirror")
        if numbers is None:
            return None
        has = self.found.good & (numbers >= 0)
        if not has.any():
            return None
        self.counts["mirrored"] = has
        return np.where(has, numbers, np.int16(-1))

    def redirect(self) -> Bool | None:
        """bool[n]: leaves by the other direction."""
        has = self._having(self.port)
        if has is None or not (has & self.found.good).any():
            return None
        self.counts["redirected"] = has & self.found.good
        return self.counts["redirected"]

    def mark(self) -> Numbers | None:
        """int16[n]: the new DSCP, -1: as it was."""
        numbers = self._numbers("mark_dscp")
        has = self._having(numbers)
        marks = None
        if has is not None and numbers is not None:
            marks = np.where(has & self.found.good, numbers, np.int16(-1))
        yellow = self.counts.get("metered_yellow")
        if yellow is not None and self.found.meter is not None and yellow.any():
            if self.over is not None:
                yellow = yellow & ~self.over
            given = np.where(yellow, self.table.yellow[self.found.meter], np.int16(-1))
            marks = given if marks is None else np.where(given >= 0, given, marks)
        return marks


def _latency(found: _Found) -> Int64:
    """Of frames that are alone: as ``_times``."""
    rule = np.full(len(found.good), 1 + _RULE_CYCLES, np.int64)
    if found.lookups is not None:
        rule += _LOOKUP_CYCLES * (found.lookups - 1)
    if found.held is None:
        return rule + 1
    held = np.maximum(rule, found.come.frames.beats) + _METER_CYCLES
    return np.where(found.held, held, rule) + 1


def mark_dscp_batch(frames: Batch, l3_kind: NDArray[Any], l3_offset: NDArray[Any], dscp: Numbers) -> Batch:
    """``mark_dscp`` of models/acl.py of every frame, -1: the frame stays as it is. ``l3_kind``, ``l3_offset``: of the
    frames' metadata."""
    index = np.flatnonzero((dscp >= 0) & (l3_kind != 0))
    if not len(index):
        return frames
    data = frames.data.copy()
    at = frames.offset[index] + l3_offset[index]
    ipv4 = l3_kind[index] == L3_KIND[4]
    low = np.where(ipv4, 2, 6)
    old = _word(data, at)
    new = old & ~(0x3F << low) | dscp[index].astype(np.int64) << low
    _put_word(data, at, new)
    at, old, new = at[ipv4] + 10, old[ipv4], new[ipv4]
    # RFC 1624 equation 3.
    total = (_word(data, at) ^ 0xFFFF) + (old ^ 0xFFFF) + new
    for _ in range(2):
        total = (total & 0xFFFF) + (total >> 16)
    _put_word(data, at, total ^ 0xFFFF)
    return replace(frames, data=data)


def _word(data: UInt8, at: Int64) -> Int64:
    return data[at].astype(np.int64) << 8 | data[at + 1]


def _put_word(data: UInt8, at: Int64, word: Int64) -> None:
    data[at], data[at + 1] = word >> 8, word & 0xFF
