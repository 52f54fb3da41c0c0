"""Which frames of a capture are meant: a range of their numbers, and a filter by addresses and ports.

    range   A:B  A:  :B  A                     frames A to B-1, counted from 0
    filter  either { "or" either }
    either  each { "and" each }
    each    "not" each | "(" filter ")" | test
    test    "host" address | ("src" | "dst") ["host"] address | ["src" | "dst"] "port" number

An address is an IPv4 or IPv6 address or prefix, or a MAC address. A frame's fields are those that the NIC's parser
reads: of IP the outermost header, ports of TCP and UDP.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.frames import Batch
from models.meta import Code
from models.parser import L3Kind, L4Kind
from tb.replay.fields import Columns, header_fields

__all__ = ["Filter", "FrameRange", "SelectError"]

Bools = NDArray[np.bool_]
Test = Callable[[Columns], Bools]

_MAC = re.compile(r"[0-9a-f]{2}([:-][0-9a-f]{2}){5}", re.IGNORECASE)
_WORD = re.compile(r"[()]|[^\s()]+")
_TESTS = "host, src, dst, port, src port, dst port"
_LOW = (1 << 64) - 1
_MOST_NESTED = 50
"""Brackets within brackets."""
_MOST_SHOWN = 40
"""Characters of what can't be understood that a message repeats."""


class SelectError(ValueError):
    """A range or a filter that can't be understood; the message is one line."""


