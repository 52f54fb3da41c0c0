"""The play of captures on a target: the same code inside the simulator and on the model.

Every frame of a capture goes through both directions of a port at once: received at the pace of a 25G wire, transmitted
as fast as the port takes it, while the receivers at both edges pause by a profile that is drawn from the seed. What
comes out is held against the golden model frame by frame and cycle by cycle. A capture that fails is shrunk to the
smallest one that still does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from models.config import NicConfig
from models.frames import Batch, Edge, Int64, Outcome
from models.meta import Code
from models.nic import Mismatch
from tb.replay.capture import CaptureError, read_capture, write_capture
from tb.replay.shrink import shrink
from tb.report.table import CaptureResult, Latency
from tb.targets.base import Fault, FaultKind, Target, TargetError
from tb.targets.engine import DIRECTIONS
from tb.targets.outcome import compare

__all__ = [
    "PROFILES",
    "SHRINK_TRIES",
    "Item",
    "Verdict",
    "as_told",
    "clear_failures",
    "draw_profiles",
    "is_failure",
    "load_item",
    "paced",
    "play_item",
    "play_job",
    "stimulus",
    "summarise",
    "write_failure",
]

PROFILES: dict[Edge, tuple[str, ...]] = {
    Edge.HOST: ("none", "random", "bursty", "gap", "after_valid", "stall_last", "storm"),
    Edge.WIRE: ("none", "random", "bursty", "one_in", "gap", "after_valid", "stall_last", "storm"),
}
"""What is drawn from, by the edge at which frames come out."""

LINE_GBPS = 25
WIRE_OVERHEAD = 24
"""Bytes that the wire adds to a frame: preamble, FCS, gap."""

SHRINK_TRIES = 150
"""Replays that the shrinking of one capture may take; a tenth of that under Icarus."""
KEPT_MISMATCHES = 20
_FAILURE = "nicloop failure"
_FAILURE_FILES = (".pcapng", ".toml", ".json")


@dataclass(frozen=True)
class Item:
    """One capture to play: its frames in the order in which they are offered at each edge, and how."""

    name: str
    frames: Batch
    profiles: Mapping[Edge, str]
    of_frames: int
    paced: bool = True
    config: NicConfig | None = None
    """Programmed instead of the job's, where the capture brings one."""
    cut: Fault | None = None
    """A reset in mid-frame."""

    doubled: bool = False
    """The second half of the frames is the first half again, at the other edge."""

    def part(self, index: Sequence[int]) -> Item:
        """The same with some of its frames only, in order."""
        return replace(self, frames=self.frames.select(np.asarray(index, np.int64)), doubled=False)

    def words(self, mismatch: Mismatch) -> str:
        """A difference, with the direction and the number that its frame has in the capture (from 0)."""
        if mismatch.frame < 0:
            return str(mismatch)
        way = DIRECTIONS[Edge(int(self.frames.edge[mismatch.frame]))]
        number = mismatch.frame % (len(self.frames) // 2) if self.doubled else mismatch.frame
        return f"{way} {replace(mismatch, frame=number)}"


@dataclass
class Verdict:
    """outcome is None where the play was ended; then ``ended`` says by what."""

    batch: Batch
    outcome: Outcome | None
    mismatches: list[Mismatch]
    ended: str = ""
    ended_at: int | None = None

    @property
    def failed(self) -> bool:
        return bool(self.mismatches or self.ended)

    @property
    def first_frame(self) -> int | None:
        """Index of the first frame that differs; None: no frame in particular."""
        frames = [mismatch.frame for mismatch in self.mismatches if mismatch.frame >= 0]
        return min(frames, default=self.ended_at)

    def words(self, item: Item) -> str:
        """The first difference: frame, offset, expected, got."""
        if self.ended:
            return self.ended
        # What names a byte says most, then what names a frame.
        first = min(self.mismatches, key=lambda m: (not m.what.startswith("byte"), m.frame < 0))
        return item.words(first)


def stimulus(frames: Batch) -> Batch:
    """Every frame of a capture at both edges, the wire's first; the capture's marks, times, directions are left out."""
    n = len(frames)
    lengths = np.tile(frames.lengths, 2)
    return Batch.of_arrays(np.tile(frames.data, 2), lengths, edge=np.repeat([int(Edge.WIRE), int(Edge.HOST)], n))


def paced(batch: Batch) -> Batch:
    """``batch`` with the times of a 25G wire on the frames that are received: each when the one before has passed."""
    time = batch.time_ns.copy()
    wire = np.flatnonzero(batch.edge == Edge.WIRE)
    spent = (batch.lengths[wire] + WIRE_OVERHEAD) * 8
    time[wire] = (np.cumsum(spent) - spent) // LINE_GBPS
    return replace(batch, time_ns=time)


def draw_profiles(seed: int, name: str) -> dict[Edge, str]:
    """The profile of each edge for a capture: depends on the seed and the capture's name alone."""
    random = Random(f"{seed} {name}")
    return {edge: random.choice(PROFILES[edge]) for edge in Edge}


async def _once(target: Target, item: Item, config: NicConfig) -> Verdict:
    """Reset, play, compare."""
    config = item.config or config
    await target.configure(config)
    if FaultKind.BACK_PRESSURE in target.capabilities.faults:
        for edge, profile in item.profiles.items():
            await target.inject(Fault.back_pressure(edge, profile))
    if item.cut is not None and item.cut.kind in target.capabilities.faults:
        await target.inject(item.cut)
    batch = paced(item.frames) if item.paced else item.frames
    try:
        outcome = await target.play(batch)
    except TargetError as error:
        return Verdict(batch, None, [], f"{type(error).__name__}: {error}", getattr(error, "frame", None))
    return Verdict(batch, outcome, compare(config, batch, outcome))


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
    result.delivered, result.dropped = int(delivered.sum()), int((outcome.code >= 16).sum())
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
) -> tuple[CaptureResult, Item | None]:
    """Play one capture. When it fails, also the smallest part of it that still fails, else None."""
    verdict = await _once(target, item, config)
    result = summarise(item, verdict, target.capabilities.clock_ns)
    if not verdict.failed:
        return result, None
    result.failure = {
        "first": verdict.words(item),
        "mismatches": [item.words(mismatch) for mismatch in verdict.mismatches[:KEPT_MISMATCHES]],
    }
    if tries == 0:
        return result, item

    async def fails(index: list[int]) -> bool:
        return (await _once(target, item.part(index), config)).failed

    shrunk = await shrink(range(len(item.frames)), fails, hint=verdict.first_frame, tries=tries)
    smallest = item.part(shrunk.frames)
    again = await _once(target, smallest, config)
    if again.failed:
        result.failure["smallest_first"] = again.words(smallest)
    result.failure |= {"frames": len(shrunk.frames), "tries": shrunk.tries, "minimal": shrunk.minimal}
    return result, smallest


