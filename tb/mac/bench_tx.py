"""Bench of ``mac_tx``: every word on XGMII, in its cycle, against the golden model."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from cocotb.triggers import RisingEdge
from cocotbext.eth import XgmiiSink

from models.mac import MacTxModel, good_events, padded
from models.mac_xgmii import ERROR, IDLE_WORD, REMOTE_FAULT_WORD, START, TERMINATE, characters
from tb.lib import cover
from tb.lib.clock import reset
from tb.lib.suite import test
from tb.mac.cases import near_misses, payload
from tb.mac.env import Bench, Sent, word_bits, word_of_bits

__all__: list[str] = []

REMOTE, IDLE = word_bits(REMOTE_FAULT_WORD), word_bits(IDLE_WORD)
BOUNDARIES = [*range(1, 140), *range(250, 260), *range(506, 516), *range(1018, 1028), *range(1508, 1526)]
fault_kinds = cover.point("mac.tx_fault", ["local", "remote", "disabled"])


@test
async def frames_of_each_length_alone_start_two_cycles_after_their_first_beat(dut: Any) -> None:
    """Also lowRISC/mocha#354 (first and second frame after reset, 919 to 921 bytes) and verilog-ethernet#183 (pad)."""
    b = await Bench(dut).start()
    for length in [*BOUNDARIES, 919, 920, 921]:
        b.send(Sent(payload(length), before=16))
    await b.drain()
    model = b.check_transmitted()
    for placed, frame in zip(model.frames, b.sent, strict=True):
        assert placed.start == 8 * (frame.taken + 2), "the gap was long enough"


@test
async def frames_of_each_length_back_to_back_keep_the_mean_gap(dut: Any) -> None:
    """liteeth#76, #95: start in both lanes, deficit idle count; surf#1096: the last beat part empty."""
    b = await Bench(dut).start()
    pairs = [length for first in range(60, 68) for second in range(60, 68) for length in (first, second)]
    lengths = BOUNDARIES + pairs
    b.rng.shuffle(lengths)
    b.send(*(Sent(payload(length)) for length in lengths))
    await b.drain()
    model = b.check_transmitted()
    total = sum(8 + max(60, length) + 4 + 12 for length in lengths[:-1])
    assert model.frames[-1].start - model.frames[0].start == total - total % 4


@test
async def sixty_four_bytes_take_ten_and_a_half_cycles(dut: Any) -> None:
    b = await Bench(dut).start()
    b.send(*(Sent(payload(60, seed)) for seed in range(201)))
    await b.drain()
    frames = b.check_transmitted().frames
    assert Fraction(frames[200].start - frames[0].start, 8 * 200) == Fraction(21, 2)


@test
async def longest_untagged_frames_take_192_and_a_quarter_cycles(dut: Any) -> None:
    b = await Bench(dut).start()
    b.send(*(Sent(payload(1514, seed)) for seed in range(41)))
    await b.drain()
    frames = b.check_transmitted().frames
    assert Fraction(frames[40].start - frames[0].start, 8 * 40) == Fraction(769, 4)


@test
async def frames_with_random_pauses_between_them(dut: Any) -> None:
    """The deficit is paid back by idle that is there anyway; a frame may come in each cycle of the gap."""
    b = await Bench(dut).start()
    for _ in range(300):
        b.send(Sent(payload(b.rng.randint(1, 100)), before=b.rng.choice((0, 0, 1, 2, 3, 8))))
    for before in range(16):
        for length in range(60, 68):
            b.send(Sent(payload(length), before=before))
    await b.drain()
    b.check_transmitted()


@test
async def every_gap_and_no_deficit(dut: Any) -> None:
    for dic in (0, 1):
        for ifg in (8, 9, 10, 11, 12, 13, 14, 15, 16, 21, 64, 255):
            b = Bench(dut)
            await b.start(cfg_ifg=ifg, cfg_dic=dic)
            b.send(*(Sent(payload(length)) for length in [*range(60, 69)] * 2))
            await b.drain(60)
            b.check_transmitted(MacTxModel(ifg, bool(dic)))
            b.stop()


@test
async def a_bad_frame_ends_in_errors(dut: Any) -> None:
    """In every lane; pulp-ethernet#5, #6: no byte behind the last."""
    b = await Bench(dut).start()
    for length in range(1, 90):
        b.send(Sent(payload(length), bad=True), Sent(payload(b.rng.randint(60, 70)), bad=b.rng.random() < 0.2))
    await b.drain()
    b.check_transmitted()


