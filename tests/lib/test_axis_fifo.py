"""Launches the bench of `axis_fifo` for each set of parameters.

Sweep:    cut through; frame mode without drops, with DROP_BAD, with DROP_BAD and DROP_FULL, with DROP_FULL alone
Stimulus: random frames of every length to four beats and a byte and around DEPTH, every pair of generators
Checks:   models/lib.py: bytes, order, verdicts, drop reports, no partial frame, in = out + drops, protocol, reset
Timing:   2 cycles after the first beat (cut through) or the last (frame mode), no bubble, a beat each cycle
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.lib.designs import DESIGNS, environment

_ALWAYS = (
    "fifo_passes_every_length_in_the_cycle_of_the_model",
    "fifo_takes_a_beat_each_cycle",
    "fifo_forgets_everything_at_reset",
    "fifo_has_no_path_from_side_to_side",
)
_CUT = (
    "fifo_has_no_bubble_under_any_back_pressure",
    "cut_through_holds_depth_beats_and_says_so",
    "cut_through_passes_a_frame_longer_than_itself",
)
_FRAME = (
    "frame_mode_never_shows_a_partial_frame",
    "frame_of_depth_beats_fits_and_a_longer_one_is_dropped",
    "frame_too_long_spares_its_neighbours",
    "reason_of_an_early_mark_is_not_taken_for_bad",
    "reset_in_mid_drop_leaves_no_trace",
    "storm_closes_the_books",
)
_BAD_PASSES = ("fifo_has_no_bubble_under_any_back_pressure", "bad_frames_pass_where_they_are_not_dropped")
_BAD_DROPS = ("bad_frames_are_dropped_and_good_ones_are_not", "bad_frame_longer_than_the_fifo_counts_as_bad")
_WAITS = ("full_fifo_makes_the_source_wait",)
_DROPS = (
    "full_fifo_drops_the_frame_whose_last_beat_has_no_room",
    "full_fifo_drops_frames_beyond_the_most_that_it_holds",
    "drop_full_never_lowers_ready",
)


def _run(simulate: Callable[..., Any], key: str, *groups: tuple[str, ...]) -> None:
    simulate(
        DESIGNS[key],
        "tb.lib.bench_axis_fifo",
        tests=[name for group in groups for name in group],
        env=environment(key),
    )


def test_cut_through(sim: str, simulate: Callable[..., Any]) -> None:
    _run(simulate, "axis_fifo.cut", _ALWAYS, _CUT)


def test_frame_mode_without_drops(sim: str, simulate: Callable[..., Any]) -> None:
    _run(simulate, "axis_fifo.frame", _ALWAYS, _FRAME, _BAD_PASSES, _WAITS)


def test_frame_mode_that_drops_bad_frames(sim: str, simulate: Callable[..., Any]) -> None:
    _run(simulate, "axis_fifo.bad", _ALWAYS, _FRAME, _BAD_DROPS, _WAITS)


def test_frame_mode_that_drops_bad_frames_and_when_full(sim: str, simulate: Callable[..., Any]) -> None:
    _run(simulate, "axis_fifo.full", _ALWAYS, _FRAME, _BAD_DROPS, _DROPS)


@pytest.mark.regress
def test_frame_mode_that_drops_when_full_only(sim: str, simulate: Callable[..., Any]) -> None:
    _run(simulate, "axis_fifo.full_only", _ALWAYS, _FRAME, _BAD_PASSES[1:], _DROPS)
