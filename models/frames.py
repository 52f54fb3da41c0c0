"""Frames in bulk, as flat numpy arrays, and what a device did with them.

A ``Batch`` keeps the bytes of all its frames in one array and everything else as one array a property: a million
frames are eight arrays, not a million objects. An ``Outcome`` is what a device (the golden model, the RTL, a board)
gives back for a batch. Bytes are in wire order, lengths are those of the Ethernet frame without its FCS, cycles are
those of the port's core clock counted from the start of the play.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models.meta import FIRST_DROP, META_WORDS, Words

__all__ = [
    "BEAT_BYTES",
    "FLAG_SNAPPED",
    "Batch",
    "Difference",
    "Edge",
    "Int64",
    "Outcome",
    "UInt8",
    "bad_mark",
    "first_difference",
    "gather",
]

UInt8: TypeAlias = NDArray[np.uint8]
Int64: TypeAlias = NDArray[np.int64]

BEAT_BYTES = 16
"""Bytes of one beat of a 128-bit stream."""

FLAG_SNAPPED = 1
"""Bit 0 of ``Batch.flags``: the capture holds only the frame's beginning."""


class Edge(IntEnum):
    """Side of the port at which a frame enters or leaves."""

    WIRE = 0
    HOST = 1

    @property
    def opposite(self) -> Edge:
        """Where a frame that enters here leaves the port."""
        return Edge(1 - self)


def bad_mark(reason: int = 0) -> int:
    """The value of ``Batch.bad`` for a bad frame: ``tuser[7:0]``, bit 0 set and the reason (a disposition code, 0: none
    given) above it. ValueError: the reason is no code of a drop."""
    if reason != 0 and not FIRST_DROP <= reason < 128:
        raise ValueError(f"reason {reason}: a bad frame's reason is 0 or a disposition code from 16 to 127")
    return 1 | reason << 1


def _check_array(owner: str, name: str, array: object, dtype: type[np.generic], length: int | None) -> None:
    """ValueError unless the array is one-dimensional, of that type and, where it is given, of that length."""
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{owner}.{name}: a numpy array is wanted, not {type(array).__name__}")
    if array.dtype != np.dtype(dtype):
        raise ValueError(f"{owner}.{name}: dtype {np.dtype(dtype)} is wanted, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{owner}.{name}: one dimension is wanted, not {array.ndim}")
    if length is not None and len(array) != length:
        raise ValueError(f"{owner}.{name}: {length} entries are wanted (one a frame), not {len(array)}")


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, np.ndarray):
        return bool(np.array_equal(left, right))
    return bool(left == right)