@test
async def counters_move_for_their_own_event_only(dut: Any) -> None:
    """verilog-ethernet#57, taxi#39: each frame alone, every counter compared."""
    b = await Bench(dut).start()
    for frame in near_misses():
        b.send(Sent(frame))
        await b.drain()
        b.check_transmitted()
        b.clear()
    for size in (5, 64, 65, 127, 128, 255, 256, 511, 512, 1023, 1024, 1518, 1519, 9600):
        b.send(Sent(payload(size - 4)))
        await b.drain()
        b.check_transmitted()
        b.clear()
    for head in (b"\xff", b"\xff" * 5, b"\1"):  # the pad belongs to the address
        b.send(Sent(head))
        await b.drain()
        b.check_transmitted()
        b.clear()


@test
async def a_starving_source_ends_its_frame_in_errors(dut: Any) -> None:
    """A beat that is late in mid-frame: nothing of the rest is sent, and the next frame is whole."""
    b = await Bench(dut).start()
    for beats in (2, 3, 8, 9, 20):
        for stall in range(1, beats):
            cut = payload(8 * beats - stall % 8)
            b.send(Sent(cut, stall_at=stall, stall=30, before=8), Sent(payload(70)))
            await b.drain()
            chars = [char for word in b.words for char in characters(*word_of_bits(word))]
            start, end = chars.index(START), chars.index(TERMINATE)
            body = bytes(chars[start + 8 : end - 4])
            assert body == padded(cut[: 8 * stall]), f"{body.hex()} of {cut.hex()}, which had no beat {stall}"
            assert chars[end - 4 : end] == [ERROR] * 4
            b.words[: (end + 8) // 8] = []
            assert b.good() == [payload(70)]
            assert b.tx_stats == good_events(payload(70)) + Counter(["underrun"])
            b.clear()


@test
async def local_fault_sends_remote_fault_all_the_time(dut: Any) -> None:
    """46.3.4: the frame under way ends first; what comes meanwhile is dropped and counted."""
    b = await Bench(dut).start()
    for kind, word in (("local", REMOTE), ("remote", IDLE)):
        for delay in range(1, 16):
            await _under_fault(b, kind, word, delay)
        fault_kinds(kind)


async def _under_fault(b: Bench, kind: str, word: int, delay: int) -> None:
    signal = getattr(b.dut, f"tx_{kind}_fault")
    b.send(Sent(payload(60)), Sent(payload(61)), Sent(payload(62)))
    await b.run(delay)
    signal.value = 1
    since = b.cycle
    await b.drain(30)
    whole = b.good()
    assert whole == [payload(length) for length in (60, 61, 62)][: len(whole)], "a frame was cut or out of order"
    assert b.tx_stats["fault_dropped"] == 3 - len(whole) and b.tx_stats["frames_ok"] == len(whole)
    assert set(b.words[-16:]) == {word}
    ended = b.last_terminate()
    late = [at for at, got in enumerate(b.words) if b.first_word + at > max(since, ended) + 4 and got != word]
    assert not late, f"cycle {b.first_word + late[0]}: {b.words[late[0]]:#x}, fault since {since}"
    dropped = b.tx_stats["fault_dropped"]
    b.send(Sent(payload(100)), Sent(payload(1)))
    await b.drain(10)
    assert b.tx_stats["fault_dropped"] == dropped + 2
    signal.value = 0
    await b.run(8)
    b.clear()
    b.send(Sent(payload(77)))
    await b.drain()
    assert b.good() == [payload(77)]
    assert b.words[-8:] == [IDLE] * 8
    b.clear()


@test
async def nothing_is_taken_while_disabled(dut: Any) -> None:
    b = await Bench(dut).start()
    for delay in range(1, 14):
        b.send(Sent(payload(60)), Sent(payload(64)))
        await b.run(delay)
        b.dut.tx_enable.value = 0
        await b.run(40)
        whole = b.good()
        assert whole == [payload(60), payload(64)][: len(whole)] and len(whole) < 2 + (delay > 9)
        assert b.words[-8:] == [IDLE] * 8
        b.dut.tx_enable.value = 1
        await b.drain()
        assert b.good() == [payload(60), payload(64)]
        assert b.tx_stats["frames_ok"] == 2
        b.clear()
    fault_kinds("disabled")


@test
async def the_time_of_a_frame_is_that_of_its_start_on_xgmii(dut: Any) -> None:
    b = await Bench(dut).start()
    b.send(*(Sent(payload(60 + b.rng.randrange(9)), before=b.rng.choice((0, 0, 5, 9))) for _ in range(60)))
    await b.drain()
    model = b.check_transmitted()
    assert b.tx_times == [b.time_at(frame.start_cycle) for frame in model.frames]


@test
async def reset_in_mid_frame_leaves_nothing_behind(dut: Any) -> None:
    for delay in range(1, 20):
        b = await Bench(dut).start()
        b.send(Sent(payload(64)), Sent(payload(64)))
        await b.run(delay)
        b.stop()
        await reset(dut.rst, dut.clk, 2)
        b = await Bench(dut).start()
        await b.run(3)
        b.send(Sent(payload(64)), Sent(payload(65)))
        await b.drain()
        b.check_transmitted()
        b.stop()


@test
async def cocotbext_eth_receives_what_is_sent(dut: Any) -> None:
    b = await Bench(dut).start()
    sink = XgmiiSink(dut.xgmii_d, dut.xgmii_c, dut.clk)
    lengths = [b.rng.randint(1, 200) for _ in range(150)]
    b.send(*(Sent(payload(length), before=b.rng.choice((0, 0, 7))) for length in lengths))
    await b.drain()
    lanes = set()
    for length in lengths:
        frame = sink.recv_nowait()
        assert frame.check_fcs() and frame.ctrl is None
        assert bytes(frame.get_payload()) == payload(length).ljust(60, b"\0")
        lanes.add(frame.start_lane)
    assert sink.empty() and lanes == {0, 4}


@test
async def idle_says_when_nothing_is_under_way(dut: Any) -> None:
    """0 from the cycle behind the first beat to that of terminate at least, 1 four cycles later at most."""
    b = await Bench(dut).start()
    for length in (1, 60, 61, 67, 70):
        b.send(Sent(payload(length), before=3))
        idle, edge = [], RisingEdge(dut.clk)
        for _ in range(40):
            await edge
            idle.append((b.cycle, str(dut.tx_idle.value) == "1"))
        model = b.check_transmitted()
        start, end = b.sent[0].taken + 1, model.frames[0].terminate // 8
        low = [cycle for cycle, high in idle if not high]
        assert low[0] <= start + 1 and low[-1] >= end and low[-1] - low[0] == len(low) - 1
        assert low[-1] <= end + 4 and low[0] >= start - 1
        b.clear()


# ------------------------------------------------------------------------------------------------------ field reports


@test
async def short_frames_are_padded_to_sixty_bytes(dut: Any) -> None:
    """verilog-ethernet#183, #39: each length below, alone and behind a long one whose bytes must not show."""
    b = await Bench(dut).start()
    for length in range(1, 61):
        b.send(Sent(b"\xff" * 120), Sent(payload(length), before=length % 3))
    await b.drain()
    b.check_transmitted()
    assert b.good()[1::2] == [payload(length).ljust(60, b"\0") for length in range(1, 61)]


@test
async def the_first_two_frames_after_reset_are_whole(dut: Any) -> None:
    """lowRISC/mocha#354: two different ones, back to back and in the first cycle in which they may come."""
    for lengths in ((60, 1514), (1514, 60), (1, 919), (921, 920)):
        b = await Bench(dut).start()
        b.send(*(Sent(payload(length)) for length in lengths))
        await b.drain()
        b.check_transmitted()
        assert [len(data) for data in b.good()] == [max(60, length) for length in lengths]
        b.stop()


@test
async def lanes_beyond_tkeep_never_reach_the_wire_nor_the_fcs(dut: Any) -> None:
    """pulp-ethernet#5, #6, corundum#234: the same frame over and over, other noise behind its last byte each time."""
    b = await Bench(dut).start()
    for length in (*range(1, 17), *range(57, 73)):
        b.send(*(Sent(payload(length)) for _ in range(4)))
    await b.drain()
    b.check_transmitted()


@test
async def single_beat_frames_back_to_back(dut: Any) -> None:
    """v-eth 0b2066ab: no beat but first and last ones, each pair of lengths."""
    b = await Bench(dut).start()
    b.send(*(Sent(payload(length)) for first in range(1, 9) for second in range(1, 9) for length in (first, second)))
    await b.drain()
    b.check_transmitted()
