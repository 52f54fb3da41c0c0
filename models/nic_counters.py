"""What the port's counters and those of the ACL's rules count in a play, by the device's own dispositions."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from models.acl import DEFAULT_RULE
from models.frames import Batch, Edge
from models.meta import Code
from models.nic_acl import AclPassage
from models.nic_pipeline import COUNTERS, STAGE_COUNTERS
from models.nic_played import Played
from models.nic_report import Report, code_name
from models.nic_stages import Bool, pick
from models.nic_wire import MAC_COUNTERS, events, received_events

__all__ = ["check_counters", "expected_counters", "zero_counters"]

_RULE_COUNTER = re.compile(r"acl_[rt]x\.(?:rule\[\d+\]|default)\.(?:frames|bytes)")


def zero_counters() -> dict[str, int]:
    """All counters but those of rules, which are there when a frame has moved them."""
    return dict.fromkeys((*COUNTERS, *STAGE_COUNTERS), 0)


def expected_counters(play: Played) -> dict[str, int]:
    """What each counter counts: since the last reset in the play. What nobody can know is not there: how many frames
    were yellow, where their colours aren't known."""
    batch, outcome = play.batch, play.outcome
    counters = zero_counters()
    last_reset = int(outcome.resets[-1]) if len(outcome.resets) else -1
    since = (outcome.first_in > last_reset) | (last_reset < 0)
    lengths = batch.lengths
    lengths_out = play.changed.lengths if len(batch) else lengths
    copied = outcome.source[play.copy] if play.mirrored is not None else np.zeros(0, np.int64)
    copied = copied[since[copied]]
    for edge, course in play.courses.items():
        name = course.pipeline.name
        counted = (batch.edge == edge) & since
        at = np.flatnonzero(counted)
        out = np.flatnonzero(since & (play.edge_out == edge.opposite) & (outcome.code == Code.DELIVERED))
        more = copied if edge == Edge.WIRE else copied[:0]
        counters[f"{name}_frames_in"] = len(at)
        counters[f"{name}_bytes_in"] = int(pick(lengths, at).sum())
        counters[f"{name}_frames_out"] = len(out) + len(more)
        counters[f"{name}_bytes_out"] = int(pick(lengths_out, out).sum()) + int(play.copied.lengths[more].sum())
        codes = np.bincount(pick(outcome.code, at), minlength=256)
        for code in np.flatnonzero(codes):
            if code != Code.NONE:
                counters[f"{name}_disposition.{code_name(int(code))}"] = int(codes[code])
        counted = pick(counted, course.index)
        for stage in course.pipeline.stages:
            counters.update((counter, 0) for counter in stage.counters)
        for counter, hits in course.counts().items():
            counters[counter] = int(np.count_nonzero(hits & counted))
        for counter, values in course.sums().items():
            counters[counter] = int(values[counted].sum())
        acl = course.acl
        came = int(np.count_nonzero(batch.edge[copied] == edge))
        counters[f"{acl.name}.mirror_dropped"] = counters[f"{acl.name}.mirrored"] - came
        counters.update(_of_rules(acl, counted & acl.good, acl.come.frames.lengths))
        if edge in play.guessed:
            for colour in ("green", "yellow"):
                del counters[f"{acl.name}.metered_{colour}"]
    if play.sent is not None:
        counters.update(_of_macs(play, play.sent, since))
    return counters


def _of_macs(play: Played, sent: Batch, since: Bool) -> dict[str, int]:
    """``sent``: the frames as they were on the wire."""
    frames = play.outcome.frames
    came = np.flatnonzero((sent.edge == Edge.WIRE) & since)
    went = np.flatnonzero((frames.edge == Edge.WIRE) & (play.outcome.source >= 0))
    found = dict.fromkeys(MAC_COUNTERS, 0)
    for mac, counted in (
        ("mac_rx", received_events(sent.select(came))),
        ("mac_tx", events(frames.select(went))),
    ):
        found.update({f"{mac}.{name}": count for name, count in counted.items()})
    return found


def _of_rules(acl: AclPassage, counted: Bool, lengths: np.ndarray) -> dict[str, int]:
    found = {}
    rule = acl.rule[counted]
    frames = np.bincount(rule, minlength=DEFAULT_RULE + 1) if len(acl.rule_set.rules) else None
    if frames is None:
        return {f"{acl.name}.default.frames": len(rule), f"{acl.name}.default.bytes": int(lengths[counted].sum())}
    # Sums of a play stay far below 2**53.
    size = np.bincount(rule, lengths[counted], minlength=DEFAULT_RULE + 1)
    for number in np.flatnonzero(frames):
        name = "default" if number == DEFAULT_RULE else f"rule[{number}]"
        found[f"{acl.name}.{name}.frames"] = int(frames[number])
        found[f"{acl.name}.{name}.bytes"] = int(size[number])
    return found


def check_counters(play: Played, before: Mapping[str, int] | None, report: Report) -> None:
    """The counters that the device has read, against what it reported of each frame. ``before``: their values at the
    start of the play, where these were not 0 (a reset in the play clears them). Names that aren't the model's are left
    alone, unless they name a disposition or a rule: those must be 0."""
    expected = expected_counters(play)
    known = expected.keys() - {
        f"{course.acl.name}.metered_{colour}"
        for edge, course in play.courses.items()
        if edge in play.guessed
        for colour in ("green", "yellow")
    }
    start = before if before is not None and not len(play.outcome.resets) else {}
    for name, got in sorted(play.outcome.counters.items()):
        if name not in known and "_disposition." not in name and not _RULE_COUNTER.fullmatch(name):
            continue
        wanted = expected.get(name, 0) + start.get(name, 0)
        if got != wanted:
            report.add(-1, f"counter {name}", wanted, got)
