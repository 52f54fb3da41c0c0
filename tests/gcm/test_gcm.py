"""Launches the benches of the GCM engine.

Sweep:    ciphers, key sizes, directions and tag lengths packet by packet; every length of AAD and of text to 130 bytes;
          each bit of the tag; a stop at every byte; the parameters KEYS and SM4_EN; every pause generator on every port
Stimulus: random packets with keys of their own, keys written and erased under traffic, parts that take turns; noise, X
          under Icarus, on whatever isn't valid or kept; a reset in each of the first cycles; in regress every pair of
          lengths and every split of every length
Checks:   every beat out, tag, verdict and state against models/gcm.py; which key a command gets, by its cycle; nothing
          more comes and idle at the end; nothing in reset
Timing:   cycles of a packet in a row, of each size, kind and direction; latency of a packet alone, exact
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from tb.gcm.designs import engine_design
from tests.gcm.bulk import Packets, chain, check, random_key, random_part

BENCH = "tb.gcm.bench_gcm"
SMALL = [
    "packets_of_all_kinds_in_any_order_are_as_the_model_says",
    "a_slot_without_a_key_gives_zeros_and_says_so",
    "a_stream_whose_first_part_is_empty_takes_turns_with_another",
]
"""What Icarus runs: it knows X."""
FEW_KEYS = [
    "a_slot_without_a_key_gives_zeros_and_says_so",
    "a_key_of_sm4_is_none_in_an_engine_without_it",
    "every_slot_of_the_table_holds_its_own_key",
    "keys_change_under_traffic_between_two_commands",
    "packets_take_the_cycles_of_the_page_in_a_row",
]


def test_engine(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(engine_design(), BENCH, tests=SMALL if sim == "icarus" else None)


def test_engine_without_sm4_and_with_few_keys(simulate: Callable[..., Any]) -> None:
    simulate(engine_design(KEYS=32, SM4_EN=0), BENCH, tests=FEW_KEYS, env={"NICLOOP_SM4": "0"})


def pairs(rng: Random, aads: range, texts: range) -> Packets:
    """Packets of these lengths, each in both directions."""
    packets: Packets = []
    for aad in aads:
        for text in texts:
            key = random_key(rng)
            packets += [(key, random_part(rng, key, aad, text, decrypt)) for decrypt in (False, True)]
    rng.shuffle(packets)
    return packets


def test_pairs_of_lengths(simulate: Callable[..., Any], seed: int) -> None:
    """Lengths of two blocks and a byte, each with each."""
    check(simulate, pairs(Random(seed), range(34), range(34)), seed)


@pytest.mark.regress
def test_every_pair_of_lengths_up_to_130(simulate: Callable[..., Any], seed: int) -> None:
    check(simulate, pairs(Random(seed), range(131), range(131)), seed)


def splits(rng: Random, sizes: range) -> Packets:
    """Packets of these lengths, each stopped at each of its bytes."""
    packets: Packets = []
    for size in sizes:
        for cut in range(size + 1):
            key = random_key(rng)
            part = random_part(rng, key, rng.choice((0, 8, 16, 21)), size, bool(rng.getrandbits(1)))
            packets += chain(key, part, [cut])
    return packets


def test_splits_at_every_byte(simulate: Callable[..., Any], seed: int) -> None:
    check(simulate, splits(Random(seed), range(0, 34)), seed)


@pytest.mark.regress
def test_splits_of_every_length_up_to_130_at_every_byte(simulate: Callable[..., Any], seed: int) -> None:
    check(simulate, splits(Random(seed), range(131)), seed)
