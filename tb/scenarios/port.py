"""Scenarios of one port: frames both ways, identification, counters, drops, faults, line rate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from models.frames import Batch, Edge, Outcome
from models.meta import Code, Disposition, disposition
from tb.scenarios.base import Needs, Params, check, scenario
from tb.targets.base import PROFILES, Fault, FaultKind, Frame, Target, UnmappedAddress, edge_name
from tb.targets.outcome import compare
from tb.targets.program import SLOTS, address, read_counter, read_dispositions

__all__ = [
    "backpressure",
    "bad_frame",
    "counters",
    "disabled_port",
    "echo",
    "identify",
    "line_rate",
    "oversize",
    "reset_mid_frame",
]

BOTH = (Edge.WIRE, Edge.HOST)
LENGTHS = (60, 61, 64, 65, 80, 127, 128, 200, 593, 1514)


async def judged(target: Target, params: Params, batch: Batch, before: Outcome | None = None) -> Outcome:
    """Play ``batch`` and hold the outcome against the golden model; ``before``: the last play since `configure`."""
    outcome = await target.play(batch)
    mismatches = compare(
        params.config,
        batch,
        outcome,
        before.counters if before is not None else None,
        xgmii=target.capabilities.xgmii,
    )
    check(not mismatches, "; ".join(str(mismatch) for mismatch in mismatches[:3]))
    return outcome


def codes(outcome: Outcome) -> list[int]:
    """The codes of all frames in the order of the batch."""
    return [int(code) for code in outcome.code]


def random_frames(params: Params, count: int) -> list[bytes]:
    """``count`` frames whose lengths are the boundaries first, then random ones."""
    lengths = [LENGTHS[i] if i < len(LENGTHS) else params.random.randint(60, 1514) for i in range(count)]
    return [params.frame(length) for length in lengths]


@scenario(frames=24)
async def echo(target: Target, params: Params) -> dict[str, Any]:
    """Frames go both ways at once and come out whole, in order, at the other edge."""
    await target.configure(params.config)
    timeout = target.capabilities.timeout_ns

    async def offer(edge: Edge, frames: list[bytes]) -> None:
        for data in frames:
            await target.send(Frame(data, edge))

    async def collect(edge: Edge, frames: list[bytes]) -> None:
        for index, data in enumerate(frames):
            came = await target.receive(0, edge.opposite, timeout)
            check(
                came.data == data,
                f"frame {index} from {edge_name(edge)} ({len(data)} bytes) came out with {len(came.data)} bytes"
                f"{'' if len(came.data) != len(data) else ' but other content'}",
            )

    traffic = {edge: random_frames(params, params["frames"]) for edge in BOTH}
    await target.gather(*(offer(e, f) for e, f in traffic.items()), *(collect(e, f) for e, f in traffic.items()))
    return {"frames": 2 * params["frames"], "ns": target.now()}


@scenario()
async def identify(target: Target, params: Params) -> dict[str, Any]:
    """Every slot says which block it is and whether it is built; an address without a slot gives an error."""
    await target.configure(params.config)
    states = {}
    for name, (base, block) in SLOTS.items():
        word = await target.read(base)
        check(word & 0xFF == block, f"slot {name} at 0x{base:05x} says block {word & 0xFF}, must be {block}")
        states[name] = ("absent", "left out", "stand-in", "present")[word >> 16 & 3]
    for name in ("parser_rx", "parser_tx"):
        check(states[name] == "present", f"slot {name} says that its block is {states[name]}")
    for unmapped in (0x7_4000, 0x8_0000, 0xF_FFFC):
        try:
            await target.read(unmapped)
        except UnmappedAddress:
            continue
        check(False, f"a read of 0x{unmapped:05x}, where there is no register, gave no error")
    return states


@scenario(frames=24)
async def counters(target: Target, params: Params) -> dict[str, Any]:
    """The counters of frames, bytes and dispositions say what happened, and their sum is closed."""
    await target.configure(params.config)
    frames = random_frames(params, params["frames"])
    bad = [1 if i % 5 == 3 else 0 for i in range(len(frames))]
    figures = {}
    outcome: Outcome | None = None
    for edge, direction in ((Edge.WIRE, "rx"), (Edge.HOST, "tx")):
        outcome = await judged(target, params, Batch.of(frames, edge=edge, bad=bad), outcome)
        delivered = [len(f) for f, code in zip(frames, codes(outcome), strict=True) if code == Code.DELIVERED]
        expected = {
            "frames_in": len(frames),
            "bytes_in": sum(map(len, frames)),
            "frames_out": len(delivered),
            "bytes_out": sum(delivered),
        }
        for name, value in expected.items():
            read = await read_counter(target, f"{direction}_{name}")
            check(read == value, f"counter {direction}_{name} reads {read}, must be {value}")
        table = await read_dispositions(target, direction)
        for code in Code:
            happened = codes(outcome).count(code)
            check(
                table.get(code, 0) == happened,
                f"{direction}_disposition[{code.name}] reads {table.get(code, 0)}, must be {happened}",
            )
        check(sum(table.values()) == len(frames), f"{direction}: {len(frames)} in, {sum(table.values())} accounted for")
        figures[direction] = len(frames)
    return figures


@scenario(max_frame=1000)
async def oversize(target: Target, params: Params) -> dict[str, Any]:
    """A frame one byte longer than `max_frame` is dropped for that reason; one of just that length passes."""
    limit = params["max_frame"]
    config = params.config
    params.config = replace(config, ports=tuple(replace(port, max_frame=limit) for port in config.ports))
    await target.configure(params.config)
    lengths = [limit - 1, limit, limit + 1, 60, limit + 15, limit + 16, limit + 17, 2 * limit, 60]
    frames = [params.frame(length) for length in lengths]
    outcome: Outcome | None = None
    for edge in BOTH:
        outcome = await judged(target, params, Batch.of(frames, edge=edge), outcome)
        for length, code in zip(lengths, codes(outcome), strict=True):
            expected = Code.OVERSIZE if length > limit else Code.DELIVERED
            check(code == expected, f"{length} bytes from {edge_name(edge)}: code {code}, must be {expected.name}")
    return {"max_frame": limit}


@scenario(frames=6)
async def disabled_port(target: Target, params: Params) -> dict[str, Any]:
    """While a direction is disabled its frames are dropped for that reason, the other one's pass, and it comes back."""
    await target.configure(params.config)
    frames = random_frames(params, params["frames"])
    control = address("nic.control")
    for disabled, edge in ((0b10, Edge.WIRE), (0b01, Edge.HOST)):
        await target.write(control, disabled)
        outcome = await target.play(Batch.of(frames, edge=edge))
        check(set(codes(outcome)) == {Code.PORT_DISABLED}, f"{edge_name(edge)} disabled: codes {codes(outcome)}")
        check(len(outcome.frames) == 0, f"{edge_name(edge)} disabled, yet {len(outcome.frames)} frames came out")
        other = await target.play(Batch.of(frames, edge=edge.opposite))
        check(set(codes(other)) == {Code.DELIVERED}, f"{edge_name(edge.opposite)} enabled: codes {codes(other)}")
        await target.write(control, 0b11)
        outcome = await target.play(Batch.of(frames, edge=edge))
        check(set(codes(outcome)) == {Code.DELIVERED}, f"{edge_name(edge)} enabled again: codes {codes(outcome)}")
    return None


