"""Batch form of the ACL's first match: as models/acl.py, ten thousand rules against a million frames in seconds.

Bit vectors, as in Lakshman and Stiliadis (SIGCOMM 1998), with the summaries of Baboescu and Varghese (SIGCOMM 2001).
Each condition is a test: some bits of a field lie in an interval. A dimension is a field with the bits that are
compared; a prefix and a range compare them all. The ends of a dimension's intervals cut it into classes whose values
all rules judge alike. For each class there is a bit vector of the rules that accept it, 64 rules a word, and a summary
with a bit for each word that isn't 0. A frame's candidates are the words whose bit is set in the summaries of all
dimensions; they are looked at in their order until one holds a rule that all dimensions accept. Frames of the same
class in every dimension, a flow's for one, are looked up once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from models.acl import INNERMOST, L3_KIND, L4_ICMP, L4_PORTS, L4_TCP, OF_FRAME, WIDTHS, Rule
from models.frames import Int64
from models.meta import FIELDS, Words, field_of

__all__ = ["NO_RULE", "Classifier", "columns_of_words", "first_match_batch"]

NO_RULE = -1
"""Result where no rule matches: the default action."""

Columns: TypeAlias = Mapping[str, NDArray[Any]]
UInt64: TypeAlias = NDArray[np.uint64]

_BITS = 64
_ALL = (1 << 64) - 1
_CHUNK = 1 << 16
"""Frames whose candidates are looked at together, so that they stay in the cache."""
_PREFIX_MASKS = frozenset(_ALL ^ (1 << n) - 1 for n in range(65))
_KNOWN = frozenset(entry.name for entry in FIELDS)
_WIDE = frozenset(entry.name for entry in FIELDS if entry.width > 64)


@dataclass(frozen=True, slots=True)
class _Axis:
    """Which bits of which field. half: of a field of 128 bits the high (0) or the low one (1). mask: None, all."""

    name: str
    half: int | None = None
    mask: int | None = None


_Interval: TypeAlias = tuple[int, int]


class _Tests:
    """What one rule asks, as intervals by axis: all must hold. An interval that ends before it begins never does."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.intervals: dict[_Axis, _Interval] = {}
        if rule.inner:
            self.intervals[_Axis("tunnel_kind")] = (1, _ALL)
        self._kinds()
        self._addresses()
        self._numbers()

    def _ask(self, name: str, first: int, last: int, half: int | None = None, mask: int | None = None) -> None:
        """The field, of the layer that the rule asks, lies between first and last, both included."""
        inner = self.rule.inner and name not in OF_FRAME + INNERMOST
        axis = _Axis(f"inner_{name}" if inner else name, half, mask)
        old = self.intervals.get(axis, (0, _ALL))
        self.intervals[axis] = (max(old[0], first), min(old[1], last))

    def _ask_bits(self, name: str, value: int, mask: int, width: int, half: int | None = None) -> None:
        """Bits of the field, whose value has ``width`` bits: those above are 0 and may be compared as well, which makes
        a prefix of 32 bits one of 64."""
        whole = mask | _ALL ^ (1 << width) - 1
        if not mask:
            return
        if whole in _PREFIX_MASKS:
            self._ask(name, value, value | _ALL ^ whole, half)
        else:
            self._ask(name, value, value, half, mask)

    def _kinds(self) -> None:
        """The layers that must be there."""
        rule = self.rule
        if rule.ip is not None:
            self._ask("l3_kind", L3_KIND[rule.ip], L3_KIND[rule.ip])
        if _given(rule.protocol, rule.dscp, rule.ecn, rule.fragment):
            self._ask("l3_kind", 1, _ALL)
        if _given(rule.vlan, rule.pcp):
            self._ask("vlan_count", 1, _ALL)
        if _given(rule.src_port, rule.dst_port):
            self._ask("l4_kind", min(L4_PORTS), max(L4_PORTS))
        if rule.tcp_flags is not None:
            self._ask("l4_kind", min(L4_TCP), max(L4_TCP))
        if _given(rule.icmp_type, rule.icmp_code):
            self._ask("l4_kind", min(L4_ICMP), max(L4_ICMP))
        if _given(rule.bth_opcode, rule.dest_qp):
            # There is no BTH in a tunnel.
            self._ask("roce", 1, 0 if rule.inner else 1)

    def _addresses(self) -> None:
        width = 32 if self.rule.ip == 4 else 64
        for name, address in (("ip_src", self.rule.src), ("ip_dst", self.rule.dst)):
            if address is not None:
                self._ask_bits(name, address.value >> 64, address.mask >> 64, 64, 0)
                self._ask_bits(name, address.value & _ALL, address.mask & _ALL, width, 1)

    def _numbers(self) -> None:
        rule = self.rule
        if rule.vlan is not None:
            self._ask("vlan0", rule.vlan, rule.vlan, mask=0xFFF)
        if rule.pcp is not None:
            self._ask("vlan0", rule.pcp << 13, rule.pcp << 13, mask=0xE000)
        for name in ("ethertype", "dscp", "ecn", "fragment", "port", "dest_qp", "decrypted", "sa"):
            value = getattr(rule, name)
            if value is not None:
                self._ask("bth_dest_qp" if name == "dest_qp" else name, int(value), int(value))
        for name in ("src_port", "dst_port"):
            ports = getattr(rule, name)
            if ports is not None:
                self._ask(name, ports.first, ports.last)
        for name in ("protocol", "tcp_flags", "icmp_type", "icmp_code", "bth_opcode"):
            bits = getattr(rule, name)
            if bits is not None:
                self._ask_bits(name, bits.value, bits.mask, WIDTHS[name])