def is_failure(path: Path) -> bool:
    """Whether a capture is one that `write_failure` left."""
    note = path.with_suffix(".json")
    return note.is_file() and f'"kind": "{_FAILURE}"' in note.read_text(errors="replace")


def clear_failures(folder: Path, keep: Iterable[Path]) -> None:
    """Remove what `write_failure` left in ``folder``, but for the captures ``keep``, and nothing else."""
    kept = {path.resolve().with_suffix("") for path in keep}
    for note in sorted(folder.glob("*.json")):
        path = note.with_suffix(".pcapng")
        if is_failure(path) and path.resolve().with_suffix("") not in kept:
            for suffix in _FAILURE_FILES:
                path.with_suffix(suffix).unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def load_item(path: Path, name: str, seed: int, most_beats: int | None = None) -> tuple[Item, str]:
    """The capture at ``path`` as an item, and what is to be said of it ("": nothing). CaptureError: it can't be read.

    A capture beside which a ``.json`` of `write_failure` lies is played as that says: each frame at its own edge only,
    with the same profiles and configuration. Any other has profiles by the seed and the file's name; ``name`` is only
    what it is called. ``most_beats``: only the first frames, as many as fit.
    """
    capture = read_capture(path)
    frames, notice = capture.batch, str(capture.error) if capture.error else ""
    empty = np.flatnonzero(frames.lengths == 0)
    if len(empty):
        notice = f"{notice}; {len(empty)} frames without a byte were left out".lstrip("; ")
        frames = frames.select(np.flatnonzero(frames.lengths))
    if is_failure(path):
        kept = json.loads(path.with_suffix(".json").read_text())
        profiles = {Edge[edge.upper()]: profile for edge, profile in kept["profiles"].items()}
        frames = replace(frames, time_ns=np.zeros(len(frames), np.int64), flags=np.zeros(len(frames), np.uint8))
        config = NicConfig.load(path.with_suffix(".toml"))
        cut = Fault(**kept["cut"] | {"edge": Edge(kept["cut"]["edge"])}) if kept["cut"] else None
        return Item(name, frames, profiles, len(frames), kept["paced"], config, cut), notice
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


def write_failure(folder: Path, item: Item, config: NicConfig, seed: int, result: CaptureResult) -> Path:
    """The smallest failing capture with its configuration and all that a replay needs beside it; returns its path.

    It is called like the capture, with "-2", "-3" and so on where that name is taken.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stem = Path(item.name).stem
    names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    taken = {path.stem for path in folder.iterdir() if path.suffix in _FAILURE_FILES}
    path = folder / f"{next(name for name in names if name not in taken)}.pcapng"
    write_capture(path, item.frames)
    path.with_suffix(".toml").write_text((item.config or config).to_toml())
    note = {
        "kind": _FAILURE,
        "capture": item.name,
        "seed": seed,
        "profiles": {edge.name.lower(): profile for edge, profile in item.profiles.items()},
        "paced": item.paced,
        "cut": asdict(item.cut) if item.cut is not None else None,
        "failure": result.failure,
    }
    path.with_suffix(".json").write_text(json.dumps(note, indent=1) + "\n")
    return path


async def play_job(target: Target, task: Mapping[str, Any], config: NicConfig, folder: Path) -> None:
    """The captures of a job, one after the other; a line of ``results.jsonl`` for each as soon as it is done."""
    with (folder / "results.jsonl").open("w", buffering=1) as results:
        for entry in task["captures"]:
            name = entry["name"]
            try:
                item, notice = load_item(Path(entry["path"]), name, task["seed"], task["most_beats"])
                item = as_told(item, entry, task["seed"])
            except CaptureError as error:
                results.write(json.dumps(asdict(CaptureResult(name, notice=str(error)))) + "\n")
                continue
            result, smallest = await play_item(target, item, config, tries=task["tries"])
            result.notice = notice
            if smallest is not None and task["failures"]:
                path = write_failure(Path(task["failures"]), smallest, config, task["seed"], result)
                result.failure["capture"] = str(path)
            results.write(json.dumps(asdict(result)) + "\n")
