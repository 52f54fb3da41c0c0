"""The figures of a replay, for the table, for ``--json`` and for the report: constant memory, numpy by the window.

docs/report.md lists the keys of what ``Statistics.figures`` gives.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from models.frames import BEAT_BYTES, Edge
from models.meta import FIRST_DROP, Code, disposition
from models.nic import CYCLE_NS, Mismatch
from tb.replay.bins import Grid, Histogram, Timeline
from tb.replay.pace import LINE_GBPS, WIRE_OVERHEAD
from tb.replay.window import Judged
from tb.targets.engine import DIRECTIONS

__all__ = ["FIGURES_VERSION", "KEPT_DIFFERENCES", "KEPT_FRAMES", "Statistics", "code_name", "disposition_name"]

FIGURES_VERSION = 2
KEPT_FRAMES = 100
"""Frames that differ, kept with their bytes; as many differences that belong to no frame."""
KEPT_DIFFERENCES = 40
"""Differences of one frame."""
_KEPT_OUT = 4
"""Frames out of one frame in."""
_MOST_TEXT = 200
_NAMES = {int(code): code.name.lower() for code in Code}


def code_name(code: int) -> str:
    """Name of a code in lower case; its number where it has none."""
    return _NAMES.get(code, str(code))


def disposition_name(code: int) -> str | None:
    """``"delivered"``, ``"consumed"``, ``"dropped"``; None of a code that ends no frame."""
    try:
        return disposition(code).name.lower()
    except ValueError:
        return None


class _Direction:
    """What is counted of one direction."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.latency = Histogram()
        self.grid = Grid()
        self.bytes_out = self.frames_out = self.span_cycles = 0

    def figures(self, clock_ns: float) -> dict[str, Any]:
        wire_bytes = self.bytes_out + self.frames_out * WIRE_OVERHEAD
        span_ns = self.span_cycles * clock_ns
        gbps = wire_bytes * 8 / span_ns if span_ns else 0.0
        length_step, latency_step, cells = self.grid.occupied()
        latency = None
        if self.latency.frames:
            latency = {
                "frames": self.latency.frames,
                "min": self.latency.least,
                "median": self.latency.median,
                "p99": self.latency.percentile(99),
                "max": self.latency.greatest,
                "histogram": self.latency.pairs(),
            }
        return {
            "frames_out": self.frames_out,
            "bytes_out": self.bytes_out,
            "wire_bytes_out": wire_bytes,
            "span_ns": span_ns,
            "gbps": gbps,
            "share": gbps / LINE_GBPS,
            "latency": latency,
            "latency_over_length": {
                "length_step": length_step,
                "latency_step": latency_step,
                "cells": [[length + 1, cycles, count] for length, cycles, count in cells],
            },
        }


