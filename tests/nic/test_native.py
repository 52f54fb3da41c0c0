"""The harness in C++ (tb/native), by itself and as the frame BFM of a simulator

Sweep:    every generator of pauses; line rates with and without a remainder, lengths 60 to 9014; every rule of the
          stream protocol broken once; the FIFO behind the BFM and behind the agents, cut-through and store-and-forward
Stimulus: frames with random bytes, tuser and metadata from the session's seed, stepped by the C ABI or pushed in bulk
Checks:   numbers against the published generator, starts against rational arithmetic, each broken rule against its
          message (and silence where none is broken); bytes and cycles of the BFM against those of the agents
Timing:   a frame starts in the exact cycle that its line rate gives; BFM and agents agree in every cycle number;
          nic_port takes B + 12 and B + 9 cycles for a frame of B beats, and max(B, 4) from frame to frame
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from bench import throughput
from models import meta as meta_word
from models.meta import Code
from tb import native
from tb.build import Design
from tb.native import PORT_PATHS
from tb.native.harness import PAUSES, Harness, build_library, cycles_of, load, meta_words
from tb.nic.designs import port_design
from tb.targets import engine
from tb.toolchain import ROOT, SIM_BUILD

FULL = 0xFFFF
LAST, VALID, META = 1 << 26, 1 << 27, 1 << 28  # tb/native/step.hpp
MASK = (1 << 64) - 1


@pytest.fixture(scope="module")
def lib() -> Any:
    return load(build_library(SIM_BUILD / "native"))


class Stepper:
    """Plays simulator: one source and one sink, a step of each a cycle, through the C ABI."""

    def __init__(self, lib: Any, *, monitored: bool = False, path: bool = True) -> None:
        self.lib = lib
        paths = {"path": ("in", "out", monitored)} if path else {}
        self.harness = Harness(["in"], ["out"], paths, lib=lib)
        self.handle = self.harness._handle
        self.data = (ctypes.c_uint32 * 4)()
        self.meta = (ctypes.c_uint32 * self.harness.meta_words)()

    def push(self, lengths: list[int], **more: Any) -> None:
        offset = np.cumsum([0, *lengths])
        self.harness.push("in", np.arange(offset[-1]).astype(np.uint8), offset, **more)

    def source(self, ready: bool = True) -> int:
        """The source's edge; flags of what it offers next."""
        return int(self.lib.step_source(self.handle, 0, ready, self.data, self.meta))

    def beat(self, keep: int = FULL, last: bool = False, user: int = 0, fill: int = 0, meta: int = 0) -> int:
        """The sink's edge with a beat; bit 0 of the answer is tready of the next cycle."""
        data = (ctypes.c_uint32 * 4)(*[fill] * 4)
        words = (ctypes.c_uint32 * self.harness.meta_words)(meta)
        flags = keep | user << 16 | (LAST if last else 0)
        answer = int(self.lib.step_sink(self.handle, 0, 1, flags, data, words))
        self.end()
        return answer

    def idle(self) -> int:
        answer = int(self.lib.step_sink(self.handle, 0, 0, 0, self.data, self.meta))
        self.end()
        return answer

    def end(self, reset: bool = False) -> bool:
        return bool(self.lib.step_end(self.handle, reset, 1))


# ------------------------------------------------------------------------------------------------------ random


def rotl(x: int, k: int) -> int:
    return (x << k | x >> (64 - k)) & MASK


def xoshiro(state: list[int]) -> Iterator[int]:
    """xoshiro256++, https://prng.di.unimi.it/xoshiro256plusplus.c"""
    s = list(state)
    while True:
        yield (rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)


def test_random_numbers_are_those_of_the_published_generator(lib: Any) -> None:
    reference = xoshiro([1, 2, 3, 4])
    published = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]
    assert [next(reference) for _ in range(5)] == published
    # splitmix64 of seed 0, as published with it.
    reference = xoshiro([0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC])
    numbers = np.zeros(1000, np.uint64)
    lib.random(0, 0, len(numbers), numbers.ctypes.data)
    assert numbers.tolist() == [next(reference) for _ in range(1000)]


