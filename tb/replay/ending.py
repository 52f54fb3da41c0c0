"""What a replay leaves behind when it has ended: page, comparison, table or summary, notices, exit code."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from tb.replay.baseline import BaselineError, Comparison, compare
from tb.replay.perform import Performed, Task
from tb.replay.piece import printable
from tb.replay.rerun import shown, tell_failure
from tb.replay.run import How
from tb.replay.select import FrameRange
from tb.replay.show import say, show, show_comparison, stream
from tb.replay.versions import versions
from tb.report.page import Run, write_page
from tb.stdout import StdoutError

__all__ = ["Ending", "Wanted"]


@dataclass(frozen=True)
class Wanted:
    """What a person wants to see. report: path of the page, baseline: earlier records; "": none. as_json: the summary
    in place of the table. to_stderr: the table, as standard output is taken."""

    report: str = ""
    baseline: str = ""
    as_json: bool = False
    to_stderr: bool = False


@dataclass
class Ending:
    """A replay that has ended; ``notices`` are told on standard error."""

    performed: Performed
    task: Task
    how: How
    waveform: Path | None
    wanted: Wanted
    failed_outputs: list[str] = field(default_factory=list)
    comparison: Comparison | None = None

    def finish(self, records: Path | None) -> int:
        """All of it; returns the exit code. records: file of the records, where there is a baseline."""
        if records is not None and self.wanted.baseline:
            try:
                self.comparison = compare(self.wanted.baseline, records)
                self.comparison.before.path = printable(self.comparison.before.path)
                self.comparison.now.path = "this replay"
            except BaselineError as error:
                self.failed_outputs.append(str(error))
        if self.wanted.report:
            self._write_page()
        try:
            self._print()
        except StdoutError as error:
            self.failed_outputs.append(str(error))
        for notice in self.notices:
            typer.echo(f"nicloop: {notice}", err=True)
        return self.code

    def _print(self) -> None:
        """The summary or the table. StdoutError: standard output can't be written."""
        if not self.wanted.as_json:
            self._show()
            return
        if self.performed.failure:
            tell_failure(Path(self.performed.failure))  # its waveform is put in
        sys.stdout.write(json.dumps(self._summary(), indent=1) + "\n")
        sys.stdout.flush()

    @property
    def mismatch(self) -> bool:
        return self.performed.figures["verdict"] == "mismatch" or bool(self.performed.error)

    @property
    def code(self) -> int:
        """Of the command: docs/replay.md."""
        if self.mismatch:
            return 1
        if self.performed.unread or self.performed.unwritten or self.failed_outputs:
            return 2
        if self.performed.interrupted:
            return 130
        return 2 if self.empty else 0

    @property
    def empty(self) -> bool:
        """Whether no frame was played."""
        return bool(self.performed.figures["verdict"] == "empty")

    @property
    def notices(self) -> list[str]:
        """What a person must know beside the figures."""
        done = self.performed
        found = [*done.unread, done.unwritten, done.unpacked, *self.failed_outputs, self._nothing() or self._beyond()]
        return [text for text in found if text]

    def _nothing(self) -> str:
        """Why no frame was played; "": some were, or another notice says it."""
        done, task = self.performed, self.task
        if not self.empty or self.mismatch or done.interrupted or done.unwritten:
            return ""
        if not done.seen:
            none = f"{', '.join(name for name, _ in task.captures[:3])}: there is no frame"
            return "" if done.unread else f"nothing was played: {none}"
        if done.figures["frames"]:
            return "nothing was played: the frames have no byte"
        if task.frames and FrameRange.parse(task.frames).first >= done.seen:
            return f"nothing was played: {self._beyond()}"
        of = f"frames of --frames {task.frames}" if task.frames else f"{done.seen} frames"
        return f"nothing was played: --filter {shlex.quote(task.wanted)} hits none of the {of}"

    def _beyond(self) -> str:
        """Of a range that goes on behind the last frame."""
        done = self.performed
        if not self.task.frames or done.stopped or done.interrupted or done.unwritten:
            return ""
        wanted = FrameRange.parse(self.task.frames)
        if wanted.first < done.seen and (wanted.behind or 0) <= done.seen:
            return ""
        return f"--frames {self.task.frames}: there are {done.seen} frames, counted from 0"

    @property
    def figures(self) -> Mapping[str, Any]:
        figures = dict(self.performed.figures)
        return figures if self.comparison is None else figures | {"baseline": self.comparison.figures()}

    def _write_page(self) -> None:
        made_by = versions(self.how.sim if self.how.target != "model" else None)
        run = Run(
            command=shlex.split(self.task.origin["command"]),
            versions={name: str(value) for name, value in made_by.items() if value not in (None, False)},
            config=self.task.config,
            notices=[*self.notices, *(["interrupted"] if self.performed.interrupted else [])],
            error=self.performed.error,
        )
        try:
            write_page(Path(self.wanted.report), self.figures, run)
        except OSError as error:
            self.failed_outputs.append(f"{self.wanted.report}: can't be written: {error.strerror or error}")

    def _show(self) -> None:
        done = self.performed
        out = stream(sys.stderr if self.wanted.to_stderr else sys.stdout)
        names = [name for name, _ in self.task.captures]
        few = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        on = (
            f"{self.how.target} ({self.how.sim}, {self.how.engine})" if self.how.target == "cocotb" else self.how.target
        )
        on += " (edge wire)" if self.how.edge == "wire" else ""
        show(out, f"{few} on {on}", done)
        if self.comparison is not None:
            show_comparison(out, self.comparison)
        if done.error:
            say(out, f"the replay ended: {done.error}", "bold red")
        if done.stopped and not done.error:
            say(out, "the replay ended with the window that has a mismatch; --keep-going goes on", "yellow")
        if done.failure:
            for line in tell_failure(Path(done.failure)):
                say(out, line)
        if self.waveform is not None:
            say(out, f"waveform: {shown(self.waveform)}")
        if done.interrupted:
            say(out, "interrupted: this is what was done", "yellow")
        if self.empty:
            say(out, "no frame was played", "yellow")
        elif not self.mismatch:
            say(out, "all as the model says", "green")

    def _summary(self) -> dict[str, Any]:
        """As ``--json`` prints it: the figures, and how they came about."""
        done = self.performed
        return {
            **self.figures,
            "exit_code": self.code,
            "target": self.how.target,
            "sim": self.how.sim if self.how.target == "cocotb" else None,
            "pace": self.task.pace,
            "edge": self.how.edge,
            "simulated_cycles": done.simulated,
            "cpu_s": done.cpu_s,
            "wall_s": done.wall_s,
            "stopped": done.stopped,
            "interrupted": done.interrupted,
            "error": done.error or None,
            "notices": self.notices,
            "failure": done.failure or None,
            "waveform": None if self.waveform is None else str(self.waveform),
        }
