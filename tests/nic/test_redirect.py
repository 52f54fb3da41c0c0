"""Copies and redirected frames in ``nic_port``: mirrors to the host, frames that leave by the edge at which they came.

Sweep:    every pair of back-pressure profiles; resets in mid-frame at either edge; buffers of a few frames, and whole
          ones full of frames of one beat; hosts that stand still until copies find no room; the frame BFM, the agents
          and the native engine; Icarus: a part
Stimulus: UDP frames whose port says which rule they meet, at both edges at once, some bad; both ACLs hold the rules
Checks:   the golden model; without it the books of tb/nic/redirect.py: each frame's end, where and how often it came
          out, copies, metadata, numbers, counters; in + copies = out + drops; no end lost; native as the frame BFM, to
          the last bit
Timing:   that every play ends; `first_out`, `last_out`, `latency_cycles` are the frame's own
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from models.frames import Batch, Edge, Outcome
from models.meta import Code, field_of
from models.nic import NicPortModel
from tb.nic.designs import least, port_design
from tb.nic.redirect import CONFIG, Act, Rig, frame, plays, traffic
from tb.targets.base import PROFILES, Fault, Frame
from tb.targets.native import NativeTarget
from tb.targets.recorded import differences

RX_BEATS, TX_BEATS, FRAMES = 64, 32, 16
SMALL = {"ACL_RULES": 64, "RX_BUFFER_BEATS": RX_BEATS, "TX_BUFFER_BEATS": TX_BEATS, "BUFFER_FRAMES": FRAMES}
"""A port whose buffers hold a few frames."""
BENCH = "tb.nic.bench_redirect"


@pytest.fixture
def small(verilator: str, seed: int) -> NativeTarget:
    """The small port."""
    target = NativeTarget(seed, **SMALL)
    asyncio.run(target.start())
    return target


def books(target: NativeTarget, tx_beats: int, work: Callable[[Rig], Awaitable[None]]) -> Rig:
    """A rig that did ``work``. The golden model has to agree."""
    small = tx_beats == TX_BEATS
    sizes = {"rx_buffer_beats": RX_BEATS, "tx_buffer_beats": TX_BEATS, "buffer_frames": FRAMES} if small else {}
    rig = Rig(target, tx_beats, model=NicPortModel(CONFIG, **sizes))

    async def done() -> None:
        await rig.start()
        await work(rig)

    asyncio.run(done())
    return rig


def test_books_close_under_every_pair_of_profiles(small: NativeTarget, seed: int) -> None:
    rng = Random(seed)

    async def work(rig: Rig) -> None:
        for wire in PROFILES:
            for host in PROFILES:
                await rig.play(*traffic(rng, 80), {Edge.WIRE: wire, Edge.HOST: host})

    rig = books(small, TX_BEATS, work)
    assert rig.copies > 1000
    assert rig.codes >= {Code.DELIVERED, Code.BAD_FRAME, Code.RX_BUFFER_FULL, Code.ACL_DENIED, Code.ACL_NO_PORT}


def test_both_directions_redirecting_at_once_never_wait_for_each_other(small: NativeTarget, seed: int) -> None:
    """All that comes turns round, so each buffer empties into the other one's way; nothing of it may stand still."""
    rng = Random(seed)

    async def work(rig: Rig) -> None:
        for profile in ("stalled", "one_in", "random", "bursty", "stall_last"):
            for other in ("none", profile, "stalled"):
                for acts in ((Act.REDIRECT,), (Act.REDIRECT, Act.BOTH), (Act.REDIRECT, Act.MIRROR, Act.NONE)):
                    batch, chosen = traffic(rng, 150, acts=acts, longest=480, lengths=(), bad=0)
                    await rig.play(batch, chosen, {Edge.WIRE: profile, Edge.HOST: other})

    assert books(small, TX_BEATS, work).codes == {Code.DELIVERED, Code.RX_BUFFER_FULL}


def test_a_reset_in_mid_frame_leaves_no_copy_and_no_frame_of_before(small: NativeTarget, seed: int) -> None:
    rng = Random(seed)

    async def work(rig: Rig) -> None:
        for _ in range(60):
            profiles = {edge: rng.choice(PROFILES[:-1]) for edge in Edge}
            edge, beats = rng.choice(tuple(Edge)), rng.randint(1, 6)
            cut = Fault.reset(edge, frame=rng.randrange(20), after_beats=beats)
            outcome = await rig.play(*traffic(rng, 60), profiles, cut)
            assert len(outcome.resets) == 1

    assert Code.RESET in books(small, TX_BEATS, work).codes


def test_a_copy_without_room_is_lost_and_counted(small: NativeTarget, seed: int) -> None:
    """A mirror's buffer holds 64 frames or 1024 beats; what is copied leaves at the wire, past a host that stands."""
    rng = Random(seed)

    async def work(rig: Rig) -> None:
        for longest, edges in ((64, (Edge.HOST,)), (480, (Edge.HOST,)), (100, tuple(Edge))):
            batch, acts = traffic(
                rng, 200, acts=(Act.MIRROR, Act.BOTH), edges=edges, longest=longest, lengths=(), bad=0
            )
            redirected = batch.edge == Edge.WIRE
            acts = np.where(redirected, int(Act.BOTH), int(Act.MIRROR))
            batch = Batch.of(
                [
                    frame(Act(int(act)), int(size), i)
                    for i, (act, size) in enumerate(zip(acts, batch.lengths, strict=True))
                ],
                edge=batch.edge,
            )
            before = rig.lost, rig.copies
            await rig.play(batch, acts, {Edge.WIRE: "none", Edge.HOST: "stalled"})
            assert rig.lost > before[0] and rig.copies > before[1]

    books(small, TX_BEATS, work)