def test_each_stream_has_its_own_numbers_and_a_seed_repeats_them(lib: Any) -> None:
    rows = []
    for seed, stream in [(5, 0), (5, 0), (5, 1), (6, 0)]:
        numbers = np.zeros(100, np.uint64)
        lib.random(seed, stream, len(numbers), numbers.ctypes.data)
        rows.append(numbers.tolist())
    assert rows[0] == rows[1]
    assert not set(rows[0]) & set(rows[2]) and not set(rows[0]) & set(rows[3])


# ------------------------------------------------------------------------------------------------------ pauses


def passes(lib: Any, name: str, *parameters: int, seed: int = 1, n: int = 20000) -> np.ndarray:
    number, defaults = PAUSES[name]
    a, b = [*(parameters or defaults), 0, 0][:2]
    found = np.full(n, 9, np.uint8)
    lib.passes(seed, number, int(a), int(b), n, found.ctypes.data)
    return found


def runs(found: np.ndarray, value: int) -> list[int]:
    """Lengths of the runs of a value, without the one that the end cuts."""
    edges = np.flatnonzero(np.diff(np.concatenate([[2], found, [3]])))
    lengths, starts = np.diff(edges), edges[:-1]
    return [int(length) for length, at in zip(lengths[:-1], starts[:-1], strict=True) if found[at] == value]


def test_blind_pauses_keep_their_manners(lib: Any, seed: int) -> None:
    assert passes(lib, "none", seed=seed).all()
    share = passes(lib, "random", round(0.3 * 2**32), seed=seed).mean()
    assert abs(share - 0.3) < 0.02
    assert passes(lib, "random", 1 << 32, seed=seed).all(), "probability 1 never pauses"
    bursty = passes(lib, "bursty", 5, 9, seed=seed)
    assert set(runs(bursty, 1)) == set(range(1, 6))
    assert set(runs(bursty, 0)) == set(range(1, 10))
    one_in = passes(lib, "one_in", 7, seed=seed)
    assert set(runs(one_in, 1)) == {1} and set(runs(one_in, 0)[1:]) == {6}
    gap = passes(lib, "gap", seed=seed)
    assert set(runs(gap, 1)) == set(runs(gap, 0)) == {1}
    storm = passes(lib, "storm", seed=seed)
    assert 0.4 < storm.mean() < 0.7 and max(runs(storm, 1)) > 20 and max(runs(storm, 0)) > 10


def test_a_seed_repeats_a_pause_and_another_differs(lib: Any) -> None:
    for name in ("random", "bursty", "storm"):
        parameters = (round(0.6 * 2**32),) if name == "random" else ()
        same = [passes(lib, name, *parameters, seed=7).tolist() for _ in range(2)]
        assert same[0] == same[1]
        assert same[0] != passes(lib, name, *parameters, seed=8).tolist()


def test_pauses_of_the_harness_are_those_of_the_agents() -> None:
    from tb.lib.pause import PAUSES as agents

    assert set(PAUSES) == set(agents)


def test_a_pause_that_does_not_exist_is_refused(lib: Any) -> None:
    harness = Stepper(lib).harness
    with pytest.raises(ValueError, match="one of none, random"):
        harness.set_pause("out", "never")
    with pytest.raises(ValueError, match="takes 1 parameters"):
        harness.set_pause("out", "one_in", 3, 4)
    with pytest.raises(ValueError, match="no pause generator"):
        harness.set_pause("out", "one_in", 0)
    with pytest.raises(ValueError, match="no pause generator"):
        harness.set_pause("out", "random", 0.0)
    with pytest.raises(ValueError, match="no gap generator"):
        harness.set_gap("in", "after_valid")


# ------------------------------------------------------------------------------------------------------ pacing


def starts(stepper: Stepper, frames: int, ready: Callable[[int], bool] = lambda cycle: True) -> list[int]:
    """Cycles in which the first beats are offered first."""
    for cycle in range(10_000_000):
        stepper.source(ready(cycle))
        stepper.end()
        if stepper.harness.counters()["in_in_frames"] == frames:
            break
    return [int(cycle) for cycle in stepper.harness.pop().sources["in"].valid]


