"""A replay against an earlier one, by their records: whose fate changed, what became slower or faster.

Both files are read once, side by side, in the order of their indices, so memory doesn't grow with them (but for the
number of different latencies). A comparison judges nothing: that a frame became slower is no failure.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tb.replay.bins import Histogram
from tb.replay.pace import LINE_GBPS, WIRE_OVERHEAD
from tb.replay.records import VERSION

__all__ = ["BaselineError", "Comparison", "Side", "compare", "read_records"]

FIRST_CHANGES = 10
_BATCH = 4096
_TEXT, _NUMBER = (str, type(None)), (int, float, type(None))
_KEYS: dict[str, tuple[type, ...]] = {
    "index": (int,),
    "direction": (str,),
    "length": (int,),
    "disposition": _TEXT,
    "reason": _TEXT,
    "time_ns": _NUMBER,
    "latency_cycles": (int, type(None)),
    "latency_ns": _NUMBER,
}
"""What is read of a record, and its types."""
_ROWS = (
    ("delivered", ""),
    ("latency, min, cycles", ""),
    ("latency, median, cycles", ""),
    ("latency, p99, cycles", ""),
    ("latency, max, cycles", ""),
    ("Gb/s, pauses counted", ".2f"),
    (f"share of {LINE_GBPS}G, pauses counted, %", ".1f"),
)
"""Of a direction, and how their numbers are written."""
Record = Mapping[str, Any]


class BaselineError(Exception):
    """A file of records that can't be read or used. The message is one line: file, line (from 1), what is wrong."""

    def __init__(self, path: Path | str, problem: str, line: int | None = None) -> None:
        super().__init__(f"{path}: line {line}: {problem}" if line is not None else f"{path}: {problem}")
        self.path, self.line, self.problem = str(path), line, problem