def test_copies_take_no_room_from_received_frames(small: NativeTarget) -> None:
    """Frames come as fast as the host takes them, and each has a copy: the copies are lost, and no frame is."""

    async def work(rig: Rig) -> None:
        batch = Batch.of([frame(Act.MIRROR, 480, i) for i in range(300)], edge=Edge.WIRE)
        outcome = await rig.play(batch, np.full(300, int(Act.MIRROR)))
        assert set(outcome.code) == {Code.DELIVERED}
        assert rig.lost > 200

    books(small, TX_BEATS, work)


def test_a_redirected_frame_that_tx_sched_cannot_hold_ends_as_oversize_of_rx(small: NativeTarget, seed: int) -> None:
    async def work(rig: Rig) -> None:
        sizes = (16 * TX_BEATS, 16 * TX_BEATS + 1, 60, 900)
        batch = Batch.of([frame(Act.REDIRECT, size, i) for i, size in enumerate(sizes)], edge=Edge.WIRE)
        outcome = await rig.play(batch, np.zeros(len(sizes), np.int64))
        assert outcome.code.tolist() == [Code.DELIVERED, Code.OVERSIZE, Code.DELIVERED, Code.OVERSIZE]
        assert outcome.counters["rx_disposition.OVERSIZE"] == 2

    books(small, TX_BEATS, work)


def test_full_buffers_of_frames_of_one_beat_lose_no_end(verilator: str, seed: int) -> None:
    """256 redirected frames wait in tx_sched and as many others in rx_buffer; then both edges take one a cycle."""
    target = NativeTarget(seed)

    async def work(rig: Rig) -> None:
        for count in (250, 256):
            acts = np.repeat(np.array((Act.REDIRECT_ANY, Act.NONE), np.int64), count)
            batch = Batch.of([frame(Act(int(act)), 16, i) for i, act in enumerate(acts)])
            outcome = await rig.play(batch, acts, dict.fromkeys(Edge, "stalled"))
            assert (outcome.code == Code.DELIVERED).all()

    asyncio.run(target.start())
    books(target, 2048, work)


def test_copies_and_redirected_frames_keep_their_source_behind_a_pause_of_hours(small: NativeTarget, seed: int) -> None:
    """Idle time is skipped, so cycles grow beyond 2**40."""

    async def work(rig: Rig) -> None:
        batch, acts = traffic(Random(seed), 60)
        await rig.play(replace(batch, time_ns=np.where(np.arange(60) < 20, 0, 2 * 3600 * 10**9)), acts)

    assert books(small, TX_BEATS, work).copies


def test_numbers_that_come_round_again_name_the_newest_frame(small: NativeTarget) -> None:
    """A frame's number has 16 bits: behind 65,536 frames a copy has the number of another frame as well."""

    async def work(rig: Rig) -> None:
        count = 65_536 + 200
        acts = np.full(count, int(Act.NONE), np.int64)
        acts[::97] = int(Act.BOTH)
        kinds = {act: frame(act, 60) for act in (Act.NONE, Act.BOTH)}
        batch = Batch.of([kinds[Act(int(act))] for act in acts])
        await rig.play(batch, acts)
        assert rig.copies == np.count_nonzero(acts == Act.BOTH)

    books(small, TX_BEATS, work)


def test_a_frame_that_is_sent_is_received_where_its_rule_says(small: NativeTarget) -> None:
    async def work(rig: Rig) -> None:
        target = rig.target
        for edge in Edge:
            for act, out in ((Act.REDIRECT, edge), (Act.NONE, edge.opposite), (Act.BOTH, edge)):
                data = frame(act, 100, act)
                await target.send(Frame(data, edge))
                came = await target.receive(0, out, 100_000)
                assert (came.data, came.edge) == (data, out), act
                if act == Act.BOTH:
                    copy = await target.receive(0, Edge.HOST, 100_000)
                    assert copy.data == data

    books(small, TX_BEATS, work)


def test_native_follows_copies_and_redirected_frames_as_the_frame_bfm_does(
    tmp_path: Path, simulate: Callable[..., Any], seed: int
) -> None:
    environment = {"NICLOOP_RECORD": str(tmp_path), "NICLOOP_ENGINE": "bfm", "NICLOOP_PROFILES": ",".join(PROFILES)}
    simulate(port_design("bfm"), BENCH, env=environment)
    simulated: list[Outcome] = pickle.loads((tmp_path / "outcomes.pickle").read_bytes())
    target, found = NativeTarget(seed), []

    async def work(rig: Rig) -> None:
        found.extend([await rig.play(*play) for play in plays(Random(seed), 60, PROFILES)])

    asyncio.run(target.start())
    books(target, 2048, work)
    for one, other in zip(simulated, found, strict=True):
        assert differences(one, other) == []
        assert one == other
    assert sum(int(field_of(outcome.meta, "acl_copy").sum()) for outcome in found) > 100


def test_agents_follow_copies_and_redirected_frames(sim: str, simulate: Callable[..., Any]) -> None:
    profiles = PROFILES[:-1] if sim == "verilator" else ("random",)
    environment = {"NICLOOP_PROFILES": ",".join(profiles), "NICLOOP_FRAMES": "40" if sim == "verilator" else "16"}
    simulate(port_design("agents", **least(sim)), BENCH, env=environment, timeout_s=1200)