def _given(*conditions: object) -> bool:
    return any(condition is not None for condition in conditions)


@dataclass(slots=True)
class _Dimension:
    """One axis, cut into classes. edges: where a class begins, from the second on. words: uint64[classes, words], the
    rules that accept the class. summary: uint64[classes, words of that], bit w: word w isn't 0."""

    axis: _Axis
    edges: UInt64
    words: UInt64
    summary: UInt64 = field(init=False)

    def __post_init__(self) -> None:
        self.summary = _packed(self.words != 0)

    def classes(self, columns: Columns, n: int) -> Int64:
        """The class of each frame."""
        column = columns.get(self.axis.name)
        if column is None:
            column = np.zeros(n, np.uint64)
        elif self.axis.half is not None:
            column = column[:, self.axis.half]
        mask = np.uint64(_ALL if self.axis.mask is None else self.axis.mask)
        if column.dtype.itemsize <= 2:
            every = np.arange(1 << 8 * column.dtype.itemsize, dtype=np.uint64)
            return np.searchsorted(self.edges, every & mask, "right")[column.astype(np.intp)]
        return np.searchsorted(self.edges, column.astype(np.uint64) & mask, "right").astype(np.int64)


def _packed(bits: NDArray[np.bool_]) -> UInt64:
    """bool[n, m] as uint64[n, ceil(m / 64)], bit 0 first."""
    rows, size = bits.shape
    padded = np.zeros((rows, -(-size // _BITS) * _BITS), np.bool_)
    padded[:, :size] = bits
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _dimension(axis: _Axis, asked: Mapping[int, _Interval], rules: int) -> _Dimension:
    """asked: the interval of each rule that has a test on the axis."""
    index = np.fromiter(asked, np.int64, len(asked))
    first = np.array([interval[0] for interval in asked.values()], np.uint64)
    last = np.array([interval[1] for interval in asked.values()], np.uint64)
    bounded = last != np.uint64(_ALL)
    edges = np.unique(np.concatenate([first[first > 0], last[bounded] + np.uint64(1)]))
    # A rule's bit is turned on where its interval begins and off behind its end: a running XOR sets each class.
    words = np.zeros((len(edges) + 1, -(-rules // _BITS)), np.uint64)
    word, bit = index // _BITS, np.uint64(1) << (index % _BITS).astype(np.uint64)
    np.bitwise_xor.at(words, (np.searchsorted(edges, first, "right"), word), bit)
    np.bitwise_xor.at(words, (np.searchsorted(edges, last[bounded], "right") + 1, word[bounded]), bit[bounded])
    free = np.ones((1, rules), np.bool_)
    free[0, index] = False
    np.bitwise_xor.accumulate(words, axis=0, out=words)
    words |= _packed(free)
    return _Dimension(axis, edges, words)


class Classifier:
    """A rule set made ready for batches. It keeps about (ends of intervals) * (rules) / 8 bytes a dimension."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = len(rules)
        asked: dict[_Axis, dict[int, _Interval]] = {}
        live = np.ones((1, self.rules), np.bool_)
        for index, rule in enumerate(rules):
            for axis, interval in _Tests(rule).intervals.items():
                if interval[0] > interval[1]:
                    live[0, index] = False
                else:
                    asked.setdefault(axis, {})[index] = interval
        self._dimensions = [_dimension(axis, tests, self.rules) for axis, tests in asked.items()]
        self._live = _packed(live)[0]
        """Rules that don't contradict themselves in one field."""

    def first_match(self, columns: Columns, n: int) -> Int64:
        """int64[n]: number of the first rule that matches each frame, NO_RULE where none does.

        columns  an array a field of the metadata word, n entries each, addresses as uint64[n, 2] with the high half
                 first, as models/parser_batch.py and ``columns_of_words`` give them; a missing field is 0. Others are
                 left alone. ValueError: an array of another shape
        """
        for name in _KNOWN & set(columns):
            wanted = (n, 2) if name in _WIDE else (n,)
            if columns[name].shape != wanted:
                raise ValueError(f"{name}: an array of shape {wanted} is wanted, not {columns[name].shape}")
        if not self.rules:
            return np.full(n, NO_RULE, np.int64)
        classes = [dimension.classes(columns, n) for dimension in self._dimensions]
        alike, place = self._alike(classes, n)
        found = np.full(len(alike), NO_RULE, np.int64)
        for first in range(0, len(alike), _CHUNK):
            some = alike[first : first + _CHUNK]
            self._look_up([of_frame[some] for of_frame in classes], found[first : first + _CHUNK])
        return found[place]

    def _alike(self, classes: Sequence[Int64], n: int) -> tuple[Int64, Int64]:
        """One frame of each combination of classes, and for each frame the place of its combination there."""
        key, largest = np.zeros(n, np.int64), 1
        for dimension, of_frame in zip(self._dimensions, classes, strict=True):
            count = len(dimension.words)
            if largest * count >= 1 << 62:
                key = np.unique(key, return_inverse=True)[1].astype(np.int64)
                largest = n
            key = key * count + of_frame
            largest *= count
        _, alike, place = np.unique(key, return_index=True, return_inverse=True)
        return alike.astype(np.int64), place.astype(np.int64)

    def _look_up(self, classes: Sequence[Int64], found: Int64) -> None:
        """The first match of frames, one of each combination."""
        candidates = np.repeat(_packed((self._live != 0)[None, :]), len(found), axis=0)
        for dimension, of_frame in zip(self._dimensions, classes, strict=True):
            candidates &= dimension.summary[of_frame]
        for group in range(candidates.shape[1]):
            self._look_in(group, candidates[:, group], classes, found)

    def _look_in(self, group: int, candidates: UInt64, classes: Sequence[Int64], found: Int64) -> None:
        """In the 64 words of a group: each round takes the first candidate of every frame that has one left."""
        open_ = np.flatnonzero((candidates != 0) & (found == NO_RULE))
        left = candidates[open_]
        while len(open_):
            word = group * _BITS + _lowest_bit(left)
            accepted = self._live[word]
            for dimension, of_frame in zip(self._dimensions, classes, strict=True):
                accepted &= dimension.words[of_frame[open_], word]
            hit = accepted != 0
            found[open_[hit]] = word[hit] * _BITS + _lowest_bit(accepted[hit])
            left &= left - np.uint64(1)
            more = ~hit & (left != 0)
            open_, left = open_[more], left[more]


def _lowest_bit(values: UInt64) -> Int64:
    """Number of the lowest bit that is set; none is 0. A power of two is exact as a float."""
    lowest = values & (~values + np.uint64(1))
    return (np.frexp(lowest.astype(np.float64))[1] - 1).astype(np.int64)


def first_match_batch(rules: Sequence[Rule], columns: Columns, n: int) -> Int64:
    """``first_match`` of models/acl.py for n frames, NO_RULE for None: a ``Classifier`` that is used once."""
    return Classifier(rules).first_match(columns, n)


def columns_of_words(words: Words) -> dict[str, NDArray[Any]]:
    """Metadata words as the columns that ``Classifier.first_match`` takes."""
    return {entry.name: field_of(words, entry.name) for entry in FIELDS}
