"""What a person sees while something runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["watched", "with_bar"]

T = TypeVar("T")


@contextmanager
def watched(look: Callable[[], None]) -> Iterator[None]:
    """``look`` some times a second while something else runs, which stays in the main thread: Ctrl-C ends it there."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.2):
            look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def with_bar(out: Console, work: Callable[[], T], total: int, look: Callable[[], tuple[int, str] | None]) -> T:
    """Do ``work``; where a person looks, show meanwhile how much of ``total`` is done.

    look: that, and what is being done; None: nothing yet, the build is under way.
    """
    if not out.is_terminal:
        return work()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task("building", total=total)

        def update() -> None:
            seen = look()
            if seen is not None:
                progress.update(task, completed=seen[0], description=seen[1])

        with watched(update):
            return work()
