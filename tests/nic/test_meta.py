"""The metadata word and the disposition codes.

Sweep:    every field with its least, its greatest and random values; every code
Stimulus: hypothesis
Checks:   pack and unpack are inverse; rtl/lib/meta.vh is current and says the same; the rules of the codes
Timing:   none
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.meta import (
    BUDGET,
    FIELDS,
    META_W,
    Code,
    Disposition,
    disposition,
    field_of,
    pack,
    pack_words,
    unpack,
    verilog_header,
    word_of,
    words_of,
)

RTL = Path(__file__).resolve().parents[2] / "rtl"
HEADER = RTL / "lib" / "meta.vh"
VALUES = st.fixed_dictionaries({field.name: st.integers(0, 2**field.width - 1) for field in FIELDS})


@given(VALUES)
def test_a_word_gives_back_the_fields_it_was_packed_of(values: dict[str, int]) -> None:
    word = pack(values)
    assert 0 <= word < 1 << META_W
    assert unpack(word) == values


@given(st.lists(VALUES, max_size=4))
def test_words_in_bulk_are_the_packed_ones(rows: list[dict[str, int]]) -> None:
    halves = (1 << 64) - 1
    columns = {}
    for field in FIELDS:
        values = [row[field.name] for row in rows]
        wide = [[value >> 64, value & halves] for value in values]
        columns[field.name] = np.array(values if field.width <= 64 else wide, np.uint64)
        if field.width > 64:
            columns[field.name] = columns[field.name].reshape(len(rows), 2)
    words = pack_words(len(rows), columns)
    assert [word_of(row) for row in words] == [pack(row) for row in rows]
    assert np.array_equal(words_of([pack(row) for row in rows]), words)
    for field in FIELDS:
        assert field_of(words, field.name).tolist() == columns[field.name].tolist()


def test_a_value_in_bulk_that_is_larger_than_its_field_is_refused() -> None:
    with pytest.raises(ValueError, match="meta field port: a value does not fit 8 bits"):
        pack_words(2, {"port": np.array([1, 256])})
    with pytest.raises(KeyError):
        pack_words(1, {"sequence": np.array([1])})


def test_every_field_has_bits_of_its_own() -> None:
    masks = [pack({field.name: 2**field.width - 1}) for field in FIELDS]
    assert sum(masks) == 2 ** sum(field.width for field in FIELDS) - 1
    assert [mask.bit_count() for mask in masks] == [field.width for field in FIELDS]
    assert len({field.name for field in FIELDS}) == len(FIELDS)


def test_a_missing_field_is_zero_and_a_wrong_one_is_refused() -> None:
    assert pack({}) == 0
    with pytest.raises(KeyError):
        pack({"sequence": 1})
    for value in (-1, 1 << 16):
        with pytest.raises(ValueError, match=f"meta field seq: {value} does not fit 16 bits"):
            pack({"seq": value})


def test_the_word_is_whole_32_bit_words_within_its_budget() -> None:
    assert META_W % 32 == 0
    assert sum(field.width for field in FIELDS) <= META_W <= BUDGET


def test_the_verilog_header_is_current() -> None:
    assert HEADER.read_text() == verilog_header(), "run `make generate`"


def test_the_verilog_header_names_the_same_bits_and_codes() -> None:
    text = HEADER.read_text()
    parts = {name: (int(high), int(low)) for name, high, low in re.findall(r"`define MF_(\w+) (\d+):(\d+)\n", text)}
    for field in FIELDS:
        high, low = parts[field.name.upper()]
        assert pack({field.name: 2**field.width - 1}) == ((1 << high + 1) - 1) & ~((1 << low) - 1)
        assert f"`define MF_{field.name.upper()}_LSB {low}\n" in text
        assert f"`define MF_{field.name.upper()}_W {field.width}\n" in text
    codes = {name: int(value) for name, value in re.findall(r"`define CODE_(\w+) 8'd(\d+)\n", text)}
    assert codes == {code.name: code.value for code in Code}
    assert f"`define META_W {META_W}\n" in text


def test_every_field_has_a_writer_a_reader_and_a_meaning() -> None:
    for field in FIELDS:
        assert field.writer and field.readers and field.doc, field


def test_the_rtl_names_each_field_where_its_writer_and_its_readers_are_and_nowhere_else() -> None:
    """A writer or reader is a block's folder or a module; outside the RTL are the host's end of a frame, and blocks
    that aren't built (nothing of theirs is there, or their registers alone). The parser puts the word together anew,
    so it names what it carries through too (behind ipsec_rx, what that wrote), and leaves 0 what the ACL behind it
    writes."""
    named: dict[str, set[str]] = {field.name: set() for field in FIELDS}
    for path in RTL.rglob("*.v"):
        owner = path.parent.name if path.parent.name not in ("nic", "lib") else path.stem
        for name in re.findall(r"`MF_(\w+)", path.read_text()):
            named[re.sub(r"_(LSB|W)$", "", name).lower()].add(owner)
    built = {path.stem for path in RTL.rglob("*.v") if not path.stem.endswith("_regs")}
    writers = {field.writer for field in FIELDS}
    outside = {"host"} | {name for name in writers if not any(stem.startswith(name) for stem in built)}
    expected = {}
    for field in FIELDS:
        carried = {"parser"} if field.writer in ("nic_ingress", "ipsec", "parser") else set()
        expected[field.name] = ({field.writer, *field.readers} | carried) - outside
    assert named == expected


def test_every_code_fits_the_seven_bits_of_tuser() -> None:
    assert all(0 <= code < 128 for code in Code)


def test_codes_from_16_are_drops_and_the_others_are_not() -> None:
    for code in range(16, 128):
        assert disposition(code) is Disposition.DROPPED
    assert disposition(Code.DELIVERED) is Disposition.DELIVERED
    assert disposition(Code.CONSUMED) is Disposition.CONSUMED
    for code in (Code.NONE, 3, 15, -1):
        with pytest.raises(ValueError, match=f"code {int(code)} ends no frame"):
            disposition(code)
