"""Published vectors through the engine: one simulation for all of them, and each judged by its file alone."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from models.gcm import Command, Key, Part
from tb.build import Design, Run, SimulationFailed, simulate
from tb.gcm.beats import BAD, OutBeat
from tb.gcm.player import PROGRESS, read_results, write_records
from tb.gcm.vector_files import Vector
from tb.toolchain import SIM_BUILD

__all__ = ["BENCH", "Failure", "Group", "Verdict", "job_of", "judge", "played", "run_vectors"]

BENCH = "tb.gcm.bench_player"
TIMEOUT_S = 1800


@dataclass(frozen=True)
class Failure:
    """A vector that came out wrong: what was due, and what came instead."""

    vector: Vector
    what: str


@dataclass
class Group:
    """Vectors of one file that are alike; lengths: those that the engine can't run, of vectors left out."""

    file: str
    kind: str
    vectors: int = 0
    passed: int = 0
    failed: int = 0
    lengths: set[int] = field(default_factory=set)

    @property
    def name(self) -> str:
        """What its vectors have in common, or why they can't be run."""
        return self.kind.format(", ".join(map(str, sorted(self.lengths)))) if self.lengths else self.kind


@dataclass
class Verdict:
    """Groups in the order of the files, and what failed."""

    groups: list[Group] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    runs: int = 0
    """Packets: a vector may be run in both directions."""
    seconds: float = 0.0
    waves: Path | None = None

    @property
    def passed(self) -> int:
        return sum(group.passed for group in self.groups)


def packets_of(vectors: Iterable[Vector]) -> list[tuple[Vector, bool, Key, Part]]:
    """Those that the engine can run: vector, direction (decrypt), key and what goes in."""
    packets = []
    for vector in vectors:
        if vector.misfit:
            continue
        key = Key(vector.cipher, vector.key)
        for decrypt in vector.ways:
            command = Command(0, vector.iv, decrypt, len(vector.tag))
            text = vector.ciphertext if decrypt else vector.plaintext or b""
            packets.append((vector, decrypt, key, Part(command, vector.aad, text, vector.tag)))
    return packets


def judge(vector: Vector, decrypt: bool, beats: Sequence[OutBeat]) -> str:
    """What is wrong with what came out of a vector; empty: nothing."""
    text = b"".join(_kept(beat) for beat in beats)
    last = beats[-1]
    if decrypt and not vector.valid:
        return "" if last.user == BAD else "decrypt: expected to be refused, got good"
    way, due = ("decrypt", vector.plaintext or b"") if decrypt else ("encrypt", vector.ciphertext)
    wrong = []
    if text != due:
        wrong.append(f"text: {_difference(text, due)}")
    tag = last.tag.to_bytes(16, "little")[: len(vector.tag)]
    if not decrypt and tag != vector.tag:
        wrong.append(f"tag: expected {vector.tag.hex()}, got {tag.hex()}")
    if last.user:
        wrong.append(f"expected good, got {'bad' if last.user == BAD else 'no key'}")
    return f"{way}: {'; '.join(wrong)}" if wrong else ""


def _kept(beat: OutBeat) -> bytes:
    data = beat.data.to_bytes(16, "little")
    return bytes(data[lane] for lane in range(16) if beat.keep >> lane & 1)


def _difference(got: bytes, due: bytes) -> str:
    if len(got) != len(due):
        return f"expected {len(due)} bytes, got {len(got)}"
    at = next(index for index, (x, y) in enumerate(zip(got, due, strict=True)) if x != y)
    return f"from byte {at}: expected {due[at : at + 16].hex()}, got {got[at : at + 16].hex()}"


def job_of(packets: Sequence[tuple[Key | None, Part]], *, keys: int = 256, seed: int = 1) -> Path:
    """A folder with the records of these packets."""
    shelf = SIM_BUILD / "jobs"
    shelf.mkdir(parents=True, exist_ok=True)
    made = shelf / f"gcm-{time.time_ns():x}"
    made.mkdir()
    write_records(made, packets, keys=keys, seed=seed)
    digest = hashlib.sha256(b"".join((made / name).read_bytes() for name in sorted(p.name for p in made.iterdir())))
    folder = shelf / f"gcm-{digest.hexdigest()[:12]}"
    shutil.rmtree(folder, ignore_errors=True)
    return made.rename(folder)


def played(folder: Path) -> int:
    """Packets that have come out so far."""
    file = folder / PROGRESS
    return int(json.loads(file.read_text())["packets"]) if file.exists() else 0


def run_vectors(
    vectors: Sequence[Vector],
    design: Design,
    watch: Callable[[Callable[[], Run], Path, int], Run] = lambda work, folder, total: work(),
    **options: object,
) -> Verdict:
    """All vectors that fit through the engine. watch: does the work and may look at the folder meanwhile. options: of
    `simulate`. SimulationFailed: the engine stood still, or lost packets."""
    begin = time.monotonic()
    packets = packets_of(vectors)
    found: dict[int, str] = {}
    waves: Path | None = None
    if packets:
        folder = job_of([(key, part) for _, _, key, part in packets])

        def work() -> Run:
            env = {"NICLOOP_JOB": str(folder)}
            return simulate(design, BENCH, env=env, timeout_s=TIMEOUT_S, **options)  # type: ignore[arg-type]

        run = watch(work, folder, len(packets))
        try:
            run.check()
        except SimulationFailed as error:
            done = min(played(folder), len(packets) - 1)
            vector = packets[done][0]
            raise SimulationFailed(f"{error}\nnext to come out: {vector.file}: {vector.name}") from error
        results = read_results(folder / "results.hex")
        for (vector, decrypt, _, _), (_, beats) in zip(packets, results, strict=True):
            what = judge(vector, decrypt, beats)
            if what:
                found.setdefault(id(vector), what)
        shutil.rmtree(folder, ignore_errors=True)
        waves = next(run.folder.glob("waves.*"), None)
    verdict = Verdict(runs=len(packets), seconds=time.monotonic() - begin, waves=waves)
    groups: dict[tuple[str, str], Group] = {}
    for vector in vectors:
        misfit = vector.misfit
        kind = misfit.kind if misfit else vector.group
        group = groups.setdefault((vector.file, kind), Group(vector.file, kind))
        group.vectors += 1
        if misfit:
            group.lengths.add(misfit.length)
            continue
        failed = id(vector) in found
        group.failed += failed
        group.passed += not failed
        if failed:
            verdict.failures.append(Failure(vector, found[id(vector)]))
    verdict.groups = list(groups.values())
    return verdict
