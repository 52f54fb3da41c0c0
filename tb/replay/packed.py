"""A failure in one file: a zip that any tool opens and ``nicloop rerun`` plays anywhere.

docs/failures.md has the members. The same failure of the same commit gives the same bytes, up to the waveform, which is
put in last.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from models.config import ConfigError, NicConfig
from models.frames import Batch, Edge
from models.nic import Mismatch
from tb.replay.capture import CaptureError, read_capture, write_capture
from tb.replay.item import Failing, Item, Verdict
from tb.replay.versions import versions
from tb.targets.base import Fault
from tb.targets.program import rule_sets

__all__ = [
    "KEPT_MISMATCHES",
    "KIND",
    "SCHEMA",
    "SURVIVES_RESET",
    "WIRE_PACE",
    "FailureError",
    "Origin",
    "Packed",
    "add_waves",
    "capture_stem",
    "clear_failures",
    "confirm",
    "is_failure",
    "load_failure",
    "unpack_waves",
    "unpackable",
    "write_failure",
]

KIND = "nicloop failure"
SCHEMA = 2
"""Version of ``failure.json``: 2 where ``config.toml`` may hold the ACL's rules."""
_READ = (1, 2)
"""Versions that are read."""

KEPT_MISMATCHES = 20
"""Differences of a play that are written out; all are counted."""
WIRE_PACE = "wire"
"""Pace of the main job: received frames at 25G, the others as fast as the port takes them."""

SURVIVES_RESET = "a reset does not clear what makes it fail"
"""The finding of `Failing.survives_reset`, in words."""

MOST_WAVES = 64 << 20
"""Bytes of the longest waveform that is packed."""
_MOST_MEMBER = 256 << 20
_NOTE, _CAPTURE, _WINDOW, _CONFIG, _STATE = (
    "failure.json",
    "capture.pcapng",
    "window.pcapng",
    "config.toml",
    "state.bin",
)
_WAVES = ("waves.fst", "waves.vcd")


class FailureError(CaptureError):
    """A file that is no failure, or a damaged one, or one that can't be played here. The message is one line."""


@dataclass(frozen=True)
class Origin:
    """The run that a failure comes from. target: "cocotb", "native" or "model"; pace: `WIRE_PACE`, "asap", "recorded"
    or "line-rate"; build: of a device whose state is packed, what the state fits."""

    command: str
    target: str
    sim: str
    engine: str
    seed: int
    pace: str
    build: str = ""


@dataclass(frozen=True)
class Packed:
    """A failure as it was loaded. item: the fewest frames that fail; window: those up to the failing one, None: no more
    than in item; config: what the NIC was programmed with; note: failure.json."""

    path: Path
    item: Item
    window: Item | None
    config: NicConfig
    note: Mapping[str, Any]

    @property
    def origin(self) -> Origin:
        names = ("command", "target", "sim", "engine", "seed", "pace")
        return Origin(
            **{name: self.note[name] for name in names},
            build=self.note.get("build") or (self.note["state"] or {}).get("build", ""),
        )

    @property
    def words(self) -> list[str]:
        """The differences that the fewest frames had, each as `Item.words` puts it."""
        found = self.note["smallest"]
        return [found["first"]] if found["ended"] else [entry["words"] for entry in found["mismatches"]]


# -- writing -----------------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, np.integer) else value if isinstance(value, int | str) else str(value)


def _told(item: Item, mismatch: Mismatch) -> dict[str, Any]:
    """A difference as failure.json has it."""
    of_frame = mismatch.frame >= 0
    return {
        "words": item.words(mismatch),
        "frame": mismatch.frame if of_frame else None,
        "number": int(item.numbers[mismatch.frame]) if of_frame else None,
        "direction": item.direction(mismatch.frame) if of_frame else None,
        "what": mismatch.what,
        "expected": _plain(mismatch.expected),
        "got": _plain(mismatch.got),
        "cycle": mismatch.cycle if mismatch.cycle >= 0 else None,
    }


