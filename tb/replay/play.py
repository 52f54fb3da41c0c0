"""The play of captures on a target: the same code inside the simulator and on the model.

Every frame of a capture goes through both directions of a port at once: received at the pace of a 25G wire, transmitted
as fast as the port takes it, while the receivers at both edges pause by a profile that is drawn from the seed. What
comes out is held against the golden model frame by frame and cycle by cycle. A capture that fails is shrunk to the
smallest one that still does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from models.config import NicConfig
from models.frames import Batch, Edge, Int64
from models.meta import FIRST_DROP, Code
from tb.replay.capture import CaptureError, read_capture
from tb.replay.item import Failing, Item, Verdict, play_once
from tb.replay.pace import LINE_GBPS, WIRE_OVERHEAD
from tb.replay.packed import (
    KEPT_MISMATCHES,
    WIRE_PACE,
    FailureError,
    Origin,
    is_failure,
    load_failure,
    unpackable,
    write_failure,
)
from tb.replay.shrink import shrink
from tb.report.table import CaptureResult, Latency
from tb.targets.base import Fault, Target
from tb.targets.engine import DIRECTIONS
from tb.targets.program import RulesError, check_rules
from tb.targets.wire import WIRE

__all__ = [
    "PROFILES",
    "REFUSED",
    "SHRINK_TRIES",
    "as_told",
    "draw_profiles",
    "load_item",
    "play_item",
    "play_job",
    "stimulus",
    "summarise",
]

PROFILES: dict[Edge, tuple[str, ...]] = {
    Edge.HOST: ("none", "random", "bursty", "gap", "after_valid", "stall_last", "storm"),
    Edge.WIRE: ("none", "random", "bursty", "one_in", "gap", "after_valid", "stall_last", "storm"),
}
"""What is drawn from, by the edge at which frames come out."""

REFUSED = "refused"
"""File that says why nothing of a job was played."""

SHRINK_TRIES = 150
"""Replays that the shrinking of one capture may take; a tenth of that under Icarus."""


def stimulus(frames: Batch) -> Batch:
    """Every frame of a capture at both edges, the wire's first; the capture's marks, times, directions are left out."""
    n = len(frames)
    lengths = np.tile(frames.lengths, 2)
    return Batch.of_arrays(np.tile(frames.data, 2), lengths, edge=np.repeat([int(Edge.WIRE), int(Edge.HOST)], n))


def draw_profiles(seed: int, name: str) -> dict[Edge, str]:
    """The profile of each edge for a capture: depends on the seed and the capture's name alone."""
    random = Random(f"{seed} {name}")
    return {edge: random.choice(PROFILES[edge]) for edge in Edge}


def summarise(item: Item, verdict: Verdict, clock_ns: float) -> CaptureResult:
    """The line of the table."""
    batch = verdict.batch
    times = 2 if item.doubled else 1
    result = CaptureResult(
        item.name,
        frames=len(batch) // times,
        of_frames=item.of_frames,
        bytes=int(batch.lengths.sum()) // times,
        profiles={edge.name.lower(): profile for edge, profile in item.profiles.items()},
        mismatches=len({(m.frame, m.what if m.frame < 0 else "") for m in verdict.mismatches})
        or int(bool(verdict.ended)),
    )
    outcome = verdict.outcome
    if outcome is None:
        return result
    result.cycles = outcome.cycles
    delivered = outcome.code == Code.DELIVERED
    result.delivered, result.dropped = int(delivered.sum()), int((outcome.code >= FIRST_DROP).sum())
    for edge, way in DIRECTIONS.items():
        chosen = delivered & (batch.edge == edge)
        latency = Latency.of(outcome.latency_cycles[chosen & (outcome.latency_cycles >= 0)])
        if latency is not None:
            result.latency[way] = latency
            result.share[way] = _share(
                batch.lengths[chosen], outcome.first_out[chosen], outcome.last_out[chosen], clock_ns
            )
    return result


def _share(lengths: Int64, first_out: Int64, last_out: Int64, clock_ns: float) -> float:
    """Rate of what was delivered, as a fraction of a 25G wire.

    From the first beat out of the first frame to that of the last one, without the last frame's bits; of a lone frame
    from its first beat to its last.
    """
    bits = (lengths + WIRE_OVERHEAD) * 8
    if len(lengths) > 1:
        bits, cycles = bits[:-1], int(first_out[-1] - first_out[0])
    else:
        cycles = int(last_out[-1] - first_out[0] + 1)
    return float(bits.sum() / LINE_GBPS / (cycles * clock_ns))


