"""A design in the bare loop of bench/bare.cpp."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator
from ctypes import byref, c_double, c_int32, c_int64, c_void_p
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench import traffic
from bench.figures import Timed
from bench.traffic import Segment
from tb.build import BuildError, Design, build_native

__all__ = ["Bare"]

MAIN = Path(__file__).resolve().parent / "bare.cpp"


class Bare:
    """A design for `tb.build.build_native`, and the numbers of the two streams that frames take.

    Builds it: BuildError, ToolError.
    """

    def __init__(self, design: Design, source: int, sink: int) -> None:
        bare = replace(design, name=f"{design.name}_bare", native=(*design.native, MAIN))
        self._lib = ctypes.CDLL(str(build_native(bare)))
        self._lib.nicloop_bare_create.restype = c_void_p
        self._lib.nicloop_bare_create.argtypes = (c_int32, c_int32)
        self._lib.nicloop_bare_destroy.argtypes = (c_void_p,)
        self._lib.nicloop_bare_play.restype = c_int64
        self._lib.nicloop_bare_play.argtypes = (c_void_p, c_int64, *[c_void_p] * 5)
        self._name, self._source, self._sink = design.name, source, sink

    def run(self, cycles: int) -> tuple[str, Iterator[Timed]]:
        """One repetition, from reset: digest, and what is timed of each size. BuildError: the design doesn't become
        ready."""
        model = self._lib.nicloop_bare_create(self._source, self._sink)
        if not model:
            raise BuildError(f"{self._name} does not become ready after reset")
        checked, *timed = traffic.segments(cycles)
        came, user = np.zeros(len(checked[0]), np.uint8), np.zeros(len(checked[1]) - 1, np.uint16)
        self._play(model, checked, came, user)
        return hashlib.sha256(came.tobytes() + user.astype("<u2").tobytes()).hexdigest(), self._timed(model, timed)

    def _timed(self, model: int, segments: list[Segment]) -> Iterator[Timed]:
        try:
            for segment in segments:
                yield self._play(model, segment)
        finally:
            self._lib.nicloop_bare_destroy(model)

    def _play(
        self, model: int, segment: Segment, came: traffic.Bytes | None = None, user: traffic.Users | None = None
    ) -> Timed:
        """came, user: filled with what comes out."""
        data, offset = segment
        cpu_s = c_double()
        out = [None if array is None else array.ctypes.data for array in (came, user)]
        cycles = self._lib.nicloop_bare_play(
            model, len(offset) - 1, offset.ctypes.data, data.ctypes.data, *out, byref(cpu_s)
        )
        return Timed(len(offset) - 1, int(cycles), cpu_s.value)
