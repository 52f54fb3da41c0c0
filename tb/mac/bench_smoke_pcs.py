"""Bench of ``pcs_loop``: pcs_tx into pcs_rx over a line that can be off by bits and have errors.

Words are rows of eight characters, control characters with bit 8. What the loop must make of a row of words follows
from the two state diagrams alone: the words themselves where they are legal, error words where not.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from tb.lib.clock import WIRE_PS, cycle, reset, start_clock, wait_cycles
from tb.lib.suite import seeded, test

__all__: list[str] = []

IDLE, START, TERMINATE, ERROR, SEQUENCE, SIGNAL = 0x107, 0x1FB, 0x1FD, 0x1FE, 0x19C, 0x15C
CONTROL = [IDLE, 0x11C, 0x13C, 0x17C, 0x1BC, 0x1DC, 0x1F7]
LOCAL_FAULT = [SEQUENCE, 0, 0, 1] * 2
ERRORS = [ERROR] * 8
LATENCY = 5
BER_LIMIT, BER_CYCLES = 5, 300

Word = list[int]


def kind_of(word: Word) -> str:
    """D, C, S, T or E: T_TYPE of 49.2.13.2.3."""
    data = [character < 0x100 for character in word]
    control = [character in CONTROL or character == ERROR for character in word]
    ordered = [word[i] in (SEQUENCE, SIGNAL) and all(data[i + 1 : i + 4]) for i in (0, 4)]
    if all(data):
        return "D"
    if all(control) and ERROR not in word:
        return "C"
    low, high = all(control[:4]), all(control[4:])
    if (low and ordered[1]) or (ordered[0] and high) or all(ordered):
        return "C"
    if word[0] == START and all(data[1:]):
        return "S"
    if word[4] == START and all(data[5:]) and (low or ordered[0]):
        return "S"
    for lane in range(8):
        if word[lane] == TERMINATE and all(data[:lane]) and all(control[lane + 1 :]):
            return "T"
    return "E"


def transmitted(words: list[Word]) -> list[Word]:
    """Figure 49-14 from a reset on."""
    state, out = "C", []
    for word in words:
        kind = kind_of(word)
        follows = {"C": "CS", "T": "CS", "D": "DT", "S": "DT", "E": "TDC"}[state]
        state = kind if kind in follows else "E"
        out.append(word if state != "E" else ERRORS)
    return out


def received(words: list[Word]) -> list[Word]:
    """Figure 49-15, locked; the last word is an idle."""
    state, out = "C", []
    for word, behind in zip(words, [*words[1:], [IDLE] * 8], strict=True):
        kind = kind_of(word)
        follows = {"C": "CS", "T": "CS", "D": "DT", "S": "DT", "E": "TDC"}[state]
        legal = kind in follows and (kind != "T" or kind_of(behind) in "SC")
        state = kind if legal else "E"
        out.append(word if legal else ERRORS)
    return out


class Loop:
    """Drives words, reads those that come, keeps blocks and strobes."""

    def __init__(self, dut: Any, name: str) -> None:
        self.dut = dut
        self.rng = seeded("pcs_loop", name)
        start_clock(dut.clk, WIRE_PS)
        self.edge = RisingEdge(dut.clk)
        dut.rst.value = 1
        for handle in (
            dut.offset, dut.flip, dut.tx_pattern, dut.seed_a, dut.seed_b, dut.tx_lf, dut.rx_pattern, dut.rx_lf,
            dut.pattern_clear, dut.ber_clear, dut.errored_clear,
        ):  # fmt: skip
            handle.value = 0
        dut.signal_ok.value = 1
        self.drive([IDLE] * 8)
        self.out: dict[int, Word] = {}
        self.blocks: dict[int, int] = {}
        self.slips: list[int] = []

    def drive(self, word: Word) -> None:
        self.dut.xgmii_d.value = int.from_bytes(bytes(character & 0xFF for character in word), "little")
        self.dut.xgmii_c.value = sum((character >> 8) << lane for lane, character in enumerate(word))

    async def start(self) -> Loop:
        await reset(self.dut.rst, self.dut.clk)
        cocotb.start_soon(self._watch())
        return self

    async def _watch(self) -> None:
        dut = self.dut
        while True:
            await self.edge
            now = cycle(dut.clk)
            d, c = dut.out_d.value.to_unsigned(), dut.out_c.value.to_unsigned()
            self.out[now] = [(d >> 8 * lane & 0xFF) | (c >> lane & 1) << 8 for lane in range(8)]
            self.blocks[now] = dut.block.value.to_unsigned()
            if int(dut.slip.value):
                self.slips.append(now)

    def latest(self) -> Word:
        """The last word that came."""
        return self.out[max(self.out)]

    async def lock(self) -> None:
        self.drive([IDLE] * 8)
        await wait_cycles(self.dut.clk, 80)
        assert int(self.dut.block_lock.value) and int(self.dut.rx_status.value)

    async def run(self, words: list[Word]) -> list[Word]:
        """What comes for these words, from an idle line."""
        await self.edge
        begun = cycle(self.dut.clk) + 1
        for word in words:
            self.drive(word)
            await self.edge
        self.drive([IDLE] * 8)
        await wait_cycles(self.dut.clk, LATENCY + 2)
        return [self.out[begun + place + LATENCY] for place in range(len(words))]


def compare(came: list[Word], due: list[Word], sent: list[Word]) -> None:
    for place, (a, b) in enumerate(zip(came, due, strict=True)):
        assert a == b, f"word {place}: sent {_text(sent[place])}, came {_text(a)}, due {_text(b)}"


def _text(word: Word) -> str:
    return " ".join(f"{character:03x}" for character in word)


def legal_words(b: Loop) -> list[Word]:
    """Everything between frames, then a frame."""
    rng = b.rng

    def controls(count: int, *, error: bool = False) -> Word:
        return [rng.choice([*CONTROL, ERROR] if error else CONTROL) for _ in range(count)]

    def ordered() -> Word:
        return [rng.choice([SEQUENCE, SIGNAL]), *rng.randbytes(3)]

    words = []
    for _ in range(rng.randint(0, 4)):
        words.append(
            rng.choice(
                [
                    controls(8),
                    controls(4, error=True) + ordered(),
                    ordered() + controls(4, error=True),
                    ordered() + ordered(),
                ]
            )
        )
    low = rng.choice([None, controls(4, error=True), ordered()])
    words.append([START, *rng.randbytes(7)] if low is None else [*low, START, *rng.randbytes(3)])
    words += [list(rng.randbytes(8)) for _ in range(rng.randint(0, 5))]
    lane = rng.randrange(8)
    return [*words, [*rng.randbytes(lane), TERMINATE, *controls(7 - lane, error=True)]]


@test
async def every_block_type_passes(dut: Any) -> None:
    b = await Loop(dut, "types").start()
    await b.lock()
    words: list[Word] = []
    while len(words) < 4000:
        words += legal_words(b)
    assert transmitted(words) == received(words) == words
    compare(await b.run(words), words, words)
    assert not dut.errored_blocks.value.to_unsigned()


@test
async def what_is_not_legal_becomes_an_error_block(dut: Any) -> None:
    """Legal words with single characters changed, left out, doubled and exchanged."""
    b = await Loop(dut, "illegal").start()
    await b.lock()
    words: list[Word] = []
    while len(words) < 6000:
        piece = legal_words(b)
        for _ in range(b.rng.randint(0, 2)):
            place = b.rng.randrange(len(piece))
            match b.rng.randrange(4):
                case 0:
                    word = list(piece[place])
                    word[b.rng.randrange(8)] = b.rng.choice(
                        [IDLE, START, TERMINATE, ERROR, SEQUENCE, SIGNAL, 0x106, b.rng.randrange(512)]
                    )
                    piece[place] = word
                case 1:
                    piece.insert(place, piece[place])
                case 2 if len(piece) > 1:
                    del piece[place]
                case _:
                    b.rng.shuffle(piece)
        words += piece
    due = received(transmitted(words))
    assert sum(word == ERRORS for word in due) > 500
    compare(await b.run(words), due, words)
    await wait_cycles(dut.clk, 4)
    assert dut.errored_blocks.value.to_unsigned() == 255
    dut.errored_clear.value = 1
    await b.edge
    dut.errored_clear.value = 0
    await wait_cycles(dut.clk, 2)
    assert dut.errored_blocks.value.to_unsigned() == 0


@test
async def a_terminate_without_its_gap_is_an_error(dut: Any) -> None:
    """R_TYPE_NEXT: pcs_tx lets a terminate out before it knows; pcs_rx looks at the block behind."""
    b = await Loop(dut, "next").start()
    await b.lock()
    words = [[START, *range(7)], list(range(8)), [TERMINATE] + [IDLE] * 7, [IDLE] * 8]
    due = list(words)
    await b.edge
    begun = cycle(dut.clk) + 1
    for place, word in enumerate([*words, *[[IDLE] * 8] * 9]):
        b.drive(word)
        # The block behind the terminate loses its header: two cycles from XGMII
        dut.flip.value = int(place == 5)
        await b.edge
    due[2:4] = [ERRORS, ERRORS]
    compare([b.out[begun + place + LATENCY] for place in range(4)], due, words)


@test
async def a_signal_that_is_lost_loses_the_lock(dut: Any) -> None:
    b = await Loop(dut, "signal").start()
    await b.lock()
    dut.signal_ok.value = 0
    await wait_cycles(dut.clk, 4)
    assert not int(dut.block_lock.value) and b.latest() == LOCAL_FAULT
    dut.flip.value = 1
    await wait_cycles(dut.clk, 40)
    dut.flip.value = 0
    assert not b.slips
    dut.signal_ok.value = 1
    await wait_cycles(dut.clk, 64)
    assert not int(dut.block_lock.value)
    await wait_cycles(dut.clk, 2)
    assert int(dut.block_lock.value)
    words = legal_words(b)
    compare(await b.run(words), words, words)


@test
async def slips_find_any_offset(dut: Any) -> None:
    b = await Loop(dut, "slips").start()
    for offset in (1, 2, 33, 65):
        dut.offset.value = offset
        await reset(dut.rst, dut.clk)
        b.slips.clear()
        waited = 0
        while not int(dut.block_lock.value):
            b.drive([IDLE] * 8 if b.rng.randrange(2) else LOCAL_FAULT)
            await b.edge
            waited += 1
            assert waited < 200 * (offset + 1)
        assert len(b.slips) == offset
        assert all(after - before >= 32 for before, after in zip(b.slips, b.slips[1:], strict=False))
        b.drive([IDLE] * 8)
        await wait_cycles(dut.clk, 12)
        assert b.latest() == [IDLE] * 8


@test
async def sixteen_bad_headers_unlock_and_a_few_raise_the_ber(dut: Any) -> None:
    b = await Loop(dut, "ber").start()
    await b.lock()
    for bad in range(1, BER_LIMIT + 1):
        dut.flip.value = 1
        await b.edge
        dut.flip.value = 0
        await wait_cycles(dut.clk, 3)
        assert int(dut.hi_ber.value) == (bad == BER_LIMIT)
        assert dut.ber_count.value.to_unsigned() == bad
    assert int(dut.block_lock.value) and not int(dut.rx_status.value)
    assert b.latest() == LOCAL_FAULT
    await wait_cycles(dut.clk, BER_CYCLES)
    assert int(dut.hi_ber.value), "a window with so many isn't a good one"
    await wait_cycles(dut.clk, BER_CYCLES)
    assert not int(dut.hi_ber.value)
    dut.flip.value = 3
    await wait_cycles(dut.clk, 80)
    assert int(dut.block_lock.value), "both bits inverted is a valid header"
    dut.flip.value = 1
    await wait_cycles(dut.clk, 20)
    assert not int(dut.block_lock.value)


def scrambled(data: int, state: list[int]) -> int:
    """Bit by bit; the state's first bit is S_0, the newest."""
    out = 0
    for place in range(64):
        bit = (data >> place & 1) ^ state[38] ^ state[57]
        state.insert(0, bit)
        state.pop()
        out |= bit << place
    return out


