"""The golden model of lib and the back-pressure generators, without a simulator.

Sweep:    depths, latencies, widths, generators
Stimulus: hand-made histories whose verdict is plain; random histories of a FIFO simulated beat by beat
Checks:   the model's verdicts, orders and cycles against sums done another way
Timing:   none
"""

from __future__ import annotations

import zlib
from itertools import islice
from random import Random

import pytest

from models.lib import (
    CutFrame,
    FifoFrame,
    FrameFifo,
    RoundRobin,
    Verdict,
    adapter_latency,
    beat_count,
    crc32,
    cut_frame_fits,
    demux,
    first_out_cycle,
    last_out_cycle,
    waits_fairly,
)
from tb.lib.pause import PAUSES, Reactive


def test_a_frame_has_as_many_beats_as_its_bytes_need() -> None:
    assert [beat_count(n) for n in (1, 15, 16, 17, 32, 33, 60)] == [1, 1, 1, 2, 2, 3, 4]
    assert [beat_count(n, 8) for n in (1, 8, 9, 16, 17)] == [1, 1, 2, 2, 3]
    with pytest.raises(ValueError, match="at least one byte"):
        beat_count(0)


def test_a_frame_waits_for_its_latency_and_for_the_frame_before_it() -> None:
    assert first_out_cycle(10, 2) == 12
    assert first_out_cycle(10, 2, previous_last_out=11) == 12
    assert first_out_cycle(10, 2, previous_last_out=30) == 31
    assert last_out_cycle(12, 4, last_in=10, latency=2) == 15
    assert last_out_cycle(12, 4, last_in=40, latency=2) == 42


def test_an_adapter_waits_for_the_beat_that_completes_a_word() -> None:
    assert [adapter_latency(n, 8, 16) for n in (1, 8, 9, 16, 17, 60)] == [1, 1, 2, 2, 2, 2]
    assert [adapter_latency(n, 16, 8) for n in (1, 8, 9, 16, 17, 60)] == [1] * 6


def test_crc_is_that_of_the_catalogue() -> None:
    assert crc32(b"123456789") == 0xCBF43926
    assert crc32(bytes(60)) == zlib.crc32(bytes(60))


def test_demux_knows_its_outputs() -> None:
    assert [demux(dest, 3) for dest in range(5)] == [0, 1, 2, None, None]


def _allowed(fifo: FrameFifo, *frames: FifoFrame) -> list[set[Verdict]]:
    return [set(verdicts) for verdicts in fifo.allowed(frames)]


def test_verdicts_that_need_no_clock() -> None:
    plain = FrameFifo(16, 8, drop_bad=False, drop_full=False)
    both = FrameFifo(16, 8, drop_bad=True, drop_full=True)
    bad = FrameFifo(16, 8, drop_bad=True, drop_full=False)
    assert plain.fixed(16, True) is Verdict.DELIVERED
    assert plain.fixed(17, False) is Verdict.OVERSIZE
    assert bad.fixed(17, False) is Verdict.OVERSIZE
    assert bad.fixed(17, True) is Verdict.BAD
    assert both.fixed(17, True) is Verdict.BAD
    assert both.fixed(17, False) is Verdict.FULL
    assert both.fixed(16, False) is None


def test_verdicts_of_a_full_fifo_follow_what_was_read() -> None:
    fifo = FrameFifo(16, 8, drop_bad=False, drop_full=True)
    stored = FifoFrame(12, False, 0, 11, 100, 111)
    assert _allowed(fifo, stored, FifoFrame(4, False, 20, 23, 112, 115))[1] == {Verdict.DELIVERED}
    assert _allowed(fifo, stored, FifoFrame(5, False, 20, 24))[1] == {Verdict.DELIVERED, Verdict.FULL}
    assert _allowed(fifo, stored, FifoFrame(7, False, 20, 26))[1] == {Verdict.FULL}
    # Read out meanwhile: there is room again.
    assert _allowed(fifo, stored, FifoFrame(16, False, 120, 135, 140, 155))[1] == {Verdict.DELIVERED}
    # Being read while it comes in: either.
    assert _allowed(fifo, stored, FifoFrame(14, False, 100, 113))[1] == {Verdict.DELIVERED, Verdict.FULL}


def test_verdicts_of_a_fifo_that_holds_its_most_frames() -> None:
    fifo = FrameFifo(64, 2, drop_bad=False, drop_full=True)
    stored = [FifoFrame(1, False, n, n, 100 + n, 100 + n) for n in range(2)]
    assert _allowed(fifo, *stored, FifoFrame(1, False, 20, 20))[2] == {Verdict.DELIVERED, Verdict.FULL}
    assert _allowed(fifo, *stored, FifoFrame(1, False, 120, 120, 130, 130))[2] == {Verdict.DELIVERED}


