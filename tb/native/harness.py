"""Python face of the harness: frames in and results out in bulk, as flat numpy arrays, nothing copied in Python.

The same objects serve a simulator (``Harness.bind()``; the frame BFM's modules then call them every cycle), the native
target, and tests without either. Everything random comes from the harness's seed.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
from collections.abc import Sequence
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from models.meta import FIELDS, META_WORDS, pack_words
from tb.native import SOURCES

__all__ = [
    "CYCLE_PS",
    "LINE_RATE",
    "META_WORDS",
    "PAUSES",
    "Frames",
    "Harness",
    "Library",
    "PathResult",
    "Results",
    "SinkResult",
    "SourceResult",
    "StreamError",
    "build_library",
    "cycles_of",
    "load",
    "meta_words",
]

CYCLE_PS = 4000
"""Period of the core clock in ps."""
LINE_RATE = Fraction(25)
"""25G Ethernet, in Gb/s of frame, preamble, FCS and gap."""

Bytes = NDArray[np.uint8]
Cycles = NDArray[np.int64]
Words = NDArray[np.uint32]
Octets = NDArray[np.uint64]
"""Words of XGMII, lane 0 in the low byte."""


class StreamError(AssertionError):
    """The device broke the protocol of a stream, lost a frame, or hangs: a line for each finding, with its cycle."""


class Frames(Protocol):
    """What :meth:`Harness.push_batch` reads of a ``models.frames.Batch``."""

    @property
    def data(self) -> Bytes: ...
    @property
    def offset(self) -> Cycles: ...
    @property
    def bad(self) -> Bytes: ...
    @property
    def time_ns(self) -> Cycles: ...
    @property
    def queue(self) -> Bytes: ...


@dataclass(frozen=True)
class SourceResult:
    """Frames that went in, in order; cycles, int64[n].

    first_frame: number of the first of them, counted from the harness's start. valid: tvalid of the first beat rose.
    first, last: the first and the last beat were taken; last is -1 where a reset cut the frame.
    """

    first_frame: int
    valid: Cycles
    first: Cycles
    last: Cycles


@dataclass(frozen=True)
class SinkResult:
    """Frames that came out, in order; cycles as in :class:`SourceResult`.

    data: uint8[total], offset: int64[n+1]. user: uint32[n], tuser of the last beat. meta: uint32[n, words].
    """

    first_frame: int
    data: Bytes
    offset: Cycles
    user: Words
    meta: Words
    valid: Cycles
    first: Cycles
    last: Cycles

    def __len__(self) -> int:
        return len(self.last)

    def frame(self, i: int) -> bytes:
        """Bytes of the i-th frame."""
        return self.data[self.offset[i] : self.offset[i + 1]].tobytes()


@dataclass(frozen=True)
class PathResult:
    """Dispositions in the order in which they were reported: int64[d] or uint32[d].

    frame: which frame of the source it is (-1: of none that was in flight), numbered as in :class:`SourceResult`.
    entry_cycle: int64[e], a row for each frame that entered since the last pop, in the source's order (-1: a reset came
    before its entry was reported).
    """

    entry_cycle: Cycles
    cycle: Cycles
    frame: Cycles
    seq: Words
    code: Words
    queue: Words


@dataclass(frozen=True)
class Results:
    """What ended since the pop before: by name of the stream or path."""

    sources: dict[str, SourceResult]
    sinks: dict[str, SinkResult]
    paths: dict[str, PathResult]


class _Kind(IntEnum):
    SOURCE = 0
    SINK = 1
    PATH = 2


PAUSES: dict[str, tuple[int, tuple[float, ...]]] = {
    "none": (0, ()),
    "random": (1, (0.6,)),
    "bursty": (2, (24, 24)),
    "one_in": (3, (7,)),
    "gap": (4, ()),
    "after_valid": (5, ()),
    "stall_last": (6, (3,)),
    "storm": (7, ()),
}
"""Generators of ``tb.lib.pause`` by name: number and defaults of their parameters, which are the same as there."""
_STALL = 8
"""Number of the generator that passes nothing for a while, then everything."""

_VOID: dict[str, tuple[Any, ...]] = {
    "destroy": (c_void_p,),
    "bind": (c_void_p,),
    "set_watchdog": (c_void_p, c_int64),
    "set_quiet": (c_void_p, c_int64),
    "clear_errors": (c_void_p,),
    "free": (c_void_p,),
    "step_entry": (c_void_p, c_int32, c_uint32),
    "step_disposition": (c_void_p, c_int32, c_uint32, c_uint32, c_uint32),
    "xgmii_encode": (c_void_p, c_int32, c_int64, c_void_p, c_void_p),
    "xgmii_decode": (c_void_p, c_int32, c_int64, c_void_p, c_void_p),
    "random": (c_uint64, c_uint64, c_int64, c_void_p),
    "passes": (c_uint64, c_int32, c_int64, c_int64, c_int64, c_void_p),
}
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "create": (c_void_p, (c_uint64, c_int32)),
    "last_error": (c_char_p, ()),
    "add_source": (c_int32, (c_void_p, c_char_p)),
    "add_sink": (c_int32, (c_void_p, c_char_p)),
    "add_path": (c_int32, (c_void_p, c_char_p, c_int32, c_int32, c_int32)),
    "push": (c_int32, (c_void_p, c_int32, c_int64, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)),
    "set_gap": (c_int32, (c_void_p, c_int32, c_int32, c_int64, c_int64, c_int32)),
    "set_rate": (c_int32, (c_void_p, c_int32, c_int64, c_int64, c_int64)),
    "set_pause": (c_int32, (c_void_p, c_int32, c_int32, c_int64, c_int64)),
    "set_gapless": (c_int32, (c_void_p, c_int32, c_int32)),
    "set_origin": (c_int32, (c_void_p, c_int32, c_int32, c_int32)),
    "cycle": (c_int64, (c_void_p,)),
    "done": (c_int32, (c_void_p,)),
    "fired": (c_int32, (c_void_p,)),
    "error_count": (c_int64, (c_void_p,)),
    "error_text": (c_char_p, (c_void_p,)),
    "count": (c_int64, (c_void_p, c_int32, c_int32, c_int32)),
    "pop": (c_void_p, (c_void_p,)),
    "column": (c_void_p, (c_void_p, c_int32, c_int32, c_int32, POINTER(c_int64))),
    "step_source": (c_uint64, (c_void_p, c_int32, c_int32, c_void_p, c_void_p)),
    "step_sink": (c_uint32, (c_void_p, c_int32, c_int32, c_uint64, c_void_p, c_void_p)),
    "step_end": (c_int32, (c_void_p, c_int32, c_int32)),
}


class Library:
    """The C ABI of tb/native/c_api.hpp; functions without their ``nicloop_``."""

    VOID: ClassVar = _VOID
    """Functions without a result: their arguments."""
    FUNCTIONS: ClassVar = _FUNCTIONS
    """The others: result, arguments."""

    def __init__(self, path: Path | None) -> None:
        handle = ctypes.CDLL(None if path is None else str(path))
        try:
            for name, arguments in self.VOID.items():
                self._add(handle, name, None, arguments)
            for name, (result, arguments) in self.FUNCTIONS.items():
                self._add(handle, name, result, arguments)
        except AttributeError as error:
            where = "this simulator" if path is None else str(path)
            raise ImportError(f"{where} was built without the sources of tb.native: {error}") from None

    def _add(self, handle: ctypes.CDLL, name: str, result: Any, arguments: tuple[Any, ...]) -> None:
        function = getattr(handle, f"nicloop_{name}")
        function.restype = result
        function.argtypes = arguments
        setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def error(self) -> str:
        text: bytes = self.last_error()
        return text.decode()


def load(path: Path | None = None) -> Library:
    """The harness in a shared library, or (None) in the process itself: a simulator built with ``tb.native.DPI``.

    ImportError: it isn't there.
    """
    return Library(path)


def build_library(folder: Path) -> Path:
    """Compiles the harness without a simulator into ``folder`` and returns the shared library; a second call finds it.

    subprocess.CalledProcessError: the compiler failed.
    """
    here = SOURCES[0].parent
    content = b"".join(path.read_bytes() for path in (*sorted(here.glob("*.hpp")), *SOURCES))
    library = folder / f"nicloop-{hashlib.sha256(content).hexdigest()[:16]}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = library.with_suffix(f".{os.getpid()}")
        flags = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
        subprocess.run(["g++", *flags, "-o", str(made), *map(str, SOURCES)], check=True)
        made.rename(library)
    return library


class _Column:
    """An array in the memory of a result; keeps the result alive as long as the array."""

    def __init__(self, owner: _Memory, address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._owner = owner
        self.__array_interface__ = {"data": (address, False), "shape": shape, "typestr": dtype.str, "version": 3}


class _Memory:
    """What one pop moved out of a harness."""

    def __init__(self, lib: Library, handle: int) -> None:
        self._lib, self._handle = lib, handle

    def __del__(self) -> None:
        self._lib.free(self._handle)

    def column(self, kind: _Kind, stream: int, column: int, dtype: Any) -> NDArray[Any]:
        count = c_int64()
        address = self._lib.column(self._handle, kind, stream, column, ctypes.byref(count))
        if not address or count.value == 0:
            return np.empty(0, dtype)
        return np.asarray(_Column(self, address, (count.value,), np.dtype(dtype)))


def _pause_arguments(name: str, parameters: Sequence[float]) -> tuple[int, int, int]:
    if name not in PAUSES:
        raise ValueError(f"pause {name!r}: one of {', '.join(PAUSES)}")
    number, defaults = PAUSES[name]
    if len(parameters) > len(defaults):
        raise ValueError(f"pause {name!r} takes {len(defaults)} parameters, not {len(parameters)}")
    values = [*parameters, *defaults[len(parameters) :], 0, 0]
    if name == "random":
        values[0] = round(values[0] * (1 << 32))
    return number, int(values[0]), int(values[1])


def _pointer(array: NDArray[Any] | None) -> int | None:
    return None if array is None else array.ctypes.data


class Harness:
    """Sources, sinks and the paths between them, around one device.

    sources, sinks: names, in the order of the ``ID`` parameters of the BFM's modules. paths: name to (source, sink,
    monitored); on a monitored path the device reports entries and dispositions. meta_words: 32-bit words of metadata.
    seed: of every generator. lib: from :func:`load`; None is the process itself.
    """

    def __init__(
        self,
        sources: Sequence[str],
        sinks: Sequence[str],
        paths: dict[str, tuple[str, str, bool]],
        *,
        seed: int = 0,
        meta_words: int = META_WORDS,
        lib: Library | None = None,
    ) -> None:
        self._lib = lib = load() if lib is None else lib
        self._handle: int | None = lib.create(seed & (1 << 64) - 1, meta_words)
        if not self._handle:
            raise ValueError(lib.error())
        self.meta_words = meta_words
        self._sources = {name: lib.add_source(self._handle, name.encode()) for name in sources}
        self._sinks = {name: lib.add_sink(self._handle, name.encode()) for name in sinks}
        self._paths = {}
        for name, (source, sink, monitored) in paths.items():
            self._paths[name] = lib.add_path(
                self._handle, name.encode(), self._sources[source], self._sinks[sink], monitored
            )
        self._popped_sources = dict.fromkeys(sources, 0)
        self._popped_sinks = dict.fromkeys(sinks, 0)

    @property
    def handle(self) -> int | None:
        """The harness in C++."""
        return self._handle

    def close(self) -> None:
        """Ends the harness; the simulator sees idle streams from now on. Results that were popped stay."""
        if self._handle:
            self._lib.destroy(self._handle)
            self._handle = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def resume(self) -> None:
        """The C++ was put back to a state without results: frames are counted on from there."""
        counters = self.counters()
        self._popped_sources = {name: counters[f"{name}_in_frames"] for name in self._sources}
        self._popped_sinks = {name: counters[f"{name}_out_frames"] for name in self._sinks}

    def bind(self) -> None:
        """The frame BFM of this process works for this harness from its next clock edge on."""
        self._lib.bind(self._handle)

    # ------------------------------------------------------------------------------------------------- stimulus

    def push(
        self,
        source: str,
        data: Bytes,
        offset: Cycles,
        *,
        user: Words | None = None,
        meta: Words | None = None,
        earliest: Cycles | None = None,
    ) -> None:
        """Queue n frames: frame i is ``data[offset[i]:offset[i+1]]``, sent after all that was queued before.

        user: uint32[n], tuser of the last beat. meta: uint32[n, meta_words]. earliest: int64[n], cycle before which
        tvalid doesn't rise. ValueError: a frame without bytes, or arrays that don't fit together.
        """
        n = len(offset) - 1
        data = np.ascontiguousarray(data, np.uint8)
        offset = np.ascontiguousarray(offset, np.int64)
        user = None if user is None else np.ascontiguousarray(user, np.uint32)
        meta = None if meta is None else np.ascontiguousarray(meta, np.uint32)
        earliest = None if earliest is None else np.ascontiguousarray(earliest, np.int64)
        sizes = {"user": (user, n), "meta": (meta, n * self.meta_words), "earliest": (earliest, n)}
        for name, (array, size) in sizes.items():
            if array is not None and array.size != size:
                raise ValueError(f"{name} has {array.size} elements, {n} frames need {size}")
        if n < 0 or offset[0] < 0 or offset[-1] > data.size:
            raise ValueError(f"offset does not fit {data.size} bytes of data")
        arrays = (data, offset, user, meta, earliest)
        if self._lib.push(self._handle, self._sources[source], n, *map(_pointer, arrays)) < 0:
            raise ValueError(self._lib.error())

    def push_batch(self, source: str, batch: Frames, *, host: bool = False, base_cycle: int = 0) -> None:
        """Queue a batch: ``bad`` becomes tuser, ``time_ns`` the earliest cycle counted from ``base_cycle``.

        host: ``queue`` goes into the metadata word, as software writes it on the host edge.
        """
        earliest = base_cycle + cycles_of(batch.time_ns) if batch.time_ns.any() else None
        meta = meta_words(queue=batch.queue) if host else None
        self.push(source, batch.data, batch.offset, user=batch.bad.astype(np.uint32), meta=meta, earliest=earliest)

    def set_pause(self, sink: str, pause: str, *parameters: float) -> None:
        """Back-pressure of a sink: a name of ``PAUSES`` and its parameters. ValueError: no such generator."""
        if self._lib.set_pause(self._handle, self._sinks[sink], *_pause_arguments(pause, parameters)) < 0:
            raise ValueError(self._lib.error())

    def set_stall(self, sink: str, cycles: int) -> None:
        """The sink takes nothing for the next ``cycles`` cycles, then everything."""
        if self._lib.set_pause(self._handle, self._sinks[sink], _STALL, cycles, 0) < 0:
            raise ValueError(self._lib.error())

    def set_gap(self, source: str, gap: str, *parameters: float, within: bool = True) -> None:
        """Gaps of a source: in which cycles a beat may be offered first; within: in frames too, not only between."""
        if self._lib.set_gap(self._handle, self._sources[source], *_pause_arguments(gap, parameters), within) < 0:
            raise ValueError(self._lib.error())

    def set_rate(self, source: str, gbps: Fraction | None = LINE_RATE, period_ps: int = CYCLE_PS) -> None:
        """Pace a source at a line rate, to the exact fraction of a cycle; None: as fast as it goes."""
        rate = Fraction(0) if gbps is None else Fraction(gbps)
        arguments = (rate.numerator, rate.denominator, period_ps)
        if self._lib.set_rate(self._handle, self._sources[source], *arguments) < 0:
            raise ValueError(self._lib.error())

    def set_gapless(self, sink: str, on: bool = True) -> None:
        """Whether a frame that has begun to come out may show a cycle without tvalid (the wire edge: it may not)."""
        self._lib.set_gapless(self._handle, self._sinks[sink], on)

    def follow_origin(self) -> None:
        """Frames out say in their metadata whose they are: they may leave at any sink, and be copies.

        The first path is direction 0, the second direction 1. A play is done when the device is idle too. ValueError:
        there are more than two paths.
        """
        bits = [lowest_bit(name) for name in ("seq", "direction", "acl_copy")]
        if self._lib.set_origin(self._handle, *bits) < 0:
            raise ValueError(self._lib.error())

    def set_watchdog(self, cycles: int) -> None:
        """Cycles without any movement after which the harness gives up; 0: never."""
        self._lib.set_watchdog(self._handle, cycles)

    def set_quiet(self, cycles: int) -> None:
        """Cycles without any movement that end a burst, whatever is missing; 0: never. For a device that drops frames
        without a word."""
        self._lib.set_quiet(self._handle, cycles)

    # -------------------------------------------------------------------------------------------------- XGMII

    def encoded(self, source: str, words: int) -> tuple[Octets, Bytes]:
        """The first words that a new XGMII encoder (tb/native/xgmii.hpp) sends of a source: uint64[words] of data,
        uint8[words] of control. Word k is on XGMII in cycle k."""
        d, c = np.zeros(words, np.uint64), np.zeros(words, np.uint8)
        self._lib.xgmii_encode(self._handle, self._sources[source], words, _pointer(d), _pointer(c))
        return d, c

    def decode(self, sink: str, d: Octets, c: Bytes) -> None:
        """A new XGMII decoder takes these words, and gives the frames in them to a sink."""
        d, c = np.ascontiguousarray(d, np.uint64), np.ascontiguousarray(c, np.uint8)
        self._lib.xgmii_decode(self._handle, self._sinks[sink], len(d), _pointer(d), _pointer(c))

    # -------------------------------------------------------------------------------------------------- results

    @property
    def cycle(self) -> int:
        """Number of the rising edge that comes next, counted from the release of reset."""
        return int(self._lib.cycle(self._handle))

    @property
    def done(self) -> bool:
        """All that was pushed is accounted for, or the watchdog fired."""
        return bool(self._lib.done(self._handle))

    @property
    def fired(self) -> bool:
        """The watchdog fired since the last push."""
        return bool(self._lib.fired(self._handle))

    @property
    def error_count(self) -> int:
        return int(self._lib.error_count(self._handle))

    @property
    def errors(self) -> str:
        """A line for each of the first hundred errors."""
        text: bytes = self._lib.error_text(self._handle)
        return text.decode()

    def clear_errors(self) -> None:
        self._lib.clear_errors(self._handle)

    def check(self) -> None:
        """StreamError: the device broke a rule, lost a frame or hangs."""
        if count := self.error_count:
            raise StreamError(f"{count} errors on the streams:\n{self.errors}".rstrip())

    def counters(self) -> dict[str, int]:
        """Every stream's ``<stream>_<in|out>_frames``, ``_beats`` and ``_stalls`` (cycles a beat waited for tready)."""
        found = {}
        for kind, streams in ((_Kind.SOURCE, self._sources), (_Kind.SINK, self._sinks)):
            side = "in" if kind is _Kind.SOURCE else "out"
            for name, i in streams.items():
                for what, text in enumerate(("frames", "beats", "stalls")):
                    found[f"{name}_{side}_{text}"] = int(self._lib.count(self._handle, kind, i, what))
        return found

    def pop(self) -> Results:
        """All that ended since the last pop. The arrays lie where the C++ left them, for as long as they are used."""
        memory = _Memory(self._lib, self._lib.pop(self._handle))
        sources, sinks, paths = {}, {}, {}
        for name, i in self._sources.items():
            cycles = [memory.column(_Kind.SOURCE, i, column, np.int64) for column in range(3)]
            sources[name] = SourceResult(self._popped_sources[name], *cycles)
            self._popped_sources[name] += len(cycles[0])
        for name, i in self._sinks.items():
            data = memory.column(_Kind.SINK, i, 0, np.uint8)
            offset = memory.column(_Kind.SINK, i, 1, np.int64)
            user = memory.column(_Kind.SINK, i, 2, np.uint32)
            meta = memory.column(_Kind.SINK, i, 3, np.uint32).reshape(len(user), self.meta_words)
            cycles = [memory.column(_Kind.SINK, i, column, np.int64) for column in range(4, 7)]
            sinks[name] = SinkResult(self._popped_sinks[name], data, offset, user, meta, *cycles)
            self._popped_sinks[name] += len(user)
        for name, i in self._paths.items():
            signed = [memory.column(_Kind.PATH, i, column, np.int64) for column in range(3)]
            unsigned = [memory.column(_Kind.PATH, i, column, np.uint32) for column in range(3, 6)]
            paths[name] = PathResult(*signed, *unsigned)
        return Results(sources, sinks, paths)


def cycles_of(time_ns: Cycles) -> Cycles:
    """First cycle that isn't before each time, int64[n] of ns; exact for all of them."""
    cycles = Fraction(1000, CYCLE_PS)
    whole, rest = np.divmod(time_ns, cycles.denominator)
    return whole * cycles.numerator - (-rest * cycles.numerator // cycles.denominator)


def lowest_bit(name: str) -> int:
    """Where a field of the metadata word begins. KeyError: there is none."""
    at = 0
    for field in FIELDS:
        if field.name == name:
            return at
        at += field.width
    raise KeyError(name)


def meta_words(**fields: NDArray[Any]) -> Words:
    """Fields of the metadata word, an array each, to words: uint32[n, META_WORDS]. KeyError: no such field.

    ValueError: a value is too large for its field.
    """
    return pack_words(len(next(iter(fields.values()))), fields)
