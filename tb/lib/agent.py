"""pyuvm faces of the stream agents: ``AxisAgent`` drives or receives frames as ``AxisItem``.

An active source has a sequencer, a driver and a monitor; a sink has a monitor that drives ``tready`` too; a passive one
only watches. The frame itself is ``item.frame``, so a scoreboard compares ``AxisFrame`` with ``AxisFrame``.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from cocotb.handle import HierarchyObject, LogicObject
from pyuvm import (
    uvm_active_passive_enum,
    uvm_agent,
    uvm_analysis_port,
    uvm_component,
    uvm_driver,
    uvm_monitor,
    uvm_sequence,
    uvm_sequence_item,
    uvm_sequencer,
)

from tb.lib.axis import AxisFrame, AxisMonitor, AxisSink, AxisSource

__all__ = ["AxisAgent", "AxisItem", "AxisSequence", "Role"]


class Role(Enum):
    """What an agent does with its stream."""

    SOURCE = "source"
    SINK = "sink"
    PASSIVE = "passive"


class AxisItem(uvm_sequence_item):
    """A frame as a sequence item."""

    def __init__(self, name: str, frame: AxisFrame) -> None:
        super().__init__(name)
        self.frame = frame

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AxisItem) and self.frame == other.frame

    __hash__ = uvm_sequence_item.__hash__

    def __str__(self) -> str:
        return str(self.frame)


class AxisSequence(uvm_sequence):
    """Sends a list of frames, back to back where the driver allows it."""

    def __init__(self, name: str, frames: list[AxisFrame]) -> None:
        super().__init__(name)
        self.frames = frames

    async def body(self) -> None:
        for index, frame in enumerate(self.frames):
            item = AxisItem(f"{self.get_name()}[{index}]", frame)
            await self.start_item(item)
            await self.finish_item(item)


class _Driver(uvm_driver):
    """Hands items to the source and keeps one frame queued beyond the one under way, so that no bubble comes of it."""

    source: AxisSource

    async def run_phase(self) -> None:
        while True:
            item = await self.seq_item_port.get_next_item()
            self.source.append(item.frame)
            await self.source.room()
            self.seq_item_port.item_done()


class _Monitor(uvm_monitor):
    """Publishes every frame on ``ap``."""

    def build_phase(self) -> None:
        self.ap = uvm_analysis_port("ap", self)
        self._count = 0

    def publish(self, frame: AxisFrame) -> None:
        self.ap.write(AxisItem(f"{self.get_name()}[{self._count}]", frame))
        self._count += 1


class AxisAgent(uvm_agent):
    """Agent of one stream. ``monitor.ap`` is also ``agent.ap``; a source's ``sequencer`` takes ``AxisSequence``s.

    ``bus`` is the ``AxisSource``, ``AxisSink`` or ``AxisMonitor`` beneath, for ``pause``, ``clear()`` and
    ``drained()``; a source's agent watches its own stream with ``watch``.
    """

    def __init__(
        self,
        name: str,
        parent: uvm_component | None,
        entity: HierarchyObject,
        stream: str,
        clock: LogicObject,
        role: Role,
        *,
        meta: bool | None = None,
        pause: Iterator[bool] | None = None,
        undefined: bool = False,
    ) -> None:
        super().__init__(name, parent)
        self._entity, self._stream, self._clock = entity, stream, clock
        self._role, self._meta, self._pause, self._undefined = role, meta, pause, undefined

    def build_phase(self) -> None:
        super().build_phase()
        source = self._role is Role.SOURCE
        self.is_active = uvm_active_passive_enum.UVM_ACTIVE if source else uvm_active_passive_enum.UVM_PASSIVE
        self.monitor = _Monitor("monitor", self)
        if source:
            self.sequencer = uvm_sequencer("sequencer", self)
            self.driver = _Driver("driver", self)

    def connect_phase(self) -> None:
        entity, stream, clock, meta = self._entity, self._stream, self._clock, self._meta
        publish = self.monitor.publish
        self.ap = self.monitor.ap
        if self._role is Role.SOURCE:
            self.bus: AxisSource | AxisMonitor = AxisSource(
                entity, stream, clock, meta=meta, pause=self._pause, undefined=self._undefined
            )
            self.watch = AxisMonitor(entity, stream, clock, meta=meta, callback=publish)
            self.driver.source = self.bus
            self.driver.seq_item_port.connect(self.sequencer.seq_item_export)
        elif self._role is Role.SINK:
            self.bus = AxisSink(entity, stream, clock, meta=meta, pause=self._pause, callback=publish)
        else:
            self.bus = AxisMonitor(entity, stream, clock, meta=meta, callback=publish)
