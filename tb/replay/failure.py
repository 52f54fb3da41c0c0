"""From a window of a replay that failed to the fewest frames that still do, in one file.

The frames are tried alone from a reset first, since that says most and runs anywhere; then with more and more of those
before them; and where the failure hangs on what the device went through before, from a state of the device that was
saved close before them, if the target can save one. A reset may leave behind what makes a device fail, so each try from
a reset is one of a new device, on targets that can make one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from models.config import NicConfig
from tb.replay.item import Failing, Item, Renews, Saves, Verdict, play_once
from tb.replay.packed import SURVIVES_RESET, Origin, write_failure
from tb.replay.shrink import shrink
from tb.replay.window import Judged
from tb.report.table import counted
from tb.targets.base import Target, TargetError

__all__ = ["REPRODUCE_TRIES", "Context", "Failure", "reproduce", "say_on_stderr"]

REPRODUCE_TRIES = 100
"""Plays that the reproduction of one failure may take."""

WINDOW_BYTES = 8 << 20
"""Most bytes of the frames before the failing one that are packed beside the smallest failure."""

_TAILS = (1, 2, 4, 8, 16, 64, 256)
"""How many frames, the failing one last, are tried before the whole window is."""


def say_on_stderr(text: str) -> None:
    """Progress for a person."""
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Context:
    """What a reproduction needs beside the window.

    folder: where the file goes. snapshot: state of the device before the window (`NativeTarget.snapshot`), None where
    the target saves none; before: the counters then. tries: most plays that it may take. say: takes lines of progress.
    """

    folder: Path
    origin: Origin
    before: Mapping[str, int] = field(default_factory=dict)
    snapshot: bytes | None = None
    tries: int = REPRODUCE_TRIES
    say: Callable[[str], None] = say_on_stderr


@dataclass(frozen=True)
class Failure:
    """A failure that lies on disk at ``path``."""

    path: Path
    failing: Failing


async def reproduce(
    target: Target, judged: Judged, config: NicConfig, context: Context, error: TargetError | None = None
) -> Failure:
    """Cut down and pack the failure of a window; the device is left in any state. error: what ended its play, if that.

    OSError: the file can't be written.
    """
    window = judged.window
    whole = Item(
        window.capture, window.batch, {}, len(window), paced=False, config=config, number=window.frame.astype(np.int64)
    )
    if error is not None:
        found = Verdict.of_error(window.batch, error, judged.begin_ns)
    else:
        found = Verdict(window.batch, judged.outcome, judged.mismatches, begin_ns=judged.begin_ns)
    at = found.first_frame
    what = f"frame {int(whole.numbers[at])} of {window.capture}" if at is not None else f"a window of {window.capture}"
    context.say(f"reproducing {what}")
    # What comes behind the frame that fails first can't have made it fail; a frame without a byte can't be offered.
    frames = np.flatnonzero(window.batch.lengths[: len(window) if at is None else at + 1]).tolist()
    failing = await _Search(target, whole, config, context).run(found, frames)
    tries = counted(failing.tries, "try", "tries")
    words = f"{counted(len(failing.item.frames), 'frame')} after {tries}"
    words += "" if failing.item.state is None else ", from a saved state"
    context.say(words if failing.reproduced else f"it does not fail again ({tries})")
    if failing.survives_reset:
        context.say(SURVIVES_RESET)
    origin = replace(context.origin, build=target.build) if isinstance(target, Saves) else context.origin
    return Failure(write_failure(context.folder, failing, config, origin), failing)


class _Search:
    """The plays that look for the fewest frames; ``tries`` counts them."""

    def __init__(self, target: Target, whole: Item, config: NicConfig, context: Context) -> None:
        self.target, self.whole, self.config, self.context = target, whole, config, context
        self.tries = 0
        self.fresh: bytes | None = None
        """State of a new device, from which each play begins; None: the target can't make one."""
        # A play under Icarus takes a hundred times as long.
        self.most_tries = context.tries // 10 if context.origin.sim == "icarus" else context.tries

    async def run(self, found: Verdict, frames: list[int]) -> Failing:
        """The failure cut down: ``frames`` of the whole, the last of which fails, are all that it may hang on."""
        window = self._window(frames)
        if isinstance(self.target, Renews):
            self.fresh = await self.target.fresh_state()
        best = await self._from_reset(frames) or await self._from_state(frames)
        if best is None:
            suspects = sorted({m.frame for m in found.mismatches if m.frame >= 0}) or frames[-1:]
            item = self.whole.part(suspects[:1])
            return Failing(self.whole, found, item, Verdict(item.frames, None, []), False, self.tries, window)
        item, verdict = best
        self.context.say(f"it fails with {counted(len(item.frames), 'frame')}; looking for fewer")
        item, verdict = await self._without_rest(item, verdict)
        left = max(0, self.most_tries - self.tries)

        async def fails(part: list[int]) -> bool:
            return (await self._play(item.part(part))).failed

        # The last frames alone were tried already: no hint.
        shrunk = await shrink(range(len(item.frames)), fails, tries=left)
        smallest = item.part(shrunk.frames)
        verdict = await self._play(smallest)
        if not shrunk.minimal:
            smallest, verdict = await self._without_rest(smallest, verdict)
        whole_state = self.fresh is not None or item.state is not None
        survives = self.fresh is not None and item.state is not None and await self._survives_reset(smallest)
        beside = window if len(smallest.frames) < len(window.frames) else None
        return Failing(self.whole, found, smallest, verdict, shrunk.minimal, self.tries, beside, whole_state, survives)

    async def _play(self, item: Item) -> Verdict:
        self.tries += 1
        return await play_once(self.target, item, self.config, self.fresh)

    async def _without_rest(self, item: Item, verdict: Verdict) -> tuple[Item, Verdict]:
        """Without what comes behind the frame that fails first, if it still fails then."""
        at = verdict.first_frame
        if at is None or at + 1 >= len(item.frames):
            return item, verdict
        shorter = item.part(range(at + 1))
        again = await self._play(shorter)
        return (shorter, again) if again.failed else (item, verdict)

    async def _survives_reset(self, item: Item) -> bool:
        """Whether frames that fail from a state, and were played last, fail again after no more than a reset."""
        self.tries += 1
        return (await play_once(self.target, replace(item, state=None, before={}), self.config)).failed

    def _tails(self, frames: Sequence[int]) -> list[int]:
        """How many of the frames to try, the last ones."""
        return [size for size in _TAILS if size < len(frames)] + [len(frames)]

    async def _from_reset(self, frames: list[int]) -> tuple[Item, Verdict] | None:
        """The fewest of the tails that fail from a reset, and how; None: not even all of them do."""
        for size in self._tails(frames):
            item = self.whole.part(frames[-size:])
            if (verdict := await self._play(item)).failed:
                return item, verdict
        return None

    async def _from_state(self, frames: list[int]) -> tuple[Item, Verdict] | None:
        """The same from a state that is saved before the tail. None: they don't fail, or no state can be saved."""
        saver = self.target
        if self.context.snapshot is None or not isinstance(saver, Saves):
            return None
        self.context.say("it does not fail from a reset; trying from the state of the device")
        start = replace(self.whole, state=self.context.snapshot, before=self.context.before)
        for size in self._tails(frames):
            tail, ahead = frames[-size:], frames[:-size]
            item = replace(self.whole.part(tail), state=start.state, before=start.before)
            if ahead:
                led = await self._play(start.part(ahead))
                if led.failed or led.outcome is None:
                    continue
                try:
                    item = replace(item, state=saver.snapshot(), before=led.outcome.counters)
                except TargetError:  # a frame is under way that nobody sent
                    continue
            if (verdict := await self._play(item)).failed:
                return item, verdict
        return None

    def _window(self, frames: list[int]) -> Item:
        """The last of the frames, as many as `WINDOW_BYTES` hold."""
        sizes = self.whole.frames.lengths[frames][::-1]
        fitting = max(1, int(np.searchsorted(np.cumsum(sizes), WINDOW_BYTES, "right")))
        return self.whole.part(frames[-fitting:])