def read_records(path: Path | str) -> Iterator[Record]:
    """The records of a file (gzipped, where its name ends in .gz), in order. BaselineError: it can't be opened, a line
    is no record or of another version, or the indices don't rise."""
    last = -1
    number = 0
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if str(path).endswith(".gz")
            else open(path, encoding="utf-8") as file
        ):
            for number, line in enumerate(file, 1):
                record = _record(path, number, line)
                if record["index"] <= last:
                    problem = f"index {record['index']} doesn't follow {last}: the records of one replay are wanted"
                    raise BaselineError(path, problem, number)
                last = record["index"]
                yield record
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BaselineError(path, f"can't be unpacked: {error}", number + 1) from error
    except OSError as error:
        raise BaselineError(path, f"can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BaselineError(path, "is no text: the file that --records wrote is wanted") from error


def _record(path: Path | str, number: int, line: str) -> Record:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        problem = "is no JSON" if line.endswith("\n") else "is cut, or no JSON"
        raise BaselineError(path, f"{problem}; the file that --records wrote is wanted", number) from error
    if not isinstance(record, dict) or "v" not in record:
        raise BaselineError(path, "is no record of a replay; the file that --records wrote is wanted", number)
    if record["v"] not in range(1, VERSION + 1):
        problem = f"is a record of version {record['v']}, and {VERSION} is wanted: write the file anew"
        raise BaselineError(path, problem, number)
    for key, kinds in _KEYS.items():
        if key not in record:
            raise BaselineError(path, f"is a record without {key}", number)
        if not isinstance(record[key], kinds):
            raise BaselineError(path, f"is a record whose {key} is {json.dumps(record[key])[:40]}", number)
    return record


class _Way:
    """What one replay delivered in one direction."""

    def __init__(self) -> None:
        self.latency = Histogram()
        self.wire_bytes = 0
        self.begin_ns = self.end_ns = 0.0
        self._waiting: list[int] = []

    def take(self, record: Record) -> None:
        begin, end = record["time_ns"], record["time_ns"] + record["latency_ns"]
        if not self.wire_bytes:
            self.begin_ns = begin
        self.end_ns = max(self.end_ns, end)
        self.wire_bytes += record["length"] + WIRE_OVERHEAD
        self._waiting.append(record["latency_cycles"])
        if len(self._waiting) == _BATCH:
            self.flush()

    def flush(self) -> None:
        self.latency.add(np.array(self._waiting, np.int64))
        self._waiting.clear()

    @property
    def gbps(self) -> float:
        """From the first delivered frame's first beat in to the last one's first beat out: records don't say where one
        window ends and the next begins, so the pauses between them count."""
        span = self.end_ns - self.begin_ns
        return self.wire_bytes * 8 / span if span > 0 else 0.0


@dataclass
class Side:
    """One of the two replays: its file, its number of frames, what it delivered by direction ("rx", "tx")."""

    path: str
    frames: int = 0
    ways: dict[str, _Way] = field(default_factory=dict)

    def take(self, record: Record) -> None:
        self.frames += 1
        if record["disposition"] == "delivered" and None not in (record["time_ns"], *_latency(record)):
            self.ways.setdefault(record["direction"], _Way()).take(record)

    def figures(self, way: str) -> dict[str, float]:
        """What it delivered in a direction, by the name of a row; empty: nothing."""
        found = self.ways.get(way)
        if found is None:
            return {}
        latency = found.latency
        values = (latency.frames, latency.least, latency.median, latency.percentile(99), latency.greatest)
        return dict(zip([name for name, _ in _ROWS], [*values, found.gbps, 100 * found.gbps / LINE_GBPS], strict=True))


@dataclass
class Comparison:
    """What differs between two replays.

    both: frames that both have; only_before, only_now: that one has; unlike: that both have under one number and that
    aren't the same frame (direction or length): these are not compared. refated: frames whose disposition or reason
    changed. delta: frames by the change of their latency in cycles, of those that were delivered both times, where it
    isn't 0; below 0: faster. first_refated, first_delta: the first ten of each, in words.
    """

    before: Side
    now: Side
    both: int = 0
    only_before: int = 0
    only_now: int = 0
    unlike: int = 0
    refated: int = 0
    compared: int = 0
    delta: Counter[int] = field(default_factory=Counter)
    first_refated: list[str] = field(default_factory=list)
    first_delta: list[str] = field(default_factory=list)

    def take_before(self, old: Record) -> None:
        """A frame that only the earlier replay has."""
        self.only_before += 1
        self.before.take(old)

    def take_now(self, new: Record) -> None:
        """A frame that only the later replay has."""
        self.only_now += 1
        self.now.take(new)

    def take(self, old: Record, new: Record) -> None:
        """A frame that both have."""
        self.both += 1
        self.before.take(old)
        self.now.take(new)
        if (old["direction"], old["length"]) != (new["direction"], new["length"]):
            self.unlike += 1
            return
        fates = [(record["disposition"], record["reason"]) for record in (old, new)]
        name = f"frame {new['index']} ({new['direction']}, {new['length']} bytes)"
        if fates[0] != fates[1]:
            self.refated += 1
            if len(self.first_refated) < FIRST_CHANGES:
                self.first_refated.append(f"{name}: {_fate(*fates[0])}, now {_fate(*fates[1])}")
        cycles = old["latency_cycles"], new["latency_cycles"]
        if None in cycles:
            return
        self.compared += 1
        delta = cycles[1] - cycles[0]
        if delta:
            self.delta[delta] += 1
            if len(self.first_delta) < FIRST_CHANGES:
                self.first_delta.append(f"{name}: latency {cycles[0]}, now {cycles[1]} cycles ({delta:+d})")

    @property
    def slower(self) -> int:
        return sum(count for delta, count in self.delta.items() if delta > 0)

    @property
    def faster(self) -> int:
        return sum(count for delta, count in self.delta.items() if delta < 0)

    @property
    def median_delta(self) -> float:
        """Of the frames whose latency changed; 0: of none."""
        ranked = sorted(self.delta.items())
        count = sum(self.delta.values())
        middle = [_at(ranked, rank) for rank in ((count - 1) // 2, count // 2)] if count else [0]
        return sum(middle) / len(middle)

    @property
    def worst_delta(self) -> int:
        """The greatest change of a latency, for the worse or, where none became slower, for the better; 0: none."""
        return max(self.delta, default=0) if self.slower else min(self.delta, default=0)

    @property
    def verdict(self) -> str:
        """One line."""
        if not self.both:
            return "The two replays have no frame in common: nothing to compare"
        parts = [
            _changed(self.refated, "other disposition or reason"),
            _changed(self.slower, "slower", f"up to {max(self.delta, default=0):+d} cycles"),
            _changed(self.faster, "faster", f"up to {min(self.delta, default=0):+d} cycles"),
            _changed(self.unlike, "not the same frame"),
            _changed(self.only_before, "only before"),
            _changed(self.only_now, "only now"),
        ]
        found = [part for part in parts if part]
        if not found:
            return f"Nothing changed: {self.both:,} frames with the same disposition, reason and latency"
        return f"Of {self.both:,} frames that both have: " + "; ".join(found)

    @property
    def rows(self) -> list[tuple[str, str, str, str]]:
        """Lines of a table: what, before, now, the change."""
        rows = [_row("frames", self.before.frames, self.now.frames)]
        for way in sorted(self.before.ways.keys() | self.now.ways.keys()):
            old, new = self.before.figures(way), self.now.figures(way)
            rows += [_row(f"{way} {name}", old.get(name), new.get(name), form) for name, form in _ROWS]
        changes = (
            ("other disposition or reason", f"{self.refated:,}"),
            ("slower", f"{self.slower:,}"),
            ("faster", f"{self.faster:,}"),
            ("median change of latency, cycles", f"{_say(self.median_delta, '+,')}"),
            ("worst change of latency, cycles", f"{self.worst_delta:+,}"),
            ("only before", f"{self.only_before:,}"),
            ("only now", f"{self.only_now:,}"),
            ("not the same frame", f"{self.unlike:,}"),
        )
        return rows + [(what, "", "", change) for what, change in changes]

    def figures(self) -> dict[str, Any]:
        """For ``--json`` and, under the key ``baseline`` of the figures, for the report."""
        return {
            "before": self.before.path,
            "now": self.now.path,
            "verdict": self.verdict,
            "both": self.both,
            "only_before": self.only_before,
            "only_now": self.only_now,
            "unlike": self.unlike,
            "refated": self.refated,
            "slower": self.slower,
            "faster": self.faster,
            "median_delta": self.median_delta,
            "worst_delta": self.worst_delta,
            "rows": [list(row) for row in self.rows],
            "changes": [*self.first_refated, *self.first_delta],
        }


def compare(before: Path | str, now: Path | str) -> Comparison:
    """Two files of records. BaselineError: one can't be used."""
    comparison = Comparison(Side(str(before)), Side(str(now)))
    olds, news = read_records(before), read_records(now)
    old, new = next(olds, None), next(news, None)
    while old is not None and new is not None:
        if old["index"] == new["index"]:
            comparison.take(old, new)
        elif old["index"] < new["index"]:
            comparison.take_before(old)
        else:
            comparison.take_now(new)
        reached = min(old["index"], new["index"])
        old = next(olds, None) if old["index"] == reached else old
        new = next(news, None) if new["index"] == reached else new
    for record in chain([] if old is None else [old], olds):
        comparison.take_before(record)
    for record in chain([] if new is None else [new], news):
        comparison.take_now(record)
    for side in (comparison.before, comparison.now):
        for way in side.ways.values():
            way.flush()
    return comparison


def _latency(record: Record) -> tuple[int | None, float | None]:
    return record["latency_cycles"], record["latency_ns"]


def _fate(disposition: str | None, reason: str | None) -> str:
    name = disposition or "never reported"
    return f"{name} ({reason})" if reason else name


def _changed(count: int, what: str, more: str = "") -> str:
    return "" if not count else f"{count:,} {what}" + (f" ({more})" if more else "")


def _at(ranked: list[tuple[int, int]], rank: int) -> int:
    """The value at this place of values with their counts, in rising order."""
    for value, count in ranked:
        if rank < count:
            return value
        rank -= count
    raise IndexError(rank)


def _say(value: float, form: str = ",") -> str:
    """A whole number without a point."""
    return f"{int(value):{form}d}" if value == int(value) else f"{value:{form}.1f}"


def _row(what: str, old: float | None, new: float | None, form: str = "") -> tuple[str, str, str, str]:
    def text(value: float, sign: str = "") -> str:
        return f"{value:{sign},{form}}" if form else _say(value, f"{sign},")

    texts = ["-" if value is None else text(value) for value in (old, new)]
    if old is None or new is None:
        return what, texts[0], texts[1], "-"
    change = new - old
    share = f" ({change / old:+.1%})" if old and change else ""
    return what, texts[0], texts[1], f"{text(change, '+')}{share}" if change else "="
