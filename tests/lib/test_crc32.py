"""Launches the bench of `crc32_128` and `crc32_64`.

Sweep:    both widths
Stimulus: every tail length, all zeros, all ones, random; back to back, with gaps, cut off, after a reset
Checks:   zlib.crc32, and the catalogue's check value; one result a frame; lanes that aren't kept don't count
Timing:   the result 1 cycle after the last beat, a beat each cycle
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb.lib.designs import DESIGNS, environment


def test_crc32_of_128_bit(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["crc32.w128"], "tb.lib.bench_crc32", env=environment("crc32.w128"))


def test_crc32_of_64_bit(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(DESIGNS["crc32.w64"], "tb.lib.bench_crc32", env=environment("crc32.w64"))
