"""A replay on a target by name: in this process, or in a simulator that is started for it."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import sys
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, BinaryIO

from models.config import NicConfig
from tb.build import build
from tb.nic.designs import least, needed, port_design
from tb.replay.capture import CaptureError
from tb.replay.packed import capture_stem
from tb.replay.perform import Performed, Task, perform
from tb.replay.show import Bar
from tb.report.watch import watched
from tb.targets.base import Target, TargetError, Unsupported
from tb.targets.launch import job_folder, launch_job
from tb.targets.model import ModelTarget
from tb.targets.native import NativeTarget, waves_suffix
from tb.targets.probe import ProbeTarget
from tb.targets.program import RulesError
from tb.targets.wire import WIRE, WireTarget
from tb.toolchain import SIM_BUILD

__all__ = ["How", "Interrupt", "no_start", "play", "replay_job", "to_stdout"]

_MOST_S = 7 * 24 * 3600
"""Longest replay in a simulator."""
_RESULT, _PROGRESS, _STOP = "result.json", "progress.json", "stop"


@dataclass(frozen=True)
class How:
    """On what a replay runs. engine: of the target cocotb; native: `WIRE`, the wire is XGMII, or "". slots: with taps
    where it can be."""

    target: str
    sim: str = ""
    engine: str = ""
    seed: int = 1
    waves: bool = False
    slots: bool = False

    @property
    def edge(self) -> str:
        """What the wire is: "stream" or "wire"."""
        return "wire" if self.target == "native" and self.engine == WIRE else "stream"

    def target_here(self, config: NicConfig) -> NativeTarget | ModelTarget:
        """The target, which is one of this process, with the blocks that ``config`` has something for. BuildError,
        ToolError: it can't be built."""
        if self.target == "model":
            return ModelTarget()
        parameters = needed(config)
        if self.edge == "wire":
            return WireTarget(self.seed, **parameters)
        return (ProbeTarget if self.slots else NativeTarget)(self.seed, **parameters)


class Interrupt:
    """Within it the first Ctrl-C only asks for an end, ``asked``; the second one is a KeyboardInterrupt."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> Interrupt:
        self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        signal.signal(signal.SIGINT, self._before)


def play(task: Task, how: How, bar: Bar) -> tuple[Performed, Path | None]:
    """Do a task; also the waveform, where there is one.

    CaptureError: an output can't be opened. Unsupported: a frame is of a port that the target lacks. RulesError: the
    rules don't fit it. BuildError, ToolError, SimulationFailed: of a target that is built.
    """
    if how.target == "cocotb":
        return _in_simulator(task, how, bar)
    target = how.target_here(NicConfig.parse(task.config))
    waves = _waves_place(task) if how.waves else None
    here = task if waves is None else replace(task, waves=str(waves))
    with Interrupt() as interrupt:
        performed = asyncio.run(_here(target, here, bar, interrupt))
    return performed, waves if waves is not None and waves.exists() else None


def _waves_place(task: Task) -> Path:
    """Where the native target writes waves: by the name of the first capture."""
    folder = SIM_BUILD / "waves"
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{capture_stem(task.captures[0][0])}{waves_suffix()}"
    place.unlink(missing_ok=True)
    return place


async def _here(target: NativeTarget | ModelTarget, task: Task, bar: Bar, interrupt: Interrupt) -> Performed:
    if isinstance(target, NativeTarget):
        await target.start()

    def warn(text: str) -> None:
        print(f"nicloop: {text}", file=sys.stderr)

    return await perform(
        target, task, tell=bar.tell, programming=bar.programming, interrupted=lambda: interrupt.asked, warn=warn
    )


# -- in a simulator ----------------------------------------------------------------------------------------------------


def _in_simulator(task: Task, how: How, bar: Bar) -> tuple[Performed, Path | None]:
    parameters = least(how.sim) | needed(NicConfig.parse(task.config))
    build(port_design(how.engine, **parameters), how.sim, "fast", how.waves)  # before Ctrl-C only asks for an end
    with _spooled(task) as files, Interrupt() as interrupt:
        job = asdict(files)
        options: dict[str, Any] = {"sim": how.sim, "engine": how.engine, "seed": how.seed}
        folder = job_folder("replay", job, **options)
        shutil.rmtree(folder, ignore_errors=True)  # so that no request to end goes into a folder that is replaced

        def watch() -> None:
            if interrupt.asked:
                with suppress(OSError):  # the folder isn't there yet: the next look comes soon
                    (folder / _STOP).touch()
            _tell_progress(folder, bar)

        with watched(watch):
            run, _ = launch_job("replay", job, **options, waves=how.waves, timeout_s=_MOST_S)
        if not (folder / _RESULT).exists():
            run.check()
        result = json.loads((folder / _RESULT).read_text())
        if "refused" in result:
            raise _REFUSALS[result["kind"]](result["refused"])
        waves = next((path for path in run.folder.glob("waves.*") if path.stat().st_size), None)
        return Performed(**result), waves


class _Refused(CaptureError):
    """An error of an output that came as text from another process."""

    def __init__(self, text: str) -> None:
        Exception.__init__(self, text)


_REFUSALS: dict[str, type[Exception]] = {
    "output": _Refused,
    "port": Unsupported,
    "rules": RulesError,
    "target": TargetError,
}


def no_start(error: TargetError) -> str:
    """In one line that the port can't be brought to where it plays."""
    return f"the port can't be configured: {str(error).partition(chr(10))[0]}"


