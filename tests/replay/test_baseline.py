"""A replay against an earlier one: what its records say of frames, latencies and rates that changed.

Sweep:    frames whose fate or latency changed, that only one replay has, that aren't the same frame; files that are no
          records, are cut, gzipped, of another version, not there
Stimulus: records written by hand; hypothesis; records of the golden model
Checks:   counts, first ones, medians and rates against sums over lists; the line of the file that an error names
Timing:   none
"""

from __future__ import annotations

import gzip
import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb.replay.baseline import BaselineError, Comparison, compare, read_records
from tb.replay.records import VERSION, Records
from tests.replay.judging import judge, udp_frame


def record(index: int, latency: int | None = 20, **more: Any) -> dict[str, Any]:
    """Of a frame of 100 bytes that came in every 100 ns."""
    return {
        "v": VERSION,
        "index": index,
        "direction": "rx",
        "length": 100,
        "disposition": "delivered" if latency is not None else "dropped",
        "reason": None if latency is not None else "oversize",
        "time_ns": index * 100,
        "latency_cycles": latency,
        "latency_ns": None if latency is None else latency * 4,
    } | more


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


@pytest.fixture
def against(tmp_path):
    """Compares two lists of records."""

    def run(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> Comparison:
        return compare(written(tmp_path / "before.jsonl", before), written(tmp_path / "now.jsonl", now))

    return run


def row(comparison: Comparison, what: str) -> tuple[str, ...]:
    (found,) = [rest for name, *rest in comparison.rows if name == what]
    return tuple(found)


def test_the_same_records_have_not_changed(against):
    same = [record(i) for i in range(5)]
    comparison = against(same, same)
    assert comparison.verdict == "Nothing changed: 5 frames with the same disposition, reason and latency"
    assert {change for *_, change in comparison.rows} == {"=", "0", "+0"}
    assert comparison.figures()["changes"] == []


def test_slower_and_faster_frames_are_counted_with_the_first_ten_of_them(against):
    before = [record(i) for i in range(40)]
    now = [record(i, 20 + (i % 4 == 1) * i - (i == 2) * 5) for i in range(40)]
    comparison = against(before, now)
    deltas = [i for i in range(40) if i % 4 == 1] + [-5]
    assert (comparison.slower, comparison.faster, comparison.compared) == (10, 1, 40)
    assert comparison.median_delta == statistics.median(deltas)
    assert comparison.worst_delta == 37
    assert len(comparison.first_delta) == 10
    assert comparison.first_delta[:2] == [
        "frame 1 (rx, 100 bytes): latency 20, now 21 cycles (+1)",
        "frame 2 (rx, 100 bytes): latency 20, now 15 cycles (-5)",
    ]
    assert comparison.verdict == (
        "Of 40 frames that both have: 10 slower (up to +37 cycles); 1 faster (up to -5 cycles)"
    )
    assert row(comparison, "rx latency, max, cycles") == ("20", "57", "+37 (+185.0%)")


def test_where_nothing_became_slower_the_worst_change_is_the_greatest_gain(against):
    assert against([record(0), record(1)], [record(0, 18), record(1, 13)]).worst_delta == -7


def test_frames_with_another_fate_are_counted_and_named(against):
    before = [record(0), record(1, None), record(2, None), record(3, None, disposition=None, reason=None)]
    now = [record(0, None), record(1), record(2, None, reason="bad_frame"), record(3)]
    comparison = against(before, now)
    assert (comparison.refated, comparison.compared) == (4, 0)
    assert comparison.first_refated == [
        "frame 0 (rx, 100 bytes): delivered, now dropped (oversize)",
        "frame 1 (rx, 100 bytes): dropped (oversize), now delivered",
        "frame 2 (rx, 100 bytes): dropped (oversize), now dropped (bad_frame)",
        "frame 3 (rx, 100 bytes): never reported, now delivered",
    ]
    assert row(comparison, "rx delivered") == ("1", "2", "+1 (+100.0%)")


def test_frames_that_only_one_replay_has_are_counted(against):
    comparison = against([record(i) for i in (0, 1, 2, 3, 8)], [record(i) for i in (2, 3, 4, 5)])
    assert (comparison.both, comparison.only_before, comparison.only_now) == (2, 3, 2)
    assert comparison.verdict == "Of 2 frames that both have: 3 only before; 2 only now"
    assert row(comparison, "frames") == ("5", "4", "-1 (-20.0%)")
    assert against([record(0)], [record(1)]).verdict.startswith("The two replays have no frame in common")
    assert against([], []).verdict.startswith("The two replays have no frame in common")


def test_another_frame_under_the_same_number_is_not_compared(against):
    comparison = against([record(0), record(1)], [record(0, 99, length=64), record(1, None, direction="tx")])
    assert (comparison.both, comparison.unlike, comparison.refated, comparison.compared) == (2, 2, 0, 0)


def test_rates_are_those_of_the_delivered_frames_over_their_time(against):
    before, now = [record(i) for i in range(11)], [record(i, time_ns=i * 50) for i in range(11)]
    comparison = against([*before, record(11, None)], now)
    bits = 11 * 124 * 8
    assert comparison.before.ways["rx"].gbps == pytest.approx(bits / 1080)
    assert row(comparison, "rx Gb/s, pauses counted") == ("10.10", "18.81", "+8.71 (+86.2%)")
    assert row(comparison, "rx share of 25G, pauses counted, %")[:2] == ("40.4", "75.3")


def test_large_numbers_are_written_in_full(against):
    comparison = against([record(0, 1_234_567)], [record(0, 2_234_567)])
    assert row(comparison, "rx latency, p99, cycles")[:2] == ("1,234,567", "2,234,567")
    assert row(comparison, "median change of latency, cycles") == ("", "", "+1,000,000")


RECORDS = st.dictionaries(
    st.integers(0, 30), st.tuples(st.sampled_from(["rx", "tx"]), st.one_of(st.none(), st.integers(0, 300)))
)


@given(RECORDS, RECORDS)
def test_a_comparison_counts_what_a_walk_over_lists_counts(tmp_path_factory, before, now):
    folder = tmp_path_factory.mktemp("records")
    files = [
        written(folder / name, [record(i, latency, direction=way) for i, (way, latency) in sorted(side.items())])
        for name, side in (("before", before), ("now", now))
    ]
    comparison = compare(*files)
    common = before.keys() & now.keys()
    alike = [(before[i][1], now[i][1]) for i in common if before[i][0] == now[i][0]]
    deltas = [b - a for a, b in alike if a is not None and b is not None]
    changed = [delta for delta in deltas if delta]
    assert (comparison.both, comparison.unlike) == (len(common), len(common) - len(alike))
    assert (comparison.only_before, comparison.only_now) == (len(before) - len(common), len(now) - len(common))
    assert comparison.refated == sum((a is None) != (b is None) for a, b in alike)
    assert comparison.compared == len(deltas)
    assert (comparison.slower, comparison.faster) == (sum(d > 0 for d in changed), sum(d < 0 for d in changed))
    assert comparison.median_delta == (statistics.median(changed) if changed else 0)
    for side, records in ((comparison.before, before), (comparison.now, now)):
        assert side.frames == len(records)
        for way in ("rx", "tx"):
            latencies = [latency for at, latency in records.values() if at == way and latency is not None]
            assert (way in side.ways) == bool(latencies)
            if latencies:
                assert side.ways[way].latency.median == statistics.median(latencies)


def test_records_of_a_replay_are_read_as_they_are_written_also_gzipped(tmp_path):
    judged = judge([udp_frame(64), udp_frame(1000), udp_frame(9700)])
    for name in ("a.jsonl", "b.jsonl.gz"):
        listener = Records(tmp_path / name, 4.0)
        listener.take(judged)
        listener.close()
    comparison = compare(tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz")
    assert comparison.verdict.startswith("Nothing changed: 3 frames")
    assert comparison.compared == 2
    assert comparison.before.ways["rx"].latency.greatest == judged.outcome.latency_cycles.max()


GOOD = json.dumps(record(0)) + "\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (GOOD + "not json\n", 2, "is no JSON; the file that --records wrote is wanted"),
        (GOOD + GOOD[:40], 2, "is cut, or no JSON"),
        ("[1, 2]\n", 1, "is no record of a replay"),
        ('{"frames": 3}\n', 1, "is no record of a replay"),
        (
            GOOD + json.dumps({"v": VERSION + 1, "index": 1}) + "\n",
            2,
            f"is a record of version {VERSION + 1}, and",
        ),
        (GOOD + json.dumps({"v": VERSION, "index": 1, "direction": "rx"}) + "\n", 2, "is a record without length"),
        (json.dumps(record(0, latency_cycles="9")) + "\n", 1, 'is a record whose latency_cycles is "9"'),
        (GOOD + GOOD, 2, "index 0 doesn't follow 0: the records of one replay are wanted"),
        ("\n", 1, "is no JSON"),
        ("[" * 100_000 + "\n", 1, "is no JSON"),
    ],
)
def test_a_line_that_is_no_record_is_named(tmp_path, text, line, said):
    path = tmp_path / "before.jsonl"
    path.write_text(text)
    with pytest.raises(BaselineError) as caught:
        compare(path, written(tmp_path / "now.jsonl", [record(0)]))
    assert str(caught.value).startswith(f"{path}: line {line}: {said}")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    packed = gzip.compress(GOOD.encode() * 1000)
    (tmp_path / "cut.gz").write_bytes(packed[:-20])
    (tmp_path / "plain.gz").write_text(GOOD)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name, said in (
        ("absent", "can't be read: No such file or directory"),
        (".", "can't be read: Is a directory"),
        ("binary", "is no text"),
        ("plain.gz", "can't be unpacked"),
    ):
        with pytest.raises(BaselineError, match=said):
            list(read_records(tmp_path / name))
    with pytest.raises(BaselineError, match="line"):
        list(read_records(tmp_path / "cut.gz"))
