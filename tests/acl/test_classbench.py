"""The ACL's model against published filter sets and traces.

Sweep:    every ClassBench set of the material: access lists, firewalls, 761 to 9416 filters
Stimulus: the traces that were generated with them, as metadata and as frames; the same with TCP flags
Checks:   the first match that comes with each trace, and a search through the file's own text written here
Timing:   none
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from models.acl import AclModel, Counter, RuleSet, first_match
from models.acl_batch import NO_RULE, Classifier
from models.acl_file import read_rules
from models.frames import Batch
from models.parser_batch import parse_batch
from tests.acl.frames import ethernet, ipv4, tcp, udp
from tests.acl.test_batch import one

SETS = (
    "cutsplit_acl_1k",
    "cutsplit_fw_1k",
    "ruleset_acl1_1k",
    "ruleset_acl2_1k",
    "ruleset_acl3_1k",
    "ruleset_fw1_1k",
    "ruleset_fw1_10k",
    "ruleset_fw2_1k",
)
SRC, DST, SPORT, DPORT, PROTOCOL, FIRST = 0, 1, 2, 3, 4, 6
Ints = NDArray[np.int64]
Accepts = Callable[[list[str], "Trace"], NDArray[np.bool_]]


class Trace:
    """Headers of a set, and the first match that came with them."""

    def __init__(self, path: Path) -> None:
        table = np.loadtxt(path, dtype=np.int64)
        self.src, self.dst, self.sport, self.dport, self.protocol = (table[:, at] for at in range(5))
        self.first = table[:, FIRST]
        self.flags = np.random.default_rng(len(table)).choice(
            np.array([0x02, 0x10, 0x12, 0x04, 0x01, 0x18]), len(table)
        )
        """TCP flags, which the traces don't have."""

    def __len__(self) -> int:
        return len(self.first)

    def columns(self) -> dict[str, NDArray[Any]]:
        """As metadata. Headers of a trace have ports whatever their protocol is."""
        high = np.zeros(len(self), np.uint64)
        return {
            "l3_kind": np.ones(len(self), np.uint8),
            "l4_kind": np.where(self.protocol == 6, 1, 2).astype(np.uint8),
            "protocol": self.protocol.astype(np.uint8),
            "ip_src": np.stack([high, self.src.astype(np.uint64)], axis=1),
            "ip_dst": np.stack([high, self.dst.astype(np.uint64)], axis=1),
            "src_port": self.sport.astype(np.uint16),
            "dst_port": self.dport.astype(np.uint16),
            "tcp_flags": self.flags.astype(np.uint16),
        }

    def frames(self) -> Batch:
        """As frames: TCP, UDP, or an IP packet of the protocol without ports."""
        frames = []
        for src, dst, sport, dport, protocol, flags in zip(
            self.src, self.dst, self.sport, self.dport, self.protocol, self.flags, strict=True
        ):
            l4 = {6: tcp(sport, dport, flags), 17: udp(b"", sport, dport)}.get(int(protocol), bytes(8))
            addresses = (str(ipaddress.IPv4Address(int(address))) for address in (src, dst))
            frames.append(ethernet(ipv4(l4, int(protocol), *addresses)))
        return Batch.of(frames)


def five_tuple(words: list[str], trace: Trace) -> NDArray[np.bool_]:
    """The headers that a filter's first five fields accept. words: of its line, between blanks."""
    found = np.ones(len(trace), np.bool_)
    for text, values in ((words[0].removeprefix("@"), trace.src), (words[1], trace.dst)):
        prefix, length = text.split("/")
        a, b, c, d = (int(part) for part in prefix.split("."))
        # Compared as the blocks of addresses that they lie in.
        block = 2 ** (32 - int(length))
        found &= values // block == (a * 2**24 + b * 2**16 + c * 2**8 + d) // block
    for low, high, values in ((words[2], words[4], trace.sport), (words[5], words[7], trace.dport)):
        found &= (values >= int(low)) & (values <= int(high))
    value, mask = (int(text, 16) for text in words[8].split("/"))
    return found & (trace.protocol & mask == value)


def with_flags(words: list[str], trace: Trace) -> NDArray[np.bool_]:
    """The same, of frames: no ports but TCP's and UDP's, flags of TCP, and an ICMP of type 0, code 0."""
    found = five_tuple(words, trace)
    if words[2:8] != ["0", ":", "65535", "0", ":", "65535"]:
        found &= (trace.protocol == 6) | (trace.protocol == 17)
    value, mask = (int(text, 16) for text in words[9].split("/"))
    if mask and words[8] == "0x06/0xFF":
        found &= trace.flags * 256 & mask == value
    elif mask:
        assert words[8] == "0x01/0xFF"
        found &= value == 0
    return found


def search(path: Path, trace: Trace, accepts: Accepts) -> Ints:
    """First match of each header, filter by filter through the text."""
    first = np.full(len(trace), NO_RULE)
    for number, line in enumerate(path.read_text().splitlines()):
        first[(first == NO_RULE) & accepts(line.split(), trace)] = number
    return first


@lru_cache(maxsize=1)
def loaded(folder: Path, name: str) -> tuple[RuleSet, Trace, Path]:
    path = folder / "06_acl" / f"{name}.rules"
    return read_rules(path), Trace(path.with_suffix(".trace.tsv")), path


def without_flags(rule_set: RuleSet) -> list[Any]:
    return [replace(rule, tcp_flags=None, icmp_type=None, icmp_code=None) for rule in rule_set.rules]


def test_all_sets_of_the_material_are_named_here(material: Path) -> None:
    stats = json.loads((material / "06_acl" / "acl_stats.json").read_text())
    assert sorted(stats) == sorted(SETS)


@pytest.mark.parametrize("name", SETS)
def test_first_match_is_that_of_the_trace_and_of_a_search_through_the_text(material: Path, name: str) -> None:
    rule_set, trace, path = loaded(material, name)
    stats = json.loads((material / "06_acl" / "acl_stats.json").read_text())[name]
    assert (len(rule_set.rules), len(trace)) == (stats["rules"], stats["headers"])
    found = Classifier(without_flags(rule_set)).first_match(trace.columns(), len(trace))
    assert np.array_equal(found, trace.first)
    assert np.array_equal(found, search(path, trace, five_tuple))
    assert (found == NO_RULE).sum() == stats["none"]


@pytest.mark.parametrize("name", SETS)
def test_frames_match_by_ports_flags_and_icmp_as_a_search_through_the_text_says(material: Path, name: str) -> None:
    rule_set, trace, path = loaded(material, name)
    columns = parse_batch(trace.frames())
    found = Classifier(rule_set.rules).first_match(columns, len(trace))
    assert np.array_equal(found, search(path, trace, with_flags))


@pytest.mark.parametrize("name", SETS)
def test_scalar_model_finds_and_counts_the_same(material: Path, name: str) -> None:
    rule_set, trace, _ = loaded(material, name)
    rules = without_flags(rule_set)
    model = AclModel(RuleSet(tuple(rules)))
    columns = trace.columns()
    some = range(0, len(trace), 100)
    fields = [one(columns, index) for index in some]
    want = trace.first[list(some)].tolist()
    assert [first_match(rules, frame) for frame in fields] == want
    for size, frame in enumerate(fields[:10]):
        model.judge(frame, 60 + size, 0)
    for index, counter in model.counted():
        sizes = [60 + size for size, first in enumerate(want[:10]) if first == index]
        assert counter == Counter(len(sizes), sum(sizes))