def _shown(text: str) -> str:
    return repr(text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…")


@dataclass(frozen=True)
class FrameRange:
    """Frames ``first`` to ``behind`` - 1, counted from 0; behind None: to the last."""

    first: int = 0
    behind: int | None = None

    @classmethod
    def parse(cls, text: str) -> FrameRange:
        """SelectError: not a range, or one without a frame."""
        found = re.fullmatch(r"\s*(?:(\d{0,18}):(\d{0,18})|(\d{1,18}))\s*", text)
        if found is None or text.strip() == ":":
            raise SelectError(f"{_shown(text)} must be A:B, A:, :B or A: frames A to B-1, counted from 0")
        if found[3] is not None:
            return cls(int(found[3]), int(found[3]) + 1)
        first, behind = int(found[1] or 0), int(found[2]) if found[2] else None
        if behind is not None and behind <= first:
            raise SelectError(f"{text!r} has no frame: B is the first that is left out, and must be above A")
        return cls(first, behind)

    def part(self, first: int, count: int) -> slice:
        """Which of ``count`` frames from number ``first`` on."""
        behind = count if self.behind is None else min(max(self.behind - first, 0), count)
        return slice(min(max(self.first - first, 0), behind), behind)


@dataclass(frozen=True)
class Filter:
    """A filter: ``hits`` says which frames of a batch it lets through."""

    text: str
    test: Test

    @classmethod
    def parse(cls, text: str) -> Filter:
        """SelectError: with the column (from 1) of what can't be understood."""
        return cls(text, _Parser(text).whole())

    def hits(self, batch: Batch) -> Bools:
        """bool[n]."""
        return self.test(header_fields(batch))


class _Parser:
    """Recursive descent over the words of a filter."""

    def __init__(self, text: str) -> None:
        self.words = [(found[0], found.start() + 1) for found in _WORD.finditer(text)]
        self.end = len(text) + 1
        self.at = 0
        self.depth = 0

    def whole(self) -> Test:
        test = self._any()
        if self._peek():
            raise self._error(f"and, or, or the end is wanted, not {_shown(self._peek())}")
        return test

    def _peek(self) -> str:
        """The next word in lower case; "" at the end."""
        return self.words[self.at][0].lower() if self.at < len(self.words) else ""

    def _take(self, *wanted: str) -> bool:
        if self._peek() in wanted:
            self.at += 1
            return True
        return False

    def _next(self, what: str) -> str:
        word = self._peek()
        if not word or word in "()":
            raise self._error(f"{what} is wanted{f', not {word!r}' if word else ''}")
        self.at += 1
        return word

    def _error(self, problem: str, back: int = 0) -> SelectError:
        place = self.at - back
        column = self.words[place][1] if place < len(self.words) else self.end
        return SelectError(f"column {column}: {problem}")

    def _any(self) -> Test:
        tests = [self._all()]
        while self._take("or"):
            tests.append(self._all())
        return _folded(np.logical_or, tests)

    def _all(self) -> Test:
        tests = [self._each()]
        while self._take("and"):
            tests.append(self._each())
        return _folded(np.logical_and, tests)

    def _each(self) -> Test:
        inverted = False
        while self._take("not"):
            inverted = not inverted
        test = self._bracket() if self._take("(") else self._test()
        return _inverse(test) if inverted else test

    def _bracket(self) -> Test:
        """What is in a bracket that was just opened."""
        opened = self.words[self.at - 1][1]
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise self._error(f"brackets are nested deeper than {_MOST_NESTED}", back=1)
        test = self._any()
        if not self._take(")"):
            raise self._error(f"the bracket of column {opened} is not closed")
        self.depth -= 1
        return test

    def _test(self) -> Test:
        word = self._next(f"a test ({_TESTS})")
        if word == "host":
            return self._address("src", "dst")
        if word == "port":
            return self._port("src", "dst")
        if word in ("src", "dst"):
            if self._take("port"):
                return self._port(word)
            self._take("host")
            return self._address(word)
        raise self._error(f"{_shown(word)} is no test; there are: {_TESTS}", back=1)

    def _port(self, *sides: str) -> Test:
        word = self._next("a port")
        if not re.fullmatch("[0-9]{1,5}", word) or int(word) > 0xFFFF:
            raise self._error(f"{_shown(word)} must be a port from 0 to 65535", back=1)
        number = int(word)

        def test(fields: Columns) -> Bools:
            known = np.isin(fields["l4_kind"], (L4Kind.TCP, L4Kind.UDP))
            return known & _or([fields[f"{side}_port"] == number for side in sides])

        return test

    def _address(self, *sides: str) -> Test:
        word = self._next("an address")
        if _MAC.fullmatch(word):
            mac = int(re.sub("[:-]", "", word), 16)
            return lambda fields: (
                (fields["parse_code"] != Code.L2_TRUNCATED) & _or([fields[f"{side}_mac"] == mac for side in sides])
            )
        try:
            network = ipaddress.ip_network(word, strict=False)
        except ValueError:
            raise self._error(f"{_shown(word)} is no IPv4, IPv6 or MAC address, and no prefix", back=1) from None
        kind = L3Kind.IPV4 if network.version == 4 else L3Kind.IPV6
        value, mask = int(network.network_address), int(network.netmask)
        high, low = (np.uint64(value >> 64), np.uint64(mask >> 64)), (np.uint64(value & _LOW), np.uint64(mask & _LOW))

        def test(fields: Columns) -> Bools:
            hits = []
            for side in sides:
                address = fields[f"ip_{side}"]
                upper, lower = (address[:, i] & mask == value for i, (value, mask) in enumerate((high, low)))
                hits.append(upper & lower)
            found: Bools = (fields["l3_kind"] == kind) & _or(hits)
            return found

        return test


def _or(hits: list[Bools]) -> Bools:
    either: Bools = np.logical_or.reduce(hits)
    return either


def _folded(operation: np.ufunc, tests: list[Test]) -> Test:
    """One test of many, in a loop: their number is not bounded by Python's stack."""
    if len(tests) == 1:
        return tests[0]

    def test(fields: Columns) -> Bools:
        hits = tests[0](fields)
        for other in tests[1:]:
            hits = operation(hits, other(fields))
        return hits

    return test


def _inverse(test: Test) -> Test:
    return lambda fields: ~test(fields)