@test
async def blocks_are_scrambled_from_all_ones(dut: Any) -> None:
    """The first blocks behind a reset, bit by bit: the local fault of TX_INIT, idles, a word of data in a frame."""
    b = await Loop(dut, "scramble").start()
    dut.rst.value = 1
    await wait_cycles(dut.clk, 3)
    dut.rst.value = 0
    first = cycle(dut.clk) + 1
    for word in ([IDLE] * 8, [START, *range(1, 8)], list(range(16, 24)), [TERMINATE] + [IDLE] * 7):
        b.drive(word)
        await b.edge
    await wait_cycles(dut.clk, 4)
    payloads = [
        (1, 0x0100000001000055),
        (1, 0x1E),
        (1, 0x0706050403020178),
        (2, 0x1716151413121110),
        (1, 0x87),
    ]
    state = [1] * 58
    for place, (header, payload) in enumerate(payloads):
        assert b.blocks[first + 1 + place] == scrambled(payload, state) << 2 | header, f"block {place}"


@test
async def patterns_are_those_of_the_standard_and_errors_count(dut: Any) -> None:
    b = await Loop(dut, "patterns").start()
    await b.lock()
    await _square(b)
    for lf in (0, 1):
        await _random(b, lf)
    await _prbs(b)
    await _normal(b)
    words = legal_words(b)
    compare(await b.run(words), words, words)


