"""The harness's loop around small devices: one of two clocks, and one that sleeps until deadlines.

Sweep:    the clocks of the wire (390.625 MHz, 2560 ps) and of the core (250 MHz, 4000 ps); lengths 1 to 200; profiles
          of back-pressure; bursts and frames that are alone; deadlines close together and far apart
Stimulus: frames with random bytes through axis_async_fifo from the wire's clock to the core's, and back; time that
          grows by 3.2 ns a cycle
Checks:   every byte; latency against the edges of both clocks, computed; rates; saved states; what wakes at a
          deadline, with and without skipping the time before it
Timing:   tvalid is 1 after the third edge of the reading clock that follows the edge which took the beat
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tb import native
from tb.build import Design, build_native
from tb.lib.clock import CORE_PS, WIRE_PS
from tb.lib.designs import DESIGNS
from tb.native.device import Device, Event, load
from tb.native.harness import PAUSES, Harness, Results
from tb.toolchain import ROOT

HERE = Path(__file__).resolve().parent
READS, WRITES = 0, 1
"""Numbers of the clocks."""
PERIODS = {"to_core": (CORE_PS, WIRE_PS), "to_wire": (WIRE_PS, CORE_PS)}


@pytest.fixture
def fifo(verilator: str, seed: int) -> Any:
    """A function that makes a FIFO out of reset, and its harness."""
    rtl = DESIGNS["axis_async_fifo.d16w64"].sources
    parameters = {"DEPTH": 16, "META_W": 1}

    def make(way: str = "to_core") -> tuple[Device, Harness]:
        pins = (*native.DEVICE, HERE / f"fifo_{way}_pins.cpp")
        lib = load(build_native(Design(f"native/fifo_{way}", "axis_async_fifo", rtl, parameters, native=pins)))
        device = Device(lib, seed)
        harness = Harness(["in"], ["out"], {"through": ("in", "out", False)}, seed=seed, meta_words=0, lib=lib)
        device.bind(harness)
        device.run(4)
        device.reset(False)
        device.run(200)
        return device, harness

    return make


def frames(random: Random, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Bytes and offsets of frames of 1 to 200 bytes."""
    lengths = [random.randint(1, 200) for _ in range(count)]
    offset = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return np.frombuffer(random.randbytes(int(offset[-1])), np.uint8), offset


def played(device: Device, harness: Harness, data: np.ndarray, offset: np.ndarray, **more: Any) -> Results:
    harness.push("in", data, offset, **more)
    assert device.run(100_000, Event.DONE) == Event.DONE
    harness.check()
    return harness.pop()


def times(device: Device, way: str, clock: int, cycles: np.ndarray) -> np.ndarray:
    """Times of the rising edges that end these cycles, in ps."""
    edges, cycle = device.clock(clock)
    return (cycles + edges - cycle) * PERIODS[way][clock]


