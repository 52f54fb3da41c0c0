"""``--out``: what came out of the port, as a capture with the times of the simulation and a comment a frame."""

from __future__ import annotations

import os

from models.meta import FIRST_DROP
from tb.replay.records import difference
from tb.replay.statistics import code_name, disposition_name
from tb.replay.window import Judged
from tb.replay.writer import PcapngWriter

__all__ = ["OutCapture"]

_MOST_COMMENT = 1000


class OutCapture:
    """A listener that writes the frames that came out, in the order of the outcomes, so that a frame's number in the
    file is the one that records name. "-": to standard output. CaptureError: it can't be written.

    Times are ns of simulated time, from its start; the interface says at which port and edge a frame came out.
    """

    def __init__(self, path: str | os.PathLike[str], clock_ns: float) -> None:
        self._writer = PcapngWriter(path)
        self._clock_ns = clock_ns

    def take(self, judged: Judged) -> None:
        self._writer.write(judged.outcome.frames, _comments(judged, self._clock_ns))
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def _comments(judged: Judged, clock_ns: float) -> list[str]:
    """The comment of each frame out: where it comes from, what became of it, latency, verdict."""
    window, outcome = judged.window, judged.outcome
    differences = {at: [difference(mismatch) for mismatch in found] for at, found in judged.by_frame().items()}
    comments = []
    kinds = zip(outcome.source.tolist(), judged.copies.tolist(), judged.redirected.tolist(), strict=True)
    for source, copy, redirected in kinds:
        if source < 0:
            comments.append("made by the port: of no input frame")
            continue
        frame, code, latency = int(window.frame[source]), int(outcome.code[source]), int(outcome.latency_cycles[source])
        words = [
            f"{'copy of ' if copy else ''}input {window.index[source]} ({window.capture}: frame {frame}, in Wireshark "
            f"{frame + 1})",
            disposition_name(code) or "its end was not reported",
        ]
        if redirected:
            words.append("redirected")
        if code >= FIRST_DROP:
            words.append(f"reason {code_name(code)}")
        if latency >= 0:
            words.append(f"latency {latency} cycles, {latency * clock_ns:g} ns")
        found = differences.get(source)
        words.append("as the model says" if found is None else f"MISMATCH: {'; '.join(found)}")
        comments.append("; ".join(words)[:_MOST_COMMENT])
    return comments
