"""``NativeTarget``: the verilated port with the harness in one shared library, without a simulator around it.

The clock runs in C++, in slices, so that Ctrl-C works; what runs when doesn't depend on them. Cycles, times and results
are those of the engine ``bfm`` of the target ``cocotb``, to the last bit.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Sequence
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any

from models.config import NicConfig
from models.frames import Batch, Edge, Outcome
from tb import build
from tb.build import Design, build_native
from tb.native import PORT_PATHS
from tb.native.device import Access, Device, DeviceLibrary, Event, load
from tb.native.harness import Harness
from tb.nic.designs import port_design
from tb.targets.base import Armed, Fault, Stuck, TargetError, UnmappedAddress, edge_name
from tb.targets.engine import CLOCK_NS, DIRECTIONS, cycles_to_sleep
from tb.targets.harness import HarnessEngine
from tb.targets.port import PortTarget, check_accesses
from tb.targets.program import Transfer, one_by_one
from tb.targets.turns import Turns, Wait
from tb.toolchain import fst_support, verilator

__all__ = ["SLICE_CYCLES", "NativeEngine", "NativeTarget", "SnapshotError", "fingerprint", "waves_suffix"]

SLICE_CYCLES = 100_000
"""Cycles between two looks at what else there is to do: some tenths of a second."""

SLICE_SKIPPED = 250_000_000
"""The same of cycles that are skipped: a generator of random pauses draws for each."""

_MAGIC = b"NICLOOPS"


def _packed(head: dict[str, Any], state: bytes) -> bytes:
    """A saved state: magic, length of the head (4 bytes, little endian), the head as JSON, the engine's bytes."""
    text = json.dumps(head | {"sha256": _digest(head, state)}).encode()
    return _MAGIC + len(text).to_bytes(4, "little") + text + state


def _unpacked(snapshot: bytes) -> tuple[dict[str, Any], bytes]:
    """Back to head and bytes. ValueError, KeyError, TypeError: it is no saved state."""
    if not snapshot.startswith(_MAGIC):
        raise ValueError("it doesn't begin like one")
    begin = len(_MAGIC) + 4
    end = begin + int.from_bytes(snapshot[len(_MAGIC) : begin], "little")
    return json.loads(snapshot[begin:end]), snapshot[end:]


def _digest(head: dict[str, Any], state: bytes) -> str:
    """Of everything in a saved state but the digest itself."""
    rest = {name: value for name, value in head.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode() + state).hexdigest()


def waves_suffix() -> str:
    """End of the name of a file of waves, by the format that can be written here."""
    return ".fst" if fst_support() else ".vcd"


def fingerprint(design: Design) -> str:
    """A name for the content of all that a native build is made of, the same wherever the files lie."""
    digest = hashlib.sha256(repr((verilator().version, design.top, sorted(design.parameters.items()))).encode())
    headers = [path for folder in design.includes for path in sorted(folder.glob("*.vh"))]
    native = [path for source in design.native for path in sorted(source.parent.glob("*.hpp"))]
    for path in (Path(build.__file__), *design.sources, *design.native, *headers, *native):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"native-{digest.hexdigest()[:16]}"


