"""Batch form of the ACL's first match: equal to the scalar form, frame by frame, and fast.

Sweep:    no rule, some, more than the summary's first word has bits for; columns, metadata words, missing columns
Stimulus: rules and metadata from few values near each other; thousands of rules with edges beside each other
Checks:   models/acl.py's first_match of every frame
Timing:   none
"""

from __future__ import annotations

import random
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from models.acl import Masked, Range, Rule, first_match
from models.acl_batch import NO_RULE, Classifier, columns_of_words, first_match_batch
from models.meta import FIELDS as META_FIELDS
from models.meta import pack, words_of
from models.parser_batch import parse_batch
from tb.replay.capture import read_capture
from tb.toolchain import ROOT
from tests.acl.strategies import FIELDS, RULES

TUNNELS = ROOT / "tests" / "captures" / "scapy_inner.pcapng"


def columns_of(frames: list[dict[str, int]]) -> dict[str, NDArray[Any]]:
    """Metadata by name as columns, addresses as two halves."""
    wide = {field.name for field in META_FIELDS if field.width > 64}
    columns = {}
    for name in {name for fields in frames for name in fields}:
        values = [fields.get(name, 0) for fields in frames]
        if name in wide:
            columns[name] = np.array([[value >> 64, value & (1 << 64) - 1] for value in values], np.uint64)
        else:
            columns[name] = np.array(values, np.uint16 if max(values) < 1 << 16 else np.uint32)
    return columns


def expected(rules: list[Rule], frames: list[dict[str, int]]) -> list[int]:
    found = [first_match(rules, fields) for fields in frames]
    return [NO_RULE if index is None else index for index in found]


@settings(max_examples=150)
@given(st.lists(RULES, max_size=8), st.lists(FIELDS, min_size=1, max_size=8))
def test_batch_is_the_scalar_form_for_any_rules_and_fields(rules: list[Rule], frames: list[dict[str, int]]) -> None:
    found = first_match_batch(rules, columns_of(frames), len(frames))
    assert found.tolist() == expected(rules, frames)
    words = words_of([pack(fields) for fields in frames])
    assert first_match_batch(rules, columns_of_words(words), len(frames)).tolist() == found.tolist()


@given(st.lists(RULES, min_size=1, max_size=8), FIELDS, st.integers(0, 1), st.integers(0, 3))
def test_what_ipsec_found_is_asked_where_it_is_given(
    rules: list[Rule], fields: dict[str, int], decrypted: int, sa: int
) -> None:
    frame = fields | {"decrypted": decrypted, "sa": sa}
    assert first_match_batch(rules, columns_of([frame]), 1).tolist() == expected(rules, [frame])


def many_rules(count: int, seed: int) -> list[Rule]:
    """Prefixes, ranges and protocols; most rules are about few addresses."""
    pick = random.Random(seed)
    rules = []
    for _ in range(count):
        length = pick.choice([8, 20, 28, 30, 31, 32, 32])
        mask = (1 << 32) - (1 << 32 - length)
        first = pick.choice([0, 80, 1024, pick.randrange(65536)])
        rules.append(
            Rule(
                ip=4,
                src=Masked((0x0A000000 | pick.randrange(1 << 12)) & mask, mask),
                dst=None if pick.random() < 0.3 else Masked(0x0A000000 | pick.randrange(64), 0xFFFFFFFF),
                dst_port=None if pick.random() < 0.3 else Range(first, min(65535, first + pick.choice([0, 1, 1000]))),
                protocol=pick.choice([None, Masked(6, 0xFF), Masked(17, 0xFF)]),
            )
        )
    return rules


def many_frames(count: int, seed: int) -> dict[str, NDArray[Any]]:
    draw = np.random.default_rng(seed)

    def address(bits: int) -> NDArray[np.uint64]:
        low = 0x0A000000 | draw.integers(0, 1 << bits, count)
        return np.stack([np.zeros(count), low], axis=1).astype(np.uint64)

    protocol = draw.choice(np.array([6, 17], np.uint8), count)
    return {
        "l3_kind": np.ones(count, np.uint8),
        "l4_kind": np.where(protocol == 6, 1, 2).astype(np.uint8),
        "protocol": protocol,
        "ip_src": address(12),
        "ip_dst": address(6),
        "src_port": draw.integers(0, 65536, count).astype(np.uint16),
        "dst_port": draw.integers(0, 65536, count).astype(np.uint16),
    }


