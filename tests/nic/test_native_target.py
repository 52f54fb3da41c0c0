"""The native target: what it does is what the frame BFM does inside a simulator, cycle by cycle.

Sweep:    every capture, each of the back-pressure profiles at both edges, resets in mid-frame, plays without a reset
          between them
Stimulus: tests/captures, each in both directions at once, received at the pace of a 25G wire
Checks:   outcomes of the target native against those of cocotb with engine bfm, every field of them: bytes, order,
          dispositions, queues, cycles, times, metadata, tuser, counters
Timing:   all cycle numbers are equal
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from models.meta import Code
from tb.native.device import Event
from tb.nic.designs import port_design
from tb.replay.capture import read_capture
from tb.replay.pace import line_rate
from tb.replay.play import draw_profiles, stimulus
from tb.targets.base import PROFILES, Fault, Frame, UnmappedAddress
from tb.targets.native import NativeTarget, SnapshotError, waves_suffix
from tb.targets.program import address, one_by_one
from tb.targets.recorded import Play, differences, record
from tb.targets.standstill import stands_still
from tb.toolchain import ROOT

CAPTURES = sorted((ROOT / "tests" / "captures").glob("*.pcap*"))


def frames_of(path: Path, most: int | None = None) -> Batch:
    """A capture's first frames in both directions, received at line rate, transmitted at once."""
    batch = read_capture(path).batch
    return line_rate(stimulus(batch.select(np.flatnonzero(batch.lengths)[:most])), Edge.WIRE)


def plays(seed: int) -> list[Play]:
    """All captures with profiles by the seed; all profiles; resets; plays that follow each other."""
    found = [Play(path.name, frames_of(path), draw_profiles(seed, path.name)) for path in CAPTURES]
    some = frames_of(ROOT / "tests" / "captures" / "scapy_imix.pcapng", 60)
    for profile in PROFILES:
        found.append(Play(f"profile {profile}", some, dict.fromkeys(Edge, profile)))
        found.append(Play(f"after profile {profile}", some, configure=False))
    for edge in Edge:
        found.append(Play(f"reset at {edge.name}", some, {}, cut=Fault.reset(edge, frame=20, after_beats=2)))
        found.append(Play(f"after reset at {edge.name}", some, configure=False))
    return found


def on_native(wanted: list[Play], seed: int) -> list[Outcome]:
    async def recorded() -> list[Outcome]:
        target = NativeTarget(seed)
        await target.start()
        return await record(target, wanted)

    return asyncio.run(recorded())


def test_native_does_what_the_frame_bfm_does_cycle_by_cycle(
    tmp_path: Path, simulate: Callable[..., object], seed: int
) -> None:
    wanted = plays(seed)
    (tmp_path / "plays.pickle").write_bytes(pickle.dumps(wanted))
    simulate(port_design("bfm"), "tb.targets.bench_record", env={"NICLOOP_RECORD": str(tmp_path)})
    simulated = pickle.loads((tmp_path / "outcomes.pickle").read_bytes())
    for play, one, other in zip(wanted, simulated, on_native(wanted, seed), strict=True):
        assert differences(one, other) == [], play.name
        assert one == other, play.name
    assert sum(len(outcome.frames) for outcome in simulated) > 10_000


def few(count: int, start: int = 1, times: list[int] | None = None) -> Batch:
    """Frames of several lengths at both edges in turn."""
    lengths = (60, 1514, 61, 200, 64, 65, 9596, 128)
    frames = [bytes([(start + i) % 256]) * lengths[i % len(lengths)] for i in range(count)]
    return Batch.of(frames, edge=[i % 2 for i in range(count)], time_ns=0 if times is None else times)


def started(seed: int, **options: Any) -> NativeTarget:
    """A target after `start`."""
    target = NativeTarget(seed, **options)
    asyncio.run(target.start())
    return target


# ------------------------------------------------------------------------------------------------------- idle time


INCREMENTS = {"4 ns": 4 << 32, "3.2 ns": 0x3_3333_3333, "255.99 ns": (1 << 40) - 1, "nothing": 0, "1 of 2^32": 1}


