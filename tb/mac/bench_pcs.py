"""Bench of ``pcs_tx`` and ``pcs_rx``: blocks, state diagrams, lock, error rate, test patterns against the models."""

from __future__ import annotations

from itertools import islice, pairwise
from random import Random
from typing import Any

from cocotb.triggers import RisingEdge

from models.mac_lock import BerMonitor, BlockLock
from models.mac_pcs import (
    CONTROL_SYNC,
    DATA_SYNC,
    EBLOCK,
    RX_LATENCY,
    TX_LATENCY,
    Receive,
    Transmit,
    decode,
    encode,
    t_block_type,
    type_field,
)
from models.mac_scramble import (
    Descrambler,
    Pattern,
    Prbs31,
    Prbs31Checker,
    PseudoRandomChecker,
    Scrambler,
    pseudo_random,
    runs,
)
from models.mac_xgmii import (
    CONTROL,
    ERROR,
    IDLE,
    IDLE_WORD,
    LOCAL_FAULT_WORD,
    SEQUENCE,
    START,
    TERMINATE,
    Word,
    word_of,
)
from tb.lib import cover
from tb.lib.suite import seeded, test
from tb.mac.designs import BER
from tb.mac.env import word_of_bits
from tb.mac.pcs_env import IDLE_BLOCK, Record, locked, open_pcs, play, random_words, scrambled

__all__: list[str] = []

FIELDS = (0x1E, 0x2D, 0x33, 0x66, 0x55, 0x78, 0x4B, 0x87, 0x99, 0xAA, 0xB4, 0xCC, 0xD2, 0xE1, 0xFF)
NAMES = ["data", *(f"{field:02x}" for field in FIELDS), "error"]
sent_types = cover.point("pcs.tx_block", NAMES)
taken_types = cover.point("pcs.rx_block", NAMES)
transmit_edges = cover.cross("pcs.tx_edge", ["TX_C", "TX_D", "TX_T", "TX_E"], list("CSTDE"))
receive_edges = cover.point(
    "pcs.rx_edge",
    [f"RX_{state}*{kind}" for state in "CDE" for kind in "CSTDE"] + ["RX_T*C", "RX_T*S"],  # nothing else follows RX_T
)
LOCK_DELAY = SLIP_DELAY = BER_DELAY = 1
"""Cycles from a header to what it does to `block_lock`, `slip` and `hi_ber`."""
lock_states = cover.point("pcs.lock", ["locked", "unlocked"])
ber_states = cover.point("pcs.ber", ["high", "low"])
SETTLE = 3
"""Blocks that a descrambler may need at first."""


def name_of(word: Word | None) -> str:
    if word is None or t_block_type(*word).value == "E":
        return "error"
    field = type_field(*word) if word[1] else None
    return "data" if field is None else f"{field:02x}"


def check_sent(words: list[Word], record: Record, where: str = "") -> None:
    """The blocks, descrambled, are those of the transmit state diagram, ``TX_LATENCY`` cycles behind their words."""
    descrambler, transmit = Descrambler(), Transmit()
    plain = [descrambler.block(block) for block in record.blocks]
    for index, word in enumerate(words):
        before = transmit.state
        due = transmit.step(*word)
        if index < SETTLE:
            continue
        if before != "TX_INIT":
            transmit_edges(before, t_block_type(*word).value)
        sent_types("error" if due == EBLOCK else name_of(word))
        got = plain[index + TX_LATENCY]
        assert got == due, f"{where}word {index} in {before}: {word[0]:016x}/{word[1]:02x} gave {got:#x}, due {due:#x}"


@test
async def words_become_the_blocks_of_figure_49_7(dut: Any) -> None:
    """Every row with every control character, scrambled, two cycles later."""
    await open_pcs(dut)
    words = [IDLE_WORD] * 8 + random_words(seeded("tx"), 3000)
    check_sent(words, await play(dut, words))


