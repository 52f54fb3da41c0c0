"""Packets in bulk through the engine: files for ``tops/gcm_player.v``, and what it made of them.

A slot of the key table is written again once the last command that used it has been taken; a command waits until its
key is done. So any number of keys pass, and the engine isn't drained for one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from random import Random

from models.gcm import Key, Part
from tb.gcm.beats import KeyWrite, OutBeat, command_fields, in_beats, key_fields

__all__ = ["PROGRESS", "RECORDS", "read_results", "write_records"]

RECORDS = ("keys.hex", "commands.hex", "beats.hex")
PROGRESS = "progress.json"
"""What the bench leaves while it runs: ``packets``, those that came out."""


class _Slots:
    """Which slot holds which key, and when it may change."""

    def __init__(self, count: int) -> None:
        self._held: OrderedDict[Key | None, int] = OrderedDict()
        self._free = list(range(count - 1, -1, -1))
        self._last_use: dict[int, int] = {}
        self.written: dict[int, int] = {}
        """By slot, number of key writes up to its own."""
        self._writes = 0

    def slot(self, key: Key | None, command: int) -> tuple[int, int | None]:
        """The slot of a key for this command, and, where the key has to be written, the commands to wait for."""
        need = None
        if key in self._held:
            self._held.move_to_end(key)
            slot = self._held[key]
        else:
            slot = self._free.pop() if self._free else self._held.popitem(last=False)[1]
            self._held[key] = slot
            need = self._last_use.get(slot, 0)
            self._writes += 1
            self.written[slot] = self._writes
        self._last_use[slot] = command + 1
        return slot, need


def write_records(folder: Path, packets: Sequence[tuple[Key | None, Part]], *, keys: int = 256, seed: int = 1) -> None:
    """Write the files of these packets, each with its key (None: a slot that has none); a part's ``command.key`` is put
    to the key's slot. keys: slots of the table."""
    noise = Random(seed)
    slots = _Slots(keys)
    with ExitStack() as stack:
        key_file, command_file, beat_file = (stack.enter_context((folder / name).open("w")) for name in RECORDS)
        for number, (key, part) in enumerate(packets):
            slot, need = slots.slot(key, number)
            if need is not None:
                key_file.write(_line(need, *key_fields(KeyWrite(slot, key), noise).values()))
            command = replace(part.command, key=slot)
            command_file.write(_line(slots.written[slot], *command_fields(command, noise).values()))
            for beat in in_beats(part, noise):
                beat_file.write(_line(beat.data, beat.keep, beat.last, beat.user, beat.tag))


def _line(*fields: int) -> str:
    return " ".join(f"{field:x}" for field in fields) + "\n"


def read_results(file: Path) -> Iterator[tuple[int, list[OutBeat]]]:
    """For each packet that came out, the cycle of its last beat and its beats. ValueError: an X in a line."""
    beats: list[OutBeat] = []
    with file.open() as lines:
        for line in lines:
            cycle, *fields = (int(field, 16) for field in line.split())
            beat = OutBeat(*fields)
            beats.append(beat)
            if beat.last:
                yield cycle, beats
                beats = []
