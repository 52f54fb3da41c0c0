"""Launches the benches of ``dma`` with the golden model on the pins: the bench agrees with the page where nothing is
wrong, and sees what is.

Sweep:    as the benches; in ``make test`` those that end in seconds, in regress all
Stimulus: as the benches
Checks:   no test of the bench fails on a device that keeps to the page; each that is broken is seen by the named test
Timing:   of the benches
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb import build
from tb.build import SimulationFailed
from tb.dma.broken import BREAKS
from tb.dma.designs import double_design

LONG = [
    "reads_around_every_boundary_bring_their_bytes",
    "writes_around_every_boundary_leave_their_bytes",
    "requests_cross_pages_of_every_size_and_touch_no_byte_beside_them",
    "all_tags_that_are_configured_are_used_and_come_back",
    "credits_are_never_overdrawn_over_many_turns_of_the_counters",
    "a_fence_waits_for_all_earlier_requests_and_holds_back_the_later_ones",
    "requesters_take_turns_a_tlp_at_a_time",
    "every_pause_on_every_port",
    "a_reset_in_mid_traffic_leaves_nothing_behind",
]
"""Of ``bench_dma``: in regress."""
SHORT = [
    "a_request_of_no_bytes_sends_nothing_and_is_done_at_its_turn",
    "each_fault_of_protection_has_its_code_sends_nothing_and_harms_no_other_request",
    "each_right_allows_what_it_says_and_nothing_else",
    "a_region_may_end_at_the_top_of_all_addresses_and_have_4_gib",
    "a_write_whose_data_end_early_or_late_writes_what_it_may",
    "data_of_a_refused_write_are_swallowed",
    "a_flushed_write_is_seen_in_the_gpu_when_it_is_done",
    "a_flush_that_fails_fails_its_write_and_no_other",
    "a_requester_has_at_most_128_requests_that_are_not_done",
    "a_kind_without_credits_waits_and_holds_up_no_other",
    "attributes_are_what_request_target_and_control_say",
    "a_timeout_is_seen_at_its_time_and_at_most_1024_cycles_later",
    "without_a_timeout_nothing_ends_by_itself_and_a_broken_tag_rests_until_reset",
    "a_physical_requester_asks_for_bus_addresses_with_key_0_alone",
    "outside_of_a_bar_window_a_read_is_unsupported",
    "hosts_of_every_platform",
]
ICARUS = SHORT[:1] + SHORT[4:6]
"""What Icarus runs: it knows X."""

QUICK = (
    "a flush that isn't sent",
    "a wrong bit in the last byte of a write",
    "an end that is told twice",
    "a failed read that leaks its tag",
    "a completion that isn't counted",
    "pages that are taken for one stretch",
)
"""The other faults: in regress."""


def test_the_bench_and_the_model_agree(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(double_design(), "tb.dma.bench_dma", tests=ICARUS if sim == "icarus" else SHORT)


@pytest.mark.regress
def test_the_bench_and_the_model_agree_at_length(simulate: Callable[..., Any]) -> None:
    simulate(double_design(), "tb.dma.bench_dma", tests=LONG, timeout_s=1200)


@pytest.mark.regress
def test_tags_of_four_requesters(simulate: Callable[..., Any]) -> None:
    simulate(double_design(REQUESTERS=4), "tb.dma.bench_dma", tests=[LONG[3]], timeout_s=1200)


@pytest.mark.regress
def test_lies_and_the_storm(simulate: Callable[..., Any]) -> None:
    simulate(double_design(), "tb.dma.bench_faults", timeout_s=1200)


@pytest.mark.parametrize(
    "fault",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.regress) for name in sorted(BREAKS)],
)
def test_a_broken_device_is_seen(fault: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The named test of the bench fails on a device with this fault, and for no other reason."""
    monkeypatch.setattr(build, "OBSERVERS", [])
    broken = BREAKS[fault]
    run = build.simulate(
        double_design(), f"tb.dma.{broken.bench}", tests=[broken.test], seed=seed, env={"NICLOOP_DMA_BREAK": fault}
    )
    with pytest.raises(SimulationFailed) as failure:
        run.check()
    assert broken.said in str(failure.value)
