"""Batch and Outcome: frames in bulk as flat arrays.

Sweep:    0 to 12 frames of 0 to 40 bytes with every property, any selection of them; every array of a Batch made wrong
Stimulus: hypothesis; hand-made arrays that contradict each other
Checks:   against plain Python lists of bytes; errors name the array and the frame
Timing:   none
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.frames import FLAG_SNAPPED, Batch, Difference, Edge, Outcome, bad_mark, first_difference
from models.meta import META_WORDS

BYTES = st.binary(max_size=40)
BAD = st.sampled_from([0, 1, bad_mark(16), bad_mark(127)])
FRAME = st.tuples(
    BYTES,
    st.integers(0, 255),
    st.sampled_from(list(Edge)),
    st.integers(0, 2**63 - 1),
    st.integers(0, 255),
    BAD,
    st.sampled_from([0, FLAG_SNAPPED]),
)
COLUMNS = ("port", "edge", "time_ns", "queue", "bad", "flags")


def batch_of(rows: list[Any]) -> Batch:
    return Batch.of([row[0] for row in rows], **{name: [r[i + 1] for r in rows] for i, name in enumerate(COLUMNS)})


def rows_of(batch: Batch) -> list[Any]:
    return list(zip(batch, *(getattr(batch, name).tolist() for name in COLUMNS), strict=True))


@given(st.lists(FRAME, max_size=12))
def test_a_batch_gives_back_the_frames_it_was_made_of(rows: list[Any]) -> None:
    batch = batch_of(rows)
    assert rows_of(batch) == rows
    assert [batch.frame(i) for i in range(len(rows))] == [row[0] for row in rows]
    assert batch.lengths.tolist() == [len(row[0]) for row in rows]
    assert batch.beats.tolist() == [(len(row[0]) + 15) // 16 for row in rows]
    assert batch == batch_of(rows)


@given(st.lists(FRAME, max_size=12), st.data())
def test_a_selection_is_what_a_list_would_give(rows: list[Any], data: st.DataObject) -> None:
    batch, n = batch_of(rows), len(rows)
    chosen = data.draw(st.lists(st.integers(-n, n - 1), max_size=20)) if n else []
    assert rows_of(batch.select(chosen)) == [rows[i] for i in chosen]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)
    assert rows_of(batch.select(mask)) == [row for row, kept in zip(rows, mask, strict=True) if kept]
    cut = slice(*data.draw(st.tuples(st.integers(-3, 12), st.integers(-3, 12), st.sampled_from([1, 2, -1, None]))))
    assert rows_of(batch.select(cut)) == rows[cut]


@given(st.lists(st.lists(FRAME, max_size=4), max_size=4))
def test_joined_batches_hold_all_frames_in_order(parts: list[list[Any]]) -> None:
    assert rows_of(Batch.concat([batch_of(part) for part in parts])) == [row for part in parts for row in part]


@given(st.lists(FRAME, min_size=1, max_size=6), st.integers(0, 5), st.sampled_from(("data", *COLUMNS)))
def test_batches_that_differ_in_one_property_are_unequal(rows: list[Any], at: int, name: str) -> None:
    batch, at = batch_of(rows), at % len(rows)
    if name == "data":
        other = Batch.of([*(r[0] for r in rows[:at]), rows[at][0] + b"x", *(r[0] for r in rows[at + 1 :])])
    else:
        column = getattr(batch, name).copy()
        column[at] = int(column[at] == 0) if name == "bad" else column[at] ^ 1
        other = dataclasses.replace(batch, **{name: column})
    assert batch != other
    assert batch != "a batch"


def naive_difference(a: list[bytes], b: list[bytes]) -> Difference | None:
    for frame in range(max(len(a), len(b))):
        left, right = (side[frame] if frame < len(side) else None for side in (a, b))
        if left == right:
            continue
        for at in range(max(len(left or b""), len(right or b"")) + 1):
            bytes_at = [side[at] if side is not None and at < len(side) else None for side in (left, right)]
            if bytes_at[0] != bytes_at[1] or at == max(len(left or b""), len(right or b"")):
                return Difference(frame, at, *bytes_at)
    return None


SMALL = st.lists(st.binary(max_size=3), max_size=4)


@given(SMALL, SMALL)
def test_the_first_difference_is_the_one_that_a_walk_over_the_bytes_finds(a: list[bytes], b: list[bytes]) -> None:
    assert first_difference(Batch.of(a), Batch.of(b)) == naive_difference(a, b)
    assert first_difference(Batch.of(a), Batch.of(a)) is None


def test_a_difference_reads_as_frame_byte_and_both_values() -> None:
    found = first_difference(Batch.of([b"ab", b"abc"]), Batch.of([b"ab", b"abX"]))
    assert str(found) == "frame 1, byte 2: 0x63 against 0x58"
    assert str(first_difference(Batch.of([b"ab"]), Batch.of([b"a"]))) == "frame 0, byte 1: 0x62 against end"


WRONG: list[tuple[str, Any, str]] = [
    ("data", [1, 2, 3], "Batch.data: a numpy array"),
    ("data", np.zeros(3, np.int64), "Batch.data: dtype uint8"),
    ("data", np.zeros((3, 1), np.uint8), "Batch.data: one dimension"),
    ("data", np.zeros(4, np.uint8), "Batch.offset: must run from 0 to 4"),
    ("offset", np.array([0, 1, 3], np.int32), "Batch.offset: dtype int64"),
    ("offset", np.zeros(0, np.int64), r"Batch.offset: n \+ 1 entries"),
    ("offset", np.array([1, 1, 3], np.int64), "Batch.offset: must run from 0 to 3"),
    ("offset", np.array([0, 4, 3], np.int64), "Batch.offset: frame 1 ends at 3, before its start 4"),
    ("port", np.zeros(3, np.uint8), "Batch.port: 2 entries"),
    ("edge", np.array([0, 2], np.uint8), r"Batch.edge: frame 1 has 2; accepted: 0 \(WIRE\) or 1 \(HOST\)"),
    ("bad", np.array([2, 0], np.uint8), "Batch.bad: frame 0 has 2"),
    ("bad", np.array([0, 1 | 15 << 1], np.uint8), "Batch.bad: frame 1 has 31"),
    ("time_ns", np.array([0, -1], np.int64), "Batch.time_ns: frame 1 has -1; accepted: 0 or more"),
    ("time_ns", np.zeros(2, np.float64), "Batch.time_ns: dtype int64"),
    ("queue", np.zeros(1, np.uint8), "Batch.queue: 2 entries"),
    ("flags", np.zeros(2, np.int8), "Batch.flags: dtype uint8"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG, ids=[f"{w[0]}-{i}" for i, w in enumerate(WRONG)])
def test_an_array_that_does_not_fit_is_refused_by_name(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(Batch.of([b"a", b"bc"]), **{name: value})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"port": 256}, "Batch.port: values from 0 to 255"),
        ({"queue": [1]}, "Batch.queue: one value or 2 values"),
        ({"time_ns": [0.5, 1.0]}, "Batch.time_ns: whole numbers"),
        ({"time_ns": -1}, "Batch.time_ns: frame 0 has -1"),
        ({"bad": -1}, "Batch.bad: values from 0 to 255"),
    ],
)
def test_a_property_that_its_array_cannot_hold_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Batch.of([b"a", b"bc"], **options)


def test_a_frame_that_is_not_there_is_an_index_error() -> None:
    batch = Batch.of([b"a", b"bc"])
    assert batch.frame(-1) == b"bc"
    for index in (2, -3):
        with pytest.raises(IndexError, match=f"frame {index} of a batch of 2"):
            batch.frame(index)


def test_a_bad_mark_carries_its_reason_as_tuser_does() -> None:
    assert bad_mark() == 1
    assert bad_mark(17) == 17 << 1 | 1
    for reason in (-1, 1, 15, 128):
        with pytest.raises(ValueError, match=f"reason {reason}:"):
            bad_mark(reason)


def test_the_edge_across_the_port_is_the_other_one() -> None:
    assert [edge.opposite for edge in (Edge.WIRE, Edge.HOST)] == [Edge.HOST, Edge.WIRE]


def outcome(**changes: Any) -> Outcome:
    n = {name: np.zeros(2, np.int64) for name in ("latency_cycles", "first_in", "last_in", "first_out", "last_out")}
    parts: dict[str, Any] = {
        "frames": Batch.of([b"a"]),
        "source": np.zeros(1, np.int64),
        "code": np.zeros(2, np.uint8),
        "queue": np.zeros(2, np.uint8),
        "cycles": 5,
        **n,
    }
    return Outcome(**(parts | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": np.zeros(2, np.int64)}, "Outcome.source: 1 entries"),
        ({"source": np.array([2], np.int64)}, "Outcome.source: frame out 0 names frame in 2, of 2"),
        ({"source": np.array([-2], np.int64)}, "Outcome.source: frame out 0 names frame in -2"),
        ({"code": np.zeros(2, np.int64)}, "Outcome.code: dtype uint8"),
        ({"queue": np.zeros(3, np.uint8)}, "Outcome.queue: 2 entries"),
        ({"last_out": np.zeros(1, np.int64)}, "Outcome.last_out: 2 entries"),
        ({"resets": np.zeros(1, np.uint8)}, "Outcome.resets: dtype int64"),
        ({"user": np.zeros(2, np.uint16)}, "Outcome.user: 1 entries"),
        ({"begun": np.zeros(1, np.int64)}, "Outcome.ended: 1 entries"),
        ({"ended": np.zeros(2, np.int64)}, "Outcome.begun: 1 entries"),
        ({"meta": np.zeros((2, META_WORDS), np.uint32)}, r"Outcome.meta: uint32\[1, "),
        ({"meta": np.zeros((1, META_WORDS), np.int64)}, r"Outcome.meta: uint32\[1, "),
    ],
)
def test_an_outcome_whose_arrays_do_not_fit_is_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        outcome(**changes)


def test_outcomes_are_equal_when_every_part_is() -> None:
    assert outcome() == outcome()
    assert outcome() != outcome(cycles=6)
    assert outcome() != outcome(counters={"rx_frames_in": 1})
    assert outcome() != outcome(code=np.ones(2, np.uint8))
    assert outcome() != 5
    assert len(outcome()) == 2
