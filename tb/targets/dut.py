"""What a bench around ``nic_port`` reads of its pins beside the streams. For any simulator."""

from __future__ import annotations

from cocotb.handle import HierarchyObject

from models.meta import pack
from tb.lib.axis import AxisSink

__all__ = ["WireSink", "port_now"]


class WireSink(AxisSink):
    """A sink at the wire edge: a frame's ``meta`` has the number and the direction that stand beside it."""

    def _beat(self) -> None:
        if not self.partial:
            seq, direction = (getattr(self.entity, f"{self.name}_{signal}") for signal in ("seq", "direction"))
            word = {"seq": self._int(seq, "seq of a first beat"), "direction": self._int(direction, "direction")}
            self._meta = pack(word)
        super()._beat()


def port_now(dut: HierarchyObject) -> int:
    """The port's `now` in the cycle that ends with this edge, in units of 2**-32 ns."""
    return int(dut.now.value) << 32 | int(dut.now_fraction.value)