@pytest.mark.parametrize("rate", [Fraction(25), Fraction(10), Fraction(100, 7), Fraction(322265625, 31250000)], ids=str)
def test_starts_follow_the_line_rate_without_rounding(lib: Any, seed: int, rate: Fraction) -> None:
    rng = Random(seed)
    lengths = rng.choices([60, 61, 64, 65, 127, 1514, 9014], weights=[4, 4, 4, 4, 4, 1, 0.1], k=300)
    stepper = Stepper(lib)
    stepper.harness.set_rate("in", rate)
    stepper.push(lengths)
    at, expected = Fraction(1), []
    for length in lengths:
        expected.append(-(-at.numerator // at.denominator))
        at += (length + 24) * 8 / rate / 4  # bits over Gb/s are ns, 4 of them a cycle
    assert starts(stepper, len(lengths)) == expected


def test_64_byte_frames_at_25g_come_every_6_72_cycles(lib: Any) -> None:
    stepper = Stepper(lib)
    stepper.harness.set_rate("in")
    stepper.push([60] * 101)
    found = starts(stepper, 101)
    assert found[100] - found[0] == 672
    assert set(np.diff(found).tolist()) == {6, 7}


def test_a_device_that_pushes_back_does_not_slow_the_wire(lib: Any) -> None:
    stepper = Stepper(lib)
    stepper.harness.set_rate("in")
    stepper.push([60] * 60)
    # Not ready for 30 cycles: four frames are late, then the starts are back on their places.
    found = starts(stepper, 60, lambda cycle: not 100 <= cycle < 130)
    expected = [-(-(25 + 168 * i) // 25) for i in range(60)]
    late = [i for i in range(60) if found[i] != expected[i]]
    assert late and late == list(range(late[0], late[-1] + 1)) and late[-1] < 40
    assert found[late[-1] + 1 :] == expected[late[-1] + 1 :]


def test_a_frame_waits_for_its_earliest_cycle(lib: Any) -> None:
    stepper = Stepper(lib)
    stepper.push([16, 16, 16, 16], earliest=np.array([0, 10, 5, 40]))
    assert starts(stepper, 4) == [1, 10, 11, 40]


def test_times_become_cycles_without_rounding(lib: Any) -> None:
    times = [0, 1, 3, 4, 5, 9_300_000_000_000_001, 10**18, 10**18 + 1, 2**63 - 1]
    assert cycles_of(np.array(times, np.int64)).tolist() == [-(-time // 4) for time in times]
    assert [engine.cycles_of(time) for time in times] == [-(-time // 4) for time in times]


@pytest.mark.parametrize("rate", [Fraction(25), Fraction(100), Fraction(165, 16)], ids=str)
def test_a_frame_of_the_far_future_is_paced_like_any_other(lib: Any, rate: Fraction) -> None:
    for far in (250_000_000_000_000_000, 2**60, 2**61 + 1):
        stepper = Stepper(lib)
        stepper.harness.set_rate("in", rate)
        stepper.push([16], earliest=np.array([far]))
        for _ in range(100):
            assert stepper.source() == 0
            stepper.end()


# ------------------------------------------------------------------------------------------------------ source


def test_a_source_holds_a_beat_and_marks_what_is_undefined_with_noise(lib: Any) -> None:
    stepper = Stepper(lib)
    word = meta_word.pack({"queue": 77, "seq": 0xBEEF})
    words = np.array([[word >> 32 * i & 0xFFFFFFFF for i in range(stepper.harness.meta_words)]], np.uint32)
    stepper.push([35], user=np.array([0x2A5]), meta=words)
    flags = stepper.source()
    assert flags & VALID and flags & META and not flags & LAST and flags & FULL == FULL
    assert list(stepper.meta) == words[0].tolist()
    assert bytes(stepper.data) == bytes(range(16))
    for _ in range(5):
        stepper.end()
        assert stepper.source(ready=False) & VALID and bytes(stepper.data) == bytes(range(16))
    stepper.end()
    flags = stepper.source()
    assert flags & META and list(stepper.meta) != words[0].tolist(), "meta after the first beat is noise"
    stepper.end()
    flags = stepper.source()
    assert flags & LAST and flags & FULL == 0b111 and flags >> 16 & 0x3FF == 0x2A5 and not flags & META
    assert bytes(stepper.data)[:3] == bytes([32, 33, 34]) and len(set(bytes(stepper.data)[3:])) > 5
    stepper.end()
    assert stepper.source() == 0
    counters = stepper.harness.counters()
    assert (counters["in_in_frames"], counters["in_in_beats"], counters["in_in_stalls"]) == (1, 3, 5)


def test_pushes_that_do_not_fit_are_refused(lib: Any) -> None:
    harness = Stepper(lib).harness
    data = np.zeros(32, np.uint8)
    with pytest.raises(ValueError, match="frame 1 has no bytes"):
        harness.push("in", data, np.array([0, 16, 16, 32]))
    with pytest.raises(ValueError, match="does not fit 32 bytes"):
        harness.push("in", data, np.array([0, 33]))
    with pytest.raises(ValueError, match="user has 2 elements, 1 frames need 1"):
        harness.push("in", data, np.array([0, 32]), user=np.zeros(2, np.uint32))
    with pytest.raises(KeyError):
        harness.push("elsewhere", data, np.array([0, 32]))
    assert harness.done


# ------------------------------------------------------------------------------------------------------ checks


def open_sink(lib: Any) -> Stepper:
    """A sink that is ready, for frames that come from nowhere."""
    stepper = Stepper(lib, path=False)
    assert stepper.idle() & 1
    return stepper


def test_a_clean_stream_raises_no_error_and_comes_back_as_it_was(lib: Any) -> None:
    stepper = open_sink(lib)
    stepper.harness.set_gapless("out")
    stepper.beat(fill=1, meta=9)
    stepper.beat(fill=2, user=3)  # tuser before the last beat and meta after the first are undefined
    stepper.beat(fill=3, keep=0x7, last=True, user=0x155)
    stepper.idle()
    stepper.beat(keep=0x1, last=True)
    stepper.harness.check()
    found = stepper.harness.pop().sinks["out"]
    assert found.frame(0) == np.array([1] * 4 + [2] * 4, "<u4").tobytes() + b"\x03\0\0" and found.frame(1) == b"\0"
    assert found.user.tolist() == [0x155, 0] and found.meta[:, 0].tolist() == [9, 0]
    assert (found.valid.tolist(), found.first.tolist(), found.last.tolist()) == ([1, 5], [1, 5], [3, 5])


def break_stable(field: str, **change: Any) -> Callable[[Stepper], None]:
    def act(stepper: Stepper) -> None:
        stepper.harness.set_pause("out", "one_in", 1_000_000)
        stepper.beat(last=True)
        if stepper.harness.counters()["out_out_beats"]:
            stepper.beat(last=True)
        stepper.beat(**{"last": True, **change})

    act.__name__ = field
    return act


def break_valid(stepper: Stepper) -> None:
    stepper.harness.set_pause("out", "one_in", 1_000_000)
    stepper.beat()
    stepper.beat()
    stepper.idle()


def starve(stepper: Stepper) -> None:
    stepper.harness.set_gapless("out")
    stepper.beat()
    stepper.idle()
    stepper.beat(last=True)


BROKEN: list[tuple[str, Callable[[Stepper], Any]]] = [
    ("tdata changed before tready", break_stable("data", fill=1)),
    ("tkeep changed before tready", break_stable("keep", keep=0x7FFF)),
    ("tlast changed before tready", break_stable("last", last=False)),
    ("tuser changed before tready", break_stable("user", user=1)),
    ("meta changed before tready", break_stable("meta", meta=1)),
    ("tvalid fell before tready", break_valid),
    ("tkeep is 0", lambda stepper: stepper.beat(keep=0, last=True)),
    ("tkeep 0005 is not contiguous from lane 0", lambda stepper: stepper.beat(keep=0b101, last=True)),
    ("tkeep fffe is not contiguous from lane 0", lambda stepper: stepper.beat(keep=0xFFFE, last=True)),
    ("tkeep 00ff before the last beat", lambda stepper: stepper.beat(keep=0xFF)),
    ("starved: tvalid fell in mid-frame", starve),
]


@pytest.mark.parametrize(("message", "act"), BROKEN, ids=[message for message, _ in BROKEN])
def test_a_broken_rule_is_named_with_stream_and_cycle(lib: Any, message: str, act: Callable[[Stepper], Any]) -> None:
    stepper = open_sink(lib)
    act(stepper)
    lines = stepper.harness.errors.splitlines()
    assert len(lines) == 1 and stepper.harness.error_count == 1
    assert lines[0].startswith("cycle ") and f"sink out: {message}" in lines[0], lines


def test_a_gap_in_mid_frame_is_no_error_where_none_was_asked_for(lib: Any) -> None:
    stepper = open_sink(lib)
    stepper.beat()
    stepper.idle()
    stepper.beat(last=True)
    assert stepper.harness.errors == ""


# ------------------------------------------------------------------------------------------------------ accounting


def loop(stepper: Stepper, cycles: int, *, deliver: bool = True) -> None:
    """Source to sink through one register; the disposition comes with the last beat."""
    beat: tuple[int, bytes, list[int]] | None = None
    seq = 0
    for _ in range(cycles):
        taken = beat
        flags = stepper.source()
        beat = (flags, bytes(stepper.data), list(stepper.meta)) if flags & VALID else None
        if taken is not None and deliver:
            data = (ctypes.c_uint32 * 4).from_buffer_copy(taken[1])
            words = (ctypes.c_uint32 * len(taken[2]))(*taken[2])
            stepper.lib.step_sink(stepper.handle, 0, 1, taken[0], data, words)
        else:
            stepper.lib.step_sink(stepper.handle, 0, 0, 0, stepper.data, stepper.meta)
        if taken is not None and taken[0] & META and not taken[0] & LAST:
            stepper.lib.step_entry(stepper.handle, 0, seq)
        if taken is not None and taken[0] & LAST and deliver:
            stepper.lib.step_disposition(stepper.handle, 0, seq, Code.DELIVERED, 5)
            seq += 1
        if stepper.end():
            break


def test_a_burst_is_done_when_every_frame_has_its_disposition_and_is_out(lib: Any) -> None:
    stepper = Stepper(lib, monitored=True)
    stepper.idle()
    stepper.push([32] * 10)
    assert not stepper.harness.done
    loop(stepper, 1000)
    assert stepper.harness.done and not stepper.harness.fired
    stepper.harness.check()
    found = stepper.harness.pop()
    path = found.paths["path"]
    assert path.frame.tolist() == list(range(10)) and set(path.code.tolist()) == {1} and set(path.queue.tolist()) == {5}
    assert path.entry_cycle.tolist() == found.sources["in"].first.tolist()
    assert len(found.sinks["out"]) == 10
    assert len(stepper.harness.pop().paths["path"].frame) == 0, "a pop moves everything out"


def test_a_disposition_of_no_frame_and_a_second_one_are_errors(lib: Any) -> None:
    stepper = Stepper(lib, monitored=True)
    stepper.lib.step_entry(stepper.handle, 0, 7)
    stepper.lib.step_disposition(stepper.handle, 0, 7, Code.BAD_FRAME, 0)
    assert stepper.harness.error_count == 0
    stepper.lib.step_disposition(stepper.handle, 0, 7, Code.BAD_FRAME, 0)
    assert "disposition 16 for seq 7, which no frame in flight has" in stepper.harness.errors
    stepper.harness.clear_errors()
    stepper.lib.step_entry(stepper.handle, 0, 8)
    stepper.lib.step_entry(stepper.handle, 0, 8)
    assert "seq 8 given to frame 2 while frame 1 still has it" in stepper.harness.errors


def test_a_reset_accounts_for_what_the_device_held(lib: Any) -> None:
    stepper = Stepper(lib, monitored=True)
    stepper.push([32, 48])
    for _ in range(4):
        stepper.source()
        stepper.end()
    # Frame 0 is in the device, its entry reported; of frame 1 the first beat was taken, its entry is still to come.
    stepper.lib.step_entry(stepper.handle, 0, 0)
    stepper.end(reset=True)
    path = stepper.harness.pop().paths["path"]
    assert path.frame.tolist() == [0, 1] and path.code.tolist() == [Code.RESET] * 2
    assert stepper.harness.done and stepper.harness.cycle == 0


def test_the_watchdog_says_which_path_lost_frames(lib: Any) -> None:
    stepper = Stepper(lib, monitored=True)
    stepper.harness.set_watchdog(100)
    stepper.push([32, 32])
    loop(stepper, 10_000, deliver=False)
    assert stepper.harness.fired and stepper.harness.done
    assert stepper.harness.cycle < 120
    text = stepper.harness.errors
    assert "nothing moved for 100 cycles" in text
    assert "path path: 2 frames begun, 2 entries, 1 frames without a disposition" in text
    assert "the oldest is frame 1, seq 0" in text


@pytest.mark.parametrize(("delivered", "came_out"), [(1, 0), (0, 1), (1, 2)])
def test_a_frame_reported_delivered_that_does_not_come_out_is_a_loss_and_the_reverse_too(
    lib: Any, delivered: int, came_out: int
) -> None:
    stepper = Stepper(lib, monitored=True)
    stepper.harness.set_watchdog(50)
    stepper.idle()
    stepper.push([16])
    for _ in range(2):
        stepper.source()
        stepper.end()
    stepper.lib.step_entry(stepper.handle, 0, 0)
    stepper.lib.step_disposition(stepper.handle, 0, 0, Code.DELIVERED if delivered else Code.BAD_FRAME, 0)
    for _ in range(came_out):
        stepper.beat(last=True)
    for _ in range(100):
        stepper.idle()
    assert stepper.harness.fired
    assert f"{delivered} reported delivered, {came_out} came out" in stepper.harness.errors


class TwoWays:
    """Plays a device of two ways whose frames out say whose they are: path 0 from the wire, path 1 from the host."""

    def __init__(self, lib: Any) -> None:
        self.lib = lib
        self.harness = Harness(["wire", "host"], ["wire", "host"], PORT_PATHS, lib=lib)
        self.harness.follow_origin()
        self.harness.set_watchdog(50)
        self.handle = self.harness.handle
        self.data = (ctypes.c_uint32 * 4)()
        self.meta = (ctypes.c_uint32 * self.harness.meta_words)()

    def cycle(self, out: dict[int, dict[str, int]] | None = None, idle: bool = True) -> bool:
        """One cycle, in which frames of one beat with these metadata come out at sinks."""
        for source in range(2):
            self.lib.step_source(self.handle, source, 1, self.data, self.meta)
        for sink in range(2):
            fields = (out or {}).get(sink)
            words = meta_words(**{name: np.array([value]) for name, value in (fields or {"seq": 0}).items()})
            meta = (ctypes.c_uint32 * self.harness.meta_words)(*words[0].tolist())
            self.lib.step_sink(self.handle, sink, int(fields is not None), FULL | LAST, self.data, meta)
        return bool(self.lib.step_end(self.handle, 0, idle))

    def enter(self, path: int) -> None:
        """A frame of one beat enters, and is reported delivered."""
        self.harness.push(("wire", "host")[path], np.zeros(16, np.uint8), np.array([0, 16]))
        for _ in range(2):
            self.cycle()
        self.lib.step_entry(self.handle, path, 0)
        self.lib.step_disposition(self.handle, path, 0, Code.DELIVERED, 0)


@pytest.mark.parametrize("path", [0, 1])
@pytest.mark.parametrize("sink", [0, 1])
def test_a_frame_is_of_its_direction_at_whatever_sink(lib: Any, path: int, sink: int) -> None:
    device = TwoWays(lib)
    device.enter(path)
    assert not device.cycle()
    assert device.cycle({sink: {"direction": path}})
    device.harness.check()


def test_a_frame_of_the_other_direction_is_none_of_a_path(lib: Any) -> None:
    device = TwoWays(lib)
    device.enter(0)
    device.cycle({1: {"direction": 1}})
    while not device.cycle():
        pass
    assert "path rx: 1 frames begun, 1 entries, 0 frames without a disposition, 1 reported delivered, 0 came out" in (
        device.harness.errors
    )


def test_a_burst_is_not_done_before_the_device_is_idle_and_copies_belong_to_no_path(lib: Any) -> None:
    device = TwoWays(lib)
    device.enter(0)
    assert not device.cycle({0: {"direction": 0}}, idle=False)
    assert not device.cycle(idle=False)
    assert not device.cycle({1: {"direction": 0, "acl_copy": 1}}, idle=False)
    assert device.cycle()
    device.harness.check()
    found = device.harness.pop()
    assert [len(found.sinks[name]) for name in ("wire", "host")] == [1, 1]


def test_a_device_that_never_gets_idle_is_stopped(lib: Any) -> None:
    device = TwoWays(lib)
    device.enter(0)
    device.cycle({0: {"direction": 0}}, idle=False)
    while not device.cycle(idle=False):
        pass
    assert device.harness.fired and "nothing moved for 50 cycles" in device.harness.errors


def test_more_copies_than_frames_are_without_end(lib: Any) -> None:
    device = TwoWays(lib)
    device.enter(0)
    device.cycle({0: {"direction": 0}, 1: {"acl_copy": 1}})
    device.harness.check()
    device.cycle({1: {"acl_copy": 1}})
    assert "more frames come out than went in" in device.harness.errors


def test_a_device_that_makes_frames_without_end_is_stopped(lib: Any) -> None:
    stepper = Stepper(lib)
    stepper.idle()
    stepper.push([16])
    stepper.source()
    stepper.end()
    stepper.source()
    stepper.beat(last=True)
    assert stepper.harness.done and not stepper.harness.fired
    stepper.beat(last=True)
    assert stepper.harness.done and stepper.harness.fired
    assert "more frames come out than went in" in stepper.harness.errors
    assert stepper.harness.error_count == 1


def test_a_frame_without_end_is_stopped(lib: Any) -> None:
    stepper = open_sink(lib)
    stepper.push([16])
    data, words = (ctypes.c_uint32 * 4)(), (ctypes.c_uint32 * stepper.harness.meta_words)()
    for _ in range(65537):
        stepper.lib.step_sink(stepper.handle, 0, 1, FULL, data, words)
        stepper.lib.step_end(stepper.handle, 0, 1)
    assert stepper.harness.fired and "a frame does not end" in stepper.harness.errors


def test_a_source_that_waits_for_its_time_is_not_stuck(lib: Any) -> None:
    stepper = Stepper(lib)
    stepper.harness.set_watchdog(100)
    stepper.push([16, 16], earliest=np.array([0, 5000]))
    for _ in range(4000):
        stepper.source()
        stepper.end()
    assert not stepper.harness.fired


def test_results_outlive_their_harness(lib: Any) -> None:
    stepper = open_sink(lib)
    for value in range(1000):
        stepper.beat(fill=value, last=True)
    found = stepper.harness.pop().sinks["out"]
    stepper.harness.close()
    data, cycles = found.data, found.last
    del found, stepper
    assert np.array_equal(data.view("<u4")[::4], np.arange(1000))
    assert np.array_equal(cycles, np.arange(1, 1001))


def test_metadata_words_are_those_of_the_model(seed: int) -> None:
    rng = Random(seed)
    narrow = [field for field in meta_word.FIELDS if field.width <= 64]
    rows = [{field.name: rng.getrandbits(field.width) for field in narrow} for _ in range(50)]
    fields = {field.name: np.array([row[field.name] for row in rows], np.uint64) for field in narrow}
    words = meta_words(**fields)
    assert [int.from_bytes(row.astype("<u4").tobytes(), "little") for row in words] == [meta_word.pack(r) for r in rows]
    with pytest.raises(ValueError, match="does not fit 8 bits"):
        meta_words(queue=np.array([256]))


def test_a_process_without_the_harness_says_so() -> None:
    with pytest.raises(ImportError, match=r"built without the sources of tb\.native"):
        load()


# ------------------------------------------------------------------------------------------------------ simulator


def fifo(name: str, **parameters: int) -> Design:
    sources = (
        *native.BFM,
        ROOT / "rtl" / "lib" / "axis_fifo.v",
        ROOT / "tb" / "native" / "native_tb.sv",
    )
    return Design(f"native/{name}", "native_tb", sources, parameters, native=native.DPI)


@pytest.mark.parametrize("frame_mode", [0, 1])
def test_bfm_and_agents_agree_on_a_fifo(simulate: Callable[..., Any], frame_mode: int) -> None:
    simulate(fifo("fifo", FRAME_MODE=frame_mode), "tb.native.bench_native")


def test_the_port_behind_the_bfm_accounts_for_every_frame(simulate: Callable[..., Any]) -> None:
    simulate(port_design("bfm"), "tb.native.bench_port")


def test_the_port_takes_a_frame_every_max_of_beats_and_four_cycles() -> None:
    rows = throughput.measure()
    assert len(rows) == 2 * 150
    assert [row for row in rows if not row.exact] == []
