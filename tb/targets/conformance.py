"""What every target must keep: one check a promise of the ``Target`` protocol, for any scheduler.

A check is a coroutine that gets a configured target and raises `ScenarioFailed`. ``tests/nic/test_targets.py`` runs all
of them on every target; a new target is done when it passes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from models.config import NicConfig, ParserConfig
from models.frames import Batch, Edge, Outcome
from models.meta import Code, field_of
from models.nic import NicPortModel
from tb.nic.redirect import CONFIG as RULED
from tb.nic.redirect import MIRRORED, REDIRECTED, Act
from tb.nic.redirect import frame as ruled_frame
from tb.scenarios.base import check
from tb.targets.base import (
    PROFILES,
    Fault,
    FaultKind,
    Frame,
    ReceiveTimeout,
    Target,
    TargetError,
    UnmappedAddress,
    Unsupported,
)
from tb.targets.outcome import compare
from tb.targets.program import address, read_counter, writes

__all__ = ["CHECKS", "run_checks"]

Check = Callable[[Target], Awaitable[None]]
CHECKS: dict[str, Check] = {}
"""All checks by name."""

CONFIG = NicConfig()
NOWHERE = 0x7_4000
LENGTHS = (60, 61, 64, 65, 128, 200, 1514)


def promise(coroutine: Check) -> Check:
    """Register a check under its name."""
    CHECKS[coroutine.__name__] = coroutine
    return coroutine


def frames(count: int, start: int = 1) -> list[bytes]:
    """Frames that differ from each other, of the lengths in turn."""
    return [bytes([start + i]) * LENGTHS[i % len(LENGTHS)] for i in range(count)]


def mixed(count: int = 14) -> Batch:
    """Frames at both edges in turn, one in five bad."""
    edges = [i % 2 for i in range(count)]
    bad = [1 if i % 5 == 4 else 0 for i in range(count)]
    return Batch.of(frames(count), edge=edges, bad=bad, queue=[7 * edge for edge in edges])


def agrees(batch: Batch, outcome: Outcome, before: Outcome | None = None) -> None:
    """The outcome is what the golden model says."""
    found = compare(CONFIG, batch, outcome, before.counters if before is not None else None)
    check(not found, "; ".join(map(str, found[:3])))


async def raises(error: type[Exception], awaitable: Awaitable[Any]) -> Exception:
    """The awaitable raises ``error``; returns it."""
    try:
        await awaitable
    except error as found:
        return found
    check(False, f"no {error.__name__} was raised")
    raise AssertionError


@promise
async def capabilities_name_what_is_there(target: Target) -> None:
    has = target.capabilities
    check(0 in has.ports and has.edges <= frozenset(Edge), f"ports {has.ports}, edges {has.edges}")
    check(set(target.memory) == has.memories, f"memory {sorted(target.memory)}, capabilities {sorted(has.memories)}")
    check(has.clock_ns > 0 and has.frames > 0 and has.timeout_ns > 0, f"budgets {has}")


@promise
async def configure_programs_what_the_config_says(target: Target) -> None:
    parser = ParserConfig(drop_rx=("too_deep",), drop_tx=("l3_beyond_frame", "bad_ihl"))
    port = replace(CONFIG.ports[0], max_frame=777, tx_enable=False, parser=parser)
    config = replace(CONFIG, ports=(port,) * len(CONFIG.ports))
    await target.configure(config)
    for where, value in writes(config):
        read = await target.read(where)
        check(read == value, f"0x{where:05x} reads {read:#x} after configure, must be {value:#x}")
    batch = Batch.of([bytes(778), bytes(777), bytes(60)], edge=[Edge.WIRE, Edge.WIRE, Edge.HOST])
    outcome = await target.play(batch)
    wanted = [Code.OVERSIZE, Code.DELIVERED, Code.PORT_DISABLED]
    check(outcome.code.tolist() == wanted, f"codes {outcome.code.tolist()}, must be {wanted}")


@promise
async def configure_clears_counters_queues_and_faults(target: Target) -> None:
    await target.send(Frame(bytes(64), Edge.WIRE))
    if FaultKind.BAD_FRAME in target.capabilities.faults:
        await target.inject(Fault.bad_frame(Edge.WIRE))
    await target.sleep(1000)
    await target.configure(CONFIG)
    check(await read_counter(target, "rx_frames_in") == 0, "rx_frames_in is not 0 after configure")
    await raises(ReceiveTimeout, target.receive(0, Edge.HOST, 500))
    outcome = await target.play(Batch.of([bytes(60)]))
    check(outcome.code.tolist() == [Code.DELIVERED], f"a fault outlived configure: codes {outcome.code.tolist()}")


@promise
async def play_gives_an_outcome_that_is_whole(target: Target) -> None:
    batch = mixed()
    outcome = await target.play(batch)
    check(len(outcome) == len(batch), f"{len(batch)} frames in, an outcome of {len(outcome)}")
    check(bool((outcome.code != 0).all()), f"frames without an end: codes {outcome.code.tolist()}")
    source = outcome.source.tolist()
    check(len(set(source)) == len(source), f"a frame came out twice: {source}")
    delivered = np.flatnonzero(outcome.code == Code.DELIVERED).tolist()
    check(sorted(source) == delivered, f"delivered {delivered}, came out {sorted(source)}")
    for place, index in enumerate(source):
        check(outcome.frames.frame(place) == batch.frame(index), f"frame {index} came out changed")
        check(outcome.frames.edge[place] == 1 - batch.edge[index], f"frame {index} came out where it went in")
    check(set(outcome.latency_cycles[outcome.code != Code.DELIVERED].tolist()) == {-1}, "a dropped frame has a latency")
    agrees(batch, outcome)


@promise
async def play_of_nothing_gives_nothing(target: Target) -> None:
    outcome = await target.play(Batch.empty())
    check(len(outcome) == 0 and len(outcome.frames) == 0, f"{outcome}")


@promise
async def play_ends_when_every_frame_is_in_whole(target: Target) -> None:
    config = replace(CONFIG, ports=tuple(replace(port, max_frame=64) for port in CONFIG.ports))
    for edge in Edge:
        await target.configure(config)
        batch = Batch.of([bytes(60), bytes(20_000)], edge=edge)
        outcome = await target.play(batch)
        codes = outcome.code.tolist()
        check(codes == [Code.DELIVERED, Code.OVERSIZE], f"codes {codes}")
        check(outcome.last_in[1] - outcome.first_in[1] >= 1249, f"{edge.name}: last beat in {outcome.last_in[1]}")
        found = compare(config, batch, outcome)
        check(not found, "; ".join(map(str, found[:3])))


@promise
async def play_keeps_the_order_of_each_edge(target: Target) -> None:
    batch = Batch.of(frames(20), edge=[i % 2 for i in range(20)])
    outcome = await target.play(batch)
    for edge in Edge:
        order = outcome.source[outcome.frames.edge == int(edge)]
        check(bool((np.diff(order) > 0).all()) and len(order) == 10, f"out at {edge.name}: {order.tolist()}")


@promise
async def play_starts_no_frame_before_its_time(target: Target) -> None:
    batch = Batch.of(frames(4), edge=[Edge.WIRE, Edge.HOST, Edge.WIRE, Edge.HOST], time_ns=[0, 1000, 3001, 3999])
    outcome = await target.play(batch)
    earliest = (batch.time_ns / target.capabilities.clock_ns).tolist()
    for first, least in zip(outcome.first_in.tolist(), earliest, strict=True):
        check(least <= first <= least + 20, f"a frame for cycle {least} started in cycle {first}")
    agrees(batch, outcome)


@promise
async def plays_follow_each_other_and_counters_go_on(target: Target) -> None:
    before = None
    for start in (1, 40, 80):
        batch = Batch.of(frames(6, start), edge=[i % 2 for i in range(6)])
        outcome = await target.play(batch)
        agrees(batch, outcome, before)
        before = outcome
    check(await read_counter(target, "tx_frames_out") == 9, "tx_frames_out is not 9 after three plays of 3")


@promise
async def play_takes_time(target: Target) -> None:
    begin = target.now()
    outcome = await target.play(Batch.of(frames(4)))
    spent = target.now() - begin
    check(spent >= outcome.cycles * target.capabilities.clock_ns - 4, f"{outcome.cycles} cycles in {spent} ns")


@promise
async def frames_of_a_play_are_not_received(target: Target) -> None:
    await target.play(Batch.of([bytes(60)]))
    await raises(ReceiveTimeout, target.receive(0, Edge.HOST, 1000))


@promise
async def a_frame_that_is_sent_is_received_at_the_other_edge(target: Target) -> None:
    for edge in Edge:
        for data in frames(3):
            begin = target.now()
            await target.send(Frame(data, edge, queue=3))
            came = await target.receive(0, edge.opposite, target.capabilities.timeout_ns)
            check(came.data == data, f"{len(data)} bytes from {edge.name} came out as {len(came.data)}")
            check(came.edge == edge.opposite and came.port == 0, f"came out at {came.edge.name} of port {came.port}")
            check(
                begin <= came.time_ns <= target.now(), f"came at {came.time_ns} ns, between {begin} and {target.now()}"
            )


@promise
async def send_waits_for_the_frames_time(target: Target) -> None:
    at = target.now() + 5000
    await target.send(Frame(bytes(64), Edge.WIRE, time_ns=at))
    check(target.now() >= at, f"sent by {target.now()} ns, not before {at}")
    await target.receive(0, Edge.HOST, target.capabilities.timeout_ns)


@promise
async def frames_are_received_in_the_order_in_which_they_were_sent(target: Target) -> None:
    sent = frames(8)
    for data in sent:
        await target.send(Frame(data, Edge.HOST))
    for index, data in enumerate(sent):
        came = await target.receive(0, Edge.WIRE, target.capabilities.timeout_ns)
        check(came.data == data, f"frame {index} is another")


@promise
async def receive_gives_up_after_its_timeout(target: Target) -> None:
    begin = target.now()
    error = await raises(ReceiveTimeout, target.receive(0, Edge.WIRE, 2000))
    spent = target.now() - begin
    check(isinstance(error, TimeoutError), "ReceiveTimeout is no TimeoutError")
    check(1990 <= spent <= 2200, f"gave up after {spent} ns, not 2000")
    check("wire" in str(error) and "2000" in str(error), f"says neither edge nor time: {error}")


@promise
async def a_frame_that_is_dropped_is_not_received(target: Target) -> None:
    await target.send(Frame(bytes(64), Edge.WIRE, bad=1))
    await target.send(Frame(bytes(61), Edge.WIRE))
    came = await target.receive(0, Edge.HOST, target.capabilities.timeout_ns)
    check(len(came.data) == 61, f"{len(came.data)} bytes came first")
    await raises(ReceiveTimeout, target.receive(0, Edge.HOST, 1000))


@promise
async def a_port_that_is_not_there_is_unsupported(target: Target) -> None:
    absent = max(target.capabilities.ports) + 1
    await raises(Unsupported, target.receive(absent, Edge.HOST, 100))
    await raises(Unsupported, target.send(Frame(bytes(60), Edge.WIRE, port=absent)))
    await raises(Unsupported, target.play(Batch.of([bytes(60)], port=absent)))


@promise
async def a_frame_without_a_byte_is_refused(target: Target) -> None:
    await raises(ValueError, target.play(Batch.of([b"", bytes(60)])))
    outcome = await target.play(Batch.of([bytes(60)]))
    check(outcome.code.tolist() == [Code.DELIVERED], "a refused play left something behind")


@promise
async def registers_hold_what_is_written(target: Target) -> None:
    scratch = address("nic.scratch")
    for value in (0x1234_5678, 0xFFFF_FFFF, 0):
        await target.write(scratch, value)
        read = await target.read(scratch)
        check(read == value, f"scratch reads {read:#x} after a write of {value:#x}")
    await target.write(address("nic.id"), 0xFFFF_FFFF)
    check(await target.read(address("nic.id")) & 0xFF == 0, "a read-only register was written")
    await raises(ValueError, target.write(scratch, 1 << 32))
    await raises(ValueError, target.write(scratch, -1))


@promise
async def an_address_without_a_register_is_an_error_and_no_more(target: Target) -> None:
    for nowhere in (NOWHERE, 0xF_FFFC, 0x10_0000):
        error = await raises(UnmappedAddress, target.read(nowhere))
        check(getattr(error, "address", None) == nowhere, f"the error names {error}")
        await raises(UnmappedAddress, target.write(nowhere, 1))
    await target.write(address("nic.scratch"), 5)
    check(await target.read(address("nic.scratch")) == 5, "registers don't answer after an error")


@promise
async def the_low_word_of_a_counter_latches_the_high_one(target: Target) -> None:
    where = address("nic.rx_bytes_in")
    await target.play(Batch.of([bytes(100)]))
    check(await target.read(where) == 100, "rx_bytes_in is not 100")
    check(await target.read(where + 4) == 0, "its high word is not 0")


@promise
async def time_goes_on_in_sleep_and_never_back(target: Target) -> None:
    times = [target.now()]
    for ns in (0, 4, 1000, 12345):
        await target.sleep(ns)
        times.append(target.now())
        spent = times[-1] - times[-2]
        check(ns - 4 <= spent <= ns + 8, f"a sleep of {ns} ns took {spent}")
    await raises(ValueError, target.sleep(-1))
    check(times == sorted(times), f"times {times}")


@promise
async def gather_runs_at_once_and_gives_results_in_order(target: Target) -> None:
    begin = target.now()

    async def nap(ns: int) -> int:
        await target.sleep(ns)
        return ns

    async def both() -> list[int]:
        return await target.gather(nap(3000), nap(1000))

    results = await target.gather(nap(4000), both(), nap(500))
    check(list(results) == [4000, [3000, 1000], 500], f"results {results}")
    spent = target.now() - begin
    check(4000 <= spent < 5000, f"took {spent} ns")
    check(await target.gather() == [], "a gather of nothing gives something")


@promise
async def gather_raises_the_first_error_and_ends_the_others(target: Target) -> None:
    went_on = []

    async def fail() -> None:
        await target.sleep(100)
        raise KeyError("first")

    async def go_on() -> None:
        await target.sleep(5000)
        went_on.append(1)

    await raises(KeyError, target.gather(go_on(), fail()))
    await target.sleep(6000)
    check(not went_on, "a coroutine went on after the error of another")


@promise
async def receive_may_wait_before_the_frame_is_sent(target: Target) -> None:
    async def later() -> None:
        await target.sleep(2000)
        await target.send(Frame(bytes([5]) * 70, Edge.WIRE))

    came, _ = await target.gather(target.receive(0, Edge.HOST, target.capabilities.timeout_ns), later())
    check(came.data == bytes([5]) * 70, "another frame came")


@promise
async def registers_answer_while_frames_pass(target: Target) -> None:
    async def look() -> int:
        return sum([await target.read(address("nic.scratch")) for _ in range(20)])

    await target.write(address("nic.scratch"), 3)
    batch = Batch.of(frames(10))
    outcome, total = await target.gather(target.play(batch), look())
    check(total == 60, f"20 reads of 3 gave {total}")
    agrees(batch, outcome)


@promise
async def an_injected_bad_frame_is_the_next_one_at_its_edge(target: Target) -> None:
    if FaultKind.BAD_FRAME not in target.capabilities.faults:
        await raises(Unsupported, target.inject(Fault.bad_frame(Edge.WIRE)))
        return
    await target.inject(Fault.bad_frame(Edge.HOST, reason=Code.OVERSIZE))
    batch = Batch.of(frames(4), edge=[Edge.WIRE, Edge.HOST, Edge.HOST, Edge.WIRE])
    outcome = await target.play(batch)
    wanted = [Code.DELIVERED, Code.OVERSIZE, Code.DELIVERED, Code.DELIVERED]
    check(outcome.code.tolist() == wanted, f"codes {outcome.code.tolist()}, must be {wanted}")
    check(batch.bad.tolist() == [0] * 4, "the stimulus was changed")
    await target.inject(Fault.bad_frame(Edge.WIRE))
    await target.send(Frame(bytes(64), Edge.WIRE))
    await raises(ReceiveTimeout, target.receive(0, Edge.HOST, 1000))


@promise
async def an_injected_reset_ends_the_frame_and_the_play_goes_on(target: Target) -> None:
    if FaultKind.RESET not in target.capabilities.faults:
        await raises(Unsupported, target.inject(Fault.reset(Edge.WIRE)))
        return
    config = replace(CONFIG, ports=tuple(replace(port, max_frame=1000) for port in CONFIG.ports))
    for edge in Edge:
        await target.configure(config)
        await target.inject(Fault.reset(edge, frame=1, after_beats=3))
        batch = Batch.of([bytes([i + 1]) * 120 for i in range(4)] + [bytes(1001)], edge=edge)
        outcome = await target.play(batch)
        codes = outcome.code.tolist()
        check(codes[1] == Code.RESET, f"the cut frame has code {codes[1]}")
        check(codes[2:] == [Code.DELIVERED, Code.DELIVERED, Code.OVERSIZE], f"codes after the reset: {codes[2:]}")
        check(len(outcome.resets) == 1, f"{len(outcome.resets)} resets in the outcome")
        found = compare(config, batch, outcome)
        check(not found, "; ".join(map(str, found[:3])))


@promise
async def back_pressure_stays_until_it_is_replaced(target: Target) -> None:
    if FaultKind.BACK_PRESSURE not in target.capabilities.faults:
        await raises(Unsupported, target.inject(Fault.back_pressure(Edge.WIRE, "random")))
        return
    for profile in PROFILES:
        await target.configure(CONFIG)
        for edge in Edge:
            await target.inject(Fault.back_pressure(edge, profile))
        before = None
        for start in (1, 60):
            batch = Batch.of(frames(6, start), edge=[i % 2 for i in range(6)])
            outcome = await target.play(batch)
            agrees(batch, outcome, before)
            before = outcome
    try:
        Fault.back_pressure(Edge.WIRE, "gentle")
    except ValueError as error:
        check("stalled" in str(error), f"the error doesn't list the profiles: {error}")
    else:
        check(False, "a profile that isn't there was taken")


def ruled(batch: Batch, outcome: Outcome, acts: Sequence[Act]) -> None:
    """Each frame left by the edge that its act says, once; copies, at the host, have its source and not its cycles."""
    copies = field_of(outcome.meta, "acl_copy") != 0
    own = outcome.source[~copies]
    check(sorted(own.tolist()) == list(range(len(batch))), f"frames out are {own.tolist()}")
    for i, act in enumerate(acts):
        out = np.flatnonzero(outcome.source == i)
        frame_out, copy = out[~copies[out]][0], out[copies[out]]
        edge = int(batch.edge[i]) if act in REDIRECTED else 1 - int(batch.edge[i])
        check(outcome.frames.edge[frame_out] == edge, f"frame {i} ({act.name}) left by edge {1 - edge}")
        check(len(copy) == (act in MIRRORED), f"frame {i} ({act.name}) has {len(copy)} copies")
        check(bool((outcome.frames.edge[copy] == Edge.HOST).all()), f"a copy of frame {i} went to the wire")
        check(all(outcome.frames.frame(int(j)) == batch.frame(i) for j in out), f"frame {i} came out changed")
        first = (int(outcome.frames.time_ns[frame_out]) - outcome.begin_ns) // 4
        check(outcome.first_out[i] == first, f"first_out of frame {i} is {outcome.first_out[i]}, it came in {first}")
        check(outcome.latency_cycles[i] == first - outcome.first_in[i], f"latency of frame {i}")


@promise
async def frames_leave_where_their_rules_say_and_copies_have_their_source(target: Target) -> None:
    if not target.capabilities.rules:
        return
    acts = [act for act in (*MIRRORED, *REDIRECTED, Act.NONE) if act != Act.DENY_AND_MIRROR]
    for profile in ("none", "random"):
        await target.configure(RULED)
        if FaultKind.BACK_PRESSURE in target.capabilities.faults:
            for edge in Edge:
                await target.inject(Fault.back_pressure(edge, profile))
        model, before = NicPortModel(RULED), None
        for _ in range(2):
            all_acts = acts * 2
            edges = [edge for edge in Edge for _ in acts]
            batch = Batch.of([ruled_frame(act, 60 + 20 * i, i) for i, act in enumerate(all_acts)], edge=edges)
            outcome = await target.play(batch)
            ruled(batch, outcome, all_acts)
            found = model.check(batch, outcome, before)
            check(not found, "; ".join(map(str, found[:3])))
            before = outcome.counters
    copies = 2 * 2 * sum(act in MIRRORED for act in acts)
    total = [await read_counter(target, f"{way}_frames_out") for way in ("rx", "tx")]
    check(sum(total) == 2 * 2 * len(acts) + copies, f"{total} frames out counted")


@promise
async def frames_that_are_sent_are_received_where_their_rules_say(target: Target) -> None:
    if not target.capabilities.rules:
        return
    await target.configure(RULED)
    for edge in Edge:
        data = ruled_frame(Act.BOTH, 100)
        await target.send(Frame(data, edge))
        for where in (edge, Edge.HOST):
            came = await target.receive(0, where, target.capabilities.timeout_ns)
            check(came.data == data, f"another frame came out at {where.name}")
        await raises(ReceiveTimeout, target.receive(0, Edge.WIRE, 1000))


@promise
async def now_is_the_ports_time_at_the_plays_beginning(target: Target) -> None:
    outcome = await target.play(Batch.of(frames(2)))
    if outcome.now < 0:
        return
    stamp = int(field_of(outcome.meta, "timestamp")[0])
    check(stamp == (outcome.now >> 32) + 4 * (int(outcome.first_in[0]) + 1), f"now {outcome.now >> 32}, stamp {stamp}")


async def run_checks(target: Target, names: Iterable[str] = ()) -> dict[str, str]:
    """Run checks (all where none is named), each on a freshly configured target: name to what went wrong, or ""."""
    results = {}
    for name in names or CHECKS:
        try:
            await target.configure(CONFIG)
            await CHECKS[name](target)
            results[name] = ""
        except (AssertionError, TargetError, ValueError, LookupError, TypeError) as error:
            results[name] = f"{type(error).__name__}: {error}"
    return results