@pytest.mark.parametrize("way", PERIODS)
def test_a_frame_crosses_in_the_cycle_that_the_edges_of_both_clocks_give(fifo: Any, way: str, seed: int) -> None:
    device, harness = fifo(way)
    data, offset = frames(Random(seed), 60)
    # Alone, and from every phase of one clock to the other: 16 periods of one are 25 of the other
    at = device.clock(WRITES)[1] + 10 + 101 * np.arange(60, dtype=np.int64)
    results = played(device, harness, data, offset, earliest=at)
    source, sink = results.sources["in"], results.sinks["out"]
    assert (sink.data == data).all() and (sink.offset == offset).all()
    assert (source.valid == at).all()
    taken, shown = times(device, way, WRITES, source.first), times(device, way, READS, sink.valid)
    period = PERIODS[way][READS]
    third = (taken // period + 3) * period
    assert (shown == third + period).all()
    assert len({int(phase) for phase in taken % period}) > 10
    beats = -(-np.diff(offset) // 16)
    assert (sink.last - sink.first >= beats - 1).all() and (source.last - source.first == beats - 1).all()


@pytest.mark.parametrize("way", PERIODS)
def test_a_frame_is_offered_in_the_next_cycle_of_its_own_clock(fifo: Any, way: str, seed: int) -> None:
    device, harness = fifo(way)
    data, offset = frames(Random(seed), 1)
    for _ in range(5):
        device.run(1001)
        begin = device.clock(WRITES)[1]
        assert played(device, harness, data, offset).sources["in"].valid.tolist() == [begin + 1]


@pytest.mark.parametrize("pause", PAUSES)
def test_a_burst_crosses_whole_and_at_the_pace_of_the_slower_clock(fifo: Any, pause: str, seed: int) -> None:
    device, harness = fifo()
    harness.set_pause("out", pause)
    data, offset = frames(Random(f"{seed} {pause}"), 200)
    results = played(device, harness, data, offset)
    source, sink = results.sources["in"], results.sinks["out"]
    assert (sink.data == data).all() and (sink.offset == offset).all()
    beats = int((-(-np.diff(offset) // 16)).sum())
    spent = int(sink.last[-1] - sink.first[0]) + 1
    assert spent == beats if pause == "none" else spent > 1.05 * beats
    wrote = int(source.last[-1] - source.first[0]) + 1
    assert abs(wrote * WIRE_PS / (spent * CORE_PS) - 1) < 0.05, "both sides spend the same time"


def test_a_device_of_two_clocks_plays_on_from_a_saved_state(fifo: Any, seed: int) -> None:
    device, harness = fifo()
    data, offset = frames(Random(seed), 40)
    harness.set_pause("out", "random")
    played(device, harness, data, offset)
    device.run(77)
    state = device.save()
    found = []
    for _ in range(2):
        results = played(device, harness, data, offset)
        found.append((results.sources["in"], results.sinks["out"]))
        device.restore(state)
    for one, other in zip(*found, strict=True):
        for name in ("valid", "first", "last"):
            assert (getattr(one, name) == getattr(other, name)).all(), name


def timer(seed: int, *, skip: bool, **parameters: int) -> tuple[Device, Harness]:
    """timer.v on its way out of reset, and its harness."""
    rtl = (ROOT / "rtl" / "nic" / "nic_time.v", HERE / "timer.v")
    pins = (*native.DEVICE, HERE / "timer_pins.cpp")
    lib = load(build_native(Design("native/timer", "timer", rtl, parameters, native=pins)))
    device, harness = Device(lib, seed), Harness([], ["out"], {}, seed=seed, meta_words=0, lib=lib)
    device.set_skip(skip)
    device.bind(harness)
    device.run(4)
    device.reset(False)
    device.run(1)
    return device, harness


@pytest.mark.parametrize("period", [1, 7, 40, 1000, 123_457])
def test_time_is_skipped_up_to_a_deadline_and_no_further(verilator: str, period: int, seed: int) -> None:
    woken, skipped = [], []
    for skip in (True, False):
        device, harness = timer(seed, skip=skip, PERIOD=period)
        harness.set_pause("out", "random")
        device.run(150_000)
        harness.check()
        sink = harness.pop().sinks["out"]
        woken.append((sink.data.tobytes(), sink.valid.tolist(), sink.last.tolist()))
        skipped.append(device.skipped)
    assert woken[0] == woken[1]
    times = np.frombuffer(woken[0][0], np.uint32).reshape(-1, 3)[:, 1].astype(np.int64)
    assert len(times) > 1
    if period > 10:
        assert (np.arange(1, len(times) + 1) * period <= times).all()
        assert (times < np.arange(1, len(times) + 1) * period + 40).all()
    assert (skipped[0] > 100_000) == (period >= 1000) and skipped[1] == 0


def test_a_device_that_is_not_ready_is_not_skipped_though_it_says_idle(verilator: str, seed: int) -> None:
    came = []
    for skip in (True, False):
        device, _ = timer(seed, skip=skip, PERIOD=1_000_000, CLEAR=5000)
        assert not device.ready
        assert device.run(20_000, Event.READY) == Event.READY
        came.append(device.cycles)
    assert came == [5 + 5000] * 2


def test_a_device_without_a_harness_says_so(fifo: Any, seed: int) -> None:
    bound, _ = fifo()
    state, device = bound.save(), Device(bound._lib, seed)
    for act in (lambda: device.run(1), device.save, lambda: device.restore(state)):
        with pytest.raises(ValueError, match="no harness is bound"):
            act()
    with pytest.raises(ValueError, match="no saved state"):
        bound.restore(state[:-1])
