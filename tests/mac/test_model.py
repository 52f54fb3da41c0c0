"""The golden model of the MAC against sources that nobody here wrote.

Sweep:    every frame length to 1600 and around the largest; every terminate lane, gap and start lane; each verdict
Stimulus: written words, frames that `XgmiiFrame` of cocotbext-eth makes, random ones (hypothesis)
Checks:   zlib and XgmiiFrame for frame contents; the gap rule in closed form; the tables of docs/mac.md
Timing:   10.5 cycles a 64 B frame, 192.25 a 1518 B frame; start 2 cycles behind the handshake, 7 to the first beat
"""

from __future__ import annotations

import zlib
from collections import Counter
from fractions import Fraction

import pytest
from cocotbext.eth import XgmiiFrame
from hypothesis import given
from hypothesis import strategies as st

from models.mac import LOOP_LATENCY, End, MacRxModel, MacTime, MacTxModel, good_events
from models.mac_xgmii import (
    IDLE_WORD,
    LOCAL_FAULT_WORD,
    REMOTE_FAULT_WORD,
    Fault,
    LinkFault,
    Word,
    characters,
    words_of,
)
from models.meta import Code
from tb.mac.cases import VERDICTS, payload
from tb.mac.wire import C, Wire

MAX = 9596
LENGTHS = [*range(1, 1601), *range(MAX - 20, MAX + 1)]


def sent(lengths: list[int], ifg: int = 12, dic: bool = True) -> MacTxModel:
    """Frames of these lengths as fast as they go."""
    model = MacTxModel(ifg, dic)
    for length in lengths:
        model.add(payload(length), 0)
    return model