KINDS = {
    "C": [word_of([IDLE] * 8), word_of([SEQUENCE, 0, 0, 1, *[IDLE] * 4]), word_of([*[IDLE] * 4, SEQUENCE, 0, 0, 2])],
    "S": [word_of([START, *[0x55] * 6, 0xD5]), word_of([*[IDLE] * 4, START, 0x55, 0x55, 0x55])],
    "D": [word_of(range(8)), word_of([0xFB, 0xFD, 0xFE, 0x9C, 0x07, 0x1E, 0, 0xFF])],
    "T": [word_of([*range(lane), TERMINATE, *[IDLE] * (7 - lane)]) for lane in range(8)],
    "E": [
        word_of([ERROR] * 8),
        word_of([IDLE] * 7 + [ERROR]),
        word_of([1, START, 2, 3, 4, 5, 6, 7]),
        word_of([1, 2, 3, ERROR, 5, 6, 7, 8]),
        word_of([TERMINATE, IDLE, IDLE, IDLE, START, 1, 2, 3]),
        word_of([TERMINATE, *range(7)]),
        word_of([IDLE, SEQUENCE, 0, 0, 1, IDLE, IDLE, IDLE]),
        word_of([CONTROL | 0x44] * 8),
        word_of([*range(2), *[ERROR] * 4, TERMINATE, IDLE]),
    ],
}


def shuffled_kinds(rng: Random, count: int) -> list[Word]:
    """Words of all types in any order, so that every edge of a state diagram is taken."""
    words: list[Word] = []
    for letter in rng.choices("CSDTE", weights=(3, 3, 4, 3, 1), k=count):
        words.append(rng.choice(KINDS[letter]))
    return words


@test
async def what_is_no_legal_order_of_words_is_sent_as_errors(dut: Any) -> None:
    """Figure 49-14: each type of word in each state."""
    await open_pcs(dut)
    words = [IDLE_WORD] * 8 + shuffled_kinds(seeded("tx edges"), 3000)
    check_sent(words, await play(dut, words))


def check_taken(blocks: list[int], record: Record, since: int, receive: Receive | None = None) -> None:
    """The words from block ``since`` on are those of the receive state diagram, ``RX_LATENCY`` cycles behind."""
    receive = receive or Receive()
    receive.step(IDLE_BLOCK, IDLE_BLOCK)
    for index in range(since, len(blocks) - 1):
        before, word = receive.state, decode(blocks[index])
        due = receive.step(blocks[index], blocks[index + 1])
        receive_edges(f"{before}*{'E' if word is None else t_block_type(*word).value}")
        taken_types(name_of(word))
        got = record.words[index + RX_LATENCY]
        assert got == due, (
            f"block {index} in {before}: {blocks[index]:#x} gave {got[0]:016x}/{got[1]:02x}, "
            f"due {due[0]:016x}/{due[1]:02x}"
        )


@test
async def blocks_become_the_words_of_figure_49_7(dut: Any) -> None:
    await open_pcs(dut)
    scrambler = Scrambler()
    await locked(dut, scrambler)
    blocks = [IDLE_BLOCK] * 4 + [encode(*word) for word in random_words(seeded("rx"), 3000)] + [IDLE_BLOCK] * 8
    check_taken(blocks, await play(dut, blocks=scrambled(blocks, scrambler)), 2)


@test
async def what_is_no_legal_order_of_blocks_becomes_errors(dut: Any) -> None:
    """Figure 49-15: each type of block in each state, whatever follows terminate."""
    await open_pcs(dut)
    scrambler = Scrambler()
    await locked(dut, scrambler)
    blocks = [encode(*word) for word in shuffled_kinds(seeded("rx edges"), 3000)]
    blocks = [IDLE_BLOCK] * 4 + blocks + [IDLE_BLOCK] * 8
    check_taken(blocks, await play(dut, blocks=scrambled(blocks, scrambler)), 2)