@pytest.mark.parametrize("increment", INCREMENTS)
@pytest.mark.parametrize("profile", PROFILES)
def test_skipping_idle_time_changes_nothing(increment: str, profile: str, verilator: str, seed: int) -> None:
    random = Random(f"{seed} {increment} {profile}")
    times = sorted(random.choice((0, 10, 11, 500, 5_000, 5_001, 40_000, 99_999, 100_003)) for _ in range(16))
    value = INCREMENTS[increment]

    async def recorded(target: NativeTarget) -> tuple[list[Outcome], list[int]]:
        await target.start()
        await target.configure(NicConfig())
        for word in range(2):
            await target.write(address("nic.time_increment") + 4 * word, value >> 32 * word & 0xFFFF_FFFF)
        wanted = [
            Play("spread", few(16, times=times), dict.fromkeys(Edge, profile), configure=False),
            Play("behind it", few(8), configure=False),
        ]
        outcomes = await record(target, wanted)
        await target.sleep(12_345)
        now = [await target.read(address("nic.now") + 4 * word) for word in range(2)]
        return outcomes, [*now, target.now()]

    skipping, plain = NativeTarget(seed), NativeTarget(seed, skip_idle=False)
    one, other = asyncio.run(recorded(skipping)), asyncio.run(recorded(plain))
    for left, right in zip(one[0], other[0], strict=True):
        assert differences(left, right) == []
    assert one[1] == other[1]
    assert plain.engine.device.skipped == 0
    assert skipping.engine.device.skipped > 0.3 * skipping.engine.device.cycles


def test_a_second_of_idle_time_is_skipped_at_once(verilator: str, seed: int) -> None:
    target = started(seed)
    begin, spent = target.now(), time.process_time()
    asyncio.run(target.sleep(1_000_000_000))
    assert target.now() - begin == 1_000_000_000
    assert time.process_time() - spent < 1
    outcome = asyncio.run(target.play(few(4, times=[0, 0, 2_000_000_000, 2_000_000_000])))
    assert outcome.first_in[2:].min() == 500_000_000


def test_a_frame_of_the_far_future_comes_in_its_cycle(verilator: str, seed: int) -> None:
    target = started(seed)
    harness, device = target.engine._harness, target.engine.device
    harness.set_rate("wire")
    begin = harness.cycle + 100
    for far in (9_300_000_000_000_001, 10**18):
        frames = Batch.of([bytes(60)] * 3, time_ns=[0, far, far])
        harness.push_batch("wire", frames, base_cycle=begin)
        assert device.run(far, Event.DONE) == Event.DONE
        first = -(-far // 4)
        # 84 bytes of wire are 6.72 cycles
        assert (harness.pop().sources["wire"].valid - begin).tolist()[1:] == [first, first + 7]
    harness.check()
    assert target.now() == 4 * (device.cycles - 1)


# ------------------------------------------------------------------------------------------------------- state


def test_a_restored_state_plays_on_bit_for_bit(verilator: str, seed: int) -> None:
    target = started(seed)

    async def played() -> Outcome:
        return await target.play(few(40, 7))

    async def prepared() -> None:
        await target.configure(NicConfig())
        await target.inject(Fault.back_pressure(Edge.HOST, "storm"))
        await target.play(few(33))
        await target.inject(Fault.bad_frame(Edge.WIRE, reason=0))

    asyncio.run(prepared())
    state, now = target.snapshot(), target.now()
    first = asyncio.run(played())
    asyncio.run(target.play(few(9)))
    target.restore(state)
    assert target.now() == now
    again = asyncio.run(played())
    assert differences(first, again) == []
    assert first.code.tolist().count(Code.BAD_FRAME) == 1, "a fault that was armed is armed again"
    other = started(seed + 1)
    other.restore(state)
    assert differences(first, asyncio.run(other.play(few(40, 7)))) == []
    # A state outlives what goes wrong in between: frames that never end, and those that a cut left in the port.
    other.restore(state)
    asyncio.run(other.send(Frame(bytes(9000), Edge.WIRE)))
    other.restore(state)
    assert differences(first, asyncio.run(other.play(few(40, 7)))) == []


def of_build(state: bytes, build: str) -> bytes:
    """The state as if it were of another build."""
    size = int.from_bytes(state[8:12], "little")
    head = json.dumps(json.loads(state[12 : 12 + size]) | {"build": build}).encode()
    return state[:8] + len(head).to_bytes(4, "little") + head + state[12 + size :]


def flipped(state: bytes, seed: int) -> Iterator[bytes]:
    """The state with a bit changed, at places in its head, in the harness's part and in the model's."""
    random = Random(seed)
    for begin, end in ((0, 12), (12, 200), (200, 3000), (3000, len(state))):
        for _ in range(5):
            bad = bytearray(state)
            bad[random.randrange(begin, end)] ^= 1 << random.randrange(8)
            yield bytes(bad)


SAVES = """
import asyncio, sys
from models.config import NicConfig
from models.frames import Batch, Edge
from tb.targets.base import Fault
from tb.targets.native import NativeTarget

async def state():
    target = NativeTarget(int(sys.argv[1]))
    await target.start()
    await target.configure(NicConfig())
    await target.inject(Fault.back_pressure(Edge.HOST, "storm"))
    await target.play(Batch.of([bytes(range(64)), bytes(70)] * 20, edge=[0, 1] * 20))
    return target.snapshot()

sys.stdout.buffer.write(asyncio.run(state()))
"""


def test_a_state_has_the_same_bytes_in_every_process(verilator: str, seed: int) -> None:
    states = []
    for fill in ("0", "85", "170"):
        environment = {**os.environ, "MALLOC_PERTURB_": fill}
        command = [sys.executable, "-c", SAVES, str(seed)]
        states.append(subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE).stdout)
    assert len(states[0]) > 100_000
    for state in states[1:]:
        assert [i for i, (one, other) in enumerate(zip(states[0], state, strict=True)) if one != other] == []


