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
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np

from models.frames import Batch, Edge, Outcome
from tb.nic.designs import port_design
from tb.replay.capture import read_capture
from tb.replay.pace import line_rate
from tb.replay.play import draw_profiles, stimulus
from tb.targets.base import PROFILES, Fault
from tb.targets.native import NativeTarget
from tb.targets.recorded import Play, differences, record
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
