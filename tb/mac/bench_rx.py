"""Bench of ``mac_rx``: frames, verdicts, counters, cycles and link faults against the golden model."""

from __future__ import annotations

from typing import Any

from cocotb.triggers import ReadOnly, RisingEdge, Timer
from cocotbext.eth import XgmiiFrame, XgmiiSource

from models.mac import MacRxModel, MacTime
from models.mac_xgmii import (
    IDLE_WORD,
    LOCAL_FAULT_WORD,
    REMOTE_FAULT_WORD,
    LinkFault,
    Word,
    words_of,
)
from models.meta import Code
from tb.lib import cover
from tb.lib.clock import reset, wait_cycles
from tb.lib.suite import test
from tb.mac.cases import VERDICTS, near_misses, payload
from tb.mac.env import Bench
from tb.mac.wire import C, Wire

__all__: list[str] = []

CONTROLS = [C | octet for octet in (0x07, 0xFB, 0xFD, 0xFE, 0x9C, 0x5C, 0x1C, 0x06)]
FAULT_DELAY = 2
"""Cycles from the word that makes the link fault state to the outputs."""
combinations = cover.point(
    "mac.rx_start",
    [
        f"gap{gap}_terminate{lane}_start{(lane + gap) % 8}"
        for gap in range(5, 17)
        for lane in range(8)
        if (lane + gap) % 4 == 0
    ],
)
starts = cover.cross("mac.rx_lanes", [f"start{lane}" for lane in (0, 4)], [f"terminate{lane}" for lane in range(8)])


async def play(b: Bench, wire: Wire | list[Word], model: MacRxModel | None = None, what: str = "") -> MacRxModel:
    """Sends words, waits for all that they make, compares, forgets. what: for the message of a failure."""
    words = wire.words() if isinstance(wire, Wire) else wire
    b.feed(words)
    await b.drain()
    try:
        model = b.check_received([*words, *[IDLE_WORD] * 40], b.fed_from, model)
    except AssertionError as error:
        raise AssertionError(f"{what}: {error}") from None
    b.clear()
    return model


def single(data: bytes, lane: int, **options: Any) -> Wire:
    return Wire().idle(8 + lane).frame(data, **options).idle(12)


@test
async def each_kind_of_frame_has_its_verdict_and_its_counter_and_no_other(dut: Any) -> None:
    """The table of docs/mac.md, each kind alone; verilog-ethernet#57, taxi#39."""
    b = await Bench(dut, keep_words=False).start()
    for name, (wire, expected, event) in VERDICTS.items():
        model = await play(b, wire, what=name)
        assert [(len(frame.data), frame.code) for frame in model.frames] == expected, name
        assert all(model.events[each] == 1 for each in (event or "").split())
        if "lane" not in name:
            await play(b, Wire().idle(4).raw(wire.chars, start=False).idle(4), what=f"{name}, lane 4")
    for frame in near_misses():
        await play(b, single(frame, 0), what=frame.hex())
    for edge in (64, 127, 255, 511, 1023, 1518):
        for size in (edge, edge + 1):
            await play(b, single(payload(size - 4), 0), what=f"{size} octets")


@test
async def frames_of_each_length_start_in_both_lanes(dut: Any) -> None:
    """liteeth#95, v-eth 0b2066ab: start in lane 4; five cycles to the first beat from both."""
    b = await Bench(dut, keep_words=False).start()
    for length in [*range(1, 140), *range(1508, 1518)]:
        for lane in (0, 4):
            await play(b, single(payload(length), lane))
            starts(f"start{lane}", f"terminate{(lane + 8 + length + 4) % 8}")


@test
async def every_legal_combination_of_gap_terminate_lane_and_start_lane(dut: Any) -> None:
    """taxi#12: gaps of 5 to 16; the start lane is the terminate lane plus the gap."""
    b = await Bench(dut, keep_words=False).start()
    for start in (0, 4):
        for size in range(64, 72):
            lane = (start + 8 + size) % 8
            for gap in range(5, 17):
                wire = Wire().idle(start).frame(payload(size - 4)).idle(gap - 1)
                if len(wire.chars) % 4 == 0:
                    wire.frame(payload(61, gap)).idle(gap - 1 + (-61 - 12 - gap) % 4).frame(payload(60))
                    model = await play(b, wire)
                    assert model.events["frames_ok"] == 3
                    combinations(f"gap{gap}_terminate{lane}_start{(lane + gap) % 8}")


