"""What a bench has seen of block ``rings``, as events, and what is wrong with it (docs/rings.md, Models)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from models.rings import Config, Door, QueueConfig, Request, RingsModel
from models.rings_msix import Vector

__all__ = [
    "Asked",
    "Disabled",
    "Done",
    "Enabled",
    "Event",
    "FrameIn",
    "FrameOut",
    "Gave",
    "Judged",
    "MsixControl",
    "MsixEntry",
    "Rang",
    "Violation",
    "check",
    "play",
]


class Violation(NamedTuple):
    """place: which event; reason: what the page says."""

    place: str
    reason: str


class Enabled(NamedTuple):
    """``enable`` of a queue rose."""

    ns: int
    queue: int
    config: QueueConfig


class Disabled(NamedTuple):
    """``enable`` of a queue fell."""

    ns: int
    queue: int


class Rang(NamedTuple):
    """A doorbell was written."""

    ns: int
    queue: int
    door: Door
    value: int
    arm: bool = False


class MsixEntry(NamedTuple):
    """An entry of the MSI-X table was written."""

    ns: int
    vector: int
    address: int
    data: int
    masked: bool


class MsixControl(NamedTuple):
    """MSI-X Enable and Function Mask."""

    ns: int
    enable: bool
    masked: bool


class FrameIn(NamedTuple):
    """The last beat of a frame from the port was taken."""

    ns: int
    frame: bytes
    meta: Mapping[str, int]
    user: int


class Judged(NamedTuple):
    """The oldest frame from the port ended with a code, or (0) is being written."""

    ns: int
    code: int


class Asked(NamedTuple):
    """A request was taken by dma."""

    ns: int
    request: Request


class Gave(NamedTuple):
    """A frame of read data ended."""

    ns: int
    data: bytes
    bad: bool


class Done(NamedTuple):
    """``done`` was taken."""

    ns: int
    id: int
    code: int


class FrameOut(NamedTuple):
    """The last beat of a frame was taken by the port."""

    ns: int
    queue: int
    frame: bytes


Event: TypeAlias = (
    Enabled | Disabled | Rang | MsixEntry | MsixControl | FrameIn | Judged | Asked | Gave | Done | FrameOut
)


def play(model: RingsModel, event: Event) -> Sequence[str]:
    """One event: what is wrong with it."""
    model.advance(event.ns)
    match event:
        case Enabled(_, queue, config):
            model.enable(queue, config)
        case Disabled(_, queue):
            model.disable(queue)
        case Rang(ns, queue, door, value, arm):
            return model.doorbell(queue, door, value, ns, arm)
        case MsixEntry(_, vector, address, data, masked):
            model.msix.vectors[vector] = Vector(address, data, masked)
        case MsixControl(_, enable, masked):
            model.msix.enable, model.msix.masked = enable, masked
        case FrameIn(ns, frame, meta, user):
            return model.frame_in(frame, meta, user, ns)
        case Judged(ns, code):
            return model.judged(code, ns)
        case Asked(ns, request):
            return model.asked(request, ns)
        case Gave(ns, data, bad):
            return model.data(data, bad, ns)
        case Done(ns, request_id, code):
            return model.done(request_id, code, ns)
        case FrameOut(ns, queue, frame):
            return model.frame_out(queue, frame, ns)
    return []


def check(config: Config, events: Sequence[Event], at_rest: bool = True) -> list[Violation]:
    """All violations of the page, in order. at_rest: everything should have come to its end."""
    model = RingsModel(config)
    found = []
    for n, event in enumerate(events):
        place = f"event {n} at {event.ns} ns, {type(event).__name__}"
        found += [Violation(place, reason) for reason in play(model, event)]
    if at_rest:
        found += [Violation("the end", reason) for reason in model.finish()]
    return found