class _Clock(Turns):
    """The device's cycles as time."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self._device = device
        self._part = 0.0  # of a slice

    def time(self) -> int:
        # The first edge is at time 0, as in a simulator whose clock starts high.
        return self._device.cycles - 1

    async def advance(self, wait: Wait) -> None:
        begin, skipped = self._device.cycles, self._device.skipped
        cycles = int(min(wait.until - self.time(), SLICE_SKIPPED))
        self._device.run(cycles, Event(wait.events), steps=SLICE_CYCLES)
        skipped = self._device.skipped - skipped
        self._part += (self._device.cycles - begin - skipped) / SLICE_CYCLES + skipped / SLICE_SKIPPED
        if self._part >= 1:
            self._part = 0.0
            await asyncio.sleep(0)


class NativeEngine(HarnessEngine):
    """Drives ``nic_port`` of a library that `tb.build.build_native` made."""

    def __init__(self, library: DeviceLibrary, seed: int) -> None:
        super().__init__(seed, library)
        self.device = Device(library, seed)
        self.clock = _Clock(self.device)
        self._accessing = False

    async def start(self) -> None:
        self._bind()

    def save(self) -> bytes:
        """State of port and harness. ValueError: frames are under way or wait to be received."""
        self._fetch()
        if any(self._out.values()):
            raise ValueError("frames wait to be received")
        return self.device.save()

    def restore(self, state: bytes, seed: int) -> None:
        """Back to a state; ``seed``: of the harnesses to come. ValueError: it isn't one of this build."""
        self.device.restore(state)
        self.seed = seed
        for frames in self._out.values():
            frames.clear()

    async def watch(self, path: Path, edge: Edge, first: int, last: int) -> None:
        """Write waves while frames ``first`` to ``last`` of those that are offered next at an edge are under way."""
        while not self._harness.done:
            await self._until_done()
        way, name = list(PORT_PATHS).index(DIRECTIONS[edge]), edge_name(edge)
        begin = self._harness.counters()[f"{name}_in_frames"]
        self.device.waves(path, way, begin + first, begin + last)

    def _attach(self, harness: Harness) -> None:
        self.device.bind(harness)

    def _set_reset(self, level: bool) -> None:
        self.device.reset(level)

    async def _wait(self, cycles: int) -> None:
        await self.clock.wait(Wait(self._now() + cycles))

    async def _until_done(self) -> None:
        await self.clock.wait(Wait(inf, lambda: self._harness.done, Event.DONE))

    async def _ready_within(self, cycles: int) -> bool:
        await self._wait(1)
        await self.clock.wait(Wait(self._now() + cycles - 1, lambda: self.device.ready, Event.READY))
        return self.device.ready

    def _now(self) -> int:
        return self.clock.time()

    def _port_now(self) -> int:
        return self.device.now

    async def read(self, address: int) -> int:
        return await self._access(False, address, 0)

    async def write(self, address: int, value: int) -> None:
        await self._access(True, address, value)

    async def _access(self, write: bool, address: int, value: int) -> int:
        """One access at a time; it goes on while frames move."""
        # An access whose coroutine was ended is still on the pins.
        await self.clock.wait(Wait(inf, lambda: not self._accessing and self.device.access_state != Access.BUSY))
        self._accessing = True
        try:
            self.device.access(write, address, value)
            await self.clock.wait(Wait(inf, lambda: self.device.access_state != Access.BUSY))
            state, data = self.device.answer()
        finally:
            self._accessing = False
        self._check_access(state, address)
        return data

    async def access_all(self, accesses: Sequence[Transfer]) -> list[int]:
        """As one access after the other, in one call where nobody else waits for a time."""
        if self.clock.shared or self.device.access_state == Access.BUSY:
            return await one_by_one(self, accesses)
        found = self.device.access_all(accesses)
        if len(found) < len(accesses):
            self._check_access(self.device.access_state, accesses[len(found)][0])
        return found

    @staticmethod
    def _check_access(state: Access, address: int) -> None:
        if state == Access.STUCK:
            raise Stuck("s_axil", 4000, "no answer")
        if state == Access.ERROR:
            raise UnmappedAddress(address)


class SnapshotError(TargetError):
    """The state can't be saved now, or isn't one of this build."""