@test
async def start_right_behind_terminate(dut: Any) -> None:
    """In every lane: accepted behind lanes 3 and 7; elsewhere start is in a wrong lane."""
    b = await Bench(dut, keep_words=False).start()
    for start in (0, 4):
        for size in range(64, 72):
            for gap in range(1, 5):
                wire = Wire().idle(start).frame(payload(size - 4)).idle(gap - 1)
                legal = len(wire.chars) % 4 == 0
                wire.frame(payload(70)).idle(9)
                model = await play(b, wire)
                assert model.events["frames_ok"] == 1 + legal and model.events["bad_preamble"] == 1 - legal


@test
async def a_control_character_at_every_position(dut: Any) -> None:
    """Each of eight kinds, from the first octet of preamble to terminate; the frame behind it is whole."""
    b = await Bench(dut, keep_words=False).start()
    for lane in (0, 4):
        whole = Wire().idle(lane).frame(payload(67)).chars
        for position in range(lane + 1, len(whole)):
            for control in CONTROLS:
                chars = [*whole]
                if chars[position] != control:
                    chars[position] = control
                    wire = Wire().raw(chars, start=False).idle(20 + -len(chars) % 4).frame(payload(60))
                    await play(b, wire, what=f"{control:#x} at {position}, start in lane {lane}")


@test
async def a_frame_without_terminate(dut: Any) -> None:
    """Ended by idle, an ordered set or the next start, in each lane where one may stand."""
    b = await Bench(dut, keep_words=False).start()
    for size in range(1, 90):
        for ends in ([C | 0x07], [C | 0x9C, 0, 0, 1], []):
            wire = Wire().raw([*payload(size), *ends])
            wire.idle(-len(wire.chars) % 4 if ends or size % 4 else 0).frame(payload(64))
            await play(b, wire, what=f"{size} octets, then {ends}")


@test
async def a_flipped_bit_anywhere_is_a_bad_fcs(dut: Any) -> None:
    """Each bit of the FCS; a bit of each octet of the frame."""
    b = await Bench(dut, keep_words=False).start()
    for length in (60, 63, 65, 70):
        frame = Wire().frame(payload(length))
        for position in range(8, 8 + length + 4):
            for bit in range(8) if position >= 8 + length else (b.rng.randrange(8),):
                chars = [*frame.chars]
                chars[position] ^= 1 << bit
                model = await play(b, Wire().raw(chars, start=False))
                assert [f.code for f in model.frames] == [Code.BAD_FCS]


@test
async def terminate_one_character_early_or_late(dut: Any) -> None:
    """Clock slip: a word is lost or comes twice, in the frame or in the gap."""
    b = await Bench(dut, keep_words=False).start()
    words = Wire().frame(payload(100)).idle(11).frame(payload(61)).idle(20).frame(payload(90)).words()
    for at in range(len(words)):
        await play(b, words[:at] + words[at + 1 :], what=f"word {at} lost")
        await play(b, words[: at + 1] + words[at:], what=f"word {at} twice")


@test
async def frames_at_the_limit_with_and_without_tags(dut: Any) -> None:
    """corundum#210: 1514 to 1518 bytes, tagged once and twice; other limits, jumbo frames."""
    b = await Bench(dut, keep_words=False).start()
    tags = [b"", b"\x81\x00\x00\x01", b"\x88\xa8\x00\x01", b"\x88\xa8\x00\x01\x81\x00\x00\x02"]
    tags += [
        b"\x81\x00\x00\x01\x81\x00\x00\x02",
        b"\x81\x00\x00\x01\x88\xa8\x00\x02\x81\x00\x00\x02",
        b"\x91\x00\x00\x01",
    ]
    tags += [b"\x08\x00\x81\x00\x81\x00\x81\x00"]
    for limit in (1514, 1515, 100, 101, 102, 103, 104, 105, 106, 107, 9596):
        dut.cfg_max_frame.value = limit
        for tag in tags if limit != 9596 else tags[:2]:
            for length in range(limit - 1, limit + 12 if limit != 9596 else limit + 2):
                data = (payload(12) + tag).ljust(length, b"\x5a")
                check = None if b.rng.random() < 0.7 else b"\1\2\3\4"
                await play(b, single(data, b.rng.choice((0, 4)), check=check), MacRxModel(limit))


