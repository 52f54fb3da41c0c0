"""What passes between the parts of a replay: a window of frames, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from models.frames import FLAG_SNAPPED, Batch, Edge, Int64, Outcome
from models.meta import field_of
from models.nic import Mismatch

__all__ = ["WINDOW_FRAMES", "Judged", "Listener", "Ruled", "Secured", "Window"]

WINDOW_FRAMES = 4096
"""Frames that are played at once, and held in memory."""


@dataclass(frozen=True)
class Window:
    """Consecutive frames of one capture, as they are offered.

    batch: port and edge say where each frame enters; time_ns: its earliest start, from the start of the play.
    index: int64[n], number of each frame through all captures of the replay. capture: name of the capture.
    frame: int64[n], number in the capture. original_length: int64[n], bytes on the wire without FCS, more than the
    batch has where the capture holds only the frame's beginning. All numbers from 0.
    """

    batch: Batch
    index: Int64
    capture: str
    frame: Int64
    original_length: Int64

    def __len__(self) -> int:
        return len(self.batch)

    @property
    def snapped(self) -> np.ndarray:
        """bool[n]: frames of which only the beginning is there."""
        return (self.batch.flags & FLAG_SNAPPED).astype(bool)


@dataclass(frozen=True)
class Ruled:
    """What the ACL makes of the n frames of a window, as the golden model says. int32[n] each, -1: none.

    rule: the number of the rule that decided; -1: the default action, or it wasn't judged. mark: the DSCP that it was
    marked with. colour: of a metered frame, a `Colour`.
    """

    rule: np.ndarray
    mark: np.ndarray
    colour: np.ndarray

    @classmethod
    def none(cls, n: int) -> Ruled:
        """Of n frames that no ACL looked at."""
        return cls(*(np.full(n, -1, np.int32) for _ in range(3)))

    def spread(self, at: np.ndarray, n: int) -> Ruled:
        """Of n frames, of which these are the ones at ``at``."""
        whole = Ruled.none(n)
        for name in ("rule", "mark", "colour"):
            getattr(whole, name)[at] = getattr(self, name)
        return whole


@dataclass(frozen=True)
class Secured:
    """What IPsec makes of the n frames of a window, as the golden model says. sa: int32[n], the number of the SA that
    decrypted, encrypted or ended the frame, -1: none. sequence: uint64[n], its whole sequence number, 0: none."""

    sa: np.ndarray
    sequence: np.ndarray

    @classmethod
    def none(cls, n: int) -> Secured:
        """Of n frames that no SA was asked about."""
        return cls(np.full(n, -1, np.int32), np.zeros(n, np.uint64))

    def spread(self, at: np.ndarray, n: int) -> Secured:
        """Of n frames, of which these are the ones at ``at``."""
        whole = Secured.none(n)
        whole.sa[at], whole.sequence[at] = self.sa, self.sequence
        return whole


@dataclass(frozen=True)
class Judged:
    """A window that was played, and the differences from the golden model.

    mismatches: their ``frame`` is a position in the window, -1: no frame in particular. begin_ns: simulated time at
    cycle 0 of the play, as in the outcome. first_out: number, through the replay, of the first frame of
    ``outcome.frames``. ruled: None: no ACL looked at the frames; secured: None: IPsec is left out.
    """

    window: Window
    outcome: Outcome
    mismatches: list[Mismatch]
    begin_ns: int
    first_out: int
    ruled: Ruled | None = None
    secured: Secured | None = None

    @cached_property
    def copies(self) -> np.ndarray:
        """bool[m]: of the frames out, those that are a mirror's copies. Only the metadata to the host tells."""
        outcome = self.outcome
        if not len(outcome.meta):
            return np.zeros(len(outcome.source), np.bool_)
        return (field_of(outcome.meta, "acl_copy") != 0) & (outcome.frames.edge == Edge.HOST) & (outcome.source >= 0)

    @cached_property
    def redirected(self) -> np.ndarray:
        """bool[m]: of the frames out, those that left by the edge at which they came in."""
        outcome, edge = self.outcome, self.window.batch.edge
        same = np.zeros(len(outcome.source), np.bool_)
        known = outcome.source >= 0
        same[known] = outcome.frames.edge[known] == edge[outcome.source[known]]
        return same & ~self.copies

    def by_frame(self) -> dict[int, list[Mismatch]]:
        """The differences of each frame that differs, by its position in the window; -1: those of no frame."""
        found: dict[int, list[Mismatch]] = {}
        for mismatch in self.mismatches:
            found.setdefault(mismatch.frame, []).append(mismatch)
        return found


class Listener(Protocol):
    """Takes each window of a replay when it has been judged, in order."""

    def take(self, judged: Judged) -> None:
        """Called once a window. OSError, CaptureError: what it writes can't be written."""
        ...

    def close(self) -> None:
        """Called once, after the last window, also when the replay was ended early."""
        ...