def _findings(item: Item, verdict: Verdict) -> dict[str, Any]:
    return {
        "first": verdict.words(item),
        "ended": bool(verdict.ended),
        "look": verdict.look(item, time=False),
        "count": len(verdict.mismatches),
        "mismatches": [_told(item, mismatch) for mismatch in verdict.mismatches[:KEPT_MISMATCHES]],
    }


def _comments(item: Item, verdict: Verdict | None) -> list[str]:
    """A comment a frame: where it comes from, and what differs."""
    texts: dict[int, list[str]] = {}
    for mismatch in verdict.mismatches if verdict else []:
        texts.setdefault(mismatch.frame, []).append(str(replace(mismatch, frame=-1)))
    if verdict and verdict.ended and verdict.ended_at is not None:
        texts.setdefault(verdict.ended_at, []).append(verdict.ended)
    return [
        f"{item.name}, frame {number}, {item.direction(place)}"
        + "".join(f"\n{text}" for text in texts.get(place, [])[:KEPT_MISMATCHES])
        for place, number in enumerate(item.numbers.tolist())
    ]


def _capture_bytes(item: Item, verdict: Verdict | None) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _CAPTURE
        write_capture(path, item.frames, _comments(item, verdict))
        return path.read_bytes()


def _note(failing: Failing, config: NicConfig, origin: Origin) -> dict[str, Any]:
    item = failing.item
    edges = sorted({item.direction(place) for place in range(len(item.frames))})
    ports = sorted(set(item.frames.port.tolist()))
    build = {"build": origin.build, "counters": dict(sorted(item.before.items()))}
    return {
        "kind": KIND,
        "version": SCHEMA,
        "capture": item.name,
        "numbers": item.numbers.tolist(),
        "window_numbers": failing.window.numbers.tolist() if failing.window is not None else None,
        "direction": edges[0] if len(edges) == 1 else "both",
        "port": ports[0] if len(ports) == 1 else ports,
        **asdict(origin),
        "rules": {slot: len(rule_set.rules) for slot, rule_set in rule_sets(config)},
        "profiles": {edge.name.lower(): profile for edge, profile in sorted(item.profiles.items())},
        "cut": asdict(item.cut) if item.cut is not None else None,
        "starts_from": "reset" if item.state is None else "state",
        "state": None if item.state is None else build,
        "reproduced": failing.reproduced,
        "minimal": failing.minimal,
        "tries": failing.tries,
        "seen": "fresh" if failing.fresh else "running",
        "finding": SURVIVES_RESET if failing.survives_reset else None,
        "found": _findings(failing.whole, failing.found) | {"first": _source_words(failing)},
        "smallest": _findings(item, failing.verdict),
        "waves": None,
        "versions": versions(origin.sim if origin.target != "model" else None),
    }


def _json(note: Mapping[str, Any]) -> bytes:
    return (json.dumps(note, indent=1) + "\n").encode()


def _source_words(failing: Failing) -> str:
    first = failing.found.first
    return failing.found.ended or (failing.whole.source_words(first) if first else "")


def _member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system, info.external_attr = 3, 0o644 << 16
    archive.writestr(info, content)


def capture_stem(name: str) -> str:
    """What files are called that come from a capture: its name without what it ends with."""
    base = re.sub(r"\.(pcap|pcapng|cap|zip)(\.gz)?\b.*", "", Path(name).name) or "capture"
    return re.sub(r"[^\w.+-]+", "_", "stdin" if base == "-" else base)


def _stem(failing: Failing) -> str:
    """Name of the capture and number of the frame that failed first."""
    base = capture_stem(failing.whole.name)
    at = failing.found.first_frame
    return base if at is None else f"{base}-{int(failing.whole.numbers[at])}"


def _place(folder: Path, stem: str, capture: str, command: str) -> Path:
    """Where a failure goes: a name that is free, or taken by what the same command found in the same capture before."""
    for number in count(1):
        path = folder / (f"{stem}.zip" if number == 1 else f"{stem}-{number}.zip")
        if not path.exists() or _found_by(path) == (capture, command):
            return path
    raise AssertionError("there is always a number that is free")


