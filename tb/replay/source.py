"""The bytes of a capture as a stream: a file or standard input, unpacked where they are gzipped, a block at a time."""

from __future__ import annotations

import os
import select
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from tb.replay.piece import CaptureError

__all__ = ["BLOCK_BYTES", "IDLE_S", "Source"]

BLOCK_BYTES = 1 << 20
"""Bytes that are read at once."""

IDLE_S = 0.5
"""Seconds after which a pipe that gives nothing counts as idle."""

_GZIP = b"\x1f\x8b"
_PACKED_BYTES = 1 << 15
"""Gzipped bytes that are unpacked at once: they can become a thousand times as many."""


class Source:
    """What is at hand of a file's content: ``content`` starts at byte ``base`` of it. ``ended``: nothing more comes;
    then ``problem`` says what is wrong with the packing (None: nothing). ``taken``: bytes of the file that were read.
    CaptureError: the file can't be opened or read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.content = b""
        self.base = 0
        self.taken = 0
        self.ended = False
        self.problem: str | None = None
        self._file = self._open()
        self._blocks = self._unpacked()

    def more(self, used: int = 0) -> bool:
        """Forget the first ``used`` bytes at hand and get the next block. False: nothing came, since the content has
        ended or a pipe is idle."""
        block = b"" if self.ended else next(self._blocks, None)
        self.ended = self.ended or block is None
        self.content = self.content[used:] + (block or b"")
        self.base += used
        return bool(block)

    def want(self, size: int) -> Iterator[None]:
        """Get blocks until so many bytes are at hand, or none are left; yields whenever a pipe is idle."""
        while len(self.content) < size and not self.ended:
            if not self.more() and not self.ended:
                yield

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self.name != "-":
            self._file.close()

    # -- the file --------------------------------------------------------------------------------------------------

    def _open(self) -> BinaryIO:
        if self.name == "-" and sys.stdin is None:
            raise CaptureError(self.name, "can't be read: it is closed", refused=True)
        try:
            return sys.stdin.buffer if self.name == "-" else Path(self.name).open("rb")
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError | ValueError) -> CaptureError:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return CaptureError(self.name, f"can't be read: {reason}", refused=self.base == 0 and not self.content)

    def _raw(self) -> Iterator[bytes]:
        """The file's own bytes as they come; an empty block where a pipe is idle."""
        pipe = self._is_pipe()
        try:
            while True:
                if pipe and not select.select([self._file], [], [], IDLE_S)[0]:
                    yield b""
                    continue
                block = self._file.read1(BLOCK_BYTES)  # type: ignore[attr-defined]
                if not block:
                    return
                self.taken += len(block)
                yield block
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from error

    def _is_pipe(self) -> bool:
        """Whether bytes may be long in coming: pipes, sockets, terminals."""
        try:
            mode = os.fstat(self._file.fileno()).st_mode
        except (OSError, ValueError):
            return False
        return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)

    # -- gzip ------------------------------------------------------------------------------------------------------

    def _unpacked(self) -> Iterator[bytes]:
        raw = self._raw()
        start = b""
        for block in raw:
            start += block
            if len(start) >= len(_GZIP):
                break
            yield b""
        if not start.startswith(_GZIP):
            if start:
                yield start
            yield from raw
        else:
            yield from self._inflated(start, raw)

    def _inflated(self, waiting: bytes, raw: Iterator[bytes]) -> Iterator[bytes]:
        """What the gzip members hold; ``problem`` is set where they end badly. ``waiting``: what was read already."""
        at = 0  # byte of the file at which `waiting` starts
        while True:
            inflate = zlib.decompressobj(31)
            while not inflate.eof:
                if not waiting:
                    waiting = next(raw, None)  # type: ignore[assignment]
                    if waiting is None:
                        self.problem = f"the gzip data is cut off at its byte {at}"
                        return
                    if not waiting:
                        yield b""
                        continue
                chunk, waiting = waiting[:_PACKED_BYTES], waiting[_PACKED_BYTES:]
                # zlib loses what a failing call had produced, so the chunk that fails is fed again a byte at a time.
                backup = inflate.copy()
                try:
                    content = inflate.decompress(chunk)
                except zlib.error:
                    content, done, error = _to_the_damage(backup, chunk)
                    yield content
                    self.problem = f"the gzip data is damaged at its byte {at + done} ({error})"
                    return
                at += len(chunk) - len(inflate.unused_data)
                if content:
                    yield content
            waiting = inflate.unused_data + waiting
            # Another member may follow, or zeros to the end, as tapes have them.
            for block in raw if len(waiting) < len(_GZIP) else ():
                waiting += block
                if len(waiting) >= len(_GZIP):
                    break
                yield b""
            if not waiting.startswith(_GZIP):
                if waiting.strip(b"\0") or any(block.strip(b"\0") for block in raw):
                    self.problem = f"behind the gzip data, at byte {at}, there is something else"
                return


def _to_the_damage(inflate: zlib._Decompress, chunk: bytes) -> tuple[bytes, int, zlib.error]:
    """What a chunk with damage in it holds before that, at which byte the damage shows, and what zlib says of it."""
    pieces = []
    for at in range(len(chunk)):
        try:
            pieces.append(inflate.decompress(chunk[at : at + 1]))
        except zlib.error as error:
            return b"".join(pieces), at, error
    raise AssertionError("zlib failed on a chunk and not on its bytes")