async def play_item(
    target: Target, item: Item, config: NicConfig, *, tries: int = SHRINK_TRIES
) -> tuple[CaptureResult, Failing | None]:
    """Play one capture. When it fails, also the failure, cut down to the fewest frames if there are ``tries``."""
    verdict = await play_once(target, item, config)
    result = summarise(item, verdict, target.capabilities.clock_ns)
    if not verdict.failed:
        return result, None
    result.failure = {
        "first": verdict.words(item),
        "mismatches": [item.words(mismatch) for mismatch in verdict.mismatches[:KEPT_MISMATCHES]],
        "look": verdict.look(item),
    }
    if tries == 0:
        return result, Failing(item, verdict, item.part(range(len(item.frames))), verdict, False, 0)

    async def fails(index: list[int]) -> bool:
        return (await play_once(target, item.part(index), config)).failed

    shrunk = await shrink(range(len(item.frames)), fails, hint=verdict.first_frame, tries=tries)
    smallest = item.part(shrunk.frames)
    again = await play_once(target, smallest, config)
    if again.failed:
        result.failure["smallest_first"] = again.words(smallest)
    result.failure |= {"frames": len(shrunk.frames), "tries": shrunk.tries, "minimal": shrunk.minimal}
    return result, Failing(item, verdict, smallest, again, shrunk.minimal, shrunk.tries)


def load_item(
    path: Path, name: str, seed: int, most_beats: int | None = None, *, window: bool = False
) -> tuple[Item, str]:
    """The capture at ``path`` as an item, and what is to be said of it ("": nothing). CaptureError: it can't be read.

    A failure (`write_failure`) is played as it failed: each frame at its own edge only, with the same profiles and
    configuration. Any other has profiles by the seed and the file's name; ``name`` is only what it is called.
    ``most_beats``: only the first frames, as many as fit. ``window``: of a failure all frames up to the failing one.
    """
    if is_failure(path):
        packed = load_failure(path, name)
        if packed.origin.engine == WIRE:
            raise FailureError(str(path), f"failed with XGMII at the wire: nicloop rerun {path}")
        item = packed.window if window and packed.window is not None else packed.item
        if item.state is not None:
            raise FailureError(
                str(path), f"starts from a saved state of the device: nicloop rerun {path} --target native"
            )
        return item, ""
    capture = read_capture(path)
    frames, notice = capture.batch, str(capture.error) if capture.error else ""
    empty = np.flatnonzero(frames.lengths == 0)
    if len(empty):
        notice = f"{notice}; {len(empty)} frames without a byte were left out".lstrip("; ")
        frames = frames.select(np.flatnonzero(frames.lengths))
    whole = len(frames)
    if most_beats is not None:
        frames = frames.select(slice(0, max(1, int(np.searchsorted(np.cumsum(2 * frames.beats), most_beats, "right")))))
    return Item(name, stimulus(frames), draw_profiles(seed, path.name), whole, doubled=True), notice


def as_told(item: Item, entry: Mapping[str, Any], seed: int) -> Item:
    """The item with the profile and the reset that a job's entry asks for.

    "profile": the name of the one for both edges. "reset": true for a reset in mid-frame, drawn from the seed.
    """
    if "profile" in entry:
        item = replace(item, profiles=dict.fromkeys(Edge, entry["profile"]))
    if entry.get("reset"):
        random = Random(f"{seed} {item.name} reset")
        edge = random.choice(list(Edge))
        beats = item.frames.beats[item.frames.edge == edge]
        frame = random.randrange(len(beats))
        after = random.randint(1, max(1, int(beats[frame]) - 1))
        item = replace(item, cut=Fault.reset(edge, frame=frame, after_beats=after))
    return item


async def play_job(target: Target, task: Mapping[str, Any], config: NicConfig, folder: Path) -> None:
    """The captures of a job, one after the other; a line of ``results.jsonl`` for each as soon as it is done. A file
    `REFUSED` and nothing else: the job's rules don't fit the target."""
    try:
        await check_rules(target, config)
    except RulesError as error:
        (folder / REFUSED).write_text(str(error))
        return
    with (folder / "results.jsonl").open("w", buffering=1) as results:
        for entry in task["captures"]:
            name = entry["name"]
            try:
                item, notice = load_item(
                    Path(entry["path"]), name, task["seed"], task["most_beats"], window=entry.get("window", False)
                )
                item = as_told(item, entry, task["seed"])
                await check_rules(target, item.config or config)
            except (CaptureError, RulesError) as error:
                results.write(json.dumps(asdict(CaptureResult(name, notice=str(error)))) + "\n")
                continue
            result, failing = await play_item(target, item, config, tries=task["tries"])
            result.notice = notice
            if failing is not None and task["failures"]:
                origin = Origin(task["command"], "cocotb", task["sim"], task["engine"], task["seed"], WIRE_PACE)
                folder = Path(task["failures"])
                try:
                    result.failure["capture"] = str(write_failure(folder, failing, config, origin))
                except OSError as error:
                    result.notice = "; ".join(filter(None, (notice, unpackable(folder, error))))
            results.write(json.dumps(asdict(result)) + "\n")
