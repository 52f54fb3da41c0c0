"""``ProbeTarget``: the native target whose device has taps on the streams between its slots.

Results and cycles are those of the native target; each play also leaves what passed the taps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import numpy as np

from models.frames import Batch, Edge, Int64, Outcome
from tb.native.device import DeviceLibrary, TapLog
from tb.nic.slots import LANES
from tb.targets.base import Fault, FaultKind, TargetError
from tb.targets.native import NativeEngine, NativeTarget, fingerprint
from tb.targets.wire import WireTarget

__all__ = ["ProbeEngine", "ProbeTarget", "native_of_build"]


class ProbeEngine(NativeEngine):
    """Drives a device that has taps. noting: whether plays are noted; log: of the last one, cycles counted from its
    start. A play with a reset in it can't be noted, so there are none."""

    def __init__(self, library: DeviceLibrary, seed: int) -> None:
        super().__init__(library, seed)
        _check_layout(*self.device.tap_layout)
        self.capabilities = replace(self.capabilities, faults=self.capabilities.faults - {FaultKind.RESET})
        self.noting = True
        self.log: TapLog | None = None
        self._base = 0

    async def play(
        self, batch: Batch, profiles: Mapping[Edge, str], cut: Fault | None, again: Callable[[], Awaitable[None]]
    ) -> Outcome:
        self.log = None
        try:
            return await super().play(batch, profiles, cut, again)
        finally:
            if self.noting:
                self.log = _moved(self.device.end_taps(), -self._base)

    def _offer(self, batch: Batch, index: Mapping[Edge, Int64], profiles: Mapping[Edge, str], begin: int) -> None:
        super()._offer(batch, index, profiles, begin)
        self._base = self._harness.cycle - (self._now() - begin)
        if self.noting:
            streams = sum(lane.streams for lane in LANES.values())
            self.device.begin_taps(streams * (len(batch) + 64))  # more only where the device makes frames without end


def _check_layout(streams: int, exits: tuple[int, ...]) -> None:
    """TargetError: the device's taps aren't those that tb/nic/slots.py names."""
    lanes = LANES.values()
    named = sum(lane.streams for lane in lanes), tuple(sorted(lane.first + len(lane.slots) for lane in lanes))
    if (streams, exits) != named:
        raise TargetError(
            f"the device has taps on {streams} streams, of which {exits} leave it; tb/nic/slots.py names {named[0]}, "
            f"of which {named[1]} do: make it fit tb/nic/nic_port_taps.sv"
        )


def _moved(log: TapLog, cycles: int) -> TapLog:
    """The log with its cycles moved."""
    moved = {name: getattr(log, name) for name in ("offered", "first", "last")}
    return replace(log, **{name: np.where(column < 0, -1, column + cycles) for name, column in moved.items()})


class ProbeTarget(NativeTarget):
    """`NativeTarget` with taps; ``log``: of the last play."""

    KIND = "probe"
    engine: ProbeEngine

    @staticmethod
    def make_engine(library: DeviceLibrary, seed: int) -> ProbeEngine:
        return ProbeEngine(library, seed)

    def note(self, on: bool) -> None:
        """Whether plays from now on are noted; they are at first."""
        self.engine.noting = on

    @property
    def log(self) -> TapLog | None:
        """What passed the taps in the last play; None: it wasn't noted."""
        return self.engine.log


def native_of_build(build: str, seed: int, wire: bool = False, **parameters: int) -> NativeTarget:
    """The native target that a state of ``build`` fits: with taps where it was saved on such a one. wire: the one with
    XGMII. parameters: of ``nic_port``."""
    if wire:
        return WireTarget(seed, **parameters)
    probe = build == fingerprint(ProbeTarget.design(**parameters))
    return ProbeTarget(seed, **parameters) if probe else NativeTarget(seed, **parameters)
