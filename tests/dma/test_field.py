"""Launches the bench of the faults that others' DMA engines had, with the golden model on the pins.

Sweep:    a test each issue
Stimulus: the small case that shows it
Checks:   as the bench: the model, memory, counters, what is held at the end
Timing:   completions of one beat in each cycle
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.dma.designs import double_design


def test_faults_of_the_field(simulate: Callable[..., Any]) -> None:
    simulate(double_design(), "tb.dma.bench_field")
