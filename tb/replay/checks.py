"""What can be wrong with what a person asks of a replay, found before anything is played or written."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tb.replay.capture import CaptureError, CaptureReader

__all__ = ["UsageError", "check_captures", "check_failure", "check_outputs", "check_page", "sizes"]

_FORMATS = "pcap or pcapng, gzipped or not"


class UsageError(Exception):
    """What a person asked for can't be done; the message is one line with the place and the remedy."""


def check_captures(captures: Sequence[str]) -> None:
    """UsageError: one isn't there, or has nothing in it that could be played. Pipes are left alone."""
    if list(captures).count("-") > 1:
        raise UsageError("-: standard input can be replayed only once")
    for name in captures:
        if name == "-":
            if sys.stdin is not None and sys.stdin.isatty():
                raise UsageError("-: standard input is a terminal: pipe a capture into it (tcpdump -w - | nicloop …)")
            continue
        path = Path(name)
        if not _exists(path):
            raise UsageError(f"{name}: no such capture")
        if path.is_dir():
            raise UsageError(f"{name}: is a folder: name the captures in it ({path / '*.pcap*'})")
        if path.is_file():
            _probe(name)


def check_failure(path: Path) -> None:
    """UsageError: no file is there."""
    if not _exists(path):
        raise UsageError(f"{path}: no such failure")
    if path.is_dir():
        raise UsageError(f"{path}: is a folder: name a failure in it ({path / '*.zip'})")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a NUL in the name; no right to look into the folder
        return os.path.lexists(path) if "\0" not in str(path) else False


def _probe(name: str) -> None:
    """UsageError: the file is no capture of Ethernet."""
    try:
        next(iter(CaptureReader(name)), None)
    except CaptureError as error:
        if error.refused:
            hint = f" ({_FORMATS}, is wanted)" if "neither pcap" in error.problem or error.problem == "is empty" else ""
            raise UsageError(f"{error}{hint}") from error


def check_outputs(outputs: Mapping[str, str], captures: Sequence[str]) -> None:
    """By option, where something is to be written ("": nowhere). UsageError: two to one place, into an input, into a
    folder that isn't there, or where a folder is."""
    taken: dict[str, str] = {}
    for option, name in outputs.items():
        if not name:
            continue
        place = name if name == "-" else os.path.realpath(name)
        if place in taken and not _is_device(name):
            where = "standard output" if name == "-" else name
            raise UsageError(f"{option}: {where}: {taken[place]} is written there already")
        taken[place] = option
        if name == "-":
            continue
        for capture in captures:
            if capture != "-" and _same(name, capture):
                raise UsageError(f"{option}: {name}: is read by this replay, and would be overwritten")
        path = Path(name)
        if os.path.isdir(name):  # unlike Path.is_dir, no error where one may not look
            raise UsageError(f"{option}: {name}: is a folder: name a file in it")
        if not os.path.isdir(path.parent):
            raise UsageError(f"{option}: {name}: there is no folder {path.parent}: make it first")


def check_page(name: str) -> None:
    """UsageError: a file of this name can't be written. It is left as it was."""
    path = Path(name)
    there = os.path.lexists(path)
    if there and not os.path.isfile(path):
        return  # a device or a pipe: only the writing tells
    try:
        path.open("ab").close()
        if not there:
            path.unlink()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{name}: can't be written: {reason}") from error


def _is_device(name: str) -> bool:
    return name != "-" and os.path.exists(name) and stat.S_ISCHR(os.stat(name).st_mode)


def _same(name: str, other: str) -> bool:
    try:
        return os.path.samefile(name, other)
    except OSError:
        return False


def sizes(captures: Sequence[str]) -> int | None:
    """Bytes of all captures; None: one is no plain file."""
    paths = [Path(name) for name in captures]
    return sum(path.stat().st_size for path in paths) if all(path.is_file() for path in paths) else None