@test
async def nothing_is_received_while_disabled(dut: Any) -> None:
    b = await Bench(dut, keep_words=False).start(rx_enable=0)
    await play(b, single(payload(100), 0), MacRxModel(enable=False))
    dut.rx_enable.value = 1
    await wait_cycles(dut.clk, 2)
    await play(b, single(payload(100), 4))


# ------------------------------------------------------------------------------------------------------- link faults


async def fault_play(b: Bench, words: list[Word]) -> None:
    """The outputs follow the state diagram, ``FAULT_DELAY`` cycles behind."""
    link = LinkFault()
    b.fault_log.clear()
    b.feed(words)
    await b.drain(90)
    first = b.fed_from
    states = [int(link.word(*word)) for word in [*words, *[IDLE_WORD] * 80]]
    expected = [(first + at + FAULT_DELAY, state) for at, state in enumerate(states)]
    changes, state = [], 0
    for when, now in expected:
        if now != state:
            changes.append((when, now))
            state = now
    got = [change for change in b.fault_log if change[0] > first]
    assert got == changes, f"faults {got}, due {changes} (words from cycle {first})"
    for name, bit in (("local_fault", 1), ("remote_fault", 2)):
        assert b.rx_stats[name] == sum(now == bit for _, now in changes), name
    b.rx_stats.clear()
    b.received.clear()


def columns(text: str) -> list[Word]:
    """Words of a text: L and R are fault sequences, X another one, I idle, D data."""
    chars = {
        "L": [C | 0x9C, 0, 0, 1],
        "R": [C | 0x9C, 0, 0, 2],
        "X": [C | 0x9C, 0, 0, 3],
        "I": [C | 7] * 4,
        "D": [0] * 4,
    }
    return list(words_of([char for letter in text for char in chars[letter]]))


@test
async def link_faults_follow_the_state_diagram(dut: Any) -> None:
    """46.3.4: four of a kind, the 128 columns between them, the other kind in between, both columns of a word."""
    b = await Bench(dut, keep_words=False).start()
    for text in ("LLL", "LLLL", "RRRR", "LLLRL", "LLLRLLLL", "LLLLRRR", "LLLLRRRR", "LXLDLIL", "ILLLL", "IRRRRLLLL"):
        await fault_play(b, columns(text))
    for idles in range(124, 132):
        for lead in ("", "I"):
            await fault_play(b, columns(f"{lead}LLL{'I' * idles}L"))
            await fault_play(b, columns(f"{lead}RRRR{'I' * idles}RX"))
            await fault_play(b, columns(f"{lead}R{'D' * idles}RRR"))
    for word in (LOCAL_FAULT_WORD, REMOTE_FAULT_WORD):
        await fault_play(b, [word] * 100)


@test
async def link_faults_by_chance(dut: Any) -> None:
    b = await Bench(dut, keep_words=False).start()
    for _ in range(60):
        kinds = b.rng.choice(("LR", "LLLLLLR", "RI", "LRXI", "LI"))
        text = "".join(
            letter * (b.rng.choice((1, 1, 1, 2, 60, 127, 128, 129)) if letter in "IX" else b.rng.randint(1, 5))
            for letter in b.rng.choices(kinds, k=8)
        )
        await fault_play(b, columns(text))


@test
async def near_misses_of_a_fault_sequence_are_none(dut: Any) -> None:
    """A wrong value, control character or lane: nothing happens."""
    b = await Bench(dut, keep_words=False).start()
    right = [C | 0x9C, 0, 0, 1]
    for index in range(4):
        for flip in range(9):
            chars = [*right]
            chars[index] ^= 1 << flip
            if chars != [C | 0x9C, 0, 0, 2]:
                await fault_play(b, list(words_of(chars * 8)))
    for shift in (1, 2, 3):
        await fault_play(b, list(words_of([C | 7] * shift + right * 8)))


# ------------------------------------------------------------------------------------------------------------ storms


@test
async def cocotbext_eth_is_received(dut: Any) -> None:
    """With its deficit idle count, and with starts in lane 4 by force."""
    b = await Bench(dut, keep_words=False).start()
    source = XgmiiSource(dut.rx_d, dut.rx_c, dut.clk)
    await wait_cycles(dut.clk, 4)  # at first it drives zeros, which are data
    for force in (False, True):
        source.force_offset_start = force
        sent = [payload(b.rng.randint(1, 200)) for _ in range(120)]
        for data in sent:
            source.send_nowait(XgmiiFrame.from_payload(data))
        await source.wait()
        await wait_cycles(dut.clk, 40)
        assert [len(frame.data) for frame in b.received] == [max(60, len(data)) for data in sent]
        assert [(frame.data, frame.user) for frame in b.received] == [(data.ljust(60, b"\0"), 0) for data in sent]
        b.clear()