async def _normal(b: Loop) -> None:
    """No pattern; the sender goes first, or a last block without a header would cost slips."""
    b.dut.tx_pattern.value = 0
    await wait_cycles(b.dut.clk, 4)
    b.dut.rx_pattern.value = 0
    await wait_cycles(b.dut.clk, 90)
    assert int(b.dut.block_lock.value)


async def _clear(b: Loop) -> None:
    b.dut.pattern_clear.value = 1
    await b.edge
    b.dut.pattern_clear.value = 0
    await b.edge


async def _square(b: Loop) -> None:
    b.dut.tx_pattern.value = b.dut.rx_pattern.value = 1
    await wait_cycles(b.dut.clk, 4)
    begun = cycle(b.dut.clk)
    await wait_cycles(b.dut.clk, 12)
    row = "".join(f"{b.blocks[begun + i]:066b}"[::-1] for i in range(10))
    assert row == ("1" * 11 + "0" * 11) * 30
    assert b.latest() == LOCAL_FAULT


async def _random(b: Loop, lf: int) -> None:
    dut = b.dut
    seeds = [0x3C8B44DCAB6804F, 0x34906BB85A38884]
    ones = (1 << 58) - 1
    await _normal(b)
    dut.seed_a.value, dut.seed_b.value = seeds
    dut.tx_lf.value = dut.rx_lf.value = lf
    dut.tx_pattern.value = 2
    await b.edge
    begun = cycle(dut.clk) + 1
    await wait_cycles(dut.clk, 1200)
    data = 0x0100000001000055 if lf else 0
    for segment, seed in enumerate((seeds[0], seeds[0] ^ ones, seeds[1], seeds[1] ^ ones) * 2):
        state = [seed >> place & 1 for place in range(58)]
        inverted = data ^ ((1 << 64) - 1) if segment % 2 else data
        for place in range(128):
            due = scrambled(inverted, state) << 2 | 1
            assert b.blocks[begun + 128 * segment + place] == due, f"segment {segment}, block {place}"
    assert int(dut.block_lock.value)
    dut.rx_pattern.value = 2
    await _clear(b)
    await wait_cycles(dut.clk, 700)
    assert dut.pattern_errors.value.to_unsigned() == 0
    dut.rx_lf.value = 1 - lf
    await wait_cycles(dut.clk, 300)
    assert dut.pattern_errors.value.to_unsigned() > 200
    dut.rx_lf.value = lf
    await wait_cycles(dut.clk, 300)
    await _clear(b)
    await wait_cycles(dut.clk, 700)
    assert dut.pattern_errors.value.to_unsigned() == 0
    while (cycle(dut.clk) - begun) % 128 != 40:
        await b.edge
    dut.flip.value = 1 << 65
    await b.edge
    dut.flip.value = 0
    await wait_cycles(dut.clk, 400)
    # One wrong bit at the end of a block: there, and in the next one 39 and 58 bits behind
    assert dut.pattern_errors.value.to_unsigned() == 2


async def _prbs(b: Loop) -> None:
    dut = b.dut
    dut.tx_pattern.value = dut.rx_pattern.value = 3
    dut.pattern_clear.value = 1
    await b.edge
    begun = cycle(dut.clk) + 1
    await wait_cycles(dut.clk, 10)
    dut.pattern_clear.value = 0
    await wait_cycles(dut.clk, 100)
    bits = [int(bit) ^ 1 for place in range(90) for bit in f"{b.blocks[begun + place]:066b}"[::-1]]
    assert bits[:31] == [1 ^ 1] * 28 + bits[28:31]
    assert all(bits[n] == bits[n - 28] ^ bits[n - 31] for n in range(31, len(bits)))
    assert sum(bits) > 2000
    assert dut.pattern_errors.value.to_unsigned() == 0 and not b.slips
    for wrong, count in ((1 << 20, 3), (1, 3), (1 << 65 | 1 << 30, 6)):
        dut.flip.value = wrong
        await b.edge
        dut.flip.value = 0
        await wait_cycles(dut.clk, 10)
        assert dut.pattern_errors.value.to_unsigned() == count
        await _clear(b)
