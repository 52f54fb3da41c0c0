"""The ACL as a stage of the port's model: what it makes of all frames of a direction, and when they leave.

Sweep:    rules with all actions and meters, frames that come good and bad, colours of all kinds; tunnels; gaps, resets
Stimulus: hypothesis; rules and metadata from few values; frames built byte by byte
Checks:   AclModel.judge and mark_dscp of models/acl.py, a frame at a time; docs/acl.md, Time, a frame at a time
Timing:   every cycle of "Time", exact
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.acl import DEFAULT_RULE, AclModel, Actions, Masked, Rule, RuleSet, Verdict, mark_dscp
from models.acl_meter import Colour, MeterRates
from models.frames import Batch
from models.meta import Code, disposition
from models.nic_acl import COUNTERS, AclStage, mark_dscp_batch
from models.nic_reference import AclTimes, reference_acl
from models.nic_stages import Arrival, Flow
from tests.acl.frames import ethernet, fields_of, ipv4, ipv6, tcp, udp
from tests.acl.strategies import FIELDS, RULE_SETS
from tests.acl.test_batch import columns_of

PORT = 1
ROWS = st.lists(
    st.tuples(FIELDS, st.sampled_from([60, 100, 1500]), st.sampled_from([0, 0x302, 1 | 16 << 1]), st.integers(0, 2000)),
    min_size=1,
    max_size=12,
)


def arrival(rows: list[Any]) -> Arrival:
    """Frames with this metadata, of this length, with tuser beside them."""
    fields = [{**row[0], "queue": i % 5, "tclass": i % 3, "port": PORT} for i, row in enumerate(rows)]
    columns = columns_of(fields)
    columns |= {name: columns[name].astype(np.uint8) for name in ("queue", "tclass", "port")}
    return Arrival(Batch.of([bytes(row[1]) for row in rows]), np.array([row[2] for row in rows], np.uint16), columns)


@given(RULE_SETS, ROWS)
def test_a_frame_among_many_is_judged_as_it_is_alone(rule_set: RuleSet, rows: list[Any]) -> None:
    come, model = arrival(rows), AclModel(rule_set)
    passage = AclStage("acl_rx", rule_set, PORT).take(come, {})
    now, alone = 0, []
    for i, (fields, length, user, wait) in enumerate(rows):
        now += wait
        asked = {**fields, "queue": i % 5, "tclass": i % 3, "port": PORT}
        alone.append(None if user & 1 else model.judge(asked, length, now))
    metered = np.zeros(len(rows), np.bool_) if passage.meter is None else passage.meter >= 0
    assert metered.tolist() == [judged is not None and judged.colour is not None for judged in alone]
    colour = np.array([0 if judged is None else int(judged.colour or 0) for judged in alone], np.uint8)
    passage = passage.coloured(colour)
    counted = dict.fromkeys(COUNTERS, 0)
    for i, judged in enumerate(alone):
        if judged is None:
            assert passage.user[i] == rows[i][2]
            counted["unjudged"] += 1
            continue
        got = {name: int(values[i]) for name, values in passage.fields.items()}
        counted["judged"] += 1
        counted["mirrored"] += judged.mirror is not None
        counted["redirected"] += judged.redirect == PORT
        if judged.colour is not None:
            counted[f"metered_{judged.colour.name.lower()}"] += 1
        code = 0 if judged.verdict == Verdict.PASSED else Code[judged.verdict.name]
        if judged.redirect not in (None, PORT):
            code = Code.ACL_NO_PORT
        passed = code == 0
        if not passed:
            counted[Code(code).name.lower()[4:]] += 1
        assert passage.user[i] == (rows[i][2] if passed else rows[i][2] & 0x300 | code << 1 | 1)
        assert got["acl_rule"] == passage.rule[i] == (DEFAULT_RULE if judged.rule is None else judged.rule)
        assert got["queue"] == (judged.queue if passed and judged.queue is not None else i % 5)
        assert got["acl_priority"] == (judged.priority if passed and judged.priority is not None else i % 3)
        assert got.get("acl_protect", 0) == (passed and judged.protect is not None)
        assert got.get("acl_sa", 0) == (judged.protect if passed and judged.protect is not None else 0)
        turned = passed and judged.redirect is not None
        assert got.get("acl_redirect", 0) == turned
        for column, expected in (
            (passage.mirror, -1 if judged.mirror is None else judged.mirror),
            (passage.mark, -1 if judged.mark_dscp is None or not passed else judged.mark_dscp),
        ):
            assert (-1 if column is None else column[i]) == expected
        assert (passage.redirect is not None and bool(passage.redirect[i])) == turned
    hits = {name.removeprefix("acl_rx."): int(which.sum()) for name, which in passage.counts.items()}
    assert dict.fromkeys(COUNTERS, 0) | hits == counted


def test_a_bad_frame_keeps_its_reason_and_has_the_metadata_that_it_would_have_if_it_were_good() -> None:
    rules = RuleSet(
        (
            Rule(dscp=1, actions=Actions(queue=9, priority=5, mirror=2, meter=0, protect=7, redirect=PORT)),
            Rule(dscp=2, actions=Actions(permit=False)),
            Rule(dscp=3, actions=Actions(redirect=PORT + 1, queue=9)),
        ),
        meters=(MeterRates(1, 1, 1, 1),),
    )
    bad = 1 | 40 << 1
    rows = [({"l3_kind": 1, "dscp": dscp}, 100, bad, 0) for dscp in (1, 2, 3, 4)]
    passage = AclStage("acl_tx", rules, PORT).take(arrival(rows), {})
    assert passage.user.tolist() == [bad] * 4
    assert passage.fields["acl_rule"].tolist() == [0, 1, 2, DEFAULT_RULE]
    assert passage.fields["queue"].tolist() == [9, 1, 2, 3]
    assert passage.fields["acl_priority"].tolist() == [5, 1, 2, 0]
    assert passage.fields["acl_redirect"].tolist() == passage.fields["acl_protect"].tolist() == [1, 0, 0, 0]
    assert passage.mirror is passage.redirect is None
    assert passage.meter is not None and passage.meter.tolist() == [-1] * 4
    assert {name for name, hits in passage.counts.items() if hits.any()} == {"acl_tx.unjudged"}


def test_a_metered_frame_that_the_slot_cannot_hold_is_oversize_and_takes_no_tokens() -> None:
    rules = RuleSet((Rule(actions=Actions(meter=0, queue=3, mirror=4)),), meters=(MeterRates(1, 1, 1, 1),))
    rows = [({}, 16 * 1024, 0, 0), ({}, 16 * 1024 + 1, 0, 0)]
    passage = AclStage("acl_rx", rules, PORT).take(arrival(rows), {})
    assert passage.user.tolist() == [0, 1 | Code.OVERSIZE << 1]
    assert passage.meter is not None and passage.meter.tolist() == [0, -1]
    assert passage.fields["queue"].tolist() == [3, 1]
    assert passage.counts["acl_rx.judged"].all()
    assert passage.latency.tolist() == [1024 + 8, 13]


def test_the_codes_of_the_acl_end_frames() -> None:
    for code in (Code.ACL_DENIED, Code.ACL_POLICED, Code.ACL_NO_PORT):
        assert disposition(code).name == "DROPPED"


# DSCP

FRAMES = [
    ethernet(ipv4(tcp(), 6, tos=0x2E << 2 | 1)),
    ethernet(ipv4(tcp(), 6), tci=7),
    ethernet(ipv6(udp(), 17, tos=8), 0x86DD),
    ethernet(ipv4(udp(bytes(9)), 17, src="255.255.255.255", dst="255.255.255.255")),
    ethernet(bytes(28), 0x0806),
    ethernet(ipv4(tcp(), 6))[:33],
    ethernet(ipv6(udp(), 17), 0x86DD)[:40],
]


@given(st.lists(st.tuples(st.sampled_from(FRAMES), st.integers(-1, 63), st.binary(min_size=2, max_size=2)), max_size=9))
def test_frames_are_marked_together_as_they_are_alone(rows: list[Any]) -> None:
    # Any checksum, right or wrong.
    frames = [frame[:24] + noise + frame[26:] for frame, _, noise in rows]
    fields = [fields_of(frame) for frame in frames]
    batch = Batch.of(frames)
    kind, at = (np.array([field[name] for field in fields], np.uint8) for name in ("l3_kind", "l3_offset"))
    marked = mark_dscp_batch(batch, kind, at, np.array([row[1] for row in rows], np.int16))
    expected = [
        frame if dscp < 0 else mark_dscp(frame, field, dscp)
        for frame, field, (_, dscp, _) in zip(frames, fields, rows, strict=True)
    ]
    assert list(marked) == expected
    assert list(batch) == frames


# Time

TIMES = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 0, 1, 4, 30]), st.integers(0, 20), st.sampled_from([1, 2, 3, 4, 5, 12, 40]),
        st.sampled_from([1, 1, 2]),
        st.booleans(), st.booleans(), st.integers(0, 20),
    ),
    max_size=25,
)  # fmt: skip


@given(TIMES, st.booleans())
def test_the_cycles_of_many_frames_are_those_of_the_page_a_frame_at_a_time(rows: list[Any], gaps: bool) -> None:
    """(wait, pauses, beats, lookups, metered, a reset before, pauses more at the latest) a frame."""
    rules = RuleSet((Rule(dscp=1, actions=Actions(meter=0)),), meters=(MeterRates(1, 1, 1, 1),))
    come = Arrival(
        Batch.of([bytes(16 * row[2]) for row in rows]),
        np.zeros(len(rows), np.uint16),
        {
            "tunnel_kind": np.array([row[3] - 1 for row in rows], np.uint8),
            "l3_kind": np.ones(len(rows), np.uint8),
            "dscp": np.array([row[4] for row in rows], np.uint8),
        },
    )
    first, last, latest, epoch, now = [], [], [], [], 0
    for wait, pauses, beats, _, _, reset, more in rows:
        first.append(now + wait)
        last.append(now + wait + beats - 1 + pauses * gaps)
        latest.append(last[-1] + more * gaps)
        now = latest[-1] + 1 + 1000 * reset
        epoch.append((epoch[-1] if epoch else 0) + reset)
    ends = np.array(last, np.int64)
    flow = Flow(
        np.array(first, np.int64), ends, np.array(latest, np.int64) if gaps else ends,
        come.frames.beats, np.array(epoch, np.int64),
    )  # fmt: skip
    passage = AclStage("acl_rx", rules, PORT, tunnel=True).take(come, {})
    out = passage.leave(flow, np.arange(len(rows)))
    assert out.exact != gaps
    for begins, ends_in, got_first, got_last in (
        (first, last, out.first, out.last),
        ([end - row[2] + 1 for end, row in zip(latest, rows, strict=True)], latest, None, out.latest),
    ):
        before: AclTimes | None = None
        for i, (_, _, beats, lookups, metered, _, _) in enumerate(rows):
            if i and epoch[i] != epoch[i - 1]:
                before = None
            before = reference_acl(begins[i], ends_in[i], beats, lookups, metered, before)
            assert got_last[i] == before.last
            assert got_first is None or got_first[i] == before.first


@pytest.mark.parametrize(
    ("fields", "beats", "metered", "latency"),
    [({}, 4, False, 13), ({"tunnel_kind": 1}, 8, False, 17), ({}, 4, True, 20), ({}, 600, True, 608),
     ({"tunnel_kind": 2}, 10, True, 24)],
)  # fmt: skip
def test_a_frame_alone_takes_the_cycles_of_the_page(
    fields: dict[str, int], beats: int, metered: bool, latency: int
) -> None:
    rules = RuleSet((Rule(actions=Actions(meter=0 if metered else None)),), meters=(MeterRates(1, 1, 1, 1),))
    passage = AclStage("acl_rx", rules, 0, tunnel=True).take(arrival([(fields, 16 * beats, 0, 0)]), {})
    assert passage.latency.tolist() == [latency]
    alone = reference_acl(100, 99 + beats, beats, 1 + ("tunnel_kind" in fields), metered, None)
    assert alone.first == 100 + latency


def test_a_long_row_of_short_tunnels_may_stall_what_is_before_the_slot_until_it_was_empty_again() -> None:
    rows: list[Any] = [({"tunnel_kind": 1}, 64, 0, 0)] * 200
    stage = AclStage("acl_rx", tunnel=True)
    for gap, stalls in ((4, True), (8, False)):
        first = np.arange(200) * gap
        first[150:] += 2000
        last = first + 3
        flow = Flow(first, last, last, np.full(200, 4), np.zeros(200, np.int64))
        out = stage.take(arrival(rows), {}).leave(flow, np.arange(200))
        if not stalls:
            assert out.stalled is None
            continue
        assert out.stalled is not None
        # A key in four cycles comes, one in eight goes: after so many 62 wait, less some cycles.
        begin = int(np.argmax(out.stalled))
        assert 100 < begin < 125
        assert out.stalled[begin:150].all() and not out.stalled[150:].any()


def test_rules_of_one_lookup_never_stall_whatever_comes() -> None:
    rules = RuleSet((Rule(actions=Actions(meter=0)),), meters=(MeterRates(1, 1, 1, 1),))
    for beats, stalls in ((600, False), (1000, True)):
        come = arrival([({}, 16 * beats, 0, 0)] * 4 + [({}, 64, 0, 0)] * 100)
        count = come.frames.beats
        first = np.cumsum(count) - count
        flow = Flow(first, first + count - 1, first + count - 1, count, np.zeros(len(count), np.int64))
        out = AclStage("acl_rx", rules).take(come, {}).leave(flow, np.arange(len(count)))
        assert (out.stalled is not None) == stalls


def test_a_rule_with_every_condition_free_and_a_number_of_every_action_is_asked() -> None:
    given_actions = Actions(queue=3, mirror=4, redirect=PORT, priority=2, mark_dscp=10, protect=9)
    rules = RuleSet((Rule(protocol=Masked(6, 0xFF), ip=4, actions=given_actions),), default_permit=False)
    rows = [({"l3_kind": 1, "protocol": 6}, 60, 0, 0), ({"l3_kind": 1, "protocol": 17}, 60, 0, 0)]
    passage = AclStage("acl_rx", rules, PORT).take(arrival(rows), {})
    assert passage.user.tolist() == [0, 1 | Code.ACL_DENIED << 1]
    assert passage.coloured(np.full(2, Colour.RED, np.uint8)).user.tolist() == passage.user.tolist()
    assert [name.partition(".")[0] for name in passage.counts] == ["acl_rx"] * len(passage.counts)
