"""``acl_match`` at its ports: the first rule that matches, and the cycle in which it is told.

Sweep:    every position of a set, every bit of the key, ranges between all edges; sets of few and many rules; a swap in
          each slot of a lookup, with and without a write; a reset in each cycle; RULES 1024 with addresses of 128 bits,
          256 with 32, in regress 768
Stimulus: random rules of few values, which overlap; keys one bit or one port away from them; changes of single rules
          and of whole sets while keys come back to back; thousands of swaps at random cycles; noise, X under Icarus, on
          a key that isn't offered
Checks:   each answer against a search in plain Python of the set that was asked when its key was taken, hit, number and
          set; no answer without a key
Timing:   an answer 10 cycles after its key, a key every 4 cycles, a rule every 64; a swap waits 67 cycles at most
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.acl.designs import match_design


def launch(simulate: Callable[..., Any], rules: int, ipv6: bool) -> None:
    """Run the bench on a matcher with these parameters."""
    environment = {"NICLOOP_RULES": str(rules), "NICLOOP_IPV6": str(int(ipv6))}
    simulate(match_design(rules, ipv6), "tb.acl.bench_match", env=environment)


def test_the_first_rule_that_matches_is_found(sim: str, simulate: Callable[..., Any]) -> None:
    if sim == "icarus":
        launch(simulate, 64, True)
    else:
        launch(simulate, 1024, True)


def test_a_matcher_of_short_addresses_finds_the_first_rule(sim: str, simulate: Callable[..., Any]) -> None:
    launch(simulate, 64 if sim == "icarus" else 256, False)


@pytest.mark.regress
def test_a_matcher_whose_size_is_no_power_of_two_finds_the_first_rule(simulate: Callable[..., Any]) -> None:
    launch(simulate, 768, False)