def words(model: MacTxModel) -> list[Word]:
    return model.words(0, model.frames[-1].terminate // 8 + 3)


# -------------------------------------------------------------------------------------------------------- transmit


@pytest.mark.parametrize("group", range(4))
def test_a_sent_frame_is_the_one_that_cocotbext_eth_would_send(group):
    for length in LENGTHS[group::4]:
        data = payload(length)
        model = MacTxModel()
        model.add(data, 10)
        wire = [char for word in words(model) for char in characters(*word)]
        start = wire.index(C | 0xFB)
        end = wire.index(C | 0xFD)
        assert start == 8 * 12 and set(wire[:start]) == set(wire[end + 1 :]) == {C | 0x07}
        frame = XgmiiFrame(bytes([0x55, *wire[start + 1 : end]]))
        assert frame.data == XgmiiFrame.from_payload(data).data, length
        assert frame.check_fcs() and len(frame.get_payload()) == max(60, length)


@pytest.mark.parametrize(("size", "cycles"), [(64, Fraction(21, 2)), (1518, Fraction(769, 4)), (65, Fraction(85, 8))])
def test_back_to_back_frames_take_line_rate(size, cycles):
    starts = [frame.start for frame in sent([size - 4] * 801).frames]
    assert Fraction(starts[800] - starts[0], 8 * 800) == cycles


@given(st.lists(st.integers(1, 200), min_size=2, max_size=60))
def test_every_start_is_the_ideal_one_rounded_down_to_a_column(lengths):
    """Closed form of the deficit idle count: no frame is ever more than three characters early, none is late."""
    model = sent(lengths)
    ideal = model.frames[0].start
    for frame in model.frames:
        assert frame.start == ideal - ideal % 4
        ideal += 8 + max(60, len(frame.data)) + 4 + 12
    assert all(9 <= frame.gap <= 15 for frame in model.frames[1:])
    assert 0 <= model.deficit <= 3


@pytest.mark.parametrize("ifg", [8, 12, 16, 64])
def test_without_a_deficit_the_gap_is_rounded_up(ifg):
    frames = sent([*range(60, 68)] * 3, ifg, dic=False).frames
    assert {frame.gap for frame in frames[1:]} == {max(12, ifg) + extra for extra in range(4)}
    assert {frame.start % 4 for frame in frames} == {0}


def test_idle_between_frames_pays_the_deficit_back():
    model = MacTxModel()
    model.add(payload(63), 0)
    assert (model.add(payload(63), 0).gap, model.deficit) == (9, 3)
    late = model.add(payload(60), 1000)
    assert (late.start, model.deficit) == (8 * 1002, 0)


def test_a_bad_frame_ends_in_errors_and_terminate():
    model = MacTxModel()
    bad = model.add(payload(70), 0, End.BAD)
    assert bad.chars[8:78] == tuple(payload(70)) and bad.chars[78:] == (C | 0xFE,) * 4 + (C | 0xFD,)
    short = model.add(payload(16), 0, End.UNDERRUN)
    assert short.chars[8:] == (*payload(16), *[0] * 44, *(C | 0xFE,) * 4, C | 0xFD)
    assert bad.events == {"errored": 1} and short.events == {"underrun": 1}


# --------------------------------------------------------------------------------------------------------- receive


@given(st.lists(st.tuples(st.integers(1, 300), st.integers(0, 40)), min_size=1, max_size=20), st.booleans())
def test_what_is_sent_is_received_seven_cycles_later(frames, dic):
    tx = MacTxModel(dic=dic)
    taken = 0
    for length, pause in frames:
        taken += pause
        tx.add(payload(length), taken)
    rx = MacRxModel().run(words(tx))
    assert [frame.data for frame in rx.frames] == [payload(n).ljust(60, b"\0") for n, _ in frames]
    assert [(frame.start_cycle, frame.start_lane) for frame in rx.frames] == [
        (frame.start_cycle, frame.start_lane) for frame in tx.frames
    ]
    assert rx.events == sum((frame.events for frame in tx.frames), Counter())
    assert rx.frames[0].first_cycle == frames[0][1] + LOOP_LATENCY
    assert all(frame.code == 0 and frame.user == 0 for frame in rx.frames)


def test_every_gap_terminate_lane_and_start_lane_is_received():
    seen = set()
    for size in range(64, 72):
        for gap in range(5, 17):
            wire = Wire().frame(payload(size - 4)).idle(gap - 1)
            if len(wire.chars) % 4 == 0:
                seen.add((gap, (len(wire.chars) - gap) % 8, len(wire.chars) % 8))
                rx = MacRxModel().run(wire.frame(payload(77)).words())
                assert [(f.data, f.code) for f in rx.frames] == [(payload(size - 4), 0), (payload(77), 0)]
    assert len(seen) == 24


@pytest.mark.parametrize("name", VERDICTS)
def test_verdict(name):
    wire, expected, event = VERDICTS[name]
    rx = MacRxModel().run(wire.idle(20).words())
    assert [(len(frame.data), frame.code) for frame in rx.frames] == expected
    good = sum((good_events(frame.data) for frame in rx.frames if not frame.code), Counter())
    assert rx.events == good + Counter(event.split() if event else [])
    assert all(frame.user & 1 == (frame.code != 0) and frame.user >> 1 == frame.code for frame in rx.frames)


def test_start_right_behind_terminate_is_accepted_in_both_lanes():
    for size in (67, 71):  # terminate in lane 3 and in lane 7
        rx = MacRxModel().run(Wire().frame(payload(size - 4)).frame(payload(60)).idle(9).words())
        assert [frame.start_lane for frame in rx.frames] == [0, 4 if size == 67 else 0]
        assert rx.events["frames_ok"] == 2


def test_a_flipped_bit_in_each_octet_of_the_fcs_is_seen():
    for bit in range(32):
        check = (zlib.crc32(payload(61)) ^ 1 << bit).to_bytes(4, "little")
        rx = MacRxModel().run(Wire().frame(payload(61), check=check).idle(4).words())
        assert [frame.code for frame in rx.frames] == [Code.BAD_FCS]


SIZES = ((64, 64), (65, 127), (128, 255), (256, 511), (512, 1023), (1024, 1518), (1519, 9600))


@pytest.mark.parametrize(("size", "index"), [(size, index) for index, edge in enumerate(SIZES) for size in edge])
def test_sizes_count_with_the_fcs(size, index):
    name = ("64", "65_127", "128_255", "256_511", "512_1023", "1024_1518", "1519_max")[index]
    events = good_events(b"\2" + payload(size - 5))
    expected = {"frames_ok": 1, "bytes_ok": size, f"size_{name}": 1, "unicast": 1}
    assert {key: events[key] for key in expected} == expected and len(events) == 4


ADDRESSES = {
    "ffffffffffff": "broadcast",
    "fffffffffffe": "multicast",
    "0180c2000001": "multicast",
    "feffffffffff": "unicast",
    "000000000000": "unicast",
}


@pytest.mark.parametrize(("address", "kind"), ADDRESSES.items())
def test_addresses_are_told_apart(address, kind):
    assert {"unicast", "multicast", "broadcast"} & set(good_events(bytes.fromhex(address) + bytes(54))) == {kind}


# ----------------------------------------------------------------------------------------------------- link faults

COLUMN = {"I": (0x07070707, 15), "L": (0x0100009C, 1), "R": (0x0200009C, 1), "X": (0x0300009C, 1), "D": (0x9C, 0)}


def faults(text: str) -> str:
    """The state behind each column of ``text``, by initials; a letter with a number stands for as many."""
    link = LinkFault()
    states = ""
    for letter in text:
        link._column(*COLUMN[letter])
        states += "oLR"[link.link_fault]
    return states


@pytest.mark.parametrize(
    ("columns", "state"),
    [
        ("LLL", "o"),
        ("LLLL", "L"),
        ("RRRR", "R"),
        ("LLLRL", "o"),
        ("LLLRLLLL", "L"),
        ("L" + "I" * 127 + "LLL", "L"),
        ("LLL" + "I" * 127 + "L", "L"),
        ("LLL" + "I" * 128 + "L", "o"),
        ("LLLL" + "I" * 127, "L"),
        ("LLLL" + "I" * 128, "o"),
        ("LLLL" + "RRR", "L"),
        ("LLLL" + "RRRR", "R"),
        ("LLLL" + "X" * 128, "o"),
        ("LXLDLIL", "L"),
    ],
)
def test_link_fault_by_the_state_diagram(columns, state):
    assert faults(columns)[-1] == state


def test_a_fault_word_is_two_columns():
    link = LinkFault()
    assert [link.word(*LOCAL_FAULT_WORD) for _ in range(3)] == [Fault.OK, Fault.LOCAL, Fault.LOCAL]
    assert [link.word(*REMOTE_FAULT_WORD) for _ in range(2)] == [Fault.LOCAL, Fault.REMOTE]
    assert [link.word(*IDLE_WORD) for _ in range(64)] == [Fault.REMOTE] * 63 + [Fault.OK]
    assert link.began == {Fault.LOCAL: 1, Fault.REMOTE: 1}


def test_a_fault_begins_once_and_is_counted_once():
    rx = MacRxModel().run([LOCAL_FAULT_WORD] * 9 + [IDLE_WORD] * 64 + [LOCAL_FAULT_WORD] * 2 + [REMOTE_FAULT_WORD] * 5)
    assert rx.events == {"local_fault": 2, "remote_fault": 1}


# ------------------------------------------------------------------------------------------------------------ time


def test_time_grows_by_the_increment_and_carries_its_fraction():
    time = MacTime()
    for _ in range(25):
        now = time.step()
    assert abs(now / 2**32 - 64.0) < 1e-6
    assert time.step(5 << 32) == 5 << 32
    assert time.step() == (5 << 32) + round(2.56 * 2**32)
    time.step(2**96 - 1)
    assert time.step() == round(2.56 * 2**32) - 1


def test_words_of_characters_are_filled_with_idle():
    assert list(words_of([C | 0x9C, 0, 0, 1, C | 0x9C, 0, 0, 1, C | 0x07])) == [LOCAL_FAULT_WORD, IDLE_WORD]