def one(columns: dict[str, NDArray[Any]], index: int) -> dict[str, int]:
    """A frame of the columns, by name."""
    values = {name: column[index] for name, column in columns.items()}
    return {name: int(v) if v.ndim == 0 else int(v[0]) << 64 | int(v[1]) for name, v in values.items()}


def test_sets_of_thousands_of_rules_are_searched_to_their_end(seed: int) -> None:
    rules = many_rules(9000, seed)
    columns = many_frames(100, seed)
    found = first_match_batch(rules, columns, 100)
    assert found.tolist() == expected(rules, [one(columns, index) for index in range(100)])
    # More than the 4096 rules that one word of the summary stands for.
    last = [*[Rule(ip=6)] * 8999, Rule(ip=4)]
    assert set(first_match_batch(last, columns, 100).tolist()) == {8999}
    assert set(first_match_batch(last[:-1], columns, 100).tolist()) == {NO_RULE}


def test_rules_that_accept_each_field_but_never_all_are_passed_over() -> None:
    def rule(src: int, dst: int) -> Rule:
        return Rule(ip=4, src=Masked(src, 0xFFFFFFFF), dst=Masked(dst, 0xFFFFFFFF))

    # In every 64 rules one accepts the source and another the destination, up to the rule that accepts both.
    near = [rule(1, 9), rule(9, 2)] * 96
    frame = {"l3_kind": 1, "ip_src": 1, "ip_dst": 2}
    for rules in ([*near, rule(1, 2), rule(1, 2)], near, [*near, *[Rule(ip=6)] * 4096, rule(1, 2)]):
        assert first_match_batch(rules, columns_of([frame]), 1).tolist() == expected(rules, [frame])


def test_columns_of_the_parser_are_taken_as_they_are() -> None:
    batch = read_capture(TUNNELS).batch
    columns = parse_batch(batch, 256, tunnel=True)
    rules = [
        Rule(inner=True, ip=6),
        Rule(inner=True, dst_port=Range(0, 65535)),
        Rule(protocol=Masked(17, 0xFF)),
        Rule(inner=True),
    ]
    found = first_match_batch(rules, columns, len(batch))
    frames = [one({name: columns[name] for name in FIELD_NAMES}, index) for index in range(len(batch))]
    assert found.tolist() == expected(rules, frames)
    assert {0, 1, 2} <= set(found.tolist())


FIELD_NAMES = [field.name for field in META_FIELDS if field.writer == "parser"]


def test_no_rules_match_nothing_and_no_frames_are_no_matches() -> None:
    assert first_match_batch([], {}, 3).tolist() == [NO_RULE] * 3
    assert first_match_batch([Rule()], {}, 2).tolist() == [0, 0]
    assert first_match_batch([Rule(ip=4)], {"l3_kind": np.zeros(0, np.uint8)}, 0).tolist() == []


def test_a_column_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"ip_src: an array of shape \(2, 2\) is wanted, not \(2,\)"):
        first_match_batch([Rule(ip=4)], {"ip_src": np.zeros(2, np.uint64)}, 2)
    with pytest.raises(ValueError, match="l3_kind"):
        first_match_batch([Rule(ip=4)], {"l3_kind": np.zeros(3, np.uint8)}, 2)


@pytest.mark.regress
def test_ten_thousand_rules_judge_a_million_frames_as_the_scalar_form_does(seed: int) -> None:
    rules, columns = many_rules(10000, seed), many_frames(10**6, seed)
    found = Classifier(rules).first_match(columns, 10**6)
    some = range(0, 10**6, 50000)
    assert found[list(some)].tolist() == expected(rules, [one(columns, index) for index in some])
