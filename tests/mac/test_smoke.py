"""The MAC and the PCS at work: what is sent arrives, on time.

Sweep:    every length from 1 to 200 bytes, both start lanes, gaps of 12 to 255, with the deficit and without
Stimulus: random frames alone and back to back, bad and starved ones, a broken line, resets in mid-frame
Checks:   each byte on XGMII against padding and zlib's CRC; what mac_rx gives; counters; gaps against 46.3.1.4
Timing:   2 cycles to XGMII, 7 through the loop; 64 B frames every 10.5 cycles, 1518 B every 192.25
"""

from __future__ import annotations

import runpy
import zlib
from collections.abc import Callable
from typing import Any

from tb.mac.designs import loop_design, mac_design
from tb.toolchain import ROOT


def test_the_mac_sends_and_receives(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(loop_design("mac_loop", PCS=0), "tb.mac.bench_smoke_mac", env={"NICLOOP_PCS": "0"})


def test_the_mac_sends_and_receives_through_the_pcs(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(loop_design("mac_loop", PCS=1), "tb.mac.bench_smoke_mac", env={"NICLOOP_PCS": "1"})


def test_mac_rx_judges_what_comes(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(mac_design("mac_rx"), "tb.mac.bench_smoke_rx")


def test_the_pcs_passes_words_and_finds_what_is_wrong(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(loop_design("pcs_loop"), "tb.mac.bench_smoke_pcs")


def test_counters_count_everything(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(mac_design("mac_stats"), "tb.mac.bench_smoke_stats")


def test_time_is_kept(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(mac_design("mac_time"), "tb.mac.bench_smoke_time")


def test_the_equations_are_those_of_their_generator() -> None:
    generator = runpy.run_path(str(ROOT / "rtl" / "mac" / "mac_crc_equations.py"))
    for name, text in generator["FILES"].items():
        assert (ROOT / "rtl" / "mac" / name).read_text() == text, "run python rtl/mac/mac_crc_equations.py"


def test_a_residue_is_that_of_zlib_behind_zeros() -> None:
    residues = runpy.run_path(str(ROOT / "rtl" / "mac" / "mac_crc_equations.py"))["residues"]()
    for count, residue in enumerate(residues):
        body = bytes(range(60))
        frame = body + zlib.crc32(body).to_bytes(4, "little")
        assert zlib.crc32(frame + bytes(8 - count)) ^ 0xFFFFFFFF == residue
