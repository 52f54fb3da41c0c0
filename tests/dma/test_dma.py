"""Launches the benches of ``dma`` on the RTL.

Sweep:    as the benches; in ``make test`` those that end in seconds, in regress all, with four requesters, the largest
          page table and limits of completions besides
Stimulus: as the benches
Checks:   as the benches: each event against the model, memory, counters, what is held at the end
Timing:   of the benches
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.dma.designs import dma_design

PAGES = 64
"""The table is cleared behind each reset: a small one keeps the runs short."""
ENV = {"NICLOOP_PAGES": str(PAGES)}
DESIGN = dma_design(REQUESTERS=2, PAGES=PAGES)

ICARUS = [
    "a_request_of_no_bytes_sends_nothing_and_is_done_at_its_turn",
    "a_write_whose_data_end_early_or_late_writes_what_it_may",
    "outside_of_a_bar_window_a_read_is_unsupported",
]
"""What Icarus runs: it knows X."""
LIES = [
    "a_lie_of_the_first_completion_has_its_code_and_harms_no_other_request",
    "a_fault_of_one_tlp_ends_a_long_read_once_and_the_next_is_whole",
    "reads_of_64_bytes_at_800_ns_reach_50_gbps_with_both_requesters",
    "writes_of_both_requesters_reach_50_gbps",
]
"""Of ``bench_faults``: in ``make test``."""


def test_requests(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGN, "tb.dma.bench_dma", tests=ICARUS if sim == "icarus" else None, env=ENV)


def test_faults_of_the_field(simulate: Callable[..., Any]) -> None:
    simulate(DESIGN, "tb.dma.bench_field", env=ENV)


def test_lies_and_rates(simulate: Callable[..., Any]) -> None:
    simulate(DESIGN, "tb.dma.bench_faults", tests=LIES, env=ENV)


@pytest.mark.regress
def test_every_lie_and_the_storm(simulate: Callable[..., Any]) -> None:
    simulate(DESIGN, "tb.dma.bench_faults", env=ENV, timeout_s=1200)


@pytest.mark.regress
def test_four_requesters_and_the_whole_page_table(simulate: Callable[..., Any]) -> None:
    tests = [
        "a_region_may_end_at_the_top_of_all_addresses_and_have_4_gib",
        "all_tags_that_are_configured_are_used_and_come_back",
        "hosts_of_every_platform",
    ]
    simulate(dma_design(REQUESTERS=4, PAGES=4096), "tb.dma.bench_dma", tests=tests, timeout_s=1200)


@pytest.mark.regress
def test_limits_of_completions(simulate: Callable[..., Any]) -> None:
    """The largest read takes nearly all of them: 64 headers and 256 units of data, and one of each for its offset."""
    limits = {"CPLH": 66, "CPLD": 260}
    tests = ["reads_around_every_boundary_bring_their_bytes", "hosts_of_every_platform"]
    env = {**ENV, **{f"NICLOOP_{name}": str(value) for name, value in limits.items()}}
    simulate(dma_design(REQUESTERS=2, PAGES=PAGES, **limits), "tb.dma.bench_dma", tests=tests, env=env)
