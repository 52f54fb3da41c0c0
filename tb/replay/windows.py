"""The frames of captures as a stream of windows: read, numbered, chosen, and put together to windows of one size."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from models.frames import Batch, Edge
from tb.replay.capture import CaptureError, CaptureReader, Piece
from tb.replay.piece import printable
from tb.replay.select import Filter, FrameRange
from tb.replay.window import WINDOW_FRAMES, Window

__all__ = ["Windows", "capture_names", "concat", "part", "regrouped"]


@dataclass
class Windows:
    """The windows of captures, in their order; iterate once.

    captures: name and path of each. port, edge: where frames enter, None: where the capture says, else port 0, wire.
    frames: by their number through all captures; wanted: by their headers. size: frames of a window, fewer in the last
    of a capture and where a pipe is idle. A window without a frame: a pipe is idle.
    seen: frames that were read; taken: bytes of the files. errors: of captures that can't be read, or not to their
    end; the next one goes on.
    """

    captures: Sequence[tuple[str, str]]
    port: int | None = None
    edge: Edge | None = None
    frames: FrameRange = field(default_factory=FrameRange)
    wanted: Filter | None = None
    size: int = WINDOW_FRAMES
    seen: int = 0
    taken: int = 0
    errors: list[CaptureError] = field(default_factory=list)

    def __iter__(self) -> Iterator[Window]:
        for name, path in self.captures:
            if self.frames.behind is not None and self.seen >= self.frames.behind:
                return
            yield from regrouped(self._chosen(name, path), self.size)

    def _chosen(self, name: str, path: str) -> Iterator[Window]:
        """The frames of one capture that are wanted, in windows of any size."""
        before, taken = self.seen, self.taken
        reader = CaptureReader(path)
        try:
            for piece in reader:
                self.taken = taken + reader.taken
                window = self._window(piece, name, self.seen, self.seen - before)
                kept = part(window, self.frames.part(self.seen, len(window)))
                self.seen += len(window)
                if self.wanted is not None and len(kept):
                    kept = part(kept, self.wanted.hits(kept.batch))
                if len(kept) or not len(window):
                    yield kept
                if self.frames.behind is not None and self.seen >= self.frames.behind:
                    return
        except CaptureError as error:
            self.errors.append(error)

    def _window(self, piece: Piece, name: str, index: int, frame: int) -> Window:
        batch, count = piece.batch, np.arange(len(piece.batch), dtype=np.int64)
        if self.port is not None:
            batch = replace(batch, port=np.full(len(batch), self.port, np.uint8))
        if self.edge is not None:
            batch = replace(batch, edge=np.full(len(batch), self.edge, np.uint8))
        return Window(batch, index + count, name, frame + count, piece.original_length)


def part(window: Window, chosen: slice | np.ndarray) -> Window:
    """Some of a window's frames."""
    return replace(
        window,
        batch=window.batch.select(chosen),
        index=window.index[chosen],
        frame=window.frame[chosen],
        original_length=window.original_length[chosen],
    )


def concat(windows: Sequence[Window]) -> Window:
    """The frames of windows of one capture, one after the other."""
    if len(windows) == 1:
        return windows[0]
    return replace(
        windows[0],
        batch=Batch.concat([window.batch for window in windows]),
        index=np.concatenate([window.index for window in windows]),
        frame=np.concatenate([window.frame for window in windows]),
        original_length=np.concatenate([window.original_length for window in windows]),
    )


def regrouped(windows: Iterable[Window], size: int) -> Iterator[Window]:
    """The same frames of one capture in windows of ``size``; the last has what is left. A window without a frame is
    passed on behind what has come until then."""
    waiting: list[Window] = []
    count = 0
    for window in windows:
        if len(window):
            waiting.append(window)
            count += len(window)
        while count >= size or (count and not len(window)):
            whole = concat(waiting)
            yield part(whole, slice(0, size))
            waiting = [part(whole, slice(size, None))] if count > size else []
            count = max(0, count - size)
        if not len(window):
            yield window
    if waiting:
        yield concat(waiting)


def capture_names(paths: Sequence[Path]) -> list[str]:
    """What each capture is called: its file's name (`printable`), with as many folders as tell equal names apart."""
    names: list[str] = []
    whole = [Path(os.path.abspath(path)) for path in paths]
    for path in whole:
        others = {other for other in whole if other != path}
        depth = next(
            depth
            for depth in range(1, len(path.parts) + 1)
            if depth == len(path.parts) or all(other.parts[-depth:] != path.parts[-depth:] for other in others)
        )
        name = printable(str(Path(*path.parts[-depth:])))
        given = sum(known == name or known.startswith(f"{name} (") for known in names)
        names.append(f"{name} ({given + 1})" if given else name)
    return names
