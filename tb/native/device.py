"""A verilated device with the harness in one shared library, behind ctypes. The GIL is free while it runs.

library = load(build_native(design))          # tb.build; design.native: tb.native.DEVICE and the file of its pins
device = Device(library, seed=1)
harness = Harness([...], [...], {...}, lib=library)
device.bind(harness)
device.run(1_000_000, until=Event.DONE)
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p, string_at
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from models.frames import Int64
from tb.native.harness import Harness, Library

__all__ = ["Access", "Device", "DeviceLibrary", "Event", "TapLog", "load"]


class Event(IntFlag):
    """What ends a run before its cycles are over."""

    NONE = 0
    DONE = 1
    """Everything that was pushed is accounted for, or the watchdog fired."""
    ACCESS = 2
    """A register access has ended. It ends every run."""
    READY = 4
    """The device is ready."""


class Access(IntEnum):
    """State of a register access."""

    NONE = 0
    BUSY = 1
    OKAY = 2
    ERROR = 3
    STUCK = 4


@dataclass(frozen=True)
class TapLog:
    """What passed a device's taps (tb/native/taps.hpp). int64 each; cycles are the harness's, -1: not yet.

    stream, seq, offered, first, last: by passage, one frame at one stream: the frame's number there (a stream without
    numbers shows 0), and when its first beat was shown, its first taken, its last taken.
    stalled, culprit, before, all: by passage (its index) and culprit (the stream in front of it): cycles in which a
    beat stood, before the first one was taken and in all.
    """

    stream: Int64
    seq: Int64
    offered: Int64
    first: Int64
    last: Int64
    stalled: Int64
    culprit: Int64
    before: Int64
    all: Int64


class DeviceLibrary(Library):
    """The C ABI of tb/native/device_api.hpp, beside that of the harness."""

    VOID: ClassVar = {
        **Library.VOID,
        "device_destroy": (c_void_p,),
        "device_reset": (c_void_p, c_int32),
        "device_now": (c_void_p, POINTER(c_uint64), POINTER(c_uint32)),
        "device_set_skip": (c_void_p, c_int32),
        "device_end_waves": (c_void_p,),
        "device_end_taps": (c_void_p,),
    }
    FUNCTIONS: ClassVar = {
        **Library.FUNCTIONS,
        "device_create": (c_void_p, (c_int32,)),
        "device_bind": (c_int32, (c_void_p, c_void_p)),
        "device_run": (c_int32, (c_void_p, c_int64, c_int64, c_uint32)),
        "device_cycles": (c_int64, (c_void_p,)),
        "device_clock": (c_int64, (c_void_p, c_int32, c_int32)),
        "device_set_period": (c_int32, (c_void_p, c_int32, c_int64)),
        "device_access": (c_int32, (c_void_p, c_int32, c_uint32, c_uint32)),
        "device_skipped": (c_int64, (c_void_p,)),
        "device_save": (c_int32, (c_void_p, POINTER(c_void_p), POINTER(c_int64))),
        "device_restore": (c_int32, (c_void_p, c_char_p, c_int64)),
        "device_waves": (c_int32, (c_void_p, c_char_p, c_int32, c_int64, c_int64)),
        "device_begin_taps": (c_int32, (c_void_p, c_int64)),
        "device_tap_layout": (c_int32, (c_void_p, POINTER(c_uint32), POINTER(c_uint32))),
        "device_access_all": (c_int32, (c_void_p, c_int32, c_void_p, c_void_p, c_void_p)),
        "device_taps": (c_void_p, (c_void_p, c_int32, POINTER(c_int64))),
        "device_ready": (c_int32, (c_void_p,)),
        "device_access_state": (c_int32, (c_void_p,)),
        "device_answer": (c_int32, (c_void_p, POINTER(c_uint32))),
    }


def load(path: Path) -> DeviceLibrary:
    """The library that `tb.build.build_native` made. ImportError: it is another one."""
    return DeviceLibrary(path)


class Device:
    """A model in reset. seed: of the registers that start random. It stands before a rising edge between two calls."""

    def __init__(self, lib: DeviceLibrary, seed: int) -> None:
        self._lib = lib
        self._handle: int | None = lib.device_create(seed % 0x7FFFFFFF or 1)
        self._harness: Harness | None = None

    def close(self) -> None:
        """Ends the model."""
        if self._handle:
            self._lib.device_destroy(self._handle)
            self._handle = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def _call(self, name: str, *arguments: Any) -> Any:
        return getattr(self._lib, f"device_{name}")(self._handle, *arguments)

    def bind(self, harness: Harness) -> None:
        """``harness`` has the streams from now on. ValueError: it has others than the device."""
        if self._call("bind", harness.handle) < 0:
            raise ValueError(self._lib.error())
        self._harness = harness  # kept alive as long as the device steps it

    def run(self, cycles: int, until: Event = Event.NONE, *, steps: int | None = None) -> Event:
        """Run ``cycles`` cycles, or until one of the events ``until`` holds; returns those that do. ``steps``: at most
        so many cycles that aren't skipped. ValueError: no harness is bound."""
        found = self._call("run", cycles, cycles if steps is None else steps, int(until))
        if found < 0:
            raise ValueError(self._lib.error())
        return Event(found)

    @property
    def cycles(self) -> int:
        """Rising edges since the device was made."""
        return int(self._call("cycles"))

    @property
    def ready(self) -> bool:
        """The device says that it is ready."""
        return bool(self._call("ready"))

    @property
    def access_state(self) -> Access:
        """State of the register access."""
        return Access(self._call("access_state"))

    @property
    def now(self) -> int:
        """The device's time in the cycle that ends with the next edge, in units of 2**-32 ns."""
        ns, fraction = c_uint64(), c_uint32()
        self._call("now", byref(ns), byref(fraction))
        return ns.value << 32 | fraction.value

    def clock(self, number: int) -> tuple[int, int]:
        """Of one of several clocks: rising edges since the device was made, and the number of the one that comes next.

        The latter is counted from its release of reset: cycles of the streams that belong to it are such numbers.
        ValueError: no such clock, or no harness is bound.
        """
        edges, cycle = (int(self._call("clock", number, what)) for what in range(2))
        if min(edges, cycle) < 0:
            raise ValueError(self._lib.error())
        return edges, cycle

    def set_period(self, number: int, fs: int) -> None:
        """The period of one of several clocks, from its next edge on. ValueError: no such clock."""
        if self._call("set_period", number, fs) < 0:
            raise ValueError(self._lib.error())

    def reset(self, level: bool) -> None:
        """``rst`` after the edge that comes, that of each clock after its own."""
        self._call("reset", level)

    def access(self, write: bool, address: int, data: int = 0) -> None:
        """Begin a register access; it goes on while the device runs. ValueError: one is under way."""
        if self._call("access", write, address, data) < 0:
            raise ValueError(self._lib.error())

    def answer(self) -> tuple[Access, int]:
        """State of the access and what was read."""
        data = c_uint32()
        return Access(self._call("answer", byref(data))), data.value

    def access_all(self, accesses: Sequence[tuple[int, int | None]]) -> list[int]:
        """Accesses one right after the other while the device runs: address and value of a write, None of a read. What
        each read, or wrote, up to the first that isn't okay, of which `access_state` tells. ValueError: one is under
        way, or no harness is bound."""
        where = np.array([address for address, _ in accesses], np.uint32)
        data = np.array([value or 0 for _, value in accesses], np.uint32)
        writes = np.array([value is not None for _, value in accesses], np.uint8)
        count = self._call("access_all", len(where), writes.ctypes.data, where.ctypes.data, data.ctypes.data)
        if count < 0:
            raise ValueError(self._lib.error())
        return data[:count].tolist()

    # ------------------------------------------------------------------------------------------------- idle time

    def set_skip(self, on: bool) -> None:
        """Whether cycles in which nothing can happen pass in one; results are the same."""
        self._call("set_skip", on)

    @property
    def skipped(self) -> int:
        """Cycles that were skipped since the device was made."""
        return int(self._call("skipped"))

    # ------------------------------------------------------------------------------------------------- state

    def save(self) -> bytes:
        """State of the device and of its harness, whose results must have been popped. The same in every process.

        ValueError: frames are in flight, or no harness is bound.
        """
        data, size = c_void_p(), c_int64()
        if self._call("save", byref(data), byref(size)) < 0:
            raise ValueError(self._lib.error())
        return string_at(data.value or 0, size.value)

    def restore(self, state: bytes) -> None:
        """Back to a state of the same build, as it was saved; frames that are under way are forgotten.

        ValueError: its size is another, or no harness is bound; then nothing has changed.
        """
        if self._call("restore", state, len(state)) < 0:
            raise ValueError(self._lib.error())
        if self._harness is not None:
            self._harness.resume()

    # ------------------------------------------------------------------------------------------------- waves

    def waves(self, file: Path, path: int = -1, first: int = 0, last: int = 0) -> None:
        """Write waves from now on, or of the frames ``first`` to ``last`` (as the harness numbers them) of a path.

        OSError: the file can't be written.
        """
        if self._call("waves", str(file).encode(), path, first, last) < 0:
            raise OSError(self._lib.error())

    def end_waves(self) -> None:
        """The file is whole; nothing happens where no waves are written."""
        self._call("end_waves")

    # ------------------------------------------------------------------------------------------------- taps

    def begin_taps(self, most: int) -> None:
        """Note what passes the taps from now on, up to ``most`` passages. ValueError: the device has no taps."""
        if self._call("begin_taps", most) < 0:
            raise ValueError(self._lib.error())

    @property
    def tap_layout(self) -> tuple[int, tuple[int, ...]]:
        """How many streams have taps, and which of them leave the device. ValueError: the device has no taps."""
        streams, exits = c_uint32(), c_uint32()
        if self._call("tap_layout", byref(streams), byref(exits)) < 0:
            raise ValueError(self._lib.error())
        return streams.value, tuple(bit for bit in range(32) if exits.value >> bit & 1)

    def end_taps(self) -> TapLog:
        """What passed since `begin_taps`."""
        self._call("end_taps")
        return TapLog(*(self._tap_column(i, name) for i, name in enumerate(TapLog.__dataclass_fields__)))

    def _tap_column(self, column: int, name: str) -> Int64:
        count = c_int64()
        place = self._call("taps", column, byref(count))
        kind = np.dtype(np.int64 if name in ("offered", "first", "last", "stalled") else np.int32)
        return np.frombuffer(string_at(place or 0, count.value * kind.itemsize), kind).astype(np.int64)
