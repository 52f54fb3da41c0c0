"""The figures of a replay: counted right, in memory that doesn't grow.

Sweep:    windows of both directions, of several captures, with frames that are empty, snapped, never reported, copied,
          made by the device; latencies that fit a bin each and that don't; hundreds of windows
Stimulus: hypothesis draws windows and outcomes; the golden model plays frames, some of which are spoilt
Checks:   every figure against sums over lists; kept frames against what was planted; the size of what is kept
Timing:   less than 1 us of CPU a frame
"""

from __future__ import annotations

import json
import math
import pickle
import statistics
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.frames import FLAG_SNAPPED, Batch, Edge, Outcome
from models.meta import Code
from models.nic import Mismatch
from tb.replay.bins import Grid, Histogram, Timeline
from tb.replay.statistics import KEPT_DIFFERENCES, KEPT_FRAMES, Statistics
from tb.replay.window import Judged, Window
from tests.replay.judging import byte_flipped, judge, udp_frame

WAYS = {0: "rx", 1: "tx"}
CODES = [0, 1, 1, 1, 1, 2, 3, 16, 17, 19, 44, 99]


@st.composite
def windows(draw: st.DrawFn) -> list[Judged]:
    """Windows one after the other in time. Frames out of a direction don't overlap; else they contradict themselves."""
    judged, index, begin_ns, first_out = [], 0, draw(st.integers(0, 10**12)), 0
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 12))
        length = [draw(st.sampled_from([0, 1, 60, 64, 65, 200, 1514, 9596])) for _ in range(n)]
        edge = [draw(st.integers(0, 1)) for _ in range(n)]
        code = [draw(st.sampled_from(CODES)) if size else 0 for size in length]
        latency = [draw(st.sampled_from([-1, 0, 14, 15, 200, 4000, 70_000])) for _ in range(n)]
        source = [i for i in range(n) if code[i] == 1 and draw(st.integers(0, 9))]
        source += draw(st.lists(st.integers(-1, n - 1), max_size=3))
        begins, ends, clock = [-1] * n, [-1] * n, [0, 0]
        for i in source:
            if i >= 0 and begins[i] < 0 and length[i] and draw(st.integers(0, 9)):
                begins[i] = clock[edge[i]] + draw(st.sampled_from([0, 1, 5, 3000]))
                ends[i] = begins[i] + -(-length[i] // 16) - 1 + draw(st.sampled_from([0, 0, 7]))
                clock[edge[i]] = ends[i] + 1
        # A copy would lie over its original: it is given no time of its own by the frame in.
        source = [i for at, i in enumerate(source) if i < 0 or begins[i] < 0 or i not in source[:at]]
        cycles = max(clock) + draw(st.integers(0, 100))
        snapped = [draw(st.booleans()) for _ in range(n)]
        batch = Batch.of(
            [bytes(size) for size in length], edge=edge, flags=[FLAG_SNAPPED if cut else 0 for cut in snapped]
        )
        outcome = Outcome(
            frames=Batch.of([bytes(max(1, length[i] - 1)) if i >= 0 else bytes(64) for i in source]),
            source=np.array(source, np.int64),
            code=np.array(code, np.uint8),
            queue=np.zeros(n, np.uint8),
            latency_cycles=np.array(latency, np.int64),
            first_in=np.zeros(n, np.int64),
            last_in=np.zeros(n, np.int64),
            first_out=np.array(begins, np.int64),
            last_out=np.array(ends, np.int64),
            cycles=cycles,
        )
        wrong = draw(st.lists(st.integers(-1, n - 1), max_size=5))
        number = np.arange(index, index + n, dtype=np.int64)
        name = draw(st.sampled_from(["a.pcap", "b.pcap"]))
        window = Window(batch, number, name, number, batch.lengths)
        mismatches = [Mismatch(frame, "queue", 0, 1, 5) for frame in wrong]
        judged.append(Judged(window, outcome, mismatches, begin_ns, first_out))
        index, first_out = index + n, first_out + len(source)
        begin_ns += cycles * 4 + draw(st.sampled_from([0, 400, 10**7]))
    return judged


def frames_of(judged: list[Judged]) -> list[dict]:
    """A dict a frame in."""
    found = []
    for window in judged:
        wrong = {mismatch.frame for mismatch in window.mismatches}
        for i in range(len(window.window)):
            found.append(
                {
                    "capture": window.window.capture,
                    "way": WAYS[int(window.window.batch.edge[i])],
                    "length": len(window.window.batch.frame(i)),
                    "snapped": bool(window.window.snapped[i]),
                    "code": int(window.outcome.code[i]),
                    "latency": int(window.outcome.latency_cycles[i]),
                    "differs": i in wrong,
                }
            )
    return found


def out_of(judged: list[Judged]) -> list[dict]:
    """A dict a frame out that came of one in: its direction, its length, when it left, in ns from the start."""
    found = []
    for window in judged:
        start = window.begin_ns - judged[0].begin_ns
        for length, i in zip(window.outcome.frames.lengths.tolist(), window.outcome.source.tolist(), strict=True):
            if i >= 0:
                begin, end = int(window.outcome.first_out[i]), int(window.outcome.last_out[i]) + 1
                way = WAYS[int(window.window.batch.edge[i])]
                times = (start + 4 * begin, start + 4 * end) if begin >= 0 else None
                found.append({"way": way, "length": length, "times": times, "window": id(window)})
    return found


def fates(frames: list[dict]) -> dict[str, int]:
    offered = [frame["code"] for frame in frames if frame["length"]]
    return {
        "delivered": sum(code == 1 for code in offered),
        "consumed": sum(code == 2 for code in offered),
        "dropped": sum(code >= 16 for code in offered),
        "unreported": sum(code in (0, *range(3, 16)) for code in offered),
    }


def figures_of(judged: list[Judged]) -> dict:
    counted = Statistics()
    for window in judged:
        counted.take(window)
    counted.close()
    return counted.figures()


@given(windows())
@settings(max_examples=50)
def test_frames_dispositions_reasons_and_captures_are_counted(judged):
    frames, figures = frames_of(judged), figures_of(judged)
    assert figures["frames"] == len(frames)
    assert figures["bytes"] == sum(frame["length"] for frame in frames)
    assert figures["empty"] == sum(not frame["length"] for frame in frames)
    assert figures["snapped"] == sum(frame["snapped"] for frame in frames)
    assert figures["windows"] == len(judged)
    assert figures["cycles"] == sum(window.outcome.cycles for window in judged)
    assert figures["dispositions"] == fates(frames)
    names = {int(code): code.name.lower() for code in Code}
    drops = Counter(names.get(frame["code"], str(frame["code"])) for frame in frames if frame["code"] >= 16)
    assert figures["drops"] == drops
    assert list(figures["drops"].values()) == sorted(drops.values(), reverse=True)
    rows = {}
    for frame in frames:
        rows.setdefault((frame["capture"], frame["way"]), []).append(frame)
    assert {(row["capture"], row["direction"]): row for row in figures["captures"]} == {
        (capture, way): {
            "capture": capture,
            "direction": way,
            "frames": len(part),
            "bytes": sum(frame["length"] for frame in part),
            "snapped": sum(frame["snapped"] for frame in part),
            "empty": sum(not frame["length"] for frame in part),
            "mismatches": sum(frame["differs"] for frame in part),
            **fates(part),
        }
        for (capture, way), part in rows.items()
    }


@given(windows())
@settings(max_examples=50)
def test_the_accounting_sum_is_closed_when_it_is_and_open_when_it_is_not(judged):
    frames, figures = frames_of(judged), figures_of(judged)
    sources = [window.outcome.source.tolist() for window in judged]
    generated = sum(i < 0 for source in sources for i in source)
    copies = sum(len(real) - len(set(real)) for real in ([i for i in source if i >= 0] for source in sources))
    out, fate = sum(map(len, sources)), fates(frames)
    offered = sum(frame["length"] > 0 for frame in frames)
    closed = offered + generated + copies == out + fate["consumed"] + fate["dropped"] + fate["unreported"]
    del fate["delivered"]
    assert figures["accounting"] == {
        "frames_in": offered, "generated": generated, "copies": copies, "frames_out": out, **fate, "closed": closed,
    }  # fmt: skip
    wrong = sum(frame["differs"] for frame in frames)
    port = sum(mismatch.frame < 0 for window in judged for mismatch in window.mismatches)
    assert (figures["mismatches"]["frames"], figures["mismatches"]["port"]) == (wrong, port)
    assert figures["verdict"] == ("mismatch" if wrong or port or not closed else "match" if offered else "empty")


@given(windows())
@settings(max_examples=50)
def test_latencies_are_counted_by_cycle_and_by_length(judged):
    frames, figures = frames_of(judged), figures_of(judged)
    assert set(figures["directions"]) == {frame["way"] for frame in frames}
    for way, numbers in figures["directions"].items():
        timed = [f for f in frames if f["way"] == way and f["latency"] >= 0 and f["length"]]
        values = sorted(frame["latency"] for frame in timed)
        if not values:
            assert numbers["latency"] is None
            assert numbers["latency_over_length"]["cells"] == []
            continue
        assert numbers["latency"] == {
            "frames": len(values),
            "min": values[0],
            "median": statistics.median(values),
            "p99": values[math.ceil(len(values) * 0.99) - 1],
            "max": values[-1],
            "histogram": sorted([cycles, count] for cycles, count in Counter(values).items()),
        }
        x, y = (numbers["latency_over_length"][name] for name in ("length_step", "latency_step"))
        assert x == next(1 << k for k in range(20) if (max(f["length"] for f in timed) - 1) >> k < 128)
        assert y == next(1 << k for k in range(20) if values[-1] >> k < 2048)
        cells = Counter(((f["length"] - 1) // x * x + 1, f["latency"] // y * y) for f in timed)
        assert numbers["latency_over_length"]["cells"] == sorted(
            ([*key, count] for key, count in cells.items()), key=lambda cell: (cell[1], cell[0])
        )


@given(windows())
@settings(max_examples=50)
def test_delivered_bytes_lie_in_the_bins_of_time_in_which_they_left(judged):
    out, figures = out_of(judged), figures_of(judged)
    end = max(window.begin_ns - judged[0].begin_ns + window.outcome.cycles * 4 for window in judged)
    assert figures["simulated_ns"] == figures["throughput"]["end_ns"] == end
    step = figures["throughput"]["step_ns"]
    timed = [frame["times"] for frame in out if frame["times"]]
    last = max((times[1] for times in timed), default=0)
    assert step == next(1000 << k for k in range(40) if last <= 400 * (1000 << k))
    for way, rates in figures["throughput"]["gbps"].items():
        assert len(rates) <= max(400, math.ceil(end / step))
        amounts = [0.0] * len(rates)
        spans: dict[int, list[tuple[int, int]]] = {}
        for frame in out:
            if frame["way"] == way and frame["times"]:
                begin, until = frame["times"]
                spans.setdefault(frame["window"], []).append((begin, until))
                for at in range(begin // step, -(-until // step)):
                    part = min(until, (at + 1) * step) - max(begin, at * step)
                    amounts[at] += (frame["length"] + 24) * part / (until - begin)
        widths = [min(step, end - at * step) for at in range(len(rates))]
        assert rates == pytest.approx([a * 8 / w for a, w in zip(amounts, widths, strict=True)], abs=1e-6)
        numbers = figures["directions"][way]
        wire = sum(frame["length"] + 24 for frame in out if frame["way"] == way)
        span = sum(max(b for _, b in part) - min(a for a, _ in part) for part in spans.values())
        assert (numbers["wire_bytes_out"], numbers["span_ns"]) == (wire, span)
        assert numbers["gbps"] == pytest.approx(wire * 8 / span if span else 0)
        assert numbers["share"] == pytest.approx(numbers["gbps"] / 25)


@given(windows())
@settings(max_examples=10)
def test_figures_are_json_and_the_same_when_asked_twice(judged):
    counted = Statistics()
    for window in judged:
        counted.take(window)
    first = json.dumps(counted.figures())
    assert json.dumps(counted.figures()) == first
    assert json.loads(first) == counted.figures()


@given(st.lists(st.integers(0, 600), min_size=1), st.integers(8, 700))
def test_numbers_above_the_limit_of_a_histogram_are_counted_together(values, limit):
    histogram = Histogram(limit)
    for value in values:
        histogram.add(np.array([value], np.int64))
    assert histogram.pairs() == sorted([n, c] for n, c in Counter(min(v, limit) for v in values).items())
    assert histogram.greatest == max(values)
    assert histogram.least == (min(values) if len(values) == 1 else min(limit, *values))


@given(st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 90_000)), min_size=1, max_size=40), st.integers(1, 10))
def test_a_grid_shows_no_more_bins_than_wanted_and_loses_no_frame(points, most):
    grid = Grid(columns=8, rows=16)
    for x, y in points:
        grid.add(np.array([x], np.int64), np.array([y], np.int64))
    most = max(most, 8)
    x_step, y_step, cells = grid.occupied(most)
    assert len(cells) <= most
    assert sorted(map(tuple, cells)) == sorted(
        (*key, count) for key, count in Counter((x // x_step * x_step, y // y_step * y_step) for x, y in points).items()
    )


def test_a_line_of_time_doubles_its_bins_and_loses_nothing():
    line = Timeline(1, bins=4, step_ns=10)
    for begin in (0, 35, 39, 150):
        line.add(0, np.array([float(begin)]), np.array([begin + 10.0]), np.array([100]))
    assert line.step_ns == 40
    assert line.amounts[:, 0].tolist() == [160, 140, 0, 100]


def test_frames_that_seem_to_leave_at_once_are_counted_whole():
    line = Timeline(1, bins=8, step_ns=10)
    line.add(0, np.array([0.0, 0.0, 5.0]), np.array([20.0, 20.0, 30.0]), np.array([40, 40, 10]))
    assert line.amounts[:, 0].sum() == 90
    assert line.amounts[:, 0].min() == 0
    assert line.amounts[0, 0] == 20
    line.add(0, np.array([30.0, 30.0]), np.array([50.0, 40.0]), np.array([8, 8]))
    assert line.amounts[3:, 0].tolist() == [4, 12, 0, 0, 0]
    late = Timeline(1, bins=8, step_ns=10)
    late.add(0, np.array([0.0, 0.0]), np.array([90.0, 20.0]), np.array([90, 10]))
    assert late.amounts[:, 0].tolist() == pytest.approx([20, 20, 20, 20, 20, 0, 0, 0])


def test_a_frame_that_differs_is_kept_with_all_that_a_person_needs():
    frames = [udp_frame(64), udp_frame(200), udp_frame(90)]
    figures = figures_of([judge(frames, first=70, begin_ns=1234, spoil=byte_flipped(1, 60))])
    assert figures["verdict"] == "mismatch"
    (kept,) = figures["mismatches"]["kept"]
    out = bytearray(frames[1])
    out[60] ^= 0x40
    assert (kept["in"], kept["out"]) == (frames[1].hex(), [out.hex()])
    assert (kept["index"], kept["frame"], kept["capture"], kept["direction"]) == (71, 71, "field.pcap", "rx")
    assert (kept["length"], kept["snapped"], kept["window"], kept["begin_ns"]) == (200, False, 0, 1234)
    assert (kept["disposition"], kept["reason"], kept["differences_in_all"]) == ("delivered", None, 1)
    (difference,) = kept["differences"]
    assert (difference["what"], difference["expected"], difference["got"]) == ("byte 60", "0x5a", "0x1a")
    assert kept["cycle"] == difference["cycle"] > 0


def test_a_drop_that_should_not_be_is_kept_with_its_reason_and_without_a_frame_out():
    def drop(outcome: Outcome) -> Outcome:
        code, kept = outcome.code.copy(), np.array([0], np.int64)
        code[1] = Code.RX_BUFFER_FULL
        gone = {name: np.where(np.arange(2) == 1, -1, getattr(outcome, name)) for name in
                ("latency_cycles", "first_out", "last_out")}  # fmt: skip
        frames = outcome.frames.select(kept)
        beside = {name: getattr(outcome, name)[:1] for name in ("user", "meta", "begun", "ended")}
        return replace(outcome, frames=frames, source=kept, code=code, **beside, **gone)

    figures = figures_of([judge([udp_frame(64)] * 2, spoil=drop)])
    (kept,) = figures["mismatches"]["kept"]
    assert (kept["disposition"], kept["reason"], kept["latency_cycles"], kept["out"]) == (
        "dropped", "rx_buffer_full", None, [],
    )  # fmt: skip
    assert figures["accounting"]["closed"]
    assert figures["drops"] == {"rx_buffer_full": 1}


def test_the_first_hundred_frames_that_differ_are_kept_and_all_are_counted():
    judged = judge([udp_frame(64)] * 70)
    many = [Mismatch(i, "queue", "x" * 5000, 1) for i in range(70) for _ in range(KEPT_DIFFERENCES + 3)]
    port = [Mismatch(-1, f"counter {i}", 0, 1) for i in range(70)]
    counted = Statistics()
    for number in range(3):
        window = replace(judged.window, index=judged.window.index + 70 * number)
        counted.take(replace(judged, window=window, mismatches=many + port))
    found = counted.figures()["mismatches"]
    assert (found["frames"], found["port"]) == (210, 210)
    assert [kept["index"] for kept in found["kept"]] == list(range(KEPT_FRAMES))
    assert [kept["window"] for kept in found["port_kept"]] == [0] * 70 + [1] * 30
    assert {len(kept["differences"]) for kept in found["kept"]} == {KEPT_DIFFERENCES}
    assert {kept["differences_in_all"] for kept in found["kept"]} == {KEPT_DIFFERENCES + 3}
    assert max(len(d["expected"]) for kept in found["kept"] for d in kept["differences"]) <= 200


def busy_window(n: int) -> Judged:
    rng = np.random.default_rng(7)
    judged = judge([bytes(int(size)) for size in rng.integers(60, 1515, n)])
    return replace(judged, mismatches=[Mismatch(i, "queue", 0, 1) for i in range(-1, n, 2)])


def test_what_is_kept_does_not_grow_with_the_frames():
    judged, counted, sizes = busy_window(512), Statistics(), []
    for number in range(400):
        counted.take(replace(judged, begin_ns=number * judged.outcome.cycles * 4))
        if number % 100 == 99:
            sizes.append(len(pickle.dumps(counted)))
    # Counts become longer numbers; nothing else may be added.
    assert max(sizes) - sizes[0] < 200
    assert counted.frames == 400 * 512


def test_nothing_taken_gives_empty_figures():
    figures = Statistics().figures()
    assert figures["verdict"] == "empty"
    assert (figures["frames"], figures["directions"], figures["captures"]) == (0, {}, [])
    assert figures["accounting"]["closed"]


def test_both_directions_of_a_window_are_told_apart():
    rx, tx = judge([udp_frame(64)] * 3), judge([udp_frame(300)] * 2, edge=Edge.HOST, capture="other.pcap")
    figures = figures_of([rx, tx])
    assert {way: numbers["frames_out"] for way, numbers in figures["directions"].items()} == {"rx": 3, "tx": 2}
    assert [(row["capture"], row["direction"]) for row in figures["captures"]] == [
        ("field.pcap", "rx"), ("other.pcap", "tx"),
    ]  # fmt: skip
