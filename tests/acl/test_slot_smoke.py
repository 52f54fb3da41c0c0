"""``acl`` at its ports, directed: verdicts, cycles and registers.

Sweep:    each action alone and together; no rules, default permit and deny; bad frames; tunnels where TUNNEL_EN is 1;
          gaps and back-pressure; a reset at every third cycle; RULES 64 and 1024
Stimulus: IPv4 and IPv6 over Ethernet with 0 to 2 tags, VXLAN; 60 to 200 bytes, and what the slot can't hold
Checks:   bytes, metadata, ``tuser``, copies and counters against models/acl.py; no count lost to reads that clear; each
          frame judged by one whole set
Timing:   the cycle of each frame's first and last beat as docs/acl.md, Time; the cycles of each command
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.acl.designs import slot_design

SHORT = (
    "frames_pass_a_slot_without_rules_in_their_cycle",
    "each_action_does_what_it_says",
    "a_bad_frame_keeps_its_reason_and_counts_nowhere",
    "the_default_action_denies_and_counts",
)
"""What Icarus runs."""


def launch(simulate: Callable[..., Any], rules: int, tunnel: bool, tests: tuple[str, ...] | None) -> None:
    """Run the bench on a slot with these parameters."""
    environment = {"NICLOOP_RULES": str(rules), "NICLOOP_TUNNEL": str(int(tunnel))}
    design = slot_design(rules, 4, tunnel=tunnel, port_id=5)
    simulate(design, "tb.acl.bench_slot_smoke", env=environment, tests=tests)


@pytest.mark.parametrize("tunnel", [False, True], ids=["plain", "tunnel"])
def test_frames_get_their_verdicts_in_their_cycles(sim: str, simulate: Callable[..., Any], tunnel: bool) -> None:
    launch(simulate, 64, tunnel, SHORT if sim == "icarus" else None)


@pytest.mark.regress
def test_frames_get_their_verdicts_with_a_thousand_rules(simulate: Callable[..., Any]) -> None:
    launch(simulate, 1024, False, None)