def _found_by(path: Path) -> tuple[str, str] | None:
    """Capture and command of a failure; None: it is no failure."""
    try:
        note = _read_note(path)
    except FailureError:
        return None
    return note.get("capture", ""), note.get("command", "")


def write_failure(folder: Path, failing: Failing, config: NicConfig, origin: Origin) -> Path:
    """Pack a failure into ``folder``; returns the file. OSError: it can't be written.

    It is called after the capture and the first frame that failed, with "-2", "-3" and so on where that name is taken
    by the failure of another capture or command.
    """
    folder.mkdir(parents=True, exist_ok=True)
    item = failing.item
    path = _place(folder, _stem(failing), item.name, origin.command)
    members = {
        _NOTE: _json(_note(failing, item.config or config, origin)),
        _CONFIG: (item.config or config).to_toml().encode(),
        _CAPTURE: _capture_bytes(item, failing.verdict),
    }
    if failing.window is not None:
        members[_WINDOW] = _capture_bytes(failing.window, None)
    if item.state is not None:
        members[_STATE] = item.state
    _store(path, members)
    return path


def unpackable(folder: Path, error: OSError) -> str:
    """What to say where a failure can't be packed."""
    return f"{folder}: the failure can't be packed there: {error.strerror or error}"


def _store(path: Path, members: Mapping[str, bytes]) -> None:
    """The archive with these members, in their order; whole or not at all."""
    partial = path.with_suffix(".part")
    try:
        with zipfile.ZipFile(partial, "w") as archive:
            for name, content in members.items():
                _member(archive, name, content)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def add_waves(path: Path, waves: Path, look: str) -> bool:
    """Put a waveform into a failure, and where to look in it. False: it is longer than `MOST_WAVES`, or there is one.

    FailureError: it is no failure. OSError: it can't be written.
    """
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    if any(name in _WAVES for name in names) or waves.stat().st_size > MOST_WAVES:
        return False
    members, name = _read(path, names), f"waves{waves.suffix}"
    note = json.loads(members[_NOTE]) | {"waves": {"file": name, "look": look}}
    _store(path, members | {_NOTE: _json(note), name: waves.read_bytes()})
    return True


def confirm(path: Path, failed: bool) -> None:
    """Note what a failure gave on a device that was made anew: it is reproduced there, or was only seen in the running
    one. FailureError: it is no failure. OSError: it can't be written.
    """
    with zipfile.ZipFile(path) as archive:
        members = _read(path, archive.namelist())
    note = json.loads(members[_NOTE])
    changed = note | ({"seen": "fresh"} if failed else {"reproduced": False, "minimal": False, "seen": "running"})
    if changed != note:
        _store(path, members | {_NOTE: _json(changed)})


# -- reading -----------------------------------------------------------------------------------------------------------


