"""Packets in bulk through the RTL, each beat that comes out held against the model."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from models.gcm import BLOCK, CipherKind, Command, GcmModel, Key, Part, State, seal
from tb.gcm.beats import difference, out_beats
from tb.gcm.designs import player_design
from tb.gcm.player import read_results
from tb.gcm.vectors import BENCH, job_of

__all__ = ["Packets", "chain", "check", "random_key", "random_part"]

Packets = list[tuple[Key | None, Part]]


def random_key(rng: Random) -> Key:
    """A key of any kind."""
    cipher, size = rng.choice(((CipherKind.AES, 16), (CipherKind.AES, 32), (CipherKind.SM4, 16)))
    return Key(cipher, rng.randbytes(size))


def random_part(rng: Random, key: Key, aad: int, text: int, decrypt: bool) -> Part:
    """A packet of these lengths, with a right tag."""
    iv, header, data, tag = rng.randbytes(12), rng.randbytes(aad), rng.randbytes(text), bytes(BLOCK)
    if decrypt:
        data, tag = seal(key, iv, header, data)
    return Part(Command(0, iv, decrypt), header, data, tag)


def chain(key: Key, part: Part, cuts: Sequence[int]) -> Packets:
    """A packet in parts that stop at these places of its text: each goes on from the state that the model gives."""
    pieces: Packets = []
    state: State | None = None
    for at, end in zip([0, *cuts], [*cuts, len(part.text)], strict=True):
        command = replace(part.command, save=len(pieces) < len(cuts), resume=state)
        piece = Part(command, b"" if pieces else part.aad, part.text[at:end], part.tag)
        pieces.append((key, piece))
        state = GcmModel.process(key, piece).state
    return pieces


def check(simulate: Callable[..., Any], packets: Iterable[tuple[Key | None, Part]], seed: int) -> int:
    """Send them, back to back; every beat is the model's. How many there were."""
    sent = list(packets)
    folder = job_of(sent, seed=seed)
    simulate(player_design(), BENCH, env={"NICLOOP_JOB": str(folder)})
    for (key, part), (cycle, beats) in zip(sent, read_results(folder / "results.hex"), strict=True):
        wrong = difference(beats, out_beats(part, GcmModel.process(key, part)))
        assert not wrong, f"cycle {cycle}: {part.command}, {len(part.aad)} of AAD, {len(part.text)} of text: {wrong}"
    shutil.rmtree(folder)
    return len(sent)
