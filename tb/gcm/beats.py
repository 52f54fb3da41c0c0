"""Parts of packets as the beats that go into the engine, and results as those that come out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from models.gcm import BLOCK, TAG_BYTES, CipherKind, Command, Key, Part, Result

__all__ = [
    "BAD",
    "NO_KEY",
    "InBeat",
    "KeyWrite",
    "OutBeat",
    "command_fields",
    "difference",
    "in_beats",
    "key_fields",
    "out_beats",
]

BAD, NO_KEY = 1, 2
"""Bits of ``m_axis_tuser``."""


@dataclass(frozen=True, slots=True)
class KeyWrite:
    """A write into the key table; key None erases the slot."""

    slot: int
    key: Key | None


@dataclass(slots=True)
class InBeat:
    """A beat of ``s_axis``, with noise where the contract leaves it undefined."""

    data: int
    keep: int
    last: int
    user: int
    tag: int


@dataclass(slots=True)
class OutBeat:
    """A beat of ``m_axis``. user, tag and state count with last alone."""

    data: int
    keep: int
    last: int
    user: int = 0
    tag: int = 0
    state: int = 0


def key_fields(write: KeyWrite, noise: Random) -> dict[str, int]:
    """What stands on the key port, by the names of its signals."""
    key = write.key
    if key is None:
        return {
            "index": write.slot,
            "cipher": noise.getrandbits(1),
            "256": noise.getrandbits(1),
            "erase": 1,
            "data": noise.getrandbits(256),
        }
    size = 8 * len(key.data)
    return {
        "index": write.slot,
        "cipher": int(key.cipher),
        "256": noise.getrandbits(1) if key.cipher is CipherKind.SM4 else int(size == 256),
        "erase": 0,
        "data": int.from_bytes(key.data, "little") | noise.getrandbits(256) >> size << size,
    }


def command_fields(command: Command, noise: Random) -> dict[str, int]:
    """What stands on the command port, by the names of its signals."""
    judged = command.decrypt and not command.save
    return {
        "key": command.key,
        "decrypt": int(command.decrypt),
        "iv": int.from_bytes(command.iv, "little"),
        "tag_bytes": command.tag_bytes if judged else noise.getrandbits(5),
        "save": int(command.save),
        "resume": int(command.resume is not None),
        "state": noise.getrandbits(308) if command.resume is None else command.resume.word(),
    }


def in_beats(part: Part, noise: Random) -> list[InBeat]:
    """The beats of a part: AAD, then text; one beat that keeps nothing where there is neither."""
    pieces = [(part.aad[at : at + BLOCK], 0, 1) for at in range(0, len(part.aad), BLOCK)]
    lane, at = part.offset, 0
    while at < len(part.text):
        piece = part.text[at : at + BLOCK - lane]
        pieces.append((piece, lane, 0))
        at, lane = at + len(piece), 0
    if not pieces:
        pieces = [(b"", 0, 0)]
    beats = []
    for piece, lane, user in pieces:
        keep = (1 << len(piece)) - 1 << lane
        data = int.from_bytes(piece, "little") << 8 * lane
        if len(piece) < BLOCK:
            kept = (1 << 8 * len(piece)) - 1 << 8 * lane
            data |= noise.getrandbits(128) & ~kept
        beats.append(InBeat(data, keep, 0, user, noise.getrandbits(128)))
    last = beats[-1]
    last.last = 1
    if part.command.decrypt and not part.command.save:
        size = part.command.tag_bytes if part.command.tag_bytes in TAG_BYTES else BLOCK
        kept = (1 << 8 * size) - 1
        last.tag = int.from_bytes(part.tag[:size], "little") | last.tag & ~kept
    return beats


def out_beats(part: Part, result: Result) -> list[OutBeat]:
    """The beats that must come out for a part."""
    beats = []
    lane, at = part.offset, 0
    while at < len(result.text):
        piece = result.text[at : at + BLOCK - lane]
        beats.append(OutBeat(int.from_bytes(piece, "little") << 8 * lane, (1 << len(piece)) - 1 << lane, 0))
        at, lane = at + len(piece), 0
    if not beats:
        beats = [OutBeat(0, 0, 0)]
    last = beats[-1]
    last.last = 1
    last.user = (BAD if result.bad else 0) | (NO_KEY if result.no_key else 0)
    if not part.command.decrypt and not part.command.save:
        last.tag = int.from_bytes(result.tag, "little") if not result.no_key else 0
    last.state = result.state.word() if result.state is not None else 0
    return beats


def difference(got: Sequence[OutBeat], due: Sequence[OutBeat]) -> str:
    """The first thing in which what came differs from what was due; empty: nothing."""
    for index, (x, y) in enumerate(zip(got, due, strict=False)):
        where = f"beat {index} of {len(due)}"
        if x.last != y.last:
            return f"{where}: tlast is {x.last}"
        if x.keep != y.keep:
            return f"{where}: tkeep is {x.keep:04x}, due {y.keep:04x}"
        if x.data != y.data:
            return f"{where}: {_octets(x.data)}, due {_octets(y.data)}"
        if y.last:
            if x.user != y.user:
                return f"{_verdict(x.user)}, due {_verdict(y.user)}"
            if x.tag != y.tag:
                return f"tag {_octets(x.tag)}, due {_octets(y.tag)}"
            if x.state != y.state:
                return f"state {x.state:077x}, due {y.state:077x}"
    return "" if len(got) == len(due) else f"{len(got)} beats, due {len(due)}"


def _octets(value: int) -> str:
    return value.to_bytes(BLOCK, "little").hex()


def _verdict(user: int) -> str:
    return {0: "good", BAD: "bad", NO_KEY: "no key and good", BAD | NO_KEY: "bad, no key"}[user]