@contextmanager
def _spooled(task: Task) -> Any:
    """The task with files in place of standard input and output, which a simulator has not."""
    SIM_BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=SIM_BUILD, prefix="replay-") as name:
        folder = Path(name)
        captures = []
        for called, path in task.captures:
            if path == "-":
                path = str(folder / "stdin")
                with Path(path).open("wb") as file:
                    shutil.copyfileobj(sys.stdin.buffer, file)
            captures.append([called, path])
        records = str(folder / "records") if task.records == "-" else task.records
        out = str(folder / "out") if task.out == "-" else task.out
        yield replace(task, captures=captures, records=records, out=out)
        for given, path in ((task.records, records), (task.out, out)):
            if given == "-" and Path(path).exists():
                with Path(path).open("rb") as written:
                    to_stdout(written)


def to_stdout(file: BinaryIO) -> None:
    """Copy a file to standard output. CaptureError: it can't be written."""
    try:
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except OSError as error:
        raise CaptureError("standard output", f"can't be written: {error.strerror}") from error


def _tell_progress(folder: Path, bar: Bar) -> None:
    """What a simulation wrote of itself: register writes done and in all, then frames, cycles, bytes."""
    with suppress(OSError, ValueError):
        found = json.loads((folder / _PROGRESS).read_text())
        (bar.programming if len(found) == 2 else bar.tell)(*found)


async def replay_job(target: Target, job: dict[str, Any], folder: Path) -> None:
    """The inside of it: the task in ``job``; progress, the request to end and the result are files in ``folder``."""
    task = Task(**{name: job[name] for name in Task.__dataclass_fields__})

    def tell(*numbers: int) -> None:
        (folder / f"{_PROGRESS}.new").write_text(json.dumps(numbers))
        (folder / f"{_PROGRESS}.new").replace(folder / _PROGRESS)

    try:
        performed = await perform(target, task, tell=tell, programming=tell, interrupted=(folder / _STOP).exists)
    except CaptureError as error:
        result = {"refused": str(error), "kind": "output"}
    except TargetError as error:
        kinds = (name for name, kind in _REFUSALS.items() if isinstance(error, kind))
        result = {"refused": str(error), "kind": next(kinds, "target")}
    else:
        result = performed.to_json()
    (folder / _RESULT).write_text(json.dumps(result))
