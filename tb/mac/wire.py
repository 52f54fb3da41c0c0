"""Writes what is on XGMII, one character after another, right or wrong."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

from models.mac_xgmii import Word, words_of

C = 0x100
"""Marks a control character."""


class Wire:
    """Characters from lane 0 of a word on."""

    def __init__(self) -> None:
        self.chars: list[int] = []

    def idle(self, count: int) -> Wire:
        self.chars += [C | 0x07] * count
        return self

    def raw(
        self, chars: Iterable[int], *, start: bool = True, preamble: Sequence[int] = (0x55,) * 6, sfd: int = 0xD5
    ) -> Wire:
        """Start, preamble and SFD (unless ``start`` is false), then these characters and no end."""
        if start:
            self.chars += [C | 0xFB, *preamble, sfd]
        self.chars += chars
        return self

    def frame(self, data: bytes, *, check: bytes | None = None, preamble: Sequence[int] = (0x55,) * 6) -> Wire:
        """A frame with its FCS, or ``check`` in its place, and terminate."""
        check = zlib.crc32(data).to_bytes(4, "little") if check is None else check
        return self.raw([*data, *check, C | 0xFD], preamble=preamble)

    def words(self) -> list[Word]:
        return list(words_of(self.chars))