@test
async def every_type_field_and_code_that_does_not_exist_becomes_errors(dut: Any) -> None:
    """All 256 type fields; all control codes in each lane; all ordered set codes."""
    await open_pcs(dut)
    scrambler = Scrambler()
    await locked(dut, scrambler)
    odd = [rest << 10 | field << 2 | CONTROL_SYNC for field in range(256) for rest in (0, 0x5555_5555_5555_55 & -16)]
    odd += [code << 10 + 7 * lane | 0x1E << 2 | CONTROL_SYNC for code in range(128) for lane in range(8)]
    odd += [code << 34 | field << 2 | CONTROL_SYNC for code in range(256) for field in (0x4B, 0x55, 0x66)]
    odd += [code << 38 | 0x2D << 2 | CONTROL_SYNC for code in range(16)]
    blocks = [IDLE_BLOCK] * 4
    for block in odd:
        blocks += [block, IDLE_BLOCK]
    blocks += [IDLE_BLOCK] * 8
    check_taken(blocks, await play(dut, blocks=scrambled(blocks, scrambler)), 2)


@test
async def an_invalid_sync_header_is_an_error_block(dut: Any) -> None:
    await open_pcs(dut)
    scrambler = Scrambler()
    await locked(dut, scrambler)
    words = random_words(seeded("headers"), 800)
    blocks = [IDLE_BLOCK] * 4 + [encode(*word) for word in words] + [IDLE_BLOCK] * 8
    for index in range(20, 800, 41):
        blocks[index] = blocks[index] & ~3 | (index & 1) * 3
    record = await play(dut, blocks=scrambled(blocks, scrambler))
    assert all(record.lock), "15 invalid headers of 64 hold the lock"
    check_taken(blocks, record, 2)


@test
async def a_wrong_bit_on_the_line_is_an_error_of_its_own_block_and_of_what_it_touches(dut: Any) -> None:
    """Each bit of a block, descrambled with its three copies, ends as the model says."""
    await open_pcs(dut)
    scrambler = Scrambler()
    await locked(dut, scrambler)
    plain = [IDLE_BLOCK] * 4 + [encode(*word) for word in random_words(seeded("bits"), 66 * 9)] + [IDLE_BLOCK] * 8
    line = scrambled(plain, scrambler)
    for bit in range(66):
        line[8 + 9 * bit] ^= 1 << bit
    descrambler = Descrambler()
    seen = [descrambler.block(block) for block in line]
    seen[:2] = [IDLE_BLOCK] * 2  # the model's descrambler begins here, the design's has run before
    check_taken(seen, await play(dut, blocks=line), 2)


# ----------------------------------------------------------------------------------------------- lock and error rate


def garbage(headers: str, rng: Random) -> list[int]:
    """Blocks of random payload: "." valid headers of both kinds, "x" invalid ones of both kinds."""
    return [
        rng.getrandbits(64) << 2 | (rng.choice((CONTROL_SYNC, DATA_SYNC)) if mark == "." else rng.choice((0, 3)))
        for mark in headers
    ]


def follow(marks: str, record: Record) -> tuple[BlockLock, list[int]]:
    """``block_lock``, ``slip`` and ``hi_ber`` are those of figures 49-12 and 49-13, from the first header of the first
    lock on; returns the model and its slips."""
    lock, monitor, slips = BlockLock(), BerMonitor(BER["BER_LIMIT"], BER["BER_CYCLES"]), []
    begin = record.lock.index(True) - LOCK_DELAY - 63
    for index in range(begin, len(marks)):
        valid = index < 0 or marks[index] == "."  # before the first one the line is that of the reset
        was = lock.block_lock
        now = lock.step(valid)
        high = monitor.step(valid, was)
        if lock.slip:
            slips.append(index)
        if index < 0:
            continue
        at = f"header {index} ({marks[max(0, index - 20) : index + 1]})"
        assert record.lock[index + LOCK_DELAY] == now, f"{at}: block_lock is {not now}"
        assert record.hi_ber[index + BER_DELAY] == high, f"{at}: hi_ber is {not high}"
        assert (index + SLIP_DELAY in record.slips) == lock.slip, f"{at}: slips {record.slips}, the model's {slips}"
        lock_states("locked" if now else "unlocked")
    return lock, slips