@test
async def storm_of_good_and_bad_frames(dut: Any) -> None:
    """Random frames, gaps and faults in one long run, every counter and cycle compared."""
    b = await Bench(dut, keep_words=False).start()
    for _ in range(6):
        await play(b, storm(b, 60))


def storm(b: Bench, frames: int) -> Wire:
    rng, wire = b.rng, Wire()
    for _ in range(frames):
        data = payload(rng.choice((rng.randint(5, 59), rng.randint(60, 130), rng.randint(60, 70))), rng.getrandbits(16))
        kind = rng.choice(("good",) * 6 + ("fcs", "error", "cut", "sfd", "lane", "fault"))
        if kind == "lane":
            wire.idle(rng.randint(1, 3))
        if kind == "sfd":
            wire.raw([*data, C | 0xFD], sfd=0x55)
        elif kind == "error":
            at = rng.randint(5, len(data))
            wire.raw([*data[:at], C | rng.choice((0xFE, 0x1C, 0x5C)), *data[at:], C | 0xFD])
        elif kind == "cut":
            wire.raw(data)
        elif kind == "fault":
            wire.idle(-len(wire.chars) % 4 + 4).raw(
                [C | 0x9C, 0, 0, rng.choice((1, 2))] * rng.randint(1, 9), start=False
            )
        else:
            wire.frame(data, check=b"\1\2\3\4" if kind == "fcs" else None)
        wire.idle(rng.choice((4, 5, 8, 11, 12, 30)))
        wire.idle(-len(wire.chars) % 4)
    return wire


@test
async def reset_in_mid_frame_leaves_nothing_behind(dut: Any) -> None:
    for delay in range(1, 24):
        b = await Bench(dut, keep_words=False).start()
        b.feed(Wire().frame(payload(64)).idle(11).frame(payload(64)).words())
        await b.run(delay)
        b.stop()
        await reset(dut.rst, dut.clk, 2)
        b = await Bench(dut, keep_words=False).start()
        await play(b, single(payload(70), 4))
        b.stop()


@test
async def time_can_be_set_and_grows_by_its_increment(dut: Any) -> None:
    """``mac_time``: 8.32 a cycle with its fraction, and the carry into ns."""
    b = await Bench(dut, keep_words=False).start()
    await ReadOnly()
    model = MacTime()
    model.now = int(str(dut.now.value), 2)
    await Timer(1, "step")
    for step in range(400):
        setting = step % 50 == 49
        value = b.rng.getrandbits(96) | (0xFFFFFFFF if b.rng.random() < 0.5 else 0) if setting else 0
        if step % 100 == 0:
            model.increment = b.rng.getrandbits(40)
        dut.cfg_increment.value = model.increment
        dut.set_valid.value = int(setting)
        dut.set_time.value = value if setting else b.rng.getrandbits(96)
        await wait_cycles(dut.clk, 1)
        expected = model.step(value if setting else None)
        await ReadOnly()
        got = int(str(dut.now.value), 2)
        assert got == expected, f"step {step}: now {got:#x}, due {expected:#x}"
        await Timer(1, "step")


@test
async def idle_says_when_no_frame_is_under_way(dut: Any) -> None:
    """0 while a frame comes in and until its last beat has gone out; link faults don't count."""
    b = await Bench(dut, keep_words=False).start()
    for length in (1, 60, 67, 200):
        b.feed(single(payload(length), 4).words())
        low, edge, beats = [], RisingEdge(dut.clk), []
        for _ in range(60):
            await edge
            if str(dut.rx_idle.value) == "0":
                low.append(b.cycle)
            if str(dut.probe.value)[-1] == "1":
                beats.append(b.cycle)
        assert low[-1] - low[0] == len(low) - 1
        assert low[0] <= b.fed_from + 1 + 4 and low[-1] >= beats[-1] - 1 and low[-1] <= beats[-1] + 3
        b.clear()
    b.feed([LOCAL_FAULT_WORD] * 20)
    for _ in range(40):
        await edge
        assert str(dut.rx_idle.value) == "1"
