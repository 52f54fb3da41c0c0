"""Bench of every frame length from 1 to 9,596, sent and looped, for regress. NICLOOP_MAC_PART: which of 8 parts."""

from __future__ import annotations

import os
from typing import Any

import cocotb

from tb.mac.bench_loop import exchange, looped
from tb.mac.cases import MAX, payload
from tb.mac.env import ROUTE_PCS, ROUTE_XGMII, Bench, Sent

__all__: list[str] = []

PARTS = 8
PIECE = 100
"""Frames between two resets, back to back."""


def pieces() -> list[list[Sent]]:
    lengths = range(1 + int(os.environ.get("NICLOOP_MAC_PART", "0")), MAX + 1, PARTS)
    return [[Sent(payload(length)) for length in lengths[at : at + PIECE]] for at in range(0, len(lengths), PIECE)]


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def each_word_of_frames_of_every_length(dut: Any) -> None:
    for piece in pieces():
        b = await Bench(dut).start()
        b.send(*piece)
        await b.drain()
        b.check_transmitted()
        b.stop()


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def frames_of_every_length_through_the_loop(dut: Any) -> None:
    for index, piece in enumerate(pieces()):
        route = ROUTE_PCS if index % 2 else ROUTE_XGMII
        b = await looped(dut, route)
        await exchange(b, route, piece)
        b.stop()