class NativeTarget(PortTarget):
    """One port without a simulator. Call `start` once before anything else.

    seed: of the harness and of registers that start random. skip_idle: time in which nothing can happen is skipped,
    with the same results. parameters: of ``nic_port``. Building raises as `tb.build.build_native`.
    """

    KIND = "native"
    """The device: an engine of `tb.nic.designs.port_design`."""

    def __init__(self, seed: int = 1, *, skip_idle: bool = True, **parameters: int) -> None:
        design = self.design(**parameters)
        path = build_native(design)
        self._parameters = parameters
        self.build = fingerprint(design)
        """What a saved state fits: RTL, parameters, harness and tools."""
        self.engine = self.make_engine(load(path), seed)
        self.engine.device.set_skip(skip_idle)
        self._window: tuple[Path, Edge, int, int] | None = None
        super().__init__(self.engine)

    @classmethod
    def design(cls, **parameters: int) -> Design:
        """What is built. parameters: of ``nic_port``."""
        return port_design(cls.KIND, **parameters)

    @staticmethod
    def make_engine(library: DeviceLibrary, seed: int) -> NativeEngine:
        """What drives the device."""
        return NativeEngine(library, seed)

    async def sleep(self, ns: int) -> None:
        await self.engine._wait(cycles_to_sleep(ns))

    def now(self) -> int:
        return max(0, self.engine.clock.time() * int(CLOCK_NS))

    @property
    def skipped(self) -> int:
        """Cycles that were skipped since the device was made."""
        return self.engine.device.skipped

    async def access_all(self, accesses: Sequence[Transfer]) -> list[int]:
        check_accesses(accesses)
        return await self.engine.access_all(accesses)

    async def gather(self, *coroutines: Awaitable[Any]) -> list[Any]:
        return await self.engine.clock.gather(*coroutines)

    # -- state -------------------------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """The whole state between two plays. `SnapshotError`: a frame is under way, or came out and wasn't received."""
        head = {
            "build": self.build,
            "seed": self.engine.seed,
            "config": self._config.to_toml(),
            "armed": [asdict(fault) for fault in self._armed.faults()],
        }
        try:
            return _packed(head, self.engine.save())
        except ValueError as error:
            raise SnapshotError(f"the state can't be saved: {error}") from None

    async def fresh_state(self) -> bytes:
        """The `snapshot` of another device of this build and seed, made for it, after its first reset."""
        other = type(self)(self.engine.seed, skip_idle=True, **self._parameters)
        await other.start()
        return other.snapshot()

    def restore(self, snapshot: bytes) -> None:
        """Back to the state of a `snapshot`, also of another target of the same build; time goes back with it.

        `SnapshotError`: it is of another build, or damaged; then nothing has changed.
        """
        try:
            head, state = _unpacked(snapshot)
            if head["build"] != self.build:
                raise SnapshotError(
                    f"the state is of build {head['build']}, this is {self.build}: other RTL, harness or tools"
                )
            if head["sha256"] != _digest(head, state):
                raise ValueError("it is damaged, its digest is another")
            config, faults = NicConfig.parse(head["config"]), [Fault(**fault) for fault in head["armed"]]
            self.engine.restore(state, head["seed"])
        except (ValueError, KeyError, TypeError) as error:
            raise SnapshotError(f"this is no saved state: {error}") from None
        self._config, self._armed = config, Armed()
        for fault in faults:
            self._armed.take(fault)

    # -- waves -------------------------------------------------------------------------------------------------------

    def start_waves(self, path: Path) -> None:
        """Write waves to ``path`` (`waves_suffix`) until `stop_waves`. OSError: the file can't be written."""
        self.engine.device.waves(path)

    def stop_waves(self) -> None:
        """The file of waves is whole. Nothing happens where none are written."""
        self.engine.device.end_waves()

    def waves_of(self, path: Path, edge: Edge, first: int, last: int) -> None:
        """In the next play write waves of the frames ``first`` to ``last`` (from 0) of those at ``edge``.

        From where the first of them is offered until the last of them has left the port. The play raises OSError where
        the file can't be written.
        """
        self._window = (path, edge, first, last)

    async def play(self, stimulus: Batch) -> Outcome:
        if self._window is None:
            return await super().play(stimulus)
        window, self._window = self._window, None
        await self.engine.watch(*window)
        try:
            return await super().play(stimulus)
        finally:
            self.stop_waves()