@scenario(needs=Needs(faults=frozenset({FaultKind.BAD_FRAME})))
async def bad_frame(target: Target, params: Params) -> None:
    """A frame that comes in bad is dropped with its reason, and the frames around it pass."""
    await target.configure(params.config)
    frames = random_frames(params, 3)
    for edge in BOTH:
        for reason, expected in ((0, Code.BAD_FRAME), (Code.OVERSIZE, Code.OVERSIZE)):
            await target.inject(Fault.bad_frame(edge, reason=reason))
            outcome = await target.play(Batch.of(frames, edge=edge))
            wanted = [expected, Code.DELIVERED, Code.DELIVERED]
            check(
                codes(outcome) == wanted,
                f"{edge_name(edge)}, reason {reason}: codes {codes(outcome)}, must be {wanted}",
            )
    return None


@scenario(needs=Needs(faults=frozenset({FaultKind.RESET})), frames=8)
async def reset_mid_frame(target: Target, params: Params) -> dict[str, Any]:
    """A reset in the middle of a frame ends it; nothing of it comes out, and the frames behind it pass whole."""
    count = max(3, params["frames"])
    lost = 0
    for edge in BOTH:
        await target.configure(params.config)
        frames = [params.frame(params.random.randint(100, 1514)) for _ in range(count)]
        cut = params.random.randrange(1, count - 1)
        await target.inject(Fault.reset(edge, frame=cut, after_beats=params.random.randint(1, 6)))
        outcome = await judged(target, params, Batch.of(frames, edge=edge))
        ends = codes(outcome)
        check(ends[cut] == Code.RESET, f"frame {cut} from {edge_name(edge)}, cut by a reset, has code {ends[cut]}")
        after = set(ends[cut + 1 :])
        check(after == {Code.DELIVERED}, f"frames after the reset at {edge_name(edge)}: codes {ends[cut + 1 :]}")
        lost += ends.count(Code.RESET)
    return {"lost": lost}


@scenario(needs=Needs(faults=frozenset({FaultKind.BACK_PRESSURE})), frames=40)
async def backpressure(target: Target, params: Params) -> dict[str, Any]:
    """However the receiving edge pauses, frames come out whole and in order, and every one is accounted for."""
    dropped = 0
    for profile in PROFILES:
        await target.configure(params.config)
        for edge in BOTH:
            await target.inject(Fault.back_pressure(edge, profile))
        frames = random_frames(params, params["frames"])
        both = Batch.concat([Batch.of(frames, edge=edge) for edge in BOTH])
        outcome = await judged(target, params, both)
        dropped += sum(disposition(code) == Disposition.DROPPED for code in codes(outcome))
    return {"profiles": len(PROFILES), "dropped": dropped}


@scenario(needs=Needs(cycle_times=True, overlapping=True), frames=24)
async def line_rate(target: Target, params: Params) -> dict[str, Any]:
    """Frames of one length at the rate of a 25G wire: none is dropped, and the port keeps up in both directions."""
    figures = {}
    for length in (60, 61, 64, 65, 128, 256, 1514):
        frames = [params.frame(length) for _ in range(params["frames"])]
        spacing = (length + 24) * 8 / 25
        times = [int(index * spacing) for index in range(len(frames))]
        for edge in BOTH:
            await target.configure(params.config)
            outcome = await judged(target, params, Batch.of(frames, edge=edge, time_ns=times))
            check(set(codes(outcome)) == {Code.DELIVERED}, f"{length} bytes: codes {sorted(set(codes(outcome)))}")
            first, last = int(outcome.first_in[0]), int(np.max(outcome.last_out))
            taken = (last - first) * target.capabilities.clock_ns
            alone = int(np.min(outcome.latency_cycles)) + -(-length // 16)
            allowed = len(frames) * spacing + (alone + 8) * target.capabilities.clock_ns
            check(
                taken <= allowed,
                f"{length} bytes from {edge_name(edge)}: {taken:.0f} ns for all, line rate {allowed:.0f}",
            )
        figures[str(length)] = round(taken)
    return figures