async def headers(dut: Any, marks: str, rng: Random) -> tuple[Record, BlockLock, list[int]]:
    """Plays 100 valid headers behind reset and then these; everything follows the model."""
    await open_pcs(dut, line_block=CONTROL_SYNC)
    marks = "." * 100 + marks
    record = await play(dut, blocks=garbage(marks, rng))
    return record, *follow(marks, record)


def window(rng: Random, invalid: int, size: int = 64) -> str:
    marks = ["x"] * invalid + ["."] * (size - invalid)
    rng.shuffle(marks)
    return "".join(marks)


@test
async def block_lock_follows_the_state_diagram(dut: Any) -> None:
    """Figure 49-12: 64 valid headers lock, one invalid among them slips; 16 invalid of 64 unlock, 15 don't."""
    rng = seeded("lock")
    align = "." * 27  # the one header of the reset and 100 more, up to the end of the second window
    cases = {
        "lost": (align + window(rng, 16) + "." * 150, True),
        "held": (align + window(rng, 15) + window(rng, 15) + "." * 100, False),
        "held over two windows": (align + "." * 49 + "x" * 30 + "." * 49, False),
        "lost at the sixteenth": (align + "x" * 16 + "." * 120, True),
        "63 are no lock": ("x" * 200 + "." * 63 + "x" + "." * 300, True),
        "slip after slip": ("x" * 600, True),
    }
    for name, (marks, lost) in cases.items():
        _, _, slips = await headers(dut, marks, rng)
        assert bool(slips) == lost, name
    for _ in range(12):
        parts = [window(rng, rng.choice((0, 0, 0, 1, 14, 15, 16, 17, 40))) for _ in range(12)]
        await headers(dut, "".join(parts), rng)


@test
async def slips_are_at_least_32_cycles_apart(dut: Any) -> None:
    record, _, _ = await headers(dut, "x" * 1000, seeded("slips"))
    gaps = [after - before for before, after in pairwise(record.slips)]
    assert len(gaps) > 25 and min(gaps) >= 32, gaps


@test
async def a_serdes_is_slipped_into_place(dut: Any) -> None:
    """A stream of bits at every offset: each request loses one bit, and in the end all that is sent comes out."""
    for offset in (1, 2, 17, 33, 64, 65):
        await open_pcs(dut)
        scrambler, rng = Scrambler(), seeded("serdes", offset)
        bits, have, drop = 0, 0, offset
        edge = RisingEdge(dut.clk)
        sent: list[Word] = []
        came: list[Word] = []
        for _ in range(66 * 60):
            while have < 66 + drop:
                word = IDLE_WORD if rng.random() < 0.5 else word_of([SEQUENCE, *rng.randbytes(3), *[IDLE] * 4])
                sent.append(word)
                bits |= scrambler.block(encode(*word)) << have
                have += 66
            bits >>= drop
            have -= drop
            dut.line_block.value = bits & (1 << 66) - 1
            bits >>= 66
            have -= 66
            await edge
            status = str(dut.pcs_status.value)
            drop = int(status[0])
            if status[3] == "1":
                came.append(word_of_bits(int(str(dut.pcs_word.value), 2)))
            if len(came) == 100:
                break
        assert len(came) == 100, f"no lock from offset {offset}"
        came = came[1:]  # the first one is still that of RX_INIT
        begin = next((at for at in range(len(sent)) if sent[at : at + len(came)] == came), None)
        assert begin is not None, f"offset {offset}: what came isn't what was sent: {came[:3]}"


@test
async def without_signal_there_is_no_lock_and_a_local_fault(dut: Any) -> None:
    """taxi#32: the link's state doesn't stay up after an unplug."""
    await open_pcs(dut)
    scrambler = Scrambler()
    await locked(dut, scrambler)
    dut.signal_ok.value = 0
    record = await play(dut, blocks=scrambled([IDLE_BLOCK] * 100, scrambler))
    assert not any(record.lock[8:]) and not any(record.status[8:])
    assert set(record.words[10:]) == {LOCAL_FAULT_WORD}
    dut.signal_ok.value = 1
    record = await play(dut, blocks=scrambled([IDLE_BLOCK] * 200, scrambler), more=0)
    assert record.status[-1] and record.words[-1] == IDLE_WORD


