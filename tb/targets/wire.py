"""``WireTarget``: the native target whose wire edge is XGMII, with preamble, FCS and gap at line rate (docs/mac.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from models.nic_wire import MAC_COUNTERS, padded
from tb.native.device import DeviceLibrary
from tb.targets.base import Fault, FaultKind, Unsupported
from tb.targets.engine import CLOCK_NS
from tb.targets.native import NativeEngine, NativeTarget
from tb.targets.program import read_counters

__all__ = ["PPM_MOST", "WIRE", "WireEngine", "WireTarget"]

WIRE = "wire"
"""Name of the engine: by it a failure's file remembers the edge."""

PPM_MOST = 100
"""How far a clock of the wire may be off (IEEE 802.3, 46.3.1.1), in parts of a million."""

_PERIOD_FS = 2_560_000
_CLOCKS = {"rx": 1, "tx": 2}


class WireEngine(NativeEngine):
    """Drives ``nic_port`` with ``MAC_EN``. A wire takes no beat back, so its receiver can't pause."""

    def __init__(self, library: DeviceLibrary, seed: int) -> None:
        super().__init__(library, seed)
        self.capabilities = replace(
            self.capabilities, xgmii=True, faults=frozenset({FaultKind.BACK_PRESSURE, FaultKind.BAD_FRAME})
        )

    async def play(
        self, batch: Batch, profiles: Mapping[Edge, str], cut: Fault | None, again: Callable[[], Awaitable[None]]
    ) -> Outcome:
        return await super().play(padded(batch), profiles, cut, again)

    async def send(self, edge: Edge, data: bytes, queue: int, bad: int) -> None:
        await super().send(edge, padded(Batch.of([data], edge=edge)).frame(0), queue, bad)


class WireTarget(NativeTarget):
    """`NativeTarget` with XGMII. rx_ppm, tx_ppm: by how much `rx_clk` and `tx_clk` are faster than 390.625 MHz.

    ValueError: they are off by more than 100 ppm.
    """

    KIND = WIRE

    def __init__(
        self, seed: int = 1, *, skip_idle: bool = True, rx_ppm: int = 0, tx_ppm: int = 0, **parameters: int
    ) -> None:
        super().__init__(seed, skip_idle=skip_idle, **parameters)
        self._ppm = {"rx": rx_ppm, "tx": tx_ppm}
        for side, ppm in self._ppm.items():
            if abs(ppm) > PPM_MOST:
                raise ValueError(f"{side}_ppm {ppm}: must be from -{PPM_MOST} to {PPM_MOST}")
            self.engine.device.set_period(_CLOCKS[side], round(_PERIOD_FS / (1 + ppm / 1e6)))

    @staticmethod
    def make_engine(library: DeviceLibrary, seed: int) -> WireEngine:
        return WireEngine(library, seed)

    async def configure(self, config: NicConfig) -> None:
        """Unsupported: its time grows otherwise than the MACs', which count 2.56 ns a cycle."""
        increment = config.ports[0].time_increment_ns
        if round(abs(increment / CLOCK_NS - 1) * 1e6, 3) > PPM_MOST:
            raise Unsupported(
                f"time_increment_ns {increment:.9g}: the MACs' time follows {CLOCK_NS} ns, {PPM_MOST} ppm more or less"
            )
        await super().configure(config)

    async def fresh_state(self) -> bytes:
        other = WireTarget(
            self.engine.seed, skip_idle=True, rx_ppm=self._ppm["rx"], tx_ppm=self._ppm["tx"], **self._parameters
        )
        await other.start()
        return other.snapshot()

    async def inject(self, fault: Fault) -> None:
        if fault.kind == FaultKind.BACK_PRESSURE and fault.edge == Edge.WIRE and fault.profile != "none":
            raise Unsupported("a wire can't pause the port: this target has back-pressure at the host edge only")
        await super().inject(fault)

    async def _read_counters(self) -> dict[str, int]:
        own = await super()._read_counters()
        return own | await read_counters(self.read_all, dict(zip(MAC_COUNTERS, MAC_COUNTERS, strict=True)))