class Statistics:
    """A listener that counts. What it keeps doesn't grow with the number of frames.

    frames, bytes, cycles: played so far; mismatched: frames that differ, port_mismatches: differences that belong to no
    frame.
    """

    def __init__(self, clock_ns: float = CYCLE_NS) -> None:
        self.clock_ns = clock_ns
        self.windows = self.frames = self.bytes = self.snapped = self.empty = self.cycles = 0
        self.generated = self.copies = self.redirected = self.frames_out = 0
        self.mismatched = self.port_mismatches = 0
        self._codes = np.zeros(256, np.int64)
        self._kept: list[dict[str, Any]] = []
        self._port_kept: list[dict[str, Any]] = []
        self._begin_ns: int | None = None
        self._end_ns = 0.0
        self._timeline = Timeline(len(DIRECTIONS))
        self._directions: dict[Edge, _Direction] = {}
        self._captures: dict[tuple[str, str], dict[str, Any]] = {}

    def take(self, judged: Judged) -> None:
        batch, outcome = judged.window.batch, judged.outcome
        lengths = batch.lengths
        if self._begin_ns is None:
            self._begin_ns = judged.begin_ns
        start_ns = judged.begin_ns - self._begin_ns
        self._end_ns = max(self._end_ns, start_ns + outcome.cycles * self.clock_ns)
        self.windows += 1
        self.frames += len(batch)
        self.bytes += len(batch.data)
        self.cycles += outcome.cycles
        known = outcome.source >= 0
        self.generated += len(outcome.source) - int(np.count_nonzero(known))
        # What comes out of one frame twice is a copy too, whoever made it.
        own = outcome.source[known & ~judged.copies]
        self.copies += int(np.count_nonzero(judged.copies))
        self.copies += len(own) - int(np.count_nonzero(np.bincount(own, minlength=1)))
        self.redirected += int(np.count_nonzero(judged.redirected))
        self.frames_out += len(outcome.source)
        of_frame = self._take_mismatches(judged)
        differs = np.zeros(len(batch), np.bool_)
        differs[of_frame] = True
        for edge in Edge:
            at = np.flatnonzero(batch.edge == edge)
            if len(at):
                self._count_capture(judged, edge, at, lengths, differs)
                self._count_latency(judged, edge, at, lengths)
        self._count_out(judged, start_ns)

    def close(self) -> None:
        """Nothing is open."""

    # -- by window ---------------------------------------------------------------------------------------------------

    def _direction(self, edge: Edge) -> _Direction:
        return self._directions.setdefault(edge, _Direction(int(edge)))

    def _count_capture(
        self, judged: Judged, edge: Edge, at: np.ndarray, lengths: np.ndarray, differs: np.ndarray
    ) -> None:
        window, way = judged.window, DIRECTIONS[edge]
        full = at[lengths[at] > 0]
        codes = np.bincount(judged.outcome.code[full], minlength=256)
        self._codes += codes
        empty, snapped = len(at) - len(full), int(np.count_nonzero(window.snapped[at]))
        self.empty += empty
        self.snapped += snapped
        row = self._captures.setdefault((window.capture, way), defaultdict(int))
        for key, count in (
            ("frames", len(at)),
            ("bytes", int(lengths[at].sum())),
            ("snapped", snapped),
            ("empty", empty),
            *_dispositions(codes).items(),
            ("mismatches", int(np.count_nonzero(differs[at]))),
        ):
            row[key] += count
        self._direction(edge)

    def _count_latency(self, judged: Judged, edge: Edge, at: np.ndarray, lengths: np.ndarray) -> None:
        latency = judged.outcome.latency_cycles[at]
        timed = (latency >= 0) & (lengths[at] > 0)
        if not timed.all():
            at, latency = at[timed], latency[timed]
        direction = self._direction(edge)
        direction.latency.add(latency)
        direction.grid.add(lengths[at] - 1, latency)

    def _count_out(self, judged: Judged, start_ns: int) -> None:
        """Rates of what came out of frames in, copies apart, from the cycles of these."""
        outcome = judged.outcome
        out_lengths = outcome.frames.lengths
        of_frames = (outcome.source >= 0) & ~judged.copies
        way = np.full(len(outcome.source), -1)
        way[of_frames] = judged.window.batch.edge[outcome.source[of_frames]]
        for edge, direction in self._directions.items():
            chosen = np.flatnonzero(way == edge)
            direction.frames_out += len(chosen)
            direction.bytes_out += int(out_lengths[chosen].sum())
            source = outcome.source[chosen]
            begin = outcome.first_out[source]
            timed = begin >= 0
            if not timed.any():
                continue
            chosen, begin = chosen[timed], begin[timed]
            beats = -(-out_lengths[chosen] // BEAT_BYTES)
            end = np.maximum(outcome.last_out[source[timed]] + 1, begin + beats)
            direction.span_cycles += int(end.max() - begin.min())
            # A device that is wrong may give cycles in any order; those of a right one rise.
            order = np.argsort(begin, kind="stable")
            self._timeline.add(
                direction.line,
                start_ns + begin[order] * self.clock_ns,
                start_ns + end[order] * self.clock_ns,
                out_lengths[chosen[order]] + WIRE_OVERHEAD,
            )

    # -- differences -------------------------------------------------------------------------------------------------

    def _take_mismatches(self, judged: Judged) -> list[int]:
        """Positions of the frames that differ."""
        by_frame = judged.by_frame()
        port = by_frame.pop(-1, [])
        self.port_mismatches += len(port)
        for mismatch in port[: KEPT_FRAMES - len(self._port_kept)]:
            self._port_kept.append({"window": self.windows - 1, **_difference(mismatch)})
        self.mismatched += len(by_frame)
        positions = sorted(by_frame)
        for position in positions[: KEPT_FRAMES - len(self._kept)]:
            self._kept.append(self._keep(judged, position, by_frame[position]))
        return positions

    def _keep(self, judged: Judged, position: int, found: list[Mismatch]) -> dict[str, Any]:
        """All that a person needs to see of a frame that differs."""
        window, outcome = judged.window, judged.outcome
        code, latency = int(outcome.code[position]), int(outcome.latency_cycles[position])
        out = np.flatnonzero(outcome.source == position)[:_KEPT_OUT]
        data = window.batch.frame(position)
        return {
            "index": int(window.index[position]),
            "capture": window.capture,
            "frame": int(window.frame[position]),
            "direction": DIRECTIONS[Edge(int(window.batch.edge[position]))],
            "port": int(window.batch.port[position]),
            "length": len(data),
            "original_length": int(window.original_length[position]),
            "snapped": bool(window.snapped[position]),
            "disposition": disposition_name(code),
            "reason": code_name(code) if code >= FIRST_DROP else None,
            "latency_cycles": latency if latency >= 0 else None,
            "window": self.windows - 1,
            "begin_ns": judged.begin_ns,
            "cycle": next((mismatch.cycle for mismatch in found if mismatch.cycle >= 0), None),
            "differences": [_difference(mismatch) for mismatch in found[:KEPT_DIFFERENCES]],
            "differences_in_all": len(found),
            "in": data.hex(),
            "out": [outcome.frames.frame(int(i)).hex() for i in out],
        }

    # -- figures -----------------------------------------------------------------------------------------------------

    @property
    def verdict(self) -> str:
        """``"match"``, ``"mismatch"``; ``"empty"``: no frame was played."""
        if self.mismatched or self.port_mismatches or not self._accounting()["closed"]:
            return "mismatch"
        return "match" if self.frames > self.empty else "empty"

    def _accounting(self) -> dict[str, Any]:
        """in + generated + copies = out + consumed + dropped + unreported."""
        by = _dispositions(self._codes)
        offered = self.frames - self.empty
        came = offered + self.generated + self.copies
        went = self.frames_out + by["consumed"] + by["dropped"] + by["unreported"]
        return {
            "frames_in": offered,
            "generated": self.generated,
            "copies": self.copies,
            "frames_out": self.frames_out,
            "consumed": by["consumed"],
            "dropped": by["dropped"],
            "unreported": by["unreported"],
            "closed": came == went,
        }

    def _throughput(self) -> dict[str, Any]:
        step = self._timeline.step_ns
        used = int(-(-self._end_ns // step))
        amounts = self._timeline.amounts[:used]
        # The last bin ends with the replay.
        widths = np.minimum(step, self._end_ns - np.arange(len(amounts)) * step)
        rates = amounts * 8 / widths[:, None]
        return {
            "line_gbps": LINE_GBPS,
            "wire_overhead_bytes": WIRE_OVERHEAD,
            "step_ns": step,
            "end_ns": self._end_ns,
            "gbps": {DIRECTIONS[edge]: rates[:, way.line].tolist() for edge, way in sorted(self._directions.items())},
        }

    def figures(self) -> dict[str, Any]:
        """All of it, as JSON takes it. Frames that were taken later are in the next one."""
        drops = {
            code_name(int(code)): int(self._codes[code]) for code in np.flatnonzero(self._codes) if code >= FIRST_DROP
        }
        return {
            "v": FIGURES_VERSION,
            "verdict": self.verdict,
            "frames": self.frames,
            "bytes": self.bytes,
            "snapped": self.snapped,
            "empty": self.empty,
            "windows": self.windows,
            "cycles": self.cycles,
            "clock_ns": self.clock_ns,
            "simulated_ns": self._end_ns,
            "redirected": self.redirected,
            "dispositions": _dispositions(self._codes),
            "drops": dict(sorted(drops.items(), key=lambda item: (-item[1], item[0]))),
            "accounting": self._accounting(),
            "mismatches": {
                "frames": self.mismatched,
                "port": self.port_mismatches,
                "kept": list(self._kept),
                "port_kept": list(self._port_kept),
            },
            "directions": {
                DIRECTIONS[edge]: way.figures(self.clock_ns) for edge, way in sorted(self._directions.items())
            },
            "throughput": self._throughput(),
            "captures": [
                {"capture": capture, "direction": way, **row} for (capture, way), row in self._captures.items()
            ],
        }


def _dispositions(codes: np.ndarray) -> dict[str, int]:
    """Frames by what became of them, from their number by code. A code that ends no frame counts as none."""
    delivered, consumed, dropped = int(codes[Code.DELIVERED]), int(codes[Code.CONSUMED]), int(codes[FIRST_DROP:].sum())
    unreported = int(codes.sum()) - delivered - consumed - dropped
    return {"delivered": delivered, "consumed": consumed, "dropped": dropped, "unreported": unreported}


def _difference(mismatch: Mismatch) -> dict[str, Any]:
    return {
        "what": _short(mismatch.what),
        "expected": _short(mismatch.expected),
        "got": _short(mismatch.got),
        "cycle": mismatch.cycle if mismatch.cycle >= 0 else None,
    }


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"
