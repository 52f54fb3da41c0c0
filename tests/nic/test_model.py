"""The golden model of nic_port, and the check that holds a device against it.

Sweep:    both directions; frames of 1 to 40 beats, alone, back to back and with gaps; receivers that never, sometimes
          and long pause; buffers of the port's size and small ones that overflow; bad, oversize and disabled frames;
          resets
Stimulus: hypothesis; chains of headers, whole and cut; a port built cycle by cycle (tests/nic/port_cycles.py)
Checks:   the vectorised forms against the scalar ones; the model against that port: no mismatch where it is right, and
          the right one for each way in which an outcome can be wrong; registers against the generated map
Timing:   the first beat out of every frame in its exact cycle where it came without gaps; 100,000 frames checked in
          about a second
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.acl import Judgement, Verdict
from models.config import NicConfig, ParserConfig
from models.frames import BEAT_BYTES, Batch, Edge, Outcome, bad_mark
from models.meta import Code, pack, unpack, word_of, words_of
from models.nic import (
    COUNTERS,
    CYCLE_NS,
    RX,
    TX,
    AddressError,
    Mismatch,
    NicPortModel,
    reference_code,
    reference_first_out,
    reference_held,
)
from models.nic_acl import AclStage
from models.nic_lane import Lane
from models.nic_stages import ParserStage, Registers
from models.parser import ParserModel
from models.port_map import PORT
from models.registers import Access
from tb.nic.traffic import chained_frame
from tests.nic.port_cycles import Pauses, count, frames_of, receiver, run

LENGTHS = st.one_of(st.integers(1, 200), st.sampled_from([1513, 1514, 1515, 9595, 9596, 9597, 9612, 40_000]))
DROP = ParserConfig(drop_rx=("too_deep", "l3_truncated", "l4_truncated"), drop_tx=("l3_beyond_frame", "too_deep"))
BAD = st.sampled_from([0, 0, 0, bad_mark(), bad_mark(Code.OVERSIZE), bad_mark(33), bad_mark(127)])


# -- traffic -----------------------------------------------------------------------------------------------------------


def through(batch: Batch, rng: random.Random, pauses: Pauses, **how: Any) -> Outcome:
    """What a port built cycle by cycle does with the batch, as a device that doesn't tell its time."""
    return replace(run(batch, rng, pauses, **how), now=-1)


def traffic(rng: random.Random, edge: Edge, n: int, beats: tuple[int, int], bad: float = 0.1) -> Batch:
    lengths = [rng.randint(beats[0], beats[1]) * BEAT_BYTES - rng.randrange(BEAT_BYTES) for _ in range(n)]
    return Batch.of(
        [chained_frame(rng, length) for length in lengths],
        edge=edge,
        queue=[rng.randrange(8) for _ in range(n)],
        bad=[rng.choice([bad_mark(), bad_mark(Code.OVERSIZE)]) if rng.random() < bad else 0 for _ in range(n)],
    )


def told(mismatches: list[Mismatch]) -> str:
    return "\n".join(str(mismatch) for mismatch in mismatches[:5])


# -- the model against that port ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("edge", list(Edge), ids=["rx", "tx"])
@pytest.mark.parametrize("kind", ["none", "random", "bursty", "stalled"])
@pytest.mark.parametrize(("beats", "n"), [((1, 3), 120), ((1, 8), 100), ((4, 40), 60)], ids=["short", "mixed", "long"])
@pytest.mark.parametrize("gap", [0.0, 0.3], ids=["dense", "gaps"])
def test_a_right_port_is_found_right_under_any_back_pressure(
    seed: int, edge: Edge, kind: str, beats: tuple[int, int], n: int, gap: float
) -> None:
    rng = random.Random(f"{seed} {edge} {kind} {beats} {gap}")
    batch = traffic(rng, edge, n, beats)
    config = NicConfig().with_port(parser=DROP)
    outcome = through(batch, rng, receiver(kind, rng), gap=gap, config=config)
    assert (outcome.code == Code.DELIVERED).sum() > n // 3
    assert any(code in outcome.code for code in (Code.TOO_DEEP, Code.L3_TRUNCATED, Code.L3_BEYOND_FRAME))
    found = NicPortModel(config).check(batch, outcome)
    assert not found, told(found)


@pytest.mark.parametrize("edge", list(Edge), ids=["rx", "tx"])
@pytest.mark.parametrize("kind", ["none", "random", "stalled"])
@pytest.mark.parametrize("gap", [0.0, 0.3], ids=["dense", "gaps"])
@pytest.mark.parametrize(("depth", "slots", "beats"), [(64, 256, (1, 30)), (2048, 16, (1, 6)), (48, 16, (4, 20))])
def test_a_right_port_is_found_right_when_its_buffer_overflows(
    seed: int, edge: Edge, kind: str, gap: float, depth: int, slots: int, beats: tuple[int, int]
) -> None:
    rng = random.Random(f"{seed} {edge} {kind} {depth} {slots}")
    batch = traffic(rng, edge, 120, beats)
    outcome = through(batch, rng, receiver(kind, rng), gap=gap, depth=depth, slots=slots)
    dropped = int((outcome.code == Code.RX_BUFFER_FULL).sum())
    assert dropped == 0 if edge == Edge.HOST or kind == "none" else dropped > 0 or kind == "random"
    found = NicPortModel(rx_buffer_beats=depth, tx_buffer_beats=depth, buffer_frames=slots).check(batch, outcome)
    assert not found, told(found)


