"""Launches the bench of ``ipsec_rx``.

Sweep:    modes, families, NAT-T, ciphers, tags, every length to 200 and long ones, every padding, each check of the
          page and pairs of them, every size of window, ESN across 2^32, every bit of a tag, SAs that change under
          traffic, every pair of pauses, resets, random storms; parameters SAS, SM4_EN, HOLD_BEATS
Stimulus: frames sealed by ``cryptography``; captures of other implementations; noise on whatever isn't valid, X under
          Icarus
Checks:   every byte, metadata, tuser, disposition, counter, event and state against models/ipsec.py; nothing of a frame
          that ends; idle
Timing:   the cycle of each frame's first and last beat and of each disposition, exact (models/ipsec_time.py); cycles of
          frames in a row against the wire's
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tb.ipsec.designs import slot_design

BENCH = "tb.ipsec.bench_rx"
CAPTURES = "tb.ipsec.bench_rx_captures"
ICARUS = [
    "every_form_of_esp_is_taken_off",
    "each_fault_of_a_text_has_its_code_and_two_the_first",
    "a_reset_in_mid_frame_leaves_nothing",
]
"""What Icarus runs: it knows X."""
SMALL = [
    "a_key_that_the_engine_has_not_is_no_key",
    "lengths_of_a_head_are_exact_at_their_bounds",
    "long_packets_come_out_whole",
    "keys_and_salts_are_never_read",
    "a_storm_of_all_kinds_is_as_the_model_says",
    "sas_change_under_traffic_and_each_frame_has_the_old_one_or_the_new",
]


def test_receive(sim: str, simulate: Callable[..., Any]) -> None:
    small = sim == "icarus"
    design = slot_design("ipsec_rx", **({"SAS": 8, "HOLD_BEATS": 64} if small else {}))
    env = {"NICLOOP_SLOT": "ipsec_rx", "NICLOOP_HOLD": "64" if small else "1024"}
    simulate(design, BENCH, tests=ICARUS if small else None, env=env)


def test_receive_without_sm4_and_with_few_sas_and_beats(simulate: Callable[..., Any]) -> None:
    env = {"NICLOOP_SLOT": "ipsec_rx", "NICLOOP_HOLD": "64", "NICLOOP_SM4": "0"}
    simulate(slot_design("ipsec_rx", SAS=8, HOLD_BEATS=64, SM4_EN=0), BENCH, tests=SMALL, env=env)


def test_captures_of_peers_decrypt(simulate: Callable[..., Any], material: Path) -> None:
    env = {"NICLOOP_SLOT": "ipsec_rx", "NICLOOP_MATERIAL": str(material)}
    simulate(slot_design("ipsec_rx"), CAPTURES, env=env)
