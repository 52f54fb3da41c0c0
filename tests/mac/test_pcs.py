"""Launches the bench of `pcs_tx` and `pcs_rx`.

Sweep:    every row of figure 49-7, every code, every edge of both state diagrams, each bit of a block, bit offsets
Stimulus: random words and blocks, legal and not; sync headers by chance; the three test patterns
Checks:   models/mac_pcs.py, mac_lock.py, mac_scramble.py: each block, word, lock, slip and error count
Timing:   2 cycles from word to block, 3 from block to word; lock at 64 headers; slips 32 cycles apart at least
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb.mac.designs import mac_design, pcs_design

SMALL = ["a_wrong_bit_on_the_line_is_an_error_of_its_own_block_and_of_what_it_touches", "square_wave"]
"""What Icarus runs: it knows X."""


def test_pcs(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(pcs_design(), "tb.mac.bench_pcs", tests=SMALL if sim == "icarus" else None)


@pytest.mark.regress
def test_error_rate_of_25g(simulate: Callable[..., Any]) -> None:
    simulate(mac_design("pcs_rx"), "tb.mac.bench_ber")