@pytest.mark.parametrize("edge", list(Edge), ids=["rx", "tx"])
def test_oversize_frames_are_cut_and_delay_those_behind_them_by_their_own_beats(seed: int, edge: Edge) -> None:
    rng = random.Random(seed)
    config = NicConfig().with_port(max_frame=100)
    batch = traffic(rng, edge, 120, (1, 14))
    outcome = through(batch, rng, receiver("random", rng), config=config)
    assert (outcome.code == Code.OVERSIZE).sum() > 20
    found = NicPortModel(config).check(batch, outcome)
    assert not found, told(found)


@pytest.mark.parametrize("edge", list(Edge), ids=["rx", "tx"])
@pytest.mark.parametrize("kind", ["none", "random", "stalled"])
def test_frames_that_a_reset_meets_are_lost_and_the_others_stay_exact(seed: int, edge: Edge, kind: str) -> None:
    rng = random.Random(f"{seed} {edge} {kind}")
    for _ in range(4):
        batch = traffic(rng, edge, 60, (1, 12))
        resets = tuple(sorted(rng.sample(range(10, 350), 2)))
        outcome = through(batch, rng, receiver(kind, rng), gap=0.1, resets=resets)
        assert (outcome.code == Code.RESET).any()
        found = NicPortModel().check(batch, outcome)
        assert not found, told(found)


def test_frames_lost_in_a_full_buffer_explain_the_drops_before_the_reset() -> None:
    """Nobody knows when a lost frame would have left, so it may have held its room until the reset."""
    drops = 0
    for seed in range(6):
        rng = random.Random(seed)
        batch = traffic(rng, Edge.WIRE, 120, (1, 12))
        outcome = through(batch, rng, lambda cycle: cycle >= 700, depth=64, resets=(500,))
        lost = np.flatnonzero(outcome.code == Code.RESET)
        drops += int((outcome.code[: lost[-1]] == Code.RX_BUFFER_FULL).sum())
        found = NicPortModel(rx_buffer_beats=64).check(batch, outcome)
        assert not found, told(found)
    assert drops > 50


def test_short_frames_that_met_a_full_transmit_buffer_may_be_late_until_the_port_was_empty() -> None:
    """A stall that reaches ingress bunches what stands before the ACL; when it is over, nothing tells how."""
    late = 0
    for seed in range(3):
        rng = random.Random(seed)
        batch = traffic(rng, Edge.HOST, 700, (1, 1))
        outcome = through(batch, rng, lambda cycle: cycle % 3000 > 1900, gap=0.1, slots=16)
        found = NicPortModel(buffer_frames=16).check(batch, outcome)
        assert not found, told(found)
        lane = Lane.of(batch, outcome, NicPortModel()._courses(batch)[Edge.HOST])
        sent = lane.delivered
        late += int((lane.first_out[sent] > lane.expected_first_out()[1][sent]).sum())
        assert not lane.disturbed(2048, 16).all()
    assert late > 100