@dataclass(frozen=True, eq=False)
class Batch:
    """``n`` frames. All arrays have one dimension; a batch is not changed after it was made.

    data     uint8[total]  the frames' bytes, one frame after the other
    offset   int64[n+1]    frame i is ``data[offset[i]:offset[i+1]]``; offset[0] is 0, offset[n] is total
    port     uint8[n]      port number
    edge     uint8[n]      ``Edge``: where the frame enters the device (of frames out: where it left)
    time_ns  int64[n]      frames in: earliest start, 0 = as soon as possible; frames out: when the first beat came;
                           of a capture: its timestamp, ns since 1970
    queue    uint8[n]      host queue
    bad      uint8[n]      0, or 1 + (reason << 1) as in tuser[7:0]; ``bad_mark`` makes it
    flags    uint8[n]      bit 0 (``FLAG_SNAPPED``): the capture holds only the frame's beginning

    A frame without a byte is allowed, since a capture may hold one; no stream can carry it, and every device refuses
    it. ValueError: anything that doesn't fit the above, with the name of the array and the index of the frame.
    """

    data: UInt8
    offset: Int64
    port: UInt8
    edge: UInt8
    time_ns: Int64
    queue: UInt8
    bad: UInt8
    flags: UInt8

    def __post_init__(self) -> None:
        _check_array("Batch", "data", self.data, np.uint8, None)
        _check_array("Batch", "offset", self.offset, np.int64, None)
        if len(self.offset) == 0:
            raise ValueError("Batch.offset: n + 1 entries are wanted, at least one")
        if self.offset[0] != 0 or self.offset[-1] != len(self.data):
            raise ValueError(
                f"Batch.offset: must run from 0 to {len(self.data)}, the length of data, "
                f"not from {self.offset[0]} to {self.offset[-1]}"
            )
        n = len(self.offset) - 1
        back = np.flatnonzero(self.offset[1:] < self.offset[:-1])
        if len(back):
            i = int(back[0])
            raise ValueError(f"Batch.offset: frame {i} ends at {self.offset[i + 1]}, before its start {self.offset[i]}")
        for name in ("port", "edge", "queue", "bad", "flags"):
            _check_array("Batch", name, getattr(self, name), np.uint8, n)
        _check_array("Batch", "time_ns", self.time_ns, np.int64, n)
        self._check_values("edge", self.edge > Edge.HOST, "0 (WIRE) or 1 (HOST)")
        reason = self.bad >> 1
        wrong = (self.bad != 0) & ((self.bad & 1 == 0) | ((reason != 0) & (reason < FIRST_DROP)))
        self._check_values("bad", wrong, "0, 1, or 1 + (reason << 1) with a reason from 16 to 127")
        self._check_values("time_ns", self.time_ns < 0, "0 or more")

    def _check_values(self, name: str, wrong: NDArray[np.bool_], accepted: str) -> None:
        if wrong.any():
            i = int(np.argmax(wrong))
            raise ValueError(f"Batch.{name}: frame {i} has {getattr(self, name)[i]}; accepted: {accepted}")

    @classmethod
    def of(
        cls,
        frames: Sequence[bytes],
        *,
        edge: ArrayLike = Edge.WIRE,
        port: ArrayLike = 0,
        time_ns: ArrayLike = 0,
        queue: ArrayLike = 0,
        bad: ArrayLike = 0,
        flags: ArrayLike = 0,
    ) -> Batch:
        """A batch of these frames; each property is one value for all of them or one value a frame."""
        lengths = np.fromiter((len(frame) for frame in frames), np.int64, len(frames))
        return cls.of_arrays(
            np.frombuffer(b"".join(frames), np.uint8),
            lengths,
            edge=edge,
            port=port,
            time_ns=time_ns,
            queue=queue,
            bad=bad,
            flags=flags,
        )

    @classmethod
    def of_arrays(
        cls,
        data: UInt8,
        lengths: ArrayLike,
        *,
        edge: ArrayLike = Edge.WIRE,
        port: ArrayLike = 0,
        time_ns: ArrayLike = 0,
        queue: ArrayLike = 0,
        bad: ArrayLike = 0,
        flags: ArrayLike = 0,
    ) -> Batch:
        """A batch from the bytes of all frames and the length of each; the properties as in ``of``."""
        length = _column("lengths", lengths, np.dtype(np.int64), None)
        n = len(length)
        offset = np.zeros(n + 1, np.int64)
        np.cumsum(length, out=offset[1:])
        u8, i64 = np.dtype(np.uint8), np.dtype(np.int64)
        return cls(
            data=data,
            offset=offset,
            port=_column("port", port, u8, n),
            edge=_column("edge", edge, u8, n),
            time_ns=_column("time_ns", time_ns, i64, n),
            queue=_column("queue", queue, u8, n),
            bad=_column("bad", bad, u8, n),
            flags=_column("flags", flags, u8, n),
        )

    @classmethod
    def empty(cls) -> Batch:
        """A batch without a frame."""
        return cls.of([])

    @classmethod
    def concat(cls, batches: Sequence[Batch]) -> Batch:
        """All frames of the batches, in order."""
        if not batches:
            return cls.empty()
        starts = np.cumsum([0] + [len(batch.data) for batch in batches])
        offsets = [batch.offset[:-1] + start for batch, start in zip(batches, starts[:-1], strict=True)]
        return cls(
            data=np.concatenate([batch.data for batch in batches]),
            offset=np.concatenate([*offsets, starts[-1:]]).astype(np.int64),
            **{
                name: np.concatenate([getattr(batch, name) for batch in batches])
                for name in ("port", "edge", "time_ns", "queue", "bad", "flags")
            },
        )

    def __len__(self) -> int:
        return len(self.offset) - 1

    def __iter__(self) -> Iterator[bytes]:
        """The frames' bytes, in order."""
        data, offset = self.data.tobytes(), self.offset.tolist()
        return (data[start:end] for start, end in itertools.pairwise(offset))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Batch):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Batch({len(self)} frames, {len(self.data)} bytes)"

    @property
    def lengths(self) -> Int64:
        """int64[n]: bytes of each frame."""
        return np.diff(self.offset)

    @property
    def beats(self) -> Int64:
        """int64[n]: beats of each frame on a 128-bit stream."""
        return -(-self.lengths // BEAT_BYTES)

    def frame(self, index: int) -> bytes:
        """Bytes of one frame; a negative index counts from the end. IndexError: no such frame."""
        n = len(self)
        if not -n <= index < n:
            raise IndexError(f"frame {index} of a batch of {n}")
        index %= n
        return self.data[self.offset[index] : self.offset[index + 1]].tobytes()

    def select(self, index: slice | Sequence[int] | Sequence[bool] | Int64 | NDArray[np.bool_]) -> Batch:
        """The frames of a slice, of a list of indices (any order, repeats allowed) or of a mask, as a new batch."""
        chosen: Int64 = np.arange(len(self), dtype=np.int64)[np.asarray(index, np.int64) if _is_empty(index) else index]
        lengths = self.lengths[chosen]
        offset = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(lengths, out=offset[1:])
        if len(chosen) and bool(np.all(np.diff(chosen) == 1)):
            data = self.data[self.offset[chosen[0]] : self.offset[chosen[-1] + 1]]
        else:
            data = gather(np.ascontiguousarray(self.data).data, self.offset[chosen], self.offset[chosen + 1])
        return Batch(
            data=data,
            offset=offset,
            **{name: getattr(self, name)[chosen] for name in ("port", "edge", "time_ns", "queue", "bad", "flags")},
        )


def gather(view: memoryview, start: Int64, end: Int64) -> UInt8:
    """The bytes of all slices ``view[start[i]:end[i]]``, one after the other.

    Slices are joined, since an index array of the bytes would take eight times as much memory as they do; and joined by
    the thousand, since a million live slices keep the garbage collector busy.
    """
    sizes = np.concatenate([[0], np.cumsum(end - start)])
    data: UInt8 = np.empty(int(sizes[-1]), np.uint8)
    for at in range(0, len(start), 1024):
        pairs = zip(start[at : at + 1024].tolist(), end[at : at + 1024].tolist(), strict=True)
        part = b"".join([view[first:last] for first, last in pairs])
        data[sizes[at] : sizes[at] + len(part)] = np.frombuffer(part, np.uint8)
    return data


def _is_empty(index: object) -> bool:
    """True of a sequence without entries, whose type numpy can't tell."""
    return not isinstance(index, slice) and len(index) == 0  # type: ignore[arg-type]


def _column(name: str, value: ArrayLike, dtype: np.dtype[Any], n: int | None) -> NDArray[Any]:
    """One value, or one a frame, as an array of that type. ValueError: a value that the type can't hold."""
    given = np.asarray(value)
    if given.size == 0:
        given = given.astype(dtype)
    if given.dtype.kind not in "iub":
        raise ValueError(f"Batch.{name}: whole numbers are wanted, not {given.dtype}")
    info = np.iinfo(dtype)
    if given.size and (int(given.min()) < info.min or int(given.max()) > info.max):
        raise ValueError(f"Batch.{name}: values from {info.min} to {info.max} are accepted")
    if given.ndim == 0 and n is not None:
        return np.full(n, given, dtype)
    if given.ndim != 1 or (n is not None and len(given) != n):
        raise ValueError(f"Batch.{name}: one value or {n} values are wanted, not an array of shape {given.shape}")
    return given.astype(dtype)


@dataclass(frozen=True)
class Difference:
    """Where two batches first differ: frame, byte in it, and the two bytes there (None: that frame has ended there, or
    there is no such frame)."""

    frame: int
    offset: int
    left: int | None
    right: int | None

    def __str__(self) -> str:
        left, right = ("end" if byte is None else f"{byte:#04x}" for byte in (self.left, self.right))
        return f"frame {self.frame}, byte {self.offset}: {left} against {right}"


def first_difference(a: Batch, b: Batch) -> Difference | None:
    """First frame and byte in which the bytes of two batches differ; None: all frames are equal. Properties other than
    the bytes are not looked at (``==`` compares them all)."""
    n = min(len(a), len(b))
    unequal = np.flatnonzero(a.lengths[:n] != b.lengths[:n])
    # Up to the first frame of unequal length both data arrays are laid out alike.
    stop = int(unequal[0]) if len(unequal) else n
    limit = int(min(a.offset[stop + 1], b.offset[stop + 1])) if stop < n else int(a.offset[stop])
    wrong = a.data[:limit] != b.data[:limit]
    if wrong.any():
        at = int(np.argmax(wrong))
        frame = int(np.searchsorted(a.offset, at, "right")) - 1
        return Difference(frame, at - int(a.offset[frame]), int(a.data[at]), int(b.data[at]))
    if stop == len(a) == len(b):
        return None
    offset = limit - int(min(a.offset[stop], b.offset[stop]))
    return Difference(stop, offset, _byte(a, stop, offset), _byte(b, stop, offset))


def _byte(batch: Batch, frame: int, offset: int) -> int | None:
    if frame >= len(batch) or offset >= batch.offset[frame + 1] - batch.offset[frame]:
        return None
    return int(batch.data[batch.offset[frame] + offset])


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a device did with a batch of ``n`` frames, of which, with what it made itself, ``m`` frames came out.

    frames          Batch      frames out, in order per edge; edge: where the frame left; time_ns: when
    source          int64[m]   index in the batch of each frame out; -1: the device made it
    code            uint8[n]   disposition code of each frame in (models/meta.py; 0: none was reported)
    queue           uint8[n]   host queue that the disposition named
    latency_cycles  int64[n]   first_out - first_in; -1: null, the frame was not delivered
    first_in        int64[n]   cycle of the handshake of the first beat at the input; -1: never
    last_in         int64[n]   cycle of the handshake of the last beat at the input; -1: never
    first_out       int64[n]   cycle in which tvalid of the first beat rose at the output; -1: never
    last_out        int64[n]   cycle of the handshake of the last beat at the output; -1: never
    cycles          int        cycles of the whole play
    begin_ns        int        simulated time at cycle 0 of the play
    now             int        the port's `now` in cycle 0, in units of 2**-32 ns; -1: the device doesn't say
    entry           int64[n]   cycle in which ingress took the first beat, -1: never; int64[0]: the device doesn't say,
                               as where the wire is a stream
    begun, ended    int64[m]   first_out and last_out of each frame out, copies too; int64[0]: the device doesn't say
    counters        dict       the port's counters as they read at the end of the play, by register name
                               ("rx_frames_in", "tx_disposition.BAD_FRAME"); only those that the device has read
    resets          int64[r]   cycles in which the device was put into reset during the play, rising
    user            uint16[m]  tuser beside the last beat of each frame out; uint16[0]: the device doesn't show it
    meta            uint32[m, META_WORDS]  metadata (models/meta.py) beside each frame out to the host, 0 for those to
                               the wire; uint32[0, META_WORDS]: the device has none

    ValueError: arrays of the wrong type or length.
    """

    frames: Batch
    source: Int64
    code: UInt8
    queue: UInt8
    latency_cycles: Int64
    first_in: Int64
    last_in: Int64
    first_out: Int64
    last_out: Int64
    cycles: int
    counters: dict[str, int] = field(default_factory=dict)
    resets: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))
    user: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))
    meta: Words = field(default_factory=lambda: np.zeros((0, META_WORDS), np.uint32))
    begin_ns: int = 0
    now: int = -1
    begun: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))
    ended: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))
    entry: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        _check_array("Outcome", "source", self.source, np.int64, len(self.frames))
        _check_array("Outcome", "code", self.code, np.uint8, None)
        n = len(self.code)
        _check_array("Outcome", "queue", self.queue, np.uint8, n)
        for name in ("latency_cycles", "first_in", "last_in", "first_out", "last_out"):
            _check_array("Outcome", name, getattr(self, name), np.int64, n)
        _check_array("Outcome", "resets", self.resets, np.int64, None)
        if len(self.entry):
            _check_array("Outcome", "entry", self.entry, np.int64, n)
        if len(self.user):
            _check_array("Outcome", "user", self.user, np.uint16, len(self.frames))
        if len(self.begun) or len(self.ended):
            _check_array("Outcome", "begun", self.begun, np.int64, len(self.frames))
            _check_array("Outcome", "ended", self.ended, np.int64, len(self.frames))
        if self.meta.dtype != np.uint32 or self.meta.shape not in ((0, META_WORDS), (len(self.frames), META_WORDS)):
            raise ValueError(f"Outcome.meta: uint32[{len(self.frames)}, {META_WORDS}] is wanted")
        wrong = np.flatnonzero((self.source < -1) | (self.source >= n))
        if len(wrong):
            i = int(wrong[0])
            raise ValueError(f"Outcome.source: frame out {i} names frame in {self.source[i]}, of {n}")

    def __len__(self) -> int:
        """Number of frames in."""
        return len(self.code)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outcome):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Outcome({len(self)} frames in, {len(self.frames)} out, {self.cycles} cycles)"
