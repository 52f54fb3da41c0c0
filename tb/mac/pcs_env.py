"""Drives and samples ``pcs_tx`` and ``pcs_rx`` of ``tops/mac_bench.v`` once a cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from cocotb.triggers import RisingEdge

from models.mac_pcs import encode
from models.mac_scramble import Scrambler
from models.mac_xgmii import CONTROL, ERROR, IDLE, IDLE_WORD, SEQUENCE, START, TERMINATE, Word, word_of
from tb.lib.clock import wait_cycles
from tb.mac.env import Bench, word_of_bits

__all__ = ["IDLE_BLOCK", "Record", "locked", "open_pcs", "play", "random_words", "scrambled"]

IDLE_BLOCK = encode(*IDLE_WORD)
RESERVED = [CONTROL | octet for octet in (0x1C, 0x3C, 0x7C, 0xBC, 0xDC, 0xF7)]


@dataclass(slots=True)
class Record:
    """What stood at the outputs in each cycle of a `play`; index 0 is the cycle of the first input."""

    blocks: list[int] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    lock: list[bool] = field(default_factory=list)
    hi_ber: list[bool] = field(default_factory=list)
    status: list[bool] = field(default_factory=list)
    slips: list[int] = field(default_factory=list)
    """Cycles with ``slip``."""


async def open_pcs(dut: Any, **inputs: int) -> Bench:
    """Resets with both faces of the PCS open to the bench."""
    b = Bench(dut, keep_words=False, rx=False)
    await b.start(pcs_port=1, line_port=1, **inputs)
    b.stop()
    return b


async def play(dut: Any, words: Sequence[Word] = (), blocks: Sequence[int] = (), more: int = 8) -> Record:
    """Drives words into ``pcs_tx`` and blocks into ``pcs_rx``, one a cycle; the last ones stay for ``more`` cycles."""
    edge, record = RisingEdge(dut.clk), Record()
    block_out, word_out, status = dut.block, dut.pcs_word, dut.pcs_status
    for index in range(max(len(words), len(blocks)) + more):
        if index < len(words):
            dut.pcs_d.value, dut.pcs_c.value = words[index]
        if index < len(blocks):
            dut.line_block.value = blocks[index]
        await edge
        if words:
            record.blocks.append(int(str(block_out.value), 2))
        if blocks:
            record.words.append(word_of_bits(int(str(word_out.value), 2)))
        slip, up, high, lock = (bit == "1" for bit in str(status.value))
        record.lock.append(lock)
        record.hi_ber.append(high)
        record.status.append(up)
        if slip:
            record.slips.append(index)
    return record


def scrambled(blocks: Sequence[int], scrambler: Scrambler) -> list[int]:
    return [scrambler.block(block) for block in blocks]


async def locked(dut: Any, scrambler: Scrambler) -> None:
    """Idle blocks until the receiver has locked and an idle word has come out."""
    record = await play(dut, blocks=scrambled([IDLE_BLOCK] * 200, scrambler), more=0)
    assert record.lock[-1] and record.status[-1] and record.words[-1] == IDLE_WORD, "no lock"
    await wait_cycles(dut.clk, 0)


def _control(rng: Random) -> int:
    return rng.choice([IDLE, IDLE, ERROR, *RESERVED])


def random_words(rng: Random, count: int) -> list[Word]:
    """Frames, idle and ordered sets in the order of a MAC, with every control character, in all rows of figure 49-7."""
    words: list[Word] = []

    def data(n: int) -> list[int]:
        return [rng.randrange(256) for _ in range(n)]

    def ordered() -> list[int]:
        return [rng.choice((SEQUENCE, CONTROL | 0x5C)), *data(3)]

    def controls(n: int) -> list[int]:
        return [_control(rng) for _ in range(n)]

    while len(words) < count:
        for _ in range(rng.randrange(4)):
            kind = rng.randrange(4)
            pieces = ([IDLE] * 8, ordered() + controls(4), controls(4) + ordered(), ordered() + ordered())
            words.append(word_of(pieces[kind]))
        opening = rng.randrange(3)
        openings = ([START, *data(7)], [*controls(4), START, *data(3)], [*ordered(), START, *data(3)])
        words.append(word_of(openings[opening]))
        words += [word_of(data(8)) for _ in range(rng.randrange(6))]
        lane = rng.randrange(8)
        words.append(word_of([*data(lane), TERMINATE, *controls(7 - lane)]))
    return words[:count]