def test_both_directions_of_one_play_are_checked_apart(seed: int) -> None:
    rng = random.Random(seed)
    parts = [traffic(rng, edge, 40, (1, 9)) for edge in Edge]
    outcomes = [through(part, rng, receiver("random", rng)) for part, edge in zip(parts, Edge, strict=True)]
    both, n = Batch.concat(parts), len(parts[0])
    columns = ("code", "queue", "latency_cycles", "first_in", "last_in", "first_out", "last_out")
    outcome = Outcome(
        frames=Batch.concat([outcome.frames for outcome in outcomes]),
        source=np.concatenate([outcomes[0].source, outcomes[1].source + n]),
        user=np.concatenate([outcome.user for outcome in outcomes]),
        meta=np.concatenate([outcome.meta for outcome in outcomes]),
        **{name: np.concatenate([getattr(outcome, name) for outcome in outcomes]) for name in columns},
        cycles=max(outcome.cycles for outcome in outcomes),
        counters=outcomes[0].counters | outcomes[1].counters,
    )
    assert not NicPortModel().check(both, outcome)
    shuffled = np.array(rng.sample(range(len(both)), len(both)))
    shuffled = np.concatenate([np.sort(shuffled[: len(both) // 2]), np.sort(shuffled[len(both) // 2 :])])
    order = np.argsort(np.where(shuffled < n, shuffled, shuffled - n), kind="stable")
    index = shuffled[order]  # the two directions interleaved, each in its own order
    back = np.empty(len(both), np.int64)
    back[index] = np.arange(len(both))
    mixed = replace(outcome, source=back[outcome.source], **{name: getattr(outcome, name)[index] for name in columns})
    found = NicPortModel().check(both.select(index), mixed)
    assert not found, told(found)


# -- every way to be wrong ---------------------------------------------------------------------------------------------


def put(outcome: Outcome, name: str, index: int, value: int) -> Outcome:
    array = getattr(outcome, name).copy()
    array[index] = value
    return replace(outcome, **{name: array})


def put_out(outcome: Outcome, name: str, index: int, value: int) -> Outcome:
    array = getattr(outcome.frames, name).copy()
    array[index] = value
    return replace(outcome, frames=replace(outcome.frames, **{name: array}))


def picked(outcome: Outcome, order: list[int]) -> Outcome:
    """These frames out, in this order."""
    parts = {name: getattr(outcome, name)[order] for name in ("source", "user", "meta", "begun", "ended")}
    return replace(outcome, frames=outcome.frames.select(order), **parts)


def put_meta(outcome: Outcome, j: int, name: str, add: int = 1) -> Outcome:
    """A field of the metadata of frame out j is wrong."""
    fields = unpack(word_of(outcome.meta[j]))
    meta = outcome.meta.copy()
    meta[j] = words_of([pack(fields | {name: fields[name] + add})])[0]
    return replace(outcome, meta=meta)


def without(outcome: Outcome, j: int) -> Outcome:
    return picked(outcome, [i for i in range(len(outcome.frames)) if i != j])


def never_out(outcome: Outcome, i: int, code: int) -> Outcome:
    """Frame i ends by that code instead of being delivered."""
    j = int(np.flatnonzero(outcome.source == i)[0])
    changed = put(without(outcome, j), "code", i, code)
    for name in ("first_out", "last_out", "latency_cycles"):
        changed = put(changed, name, i, -1)
    return changed


def shifted(outcome: Outcome, i: int, by: int) -> Outcome:
    """Frame i comes out so many cycles later, and says so everywhere."""
    changed = put(outcome, "first_out", i, int(outcome.first_out[i]) + by)
    changed = put(changed, "last_out", i, int(outcome.last_out[i]) + by)
    return put(changed, "latency_cycles", i, int(outcome.latency_cycles[i]) + by)


def twisted(outcome: Outcome) -> Outcome:
    """The second and third frame out change places."""
    return picked(outcome, [0, 2, 1, *range(3, len(outcome.frames))])


def cut_short(outcome: Outcome) -> Outcome:
    frames = list(outcome.frames)
    frames[4] = frames[4][:-1]
    o = outcome.frames
    return replace(outcome, frames=Batch.of(frames, port=o.port, edge=o.edge, queue=o.queue, time_ns=o.time_ns))


def joined(outcome: Outcome, j: int, source: int) -> Outcome:
    """Frame out j comes once more at the end, as a copy of frame in ``source``."""
    more = picked(outcome, [*range(len(outcome.frames)), j])
    return replace(more, source=np.append(outcome.source, source))


CUT_SHORT = bytes(12) + b"\x08\x00\x45\x00\x05\x00" + bytes(60)
"""An IPv4 packet of 1280 bytes by its own length field, of which 64 are there."""

WRONG: dict[str, tuple[Callable[[Outcome], Outcome], int, str]] = {
    "a flipped bit": (lambda o: put_out(o, "data", 20, int(o.frames.data[20]) ^ 1), 0, "byte 20"),
    "a frame that lost its last byte": (cut_short, 4, "length"),
    "two frames in the wrong order": (twisted, 1, "order"),
    "a frame at the edge where it came in": (lambda o: put_out(o, "edge", 3, Edge.WIRE), 3, "edge out"),
    "a frame at another port": (lambda o: put_out(o, "port", 3, 1), 3, "port out"),
    "a frame out that is marked bad": (lambda o: put_out(o, "bad", 3, 1), 3, "bad mark out"),
    "a frame out for another queue": (lambda o: put_out(o, "queue", 3, 2), 3, "queue of the frame out"),
    "a disposition for another queue": (lambda o: put(o, "queue", 3, 2), 3, "queue"),
    "a frame that came twice": (lambda o: joined(o, 3, 3), 3, "times it came out"),
    "a frame that nobody sent": (lambda o: joined(o, 3, -1), -1, "without a frame in"),
    "a frame that is delivered and never came": (lambda o: without(o, 3), 3, "times it came out"),
    "a frame that came and was never reported": (lambda o: put(o, "code", 3, Code.NONE), 3, "code"),
    "a frame lost in silence": (lambda o: never_out(o, 3, Code.NONE), 3, "code"),
    "a good frame dropped as bad": (lambda o: never_out(o, 3, Code.BAD_FRAME), 3, "code"),
    "a drop for want of room in an empty buffer": (
        lambda o: never_out(o, 3, Code.RX_BUFFER_FULL),
        3,
        "drop for want of room",
    ),
    "a loss by a reset that never was": (lambda o: never_out(o, 3, Code.RESET), 3, "code"),
    "a loss by a reset that came before": (
        lambda o: replace(never_out(o, 3, Code.RESET), resets=np.array([0], np.int64)),
        3,
        "reset while it was in the port",
    ),
    "a loss by a reset while the next frame passed": (
        lambda o: replace(never_out(o, 3, Code.RESET), resets=np.array([o.cycles], np.int64)),
        3,
        "lost at the reset",
    ),
    "a verdict on a checksum that is another": (lambda o: put(o, "user", 3, int(o.user[3]) ^ 0x100), 3, "tuser"),
    "a port in the metadata that is another": (lambda o: put_meta(o, 3, "port"), 3, "meta.port"),
    "a number in the metadata that is another": (lambda o: put_meta(o, 3, "seq"), 3, "meta.seq"),
    "a queue in the metadata": (lambda o: put_meta(o, 3, "queue"), 3, "meta.queue"),
    "a direction in the metadata that is the other": (lambda o: put_meta(o, 3, "direction"), 3, "meta.direction"),
    "a header's field in the metadata that is another": (lambda o: put_meta(o, 3, "ttl"), 3, "meta.ttl"),
    "a time in the metadata that is 1 ns too late": (
        lambda o: put_meta(o, 3, "timestamp"),
        3,
        "meta.timestamp",
    ),
    "a malformed frame that is not counted": (
        lambda o: replace(o, counters=o.counters | {"parser_rx.l3_beyond_frame": 0}),
        -1,
        "counter parser_rx.l3_beyond_frame",
    ),
    "resets out of order": (lambda o: replace(o, resets=np.array([9, 9], np.int64)), -1, "resets"),
    "a frame one cycle late": (lambda o: shifted(o, 5, 1), 5, "first_out"),
    "a frame one cycle early": (lambda o: shifted(o, 5, -1), 5, "first_out"),
    "a latency that is not the difference": (lambda o: put(o, "latency_cycles", 5, 3), 5, "latency_cycles"),
    "a frame that came in faster than it can": (
        lambda o: put(o, "last_in", 5, int(o.first_in[5])),
        5,
        "last_in, at the earliest",
    ),
    "a frame that came out faster than it can": (
        lambda o: put(o, "last_out", 5, int(o.first_out[5])),
        5,
        "last_out, at the earliest",
    ),
    "a frame that came in before the one before it": (
        lambda o: put(o, "first_in", 5, int(o.last_in[4])),
        5,
        "first_in (the frame before is still entering)",
    ),
    "a frame that came out while another did": (
        lambda o: put(o, "last_out", 4, int(o.first_out[5])),
        5,
        "first_out (the frame before is still leaving)",
    ),
    "a frame without a cycle in": (lambda o: put(o, "first_in", 5, -1), 5, "first_in (it never entered)"),
    "a frame without a cycle out": (lambda o: put(o, "first_out", 5, -1), 5, "first_out (it never came out)"),
    "a play that was over too soon": (
        lambda o: replace(o, cycles=int(o.last_out[19])),
        19,
        "cycles of the play, at least",
    ),
    "a counter that counts twice": (
        lambda o: replace(o, counters=o.counters | {"rx_frames_out": 40}),
        -1,
        "counter rx_frames_out",
    ),
    "a disposition that is not counted": (
        lambda o: replace(o, counters=o.counters | {"rx_disposition.DELIVERED": 19}),
        -1,
        "counter rx_disposition.DELIVERED",
    ),
    "a disposition that nobody reported": (
        lambda o: replace(o, counters=o.counters | {"tx_disposition.99": 1}),
        -1,
        "counter tx_disposition.99",
    ),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_a_device_that_is_wrong_is_found_out(seed: int, name: str) -> None:
    rng = random.Random(seed)
    batch = traffic(rng, Edge.WIRE, 20, (4, 8), bad=0)
    batch = Batch.concat([batch.select(slice(0, 19)), Batch.of([CUT_SHORT])])
    outcome = through(batch, rng, receiver("none", rng))
    assert not NicPortModel().check(batch, outcome)
    change, frame, what = WRONG[name]
    found = NicPortModel().check(batch, change(outcome))
    hits = [mismatch for mismatch in found if mismatch.frame == frame and what in mismatch.what]
    assert hits, told(found)
    assert all(str(mismatch) for mismatch in found)


@pytest.mark.parametrize("edge", list(Edge), ids=["rx", "tx"])
def test_a_cycle_more_anywhere_in_the_port_is_found_out(seed: int, edge: Edge) -> None:
    rng = random.Random(seed)
    batch = traffic(rng, edge, 30, (1, 8))
    way = "rx" if edge == Edge.WIRE else "tx"
    for place in ("before", "after"):
        outcome = through(batch, rng, receiver("none", rng), more={f"{way} {place}": 1})
        found = NicPortModel().check(batch, outcome)
        assert {mismatch.what for mismatch in found} == {"first_out"}
        assert found[0].got == found[0].expected + 1


def test_a_buffer_of_another_size_is_found_out(seed: int) -> None:
    rng = random.Random(seed)
    batch = traffic(rng, Edge.WIRE, 150, (1, 12), bad=0)
    outcome = through(batch, rng, receiver("stalled", rng), depth=128)
    assert not NicPortModel(rx_buffer_beats=128).check(batch, outcome)
    assert "drop for want of room" in {m.what for m in NicPortModel(rx_buffer_beats=160).check(batch, outcome)}
    assert "delivery" in {m.what for m in NicPortModel(rx_buffer_beats=96).check(batch, outcome)}
    outcome = through(batch, rng, receiver("stalled", rng), slots=32)
    assert not NicPortModel(buffer_frames=32).check(batch, outcome)
    assert "drop for want of room" in {m.what for m in NicPortModel(buffer_frames=40).check(batch, outcome)}
    assert "delivery" in {m.what for m in NicPortModel(buffer_frames=20).check(batch, outcome)}


def test_transmit_never_drops_for_want_of_room(seed: int) -> None:
    rng = random.Random(seed)
    batch = traffic(rng, Edge.HOST, 20, (4, 8), bad=0)
    outcome = never_out(through(batch, rng, receiver("none", rng)), 3, Code.RX_BUFFER_FULL)
    assert [m.what for m in NicPortModel().check_frames(batch, outcome)] == ["code"]


def test_an_outcome_of_another_number_of_frames_is_one_mismatch(seed: int) -> None:
    batch = traffic(random.Random(seed), Edge.WIRE, 5, (1, 4))
    found = NicPortModel().check(batch, NicPortModel().play(batch.select(slice(0, 4))))
    assert found == [Mismatch(-1, "frames in the outcome", 5, 4)]


def test_the_accounting_sum_is_checked(seed: int) -> None:
    batch = traffic(random.Random(seed), Edge.WIRE, 5, (1, 4), bad=0)
    found = NicPortModel().check_frames(batch, without(NicPortModel().play(batch), 2))
    assert [str(m) for m in found if m.what == "accounting"] == [
        "accounting: expected 5 in + 0 generated + 0 copies = 5, "
        "got 4 delivered + 0 consumed + 0 dropped + 0 in flight = 4"
    ]


def test_a_frame_that_comes_in_with_the_reason_of_a_timed_drop_is_only_a_bad_frame(seed: int) -> None:
    rng = random.Random(seed)
    batch = replace(traffic(rng, Edge.WIRE, 9, (4, 8)), bad=np.zeros(9, np.uint8))
    marks = batch.bad.copy()
    marks[[2, 5]] = bad_mark(Code.RX_BUFFER_FULL), bad_mark(Code.RESET)
    batch = replace(batch, bad=marks)
    outcome = through(batch, rng, receiver("none", rng))
    assert outcome.code[[2, 5]].tolist() == [Code.RX_BUFFER_FULL, Code.RESET]
    assert not NicPortModel().check(batch, outcome)


def test_a_mismatch_names_frame_cycle_and_both_values() -> None:
    assert str(Mismatch(3, "length", 60, 59, 812)) == "frame 3: length: expected 60, got 59 (cycle 812)"
    assert str(Mismatch(-1, "counter rx_bytes_in", 1, 2)) == "counter rx_bytes_in: expected 1, got 2"


# -- what must happen --------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(LENGTHS, BAD, st.sampled_from(list(Edge))), max_size=20),
    st.integers(0, 3),
    st.sampled_from([96, 100, 1514, 9596, 65535]),
    st.integers(0, 0x1FFF),
    st.integers(0, 1 << 32),
)
def test_codes_in_bulk_are_the_scalar_ones(rows: list[Any], control: int, max_frame: int, drop: int, seed: int) -> None:
    model, rng = NicPortModel(), random.Random(seed)
    model.write(0x8, control)
    model.write(0xC, max_frame)
    for way in ("rx", "tx"):
        model.write(PORT[f"parser_{way}.drop"].address, drop)
    batch = Batch.of(
        [chained_frame(rng, row[0]) for row in rows], bad=[row[1] for row in rows], edge=[row[2] for row in rows]
    )
    expected = [
        reference_code(edge, data, bad, control, max_frame, 2048, drop)
        for data, (_, bad, edge) in zip(batch, rows, strict=True)
    ]
    assert model.predict(batch).code.tolist() == expected


@pytest.mark.parametrize(
    ("control", "length", "bad", "code"),
    [
        (3, 9596, 0, Code.DELIVERED),
        (3, 9597, 0, Code.OVERSIZE),
        (3, 60, bad_mark(), Code.BAD_FRAME),
        (3, 60, bad_mark(40), 40),
        (3, 9597, bad_mark(40), Code.OVERSIZE),
        (0, 9597, bad_mark(40), Code.PORT_DISABLED),
        (0, 60, 0, Code.PORT_DISABLED),
    ],
)
def test_the_reason_of_a_drop_is_the_first_in_order_of_precedence(
    control: int, length: int, bad: int, code: int
) -> None:
    for edge in Edge:
        # The frame has more than two tags, and such frames are to be dropped: the parser comes last.
        frame, drop = bytes(12) + b"\x81\x00" * (length // 2 - 6) + bytes(length % 2), 1 << Code.TOO_DEEP - 32
        code = Code.TOO_DEEP if code == Code.DELIVERED else code
        assert reference_code(edge, frame, bad, control, 9596, 2048, drop) == code
        only_other_off = 3 ^ (1 << int(edge)) if control == 0 else 3
        assert reference_code(edge, frame, bad, only_other_off, 9596, 2048, drop) == code


def test_a_frame_longer_than_the_buffer_is_oversize_in_both_directions() -> None:
    for edge in Edge:
        assert reference_code(edge, bytes(2048 * 16), 0, 3, 65535, 2048) == Code.DELIVERED
        assert reference_code(edge, bytes(2048 * 16 + 1), 0, 3, 65535, 2048) == Code.OVERSIZE


def test_frames_out_are_those_that_went_in_at_the_other_edge() -> None:
    batch = Batch.of(
        [b"a" * 60, b"b" * 60, b"c" * 60], edge=[0, 1, 0], queue=[4, 5, 6], bad=[0, 0, 1], time_ns=[1, 2, 3]
    )
    prediction = NicPortModel().predict(batch)
    assert prediction.source.tolist() == [0, 1]
    assert list(prediction.frames) == [b"a" * 60, b"b" * 60]
    assert prediction.frames.edge.tolist() == [Edge.HOST, Edge.WIRE]
    assert prediction.queue.tolist() == [0, 5, 0]
    assert prediction.frames.bad.tolist() == [0, 0]


@pytest.mark.parametrize("length", [1, 15, 16, 17, 60, 64, 65, 1514, 9596])
def test_an_isolated_frame_takes_the_parsers_latency_and_beats_and_25_or_22_cycles(seed: int, length: int) -> None:
    model, beats, rng = NicPortModel(), -(-length // 16), random.Random(f"{seed} {length}")
    for _ in range(30):
        frame = chained_frame(rng, length)
        parser = ParserModel().parse(frame).latency_cycles
        assert model.latency_cycles(Edge.WIRE, frame) == beats + 25 + parser
        assert model.latency_cycles(Edge.HOST, frame) == beats + 22 + parser
        assert model.first_out_cycle(Edge.WIRE, frame, 100, 50) == 100 + beats + 25 + parser
        assert model.first_out_cycle(Edge.WIRE, frame, 100, 9000) == 9001


@given(st.lists(st.tuples(st.integers(1, 200), BAD, st.sampled_from(list(Edge)), st.integers(0, 3000)), max_size=30))
def test_a_play_is_the_frames_one_after_the_other(rows: list[Any]) -> None:
    rng = random.Random(len(rows))
    batch = Batch.of(
        [chained_frame(rng, row[0]) for row in rows],
        bad=[row[1] for row in rows],
        edge=[row[2] for row in rows],
        time_ns=[row[3] for row in rows],
    )
    model = NicPortModel()
    outcome = model.play(batch)
    free = {edge: 0 for edge in Edge}
    for i, (length, bad, edge, start_ns) in enumerate(rows):
        beats, latency = -(-length // 16), model.latency_cycles(edge, batch.frame(i))
        start = max(free[edge], -(-start_ns // CYCLE_NS))
        free[edge] = start + latency + beats
        out = bad == 0
        assert outcome.first_in[i] == start
        assert outcome.last_in[i] == start + beats - 1
        assert outcome.first_out[i] == (start + latency if out else -1)
        assert outcome.last_out[i] == (start + latency + beats - 1 if out else -1)
        assert outcome.latency_cycles[i] == (latency if out else -1)
    assert outcome.cycles == max(free.values())
    assert outcome.frames.time_ns.tolist() == [outcome.first_out[i] * CYCLE_NS for i in outcome.source]
    found = NicPortModel().check(batch, outcome)
    assert not found, told(found)
    again = model.play(batch)
    assert not NicPortModel().check(batch, again, before=outcome.counters)
    if len(rows):
        assert NicPortModel().check(batch, again)


def test_a_frame_that_no_stream_can_carry_is_refused() -> None:
    with pytest.raises(ValueError, match="frame 1 has no byte"):
        NicPortModel().play(Batch.of([b"a", b""]))
    with pytest.raises(ValueError, match="frame 1 is not of port 1"):
        NicPortModel(port=1).predict(Batch.of([b"a", b"b"], port=[1, 0]))


# -- the vectorised forms against the scalar ones ----------------------------------------------------------------------

STEP = st.integers(0, 20)
LANE = st.lists(st.tuples(STEP, STEP, st.integers(1, 12), STEP, STEP, st.booleans()), max_size=25)


def lane_of(rows: list[Any], edge: Edge, resets: list[int]) -> tuple[Lane, list[Any], list[int]]:
    """A consistent lane: (gap before, pauses inside, beats, pause before out, pauses inside out, delivered) a frame;
    its columns, and the parser's latencies."""
    columns: list[Any] = []
    now = out = 0
    for gap, inside, beats, wait, pauses, delivered in rows:
        first, last = now + gap, now + gap + beats - 1 + inside
        now = last + 1
        first_out = max(out + wait, last)
        last_out = first_out + beats - 1 + pauses
        if delivered:
            out = last_out + 1
        columns.append((first, last, beats, *((first_out, last_out) if delivered else (-1, -1))))
    rng = random.Random(len(rows))
    batch = Batch.of([chained_frame(rng, 16 * row[2]) for row in columns], edge=edge)
    first, last, _, first_out, last_out = (np.array([row[i] for row in columns], np.int64) for i in range(5))
    blank = NicPortModel().play(batch)
    outcome = replace(
        blank,
        first_in=first,
        last_in=last,
        first_out=first_out,
        last_out=last_out,
        code=np.where(first_out >= 0, Code.DELIVERED, Code.BAD_FRAME).astype(np.uint8),
        resets=np.array(resets, np.int64),
    )
    latency = [ParserModel().parse(data).latency_cycles for data in batch]
    return Lane.of(batch, outcome, NicPortModel()._courses(batch)[edge]), columns, latency


@given(LANE, st.sampled_from(list(Edge)), st.sets(st.integers(0, 400), max_size=3))
def test_first_beats_out_in_bulk_are_the_scalar_ones(rows: list[Any], edge: Edge, resets: set[int]) -> None:
    lane, columns, latency = lane_of(rows, edge, sorted(resets))
    first, last, beats, _, last_out = ([row[i] for row in columns] for i in range(5))
    got = list(zip(*(cycles.tolist() for cycles in lane.expected_first_out()), strict=True))
    expected = reference_first_out(edge, first, last, beats, latency, last_out, sorted(resets))
    previous = -1
    for i, (left, right) in enumerate(zip(got, expected, strict=True)):
        # Without a reset between them the two are equal; across one, only a real port's outputs end before it does.
        crossed = any(first[i] > reset <= previous for reset in resets)
        assert left == right or (crossed and left == tuple(max(cycle, previous + 1) for cycle in right))
        previous = max(previous, last_out[i])


@given(LANE, st.data())
def test_what_a_buffer_holds_in_bulk_is_the_scalar_count(rows: list[Any], data: Any) -> None:
    lane, columns, _ = lane_of(rows, Edge.WIRE, [])
    n = len(columns)
    times = np.array(data.draw(st.lists(st.integers(0, 700), min_size=n, max_size=n)), np.int64)
    (least, few), (most, frames) = (
        [part.tolist() for part in held(times)] for held in (lane.held_least, lane.held_most)
    )
    for k in range(n):
        before = [row for row in columns[:k] if row[4] >= 0]
        expected = reference_held(
            int(times[k]), [row[3] for row in before], [row[4] for row in before], [row[2] for row in before]
        )
        assert (least[k], most[k], few[k], frames[k]) == expected


def test_back_to_back_frames_that_came_without_gaps_have_one_cycle_in_which_they_come_out() -> None:
    beats, rng = [4, 4, 9, 95, 4, 600, 1, 1, 3, 2], random.Random(1)
    latency = [ParserModel().parse(chained_frame(rng, 16 * size)).latency_cycles for size in beats]
    first, last, now = [], [], 0
    for size in beats:
        now = max(now, first[-1] + 4) if first else now
        first.append(now)
        last.append(now + size - 1)
        now += size
    for edge, behind in ((Edge.WIRE, 25), (Edge.HOST, 22)):
        expected, out, parser = [], -1, -1
        for i, size in enumerate(beats):
            # When its last beat leaves the parser, counted from the first cycle in which it could have come there.
            parser = max(first[i] + latency[i] + size - 1, last[i] + 2, parser + size)
            begin = max(parser + behind + 1, out + 1)
            expected.append((begin, begin))
            out = begin + size - 1
        ends = [cycle + size - 1 for (cycle, _), size in zip(expected, beats, strict=True)]
        assert reference_first_out(edge, first, last, beats, latency, ends) == expected


def test_a_hundred_thousand_frames_are_checked_in_about_a_second(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 100_000
    lengths = rng.integers(60, 300, n)
    batch = Batch.of_arrays(
        rng.integers(0, 256, int(lengths.sum()), np.uint8),
        lengths,
        edge=rng.integers(0, 2, n),
        bad=rng.integers(0, 10, n) == 0,
    )
    outcome = NicPortModel().play(batch)
    start = time.process_time()
    assert not NicPortModel().check(batch, outcome)
    assert time.process_time() - start < 2.5


# -- registers ---------------------------------------------------------------------------------------------------------


LEFT_OUT = ("mac_rx.", "mac_tx.", "ipsec_rx.", "ipsec_tx.", "parser_inner.")
"""Slots whose block a port without XGMII, and without SAs, leaves out."""


def words() -> Iterator[tuple[Any, int, int]]:
    for register in PORT:
        if register.name.startswith(LEFT_OUT):
            continue
        for word in range(register.words):
            yield register, word, register.address + 4 * word


def test_every_register_reads_its_reset_value() -> None:
    model = NicPortModel()
    for register, word, address in words():
        mask = register.stable_mask >> 32 * word & 0xFFFF_FFFF
        assert model.read(address) & mask == register.reset >> 32 * word & mask, register.name
    assert model.read(PORT["nic.status"].address) == 0b11


def test_a_write_changes_the_writable_bits_of_its_own_word_and_nothing_else() -> None:
    few = [row for row in words() if "[" not in row[0].name or row[0].name.endswith(("[0]", "[1]", "[127]"))]
    for register, word, address in few:
        model = NicPortModel()
        before = {at: model.read(at) for _, _, at in few}
        model.write(address, 0xFFFF_FFFF)
        model.write(address, 0xA5A5_5A5A)
        writable = register.mask(Access.RW) >> 32 * word & 0xFFFF_FFFF
        after = {at: model.read(at) for _, _, at in few}
        assert after.pop(address) == before.pop(address) & ~writable | 0xA5A5_5A5A & writable, register.name
        assert after == before, register.name


def test_of_a_block_that_is_left_out_there_is_an_id_alone_that_says_so() -> None:
    model = NicPortModel()
    for register in PORT:
        if not register.name.startswith(LEFT_OUT):
            continue
        if register.name.endswith(".id"):
            block = register.field("block").reset
            assert register.decode(model.read(register.address)) == {"block": block, "version": 0, "state": 1}
        else:
            with pytest.raises(AddressError):
                model.read(register.address)


def test_an_address_without_a_register_is_an_address_error() -> None:
    model = NicPortModel()
    known = {address for _, _, address in words()}
    for address in (0x14, 0x80, 0x1400, 0x1_0004, 0x7_4000, 0x8_0000, 0xF_FFFC, 0x10_0000, -4):
        assert address not in known
        with pytest.raises(AddressError, match="no register at address"):
            model.read(address)
        with pytest.raises(LookupError):
            model.write(address, 0)
    with pytest.raises(ValueError, match="is not a 32-bit value"):
        model.write(4, 1 << 32)


def test_the_configuration_is_in_the_registers() -> None:
    config = NicConfig().with_port(1, max_frame=1514, tx_enable=False, time_increment_ns=2.5)
    model = NicPortModel(config, port=1)
    assert model.read(PORT["nic.max_frame"].address) == 1514
    assert model.read(PORT["nic.control"].address) == 1
    assert [model.read(PORT["nic.time_increment"].address + 4 * word) for word in (0, 1)] == [1 << 31, 2]
    batch = Batch.of([b"x" * 60], port=1, edge=Edge.HOST)
    assert model.play(batch).code.tolist() == [Code.PORT_DISABLED]
    model.write(PORT["nic.control"].address, 3)
    assert model.play(batch).code.tolist() == [Code.DELIVERED]


def test_counters_and_dispositions_can_be_read_after_a_play(seed: int) -> None:
    model = NicPortModel()
    rng = random.Random(seed)
    batch = Batch.concat([traffic(rng, edge, 60, (1, 9), bad=0.3) for edge in Edge])
    outcome = model.play(batch)
    frames = frames_of(batch)
    for i, frame in enumerate(frames):
        if not frame.bad:
            frame.judgement = Judgement(None, Verdict.PASSED)
        frame.code, frame.first_in = int(outcome.code[i]), int(outcome.first_in[i])
    out = [
        (Edge(edge), frames[i]) for edge, i in zip(outcome.frames.edge.tolist(), outcome.source.tolist(), strict=True)
    ]
    counted = count(batch, outcome, frames, out)
    assert any(name.startswith("parser_tx.") for name in counted)
    for name, value in counted.items():
        if name in COUNTERS:
            assert model.read(PORT[COUNTERS[name]].address) == value, name
        assert model.counters[name] == value
    assert model.read(PORT["nic.rx_disposition"].element(99).address) == 0
    peak = max(batch.beats[(batch.edge == Edge.WIRE) & (outcome.code == Code.DELIVERED)])
    assert model.read(PORT["rx_buffer.peak"].address) == peak


def test_reading_the_low_word_of_a_counter_latches_the_high_one() -> None:
    model = NicPortModel()
    now = PORT["nic.now"].address
    model.advance(1 << 30)
    assert model.now_ns == 1 << 32
    assert model.read(now + 4) == 0
    assert model.read(now) == 0
    assert model.read(now + 4) == 1
    model.advance(1 << 30)
    assert model.read(now + 4) == 1
    assert (model.read(now), model.read(now + 4)) == (0, 2)


def test_time_goes_on_by_the_increment_in_every_cycle_of_a_play() -> None:
    model = NicPortModel(NicConfig().with_port(time_increment_ns=2.5))
    outcome = model.play(Batch.of([b"x" * 60]))
    assert model.now_ns == outcome.cycles * 5 // 2


def test_the_pipelines_are_those_of_the_architecture() -> None:
    assert RX.stages == (ParserStage("parser_rx"), Registers(4), AclStage("acl_rx"))
    assert TX.stages == (ParserStage("parser_tx"), AclStage("acl_tx"), Registers(3))
    assert (RX.buffer, RX.after, RX.turned) == (2, 5, 2)
    assert (TX.buffer, TX.after, TX.turned) == (2, 3, 3)
