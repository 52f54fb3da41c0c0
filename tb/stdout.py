"""Standard output that can't be written, as one kind of error that names it.

Click and rich end a program by themselves with exit code 1, that of a mismatch, when the reader of standard output goes
away; of a full disk Python says nothing until its own end. So standard output gets a file that raises an error of ours.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

__all__ = ["StdoutError", "guard"]


class StdoutError(OSError):
    """Standard output can't be written. It has no errno, by which libraries would know a broken pipe."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.strerror = reason

    def __str__(self) -> str:
        return f"standard output: can't be written: {self.strerror}"


class _Raw(io.FileIO):
    """A descriptor of which the first write that fails is an error; what is written after that goes nowhere."""

    def write(self, content: Any, /) -> int:
        try:
            return super().write(content)
        except OSError as error:
            if error.errno == errno.EBADF:  # closed (>&-): there is nothing to put in its place
                raise
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            raise StdoutError(error.strerror or str(error)) from error


def guard() -> None:
    """From here on ``sys.stdout`` raises `StdoutError`."""
    old = sys.stdout
    if not isinstance(old, io.TextIOWrapper):
        return
    old.flush()
    raw = _Raw(old.fileno(), "wb", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=old.encoding,
        errors=old.errors,
        line_buffering=old.line_buffering,
        write_through=old.write_through,
    )