def test_a_state_is_refused_with_the_reason(verilator: str, seed: int) -> None:
    target = started(seed)
    harness = target.engine._harness

    def now() -> tuple[Any, ...]:
        return target.now(), harness.cycle, harness.counters(), target.engine.device.save()

    good = target.snapshot()
    asyncio.run(target.send(Frame(bytes(64), Edge.WIRE)))
    with pytest.raises(SnapshotError, match="frames are in flight"):
        target.snapshot()
    asyncio.run(target.sleep(1000))
    with pytest.raises(SnapshotError, match="frames wait to be received"):
        target.snapshot()
    with pytest.raises(SnapshotError, match=r"the state is of build native-other, this is native-"):
        target.restore(of_build(good, "native-other"))
    for bad in (b"", b"{}", good[:40], good[:-1], good + b"x", *flipped(good, seed)):
        before = now()
        with pytest.raises(SnapshotError, match=r"no saved state|is of build"):
            target.restore(bad)
        assert now() == before, "what is refused changes nothing"
    target.restore(good)
    assert asyncio.run(target.play(few(2))).code.tolist() == [Code.DELIVERED] * 2


# ------------------------------------------------------------------------------------------------------- waves


def wave_times(path: Path) -> tuple[int, int, int]:
    """First and last time in a file of waves, in ps, and how many variables it has."""
    if path.suffix == ".vcd":
        text = path.read_text()
        times = [int(time) for time in re.findall(r"^#(\d+)", text, re.MULTILINE)]
        return times[0], times[-1], text.count("$var")
    # The header block of an FST: type 0, its length, first and last time, byte order, memory, scopes, variables
    kind, _, first, last, _, _, _, variables = struct.unpack(">BQQQdQQQ", path.read_bytes()[:57])
    assert kind == 0
    return first, last, variables


def test_waves_of_a_window_hold_its_frames_and_no_others(tmp_path: Path, verilator: str, seed: int) -> None:
    target = started(seed)
    asyncio.run(target.play(few(3)))
    for edge in Edge:
        batch, path = few(30), tmp_path / f"{edge.name}{waves_suffix()}"
        target.waves_of(path, edge, 5, 7)
        outcome = asyncio.run(target.play(batch))
        mine = np.flatnonzero(batch.edge == edge)[5:8]
        first, last, variables = wave_times(path)
        clock = target.capabilities.clock_ns
        wanted = outcome.begin_ns + clock * np.array([outcome.first_in[mine[0]], outcome.last_out[mine[-1]]])
        assert wanted[0] - 10 * clock <= first / 1000 <= wanted[0]
        assert wanted[1] <= last / 1000 <= wanted[1] + 50 * clock
        assert variables > 1000


def test_waves_start_and_stop_between_plays_and_change_nothing(tmp_path: Path, verilator: str, seed: int) -> None:
    plain, watched = started(seed), started(seed)
    for number in range(3):
        path, begin = tmp_path / f"{number}{waves_suffix()}", watched.now()
        if number != 1:
            watched.start_waves(path)
        one, other = asyncio.run(plain.play(few(12, number))), asyncio.run(watched.play(few(12, number)))
        watched.stop_waves()
        assert differences(one, other) == []
        assert path.exists() == (number != 1)
        if path.exists():
            first, last, _ = wave_times(path)
            # The last edge is a falling one, half a cycle before the rising edge that comes next.
            assert (first / 1000, last / 1000, other.begin_ns) == (begin, watched.now() - 2, begin + 4)
    with pytest.raises(OSError, match="can't be written"):
        watched.start_waves(tmp_path / "nowhere" / "x.fst")


# ------------------------------------------------------------------------------------------------------- the clock