def test_verdicts_allow_what_a_fifo_does_that_is_simulated_beat_by_beat() -> None:
    """A FIFO of exactly `depth` beats that counts a read at once, with a random reader."""
    rng = Random(1)

    def read(now: int, stored: list[list[int]], reads: dict[int, list[int]], speed: float) -> None:
        if stored and rng.random() < speed:
            reads.setdefault(stored[0][0], []).append(now)
            stored[0][1] -= 1
            if not stored[0][1]:
                stored.pop(0)

    for _ in range(200):
        depth = rng.choice((4, 8, 16))
        speed = rng.choice((0.1, 0.4, 0.9))
        stored: list[list[int]] = []  # [history index, beats left], oldest first
        history: list[FifoFrame] = []
        verdicts: list[Verdict] = []
        reads: dict[int, list[int]] = {}
        cycle = 0

        for index in range(30):
            beats, first, room = rng.randint(1, depth + 1), cycle, True
            for beat in range(beats):
                read(cycle, stored, reads, speed)
                room = room and sum(left for _, left in stored) + beat + 1 <= depth
                cycle += 1
            history.append(FifoFrame(beats, False, first, cycle - 1))
            verdicts.append(Verdict.DELIVERED if room else Verdict.FULL)
            if room:
                stored.append([index, beats])
            for _ in range(rng.randint(0, 5)):
                read(cycle, stored, reads, speed)
                cycle += 1
        while stored:
            read(cycle, stored, reads, speed)
            cycle += 1
        seen = [
            FifoFrame(f.beats, f.bad, f.first_in, f.last_in, *((reads[i][0], reads[i][-1]) if i in reads else (-1, -1)))
            for i, f in enumerate(history)
        ]
        allowed = FrameFifo(depth, 64, drop_bad=False, drop_full=True).allowed(seen)
        assert all(v in a for v, a in zip(verdicts, allowed, strict=True))


def test_round_robin_begins_behind_the_last_one_served() -> None:
    arbiter = RoundRobin(4)
    assert [arbiter.grant([True] * 4) for _ in range(6)] == [0, 1, 2, 3, 0, 1]
    assert arbiter.grant([True, True, False, False]) == 0
    assert arbiter.grant([False] * 4) is None
    assert arbiter.grant([True, False, False, True]) == 3


def test_inputs_that_yield_have_a_round_of_their_own() -> None:
    arbiter = RoundRobin(5, 2)
    everybody, late = [True] * 5, [False, False, True, True, True]
    assert [arbiter.grant(everybody) for _ in range(3)] == [0, 1, 0]
    assert [arbiter.grant(late) for _ in range(2)] == [2, 3]
    assert [arbiter.grant(everybody), arbiter.grant(late), arbiter.grant(late)] == [1, 4, 2]


def test_a_frame_that_waits_too_long_is_found() -> None:
    # Input 1 offers in cycle 0 and is served after three frames of input 0: one too many for two inputs.
    order = [(0, 0, 1), (0, 1, 2), (0, 2, 3), (1, 0, 4)]
    assert "let 3 frames go first" in str(waits_fairly(order, 2))
    assert waits_fairly([*order[:2], (1, 0, 3)], 2) is None


def test_a_cut_frame_is_a_bad_beginning_of_what_was_written() -> None:
    cut = CutFrame(bytes(range(48)))
    assert cut_frame_fits(cut, bytes(range(48)) + b"x", 1) is None
    assert cut_frame_fits(cut, bytes(range(17)), 1) is None
    assert "without the bad mark" in str(cut_frame_fits(cut, bytes(range(48)), 0))
    assert "differ" in str(cut_frame_fits(cut, bytes(48), 1))
    assert "were written" in str(cut_frame_fits(cut, bytes(range(48)) + bytes(17), 1))


@pytest.mark.parametrize("name", sorted(PAUSES))
def test_every_generator_lets_beats_pass_and_follows_its_seed(name: str) -> None:
    def run(seed: int) -> list[bool]:
        pause = PAUSES[name](Random(seed))
        if isinstance(pause, Reactive):
            pause.see(True, True)
        return list(islice(pause, 400))

    assert run(1) == run(1)
    assert any(run(1)[-150:])
    assert name == "none" or not all(run(1))


def test_reactive_generators_do_what_their_names_say() -> None:
    after = PAUSES["after_valid"](Random(1))
    assert isinstance(after, Reactive)
    grants = []
    for valid in (False, False, True, True, True, True, False, True):
        after.see(valid, False)
        grants.append(next(after))
    assert grants == [False, False, False, True, False, True, False, False]
    stall = PAUSES["stall_last"](Random(1))
    assert isinstance(stall, Reactive)
    for valid, last in ((False, False), (True, False), (False, True)):
        stall.see(valid, last)
        assert next(stall)
    stall.see(True, True)
    assert not next(stall)
    assert next(stall) or next(stall) or next(stall)