def _read(path: Path, names: Iterable[str]) -> dict[str, bytes]:
    """The members of these names, those that are there. FailureError: no zip, or a damaged one."""
    try:
        with zipfile.ZipFile(path) as archive:
            there = {info.filename: info for info in archive.infolist()}
            too_long = [name for name in names if name in there and there[name].file_size > _MOST_MEMBER]
            if too_long:
                raise FailureError(str(path), f"{too_long[0]} in it is longer than {_MOST_MEMBER >> 20} MB: damaged")
            return {name: archive.read(name) for name in names if name in there}
    except OSError as error:
        raise FailureError(str(path), f"can't be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        with path.open("rb") as file:
            zipped = file.read(4) == b"PK\x03\x04"
        kind = f"is damaged ({error})" if zipped else f"is no failure of nicloop: no zip file, but {_looks_like(path)}"
        raise FailureError(str(path), kind) from error


def _looks_like(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(8)
    return f"something that begins with {head.hex(' ')}" if head else "an empty file"


def _read_note(path: Path) -> dict[str, Any]:
    """failure.json of a failure of this version. FailureError: there is none."""
    content = _read(path, [_NOTE]).get(_NOTE)
    try:
        note = json.loads(content) if content is not None else None
    except ValueError as error:
        raise FailureError(str(path), f"is damaged: {_NOTE} in it is no JSON ({error})") from error
    if not isinstance(note, dict) or note.get("kind") != KIND:
        raise FailureError(str(path), f"is no failure of nicloop: no {_NOTE} of kind {KIND!r} in it")
    if note.get("version") not in _READ:
        raise FailureError(
            str(path),
            f"has version {note.get('version')!r} of a failure, this nicloop reads {' and '.join(map(str, _READ))}: "
            f"check out the commit that made it ({(note.get('versions') or {}).get('commit')})",
        )
    return note


def is_failure(path: Path) -> bool:
    """Whether a file is a failure of this version."""
    try:
        _read_note(path)
    except FailureError:
        return False
    return True


def clear_failures(folder: Path, keep: Iterable[Path]) -> None:
    """Remove the failures in ``folder`` and the waveforms beside them, but for ``keep``, and nothing else."""
    kept = {path.resolve() for path in keep}
    for path in sorted(folder.glob("*.zip")):
        if path.resolve() not in kept and is_failure(path):
            for name in (path, *(path.with_suffix(Path(waves).suffix) for waves in _WAVES)):
                name.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _frames(path: Path, name: str, content: bytes) -> Batch:
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder) / name
        unpacked.write_bytes(content)
        try:
            capture = read_capture(unpacked)
        except CaptureError as error:
            raise FailureError(str(path), f"is damaged: {name} in it: {error.problem}") from error
    if capture.error is not None:
        raise FailureError(str(path), f"is damaged: {name} in it: {capture.error.problem}")
    return replace(capture.batch, flags=np.zeros(len(capture.batch), np.uint8))


def load_failure(path: Path, name: str | None = None) -> Packed:
    """A failure as it was packed; ``name``: what its frames are called (None: as the capture that they come from).

    FailureError: it can't be read, is no failure, or a damaged one.
    """
    note = _read_note(path)
    members = _read(path, [_CAPTURE, _WINDOW, _CONFIG, _STATE])
    missing = [name for name in (_CAPTURE, _CONFIG) if name not in members]
    missing += [_STATE] if note.get("state") and _STATE not in members else []
    if missing:
        raise FailureError(str(path), f"is damaged: {missing[0]} is not in it")
    try:
        config = NicConfig.parse(members[_CONFIG].decode())
        cut = note["cut"]
        item = Item(
            name or note["capture"],
            _frames(path, _CAPTURE, members[_CAPTURE]),
            {Edge[edge.upper()]: profile for edge, profile in note["profiles"].items()},
            len(note["numbers"]),
            paced=note["pace"] == WIRE_PACE,
            config=config,
            cut=Fault(**cut | {"edge": Edge(cut["edge"])}) if cut else None,
            number=np.array(note["numbers"], np.int64),
            state=members.get(_STATE),
            before=note["state"]["counters"] if note["state"] else {},
        )
        window = None
        if _WINDOW in members:
            frames, numbers = _frames(path, _WINDOW, members[_WINDOW]), np.array(note["window_numbers"], np.int64)
            window = replace(item, frames=frames, number=numbers, of_frames=len(numbers), state=None, before={})
        packed = Packed(path, item, window, config, note)
        packed.origin, packed.words  # noqa: B018  what the note lacks shows here
    except ConfigError as error:
        raise FailureError(str(path), f"is damaged: {_CONFIG} in it: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FailureError(str(path), f"is damaged: {_NOTE} in it: {type(error).__name__}: {error}") from error
    if len(item.frames) != len(item.numbers) or not len(item.frames) or not item.frames.lengths.all():
        raise FailureError(
            str(path), f"is damaged: {_CAPTURE} holds {len(item.frames)} frames, {item.of_frames} are told of"
        )
    return packed


def unpack_waves(path: Path, folder: Path) -> Path | None:
    """The waveform that is packed, written into ``folder``; None: there is none."""
    for name, content in _read(path, _WAVES).items():
        found = folder / f"{path.stem}{Path(name).suffix}"
        found.write_bytes(content)
        return found
    return None
