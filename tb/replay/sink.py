"""Where a stream of bytes is written: a file, gzipped or not, or standard output."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path
from typing import BinaryIO, cast

from tb.replay.piece import CaptureError

__all__ = ["Sink"]


class Sink:
    """A file that is written from its start; "-": standard output; a name that ends in .gz: gzipped, the same input to
    the same bytes. CaptureError, from every method: it can't be written."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self._packed: BinaryIO | None = None
        try:
            self._file = self._open()
            if self.name.endswith(".gz"):
                self._packed = cast(BinaryIO, gzip.GzipFile("", "wb", fileobj=self._file, mtime=0))
        except (OSError, ValueError) as error:
            raise self._unwritable(error) from error

    def _open(self) -> BinaryIO:
        return sys.stdout.buffer if self.name == "-" else Path(self.name).open("wb")

    def write(self, content: bytes) -> None:
        """Append ``content``."""
        try:
            (self._packed or self._file).write(content)
        except (OSError, ValueError) as error:
            raise self._unwritable(error) from error

    def flush(self) -> None:
        """Hand everything to the system, so that a reader of the file sees it."""
        try:
            (self._packed or self._file).flush()
        except (OSError, ValueError) as error:
            raise self._unwritable(error) from error

    def close(self) -> None:
        """Write what is left and close the file; standard output stays open. A second call does nothing."""
        packed, self._packed = self._packed, None
        try:
            if packed is not None:
                packed.close()
            if self.name == "-":
                self._file.flush()
            else:
                self._file.close()
        except (OSError, ValueError) as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError | ValueError) -> CaptureError:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return CaptureError("standard output" if self.name == "-" else self.name, f"can't be written: {reason}")
