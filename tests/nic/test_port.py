"""``nic_port`` in its pyuvm environment: bytes, ends, cycles and counters as the golden model says, in every corner.

Sweep:    every pause generator on every stream, pairs of them at random; every length from 1 to 200 and around each
          boundary to 9596; resets in mid-frame on each stream; bad frames with every reason; oversize; disabled
          directions; every kind of malformed frame, delivered and dropped; a port that reads tunnels; a host that
          stands still, a wire that stands still; register accesses under traffic. Icarus, with X on all that the
          contract leaves open: a part. Regress: more seeds
Stimulus: random headers and bytes through the stream agents, as sequences; captures of tunnels
Checks:   NicPortModel.check on what the monitors saw, metadata and tuser included; every counter against the reports;
          the account closed and the port idle at the end of each play; the protocol of all four streams; sequence
          numbers; no X on a valid output
Timing:   the cycle of every frame's first beat, exact where its beats came one a cycle; the model's latency of isolated
          frames; no bubble back to back; the wire never starves in mid-frame
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.nic.designs import least, port_design
from tb.toolchain import ROOT

ON_ICARUS = [
    "random_pairs_of_pauses_change_nothing_but_cycles",
    "a_reset_in_mid_frame_loses_only_what_was_in_the_port",
    "a_malformed_frame_is_delivered_or_dropped_as_its_parser_is_told",
    "a_bad_frame_is_dropped_with_its_reason_and_its_neighbours_pass",
    "registers_answer_right_under_traffic",
    "every_length_from_1_to_200_passes_in_both_directions",
]


def test_port_does_what_the_model_says(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(port_design("agents", **least(sim)), "tb.nic.bench_port", tests=None if sim == "verilator" else ON_ICARUS)


def test_port_that_reads_tunnels_does_what_the_model_says(sim: str, simulate: Callable[..., Any]) -> None:
    names = ("scapy_tunnels.pcapng", *(("scapy_inner.pcapng",) if sim == "verilator" else ()))
    captures = ":".join(str(ROOT / "tests" / "captures" / name) for name in names)
    design = port_design("agents", PARSE_BYTES=256, TUNNEL_EN=1, **least(sim))
    simulate(design, "tb.nic.bench_tunnels", env={"NICLOOP_CAPTURES": captures})


@pytest.mark.regress
def test_port_does_what_the_model_says_over_many_seeds(simulate: Callable[..., Any], seed: int) -> None:
    for offset in range(1, 6):
        simulate(port_design("agents"), "tb.nic.bench_port", seed=seed + offset)