def test_a_stalled_receiver_takes_its_first_beat_when_the_stall_is_over(verilator: str, seed: int) -> None:
    target = started(seed)
    stall = target.capabilities.stall_cycles
    asyncio.run(target.inject(Fault.back_pressure(Edge.HOST, "stalled")))
    batch = few(6)
    outcome = asyncio.run(target.play(batch))
    # What the sink decides at the play's first edge shows in the cycle behind it
    assert outcome.last_out[0] - (batch.beats[0] - 1) == stall + 1
    assert outcome.first_out[0] < 100 and outcome.last_out[1] < 1000


def test_a_play_that_stands_still_ends_with_the_name_of_the_stream(verilator: str, seed: int) -> None:
    target = started(seed)
    asyncio.run(stands_still(target, target.engine))


def test_a_play_and_register_accesses_interleave_the_same_way_each_time(verilator: str, seed: int) -> None:
    batch = Batch.of([bytes(90)] * 400, edge=[i % 2 for i in range(400)])

    async def both(target: NativeTarget) -> tuple[Outcome, list[int]]:
        async def looked() -> list[int]:
            found = []
            for number in range(40):
                await target.write(address("nic.scratch"), number)
                found.append(await target.read(address("nic.rx_frames_in")))
                await target.sleep(4 * number)
            return found

        outcome, found = await target.gather(target.play(batch), looked())
        return outcome, found

    runs = [asyncio.run(both(started(seed))) for _ in range(2)]
    assert differences(runs[0][0], runs[1][0]) == []
    assert runs[0][1] == runs[1][1] == sorted(runs[0][1])
    assert len(set(runs[0][1])) > 5, "the frames were seen coming in"


def test_many_registers_are_read_in_the_cycles_of_single_accesses(verilator: str, seed: int) -> None:
    where = [address(f"nic.{name}") for name in ("scratch", "rx_frames_in", "now", "id")] * 5
    batch = Batch.of([bytes(90)] * 100)

    async def read(target: NativeTarget, *, bulk: bool, shared: bool) -> tuple[list[int], int]:
        await target.write(where[0], 0xCAFE_F00D)
        begin = target.now()

        async def found() -> tuple[list[int], int]:
            words = await target.read_all(where) if bulk else [await target.read(one) for one in where]
            return words, target.now() - begin

        return (await target.gather(found(), target.play(batch)))[0] if shared else await found()

    for shared in (False, True):
        one, other = (asyncio.run(read(started(seed), bulk=bulk, shared=shared)) for bulk in (True, False))
        assert one == other
        assert one[0][0] == 0xCAFE_F00D and (one[0][-3] > 0) == shared
    target = started(seed)
    with pytest.raises(UnmappedAddress) as refused:
        asyncio.run(target.read_all([*where, 0x7_4000, where[0]]))
    assert refused.value.address == 0x7_4000
    assert asyncio.run(target.read(where[0])) == 0


def test_many_accesses_are_made_in_order_and_in_the_cycles_of_single_ones(verilator: str, seed: int) -> None:
    scratch, frames, nowhere = address("nic.scratch"), address("nic.max_frame"), 0x7_4000
    accesses = [(scratch, 5), (scratch, None), (frames, 100), (scratch, 0xFFFF_FFFF), (frames, None), (scratch, None)]

    async def made(target: NativeTarget, *, bulk: bool) -> tuple[list[int], int]:
        begin = target.now()
        found = await (target.access_all(accesses) if bulk else one_by_one(target, accesses))
        return found, target.now() - begin

    one, other = (asyncio.run(made(started(seed), bulk=bulk)) for bulk in (True, False))
    assert one == other
    assert one[0] == [5, 5, 100, 0xFFFF_FFFF, 100, 0xFFFF_FFFF]
    target = started(seed)
    with pytest.raises(UnmappedAddress) as refused:
        asyncio.run(target.access_all([(scratch, 7), (nowhere, 8), (scratch, 9)]))
    assert refused.value.address == nowhere
    assert asyncio.run(target.read(scratch)) == 7, "what comes behind it isn't done"
    with pytest.raises(ValueError, match="32-bit"):
        asyncio.run(target.access_all([(scratch, 1), (scratch, 1 << 32)]))
    assert asyncio.run(target.read(scratch)) == 7, "nothing was done"


@pytest.mark.parametrize("skipping", [False, True])
def test_ctrl_c_ends_a_long_play(verilator: str, seed: int, skipping: bool) -> None:
    target = NativeTarget(seed, skip_idle=skipping)

    async def endless() -> None:
        await target.start()
        asyncio.get_running_loop().call_later(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        await target.play(few(2, times=[0, 10**18]))

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(endless())
    asyncio.run(target.configure(NicConfig()))
    assert asyncio.run(target.play(few(2))).code.tolist() == [Code.DELIVERED] * 2
