"""pyuvm agents of single ports: items to a ``Channel``, and what was seen to analysis ports."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from cocotb.triggers import Event
from pyuvm import (
    uvm_agent,
    uvm_analysis_port,
    uvm_component,
    uvm_driver,
    uvm_monitor,
    uvm_sequence,
    uvm_sequence_item,
    uvm_sequencer,
    uvm_subscriber,
)

from tb.lib.channel import Channel

__all__ = ["Feed", "Monitor", "PortAgent", "Tap"]


class Item(uvm_sequence_item):
    """A value as a sequence item."""

    def __init__(self, value: object) -> None:
        super().__init__(type(value).__name__)
        self.value = value


class Feed(uvm_sequence):
    """The items of one port, back to back where the driver allows it; it waits for more."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.values: deque[object] = deque()
        self._more = Event()

    def extend(self, values: Iterable[object]) -> None:
        self.values.extend(values)
        self._more.set()

    async def body(self) -> None:
        while True:
            while not self.values:
                self._more.clear()
                await self._more.wait()
            # It stands in the queue until its driver has it, so that nobody takes the port for empty meanwhile.
            item = Item(self.values[0])
            await self.start_item(item)
            await self.finish_item(item)
            if self.values and self.values[0] is item.value:
                self.values.popleft()


class _Driver(uvm_driver):
    """Hands items to the port and keeps one queued beyond the one under way, so that no bubble comes of it."""

    channel: Channel[Any]

    async def run_phase(self) -> None:
        while True:
            item = await self.seq_item_port.get_next_item()
            self.channel.append(item.value)
            await self.channel.room()
            self.seq_item_port.item_done()


class Monitor(uvm_monitor):
    """Publishes on ``ap`` what was seen."""

    def build_phase(self) -> None:
        self.ap = uvm_analysis_port("ap", self)

    def publish(self, seen: object) -> None:
        self.ap.write(seen)


class PortAgent(uvm_agent):
    """Agent of one driven port; its monitor publishes ``Taken``."""

    def __init__(self, name: str, parent: uvm_component, channel: Channel[Any]) -> None:
        super().__init__(name, parent)
        self.channel = channel

    def build_phase(self) -> None:
        super().build_phase()
        self.sequencer = uvm_sequencer("sequencer", self)
        self.driver = _Driver("driver", self)
        self.monitor = Monitor("monitor", self)

    def connect_phase(self) -> None:
        self.driver.channel = self.channel
        self.driver.seq_item_port.connect(self.sequencer.seq_item_export)
        self.channel.taken = self.monitor.publish


class Tap(uvm_subscriber):
    """Calls a function with what an analysis port gives."""

    def __init__(self, name: str, parent: uvm_component, call: Callable[[Any], None]) -> None:
        super().__init__(name, parent)
        self._call = call

    def write(self, item: object) -> None:
        self._call(item)