@test
async def a_high_error_rate_follows_the_state_diagram(dut: Any) -> None:
    """Figure 49-13 with 25G's 97 invalid headers: 96 in a period aren't enough; a period with fewer ends it."""
    limit, period = BER["BER_LIMIT"], BER["BER_CYCLES"]
    rng = seeded("ber")
    for invalid, times in ((limit - 1, 2), (limit, 1), (limit, 2), (3 * limit // 2, 1)):
        # Not more than 15 in 64, so that the lock holds; at the end of a period too.
        for lead in (0, period - 64 - 36, period - 8 * limit - 36):
            burst = "x......." * invalid
            await headers(dut, "." * lead + burst.ljust(period, ".") * times + "." * 2 * period, rng)
            ber_states("high" if invalid >= limit else "low")


@test
async def a_high_error_rate_is_a_local_fault(dut: Any) -> None:
    limit, period = BER["BER_LIMIT"], BER["BER_CYCLES"]
    await open_pcs(dut)
    scrambler = Scrambler()
    await locked(dut, scrambler)
    marks = "x......." * 2 * limit + "." * 3 * period
    line = scrambled([IDLE_BLOCK] * len(marks), scrambler)
    record = await play(dut, blocks=[b if mark == "." else b & ~3 for mark, b in zip(marks, line, strict=True)], more=0)
    rise = record.hi_ber.index(True)
    fall = rise + record.hi_ber[rise:].index(False)
    assert set(record.words[rise + RX_LATENCY : fall]) == {LOCAL_FAULT_WORD}
    assert not any(record.status[rise + 1 : fall]) and record.status[-1]
    assert record.words[-1] == IDLE_WORD and all(record.lock)


@test
async def invalid_headers_and_errored_blocks_are_counted(dut: Any) -> None:
    """49.2.14.2: ``ber_count`` of 6 bits, ``errored_block_count`` of 8; both stop at their top; a clear."""
    await open_pcs(dut)
    scrambler = Scrambler()
    await locked(dut, scrambler)
    dut.count_clear.value = 1
    await play(dut, blocks=scrambled([IDLE_BLOCK] * 8, scrambler), more=0)
    dut.count_clear.value = 0
    blocks = [IDLE_BLOCK] * 40

    async def counts(blocks: list[int]) -> tuple[int, int]:
        await play(dut, blocks=scrambled([*blocks, *[IDLE_BLOCK] * 8], scrambler), more=0)
        return int(str(dut.ber_count.value), 2), int(str(dut.errored_blocks.value), 2)

    assert await counts(blocks) == (0, 0)
    blocks[10] ^= 1  # a data header turned to none: an invalid header and an errored block
    assert await counts(blocks) == (1, 1)
    assert await counts([EBLOCK] * 3) == (1, 4)
    assert await counts([encode(*KINDS["D"][0])]) == (1, 5), "data without a start"
    dut.count_clear.value = 1
    assert await counts([IDLE_BLOCK]) == (0, 0)
    dut.count_clear.value = 0
    assert await counts([EBLOCK] * 300) == (0, 255)
    assert await counts(([IDLE_BLOCK] * 7 + [IDLE_BLOCK & ~3]) * 70) == (63, 255)


# -------------------------------------------------------------------------------------------------------- test patterns


@test
async def square_wave(dut: Any) -> None:
    """49.2.8: as many ones as zeros in turn, four to eleven of them."""
    await open_pcs(dut, tx_pattern=int(Pattern.SQUARE))
    record = await play(dut, words=[IDLE_WORD] * 100)
    lengths = runs(record.blocks[10:])[1:-1]
    assert len(set(lengths)) == 1 and 4 <= lengths[0] <= 11, set(lengths)


SEED_A, SEED_B = 0x123_4567_89AB_CDEF, 0x2AA_BB00_CC11_DD22


@test
async def pseudo_random_pattern(dut: Any) -> None:
    """49.2.8: seeds A and B and their inverses, 128 blocks each, over zeros and over local faults."""
    for local_fault in (0, 1):
        await open_pcs(dut, seed_a=SEED_A, seed_b=SEED_B, data_lf=local_fault, tx_pattern=int(Pattern.PSEUDO_RANDOM))
        record = await play(dut, words=[IDLE_WORD] * 1200)
        due = list(islice(pseudo_random(SEED_A, SEED_B, local_fault=bool(local_fault)), 512))
        got = record.blocks[8:]
        assert got[0] in due, "no block of the pattern"
        at = due.index(got[0])
        for index, block in enumerate(got):
            assert block == due[(at + index) % 512], f"block {index} is {block:#x}, due {due[(at + index) % 512]:#x}"


@test
async def prbs31(dut: Any) -> None:
    await open_pcs(dut, tx_pattern=int(Pattern.PRBS31))
    record = await play(dut, words=[IDLE_WORD] * 400)
    checker = Prbs31Checker()
    errors = [checker.block(block) for block in record.blocks[8:]]
    assert errors[1:] == [0] * (len(errors) - 1) and len(set(record.blocks[8:])) == len(errors)


@test
async def pseudo_random_checker_counts_blocks(dut: Any) -> None:
    """49.2.12: none in the pattern itself though seeds are loaded; each wrong block; the clear."""
    for local_fault in (0, 1):
        pattern = pseudo_random(SEED_A, SEED_B, local_fault=bool(local_fault))
        checker = PseudoRandomChecker(local_fault=bool(local_fault))
        await open_pcs(dut, data_lf=local_fault, rx_pattern=int(Pattern.PSEUDO_RANDOM))

        async def errors(blocks: list[int], checker: PseudoRandomChecker = checker) -> tuple[int, int]:
            """What was counted for these blocks and all before, and what the model counts."""
            for block in blocks:
                checker.block(block)
            record = await play(dut, blocks=blocks, more=0)
            assert set(record.words[10:]) <= {LOCAL_FAULT_WORD}, "a test pattern is no data"
            return int(str(dut.pattern_errors.value), 2), checker.errors

        await errors(list(islice(pattern, 700)))
        dut.pattern_clear.value = 1
        await errors(list(islice(pattern, 1)))
        dut.pattern_clear.value = 0
        checker.errors = 0
        assert await errors(list(islice(pattern, 800))) == (0, 0)
        blocks = list(islice(pattern, 600))
        for at in (100, 201, 302):
            blocks[at] ^= 1 << 2  # one payload bit, with its copies in the same block
        assert await errors(blocks) == (3, 3)
        blocks = list(islice(pattern, 512))
        for at in range(3, 512):
            blocks[at] ^= 1 << seeded(at).randrange(2, 66)
        counted, due = await errors([*blocks, *islice(pattern, 8)])
        assert counted == due and due > 400


@test
async def prbs31_checker_counts_bits(dut: Any) -> None:
    """Each wrong bit three times; the counter stops at its top and is cleared."""
    await open_pcs(dut, rx_pattern=int(Pattern.PRBS31))
    prbs = Prbs31(0x1234567)
    await play(dut, blocks=[prbs.block() for _ in range(200)], more=0)
    dut.pattern_clear.value = 1
    await play(dut, blocks=[prbs.block()], more=0)
    dut.pattern_clear.value = 0
    await play(dut, blocks=[prbs.block() for _ in range(200)], more=0)
    assert int(str(dut.pattern_errors.value), 2) == 0
    for bit in (0, 1, 2, 31, 64, 65):
        before = int(str(dut.pattern_errors.value), 2)
        await play(dut, blocks=[prbs.block() ^ 1 << bit, *(prbs.block() for _ in range(10))], more=0)
        assert int(str(dut.pattern_errors.value), 2) - before == 3, f"bit {bit}"
    await play(dut, blocks=[prbs.block() ^ (1 << 66) - 1 for _ in range(1100)], more=0)
    assert int(str(dut.pattern_errors.value), 2) == 0xFFFF
    dut.pattern_clear.value = 1
    await play(dut, blocks=[prbs.block()], more=0)
    dut.pattern_clear.value = 0
