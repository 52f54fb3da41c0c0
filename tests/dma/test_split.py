"""How requests become TLPs: the reference against the batch form, and the batch form against everything.

Sweep:    every offset in a page x every length 0..4200 x MPS and MRRS 128..4096; every piece of a page x RCB 64, 128
Stimulus: all of them; random addresses of 64 bits (hypothesis); the cases of published bugs
Checks:   every byte once and in order; no TLP over its size or 4 KiB; as few as a lower bound that knows no splits;
          lines and credits of completions counted chunk by chunk
Timing:   none
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.dma_split import (
    LINE,
    PAGE,
    SIZES,
    byte_enables,
    cuts,
    data_credits,
    dws,
    lines,
    lines_batch,
    lower_address,
    split,
    split_batch,
)

LONGEST = 4200
WRITES = SIZES[:4]


def fewest(address, length, most):
    """Lower bound: a TLP lies in one page and holds most / 4 DWs of it at most, so a page takes that many."""
    count = 0
    for page in range(3):
        low = np.maximum(address, page * PAGE)
        high = np.minimum(address + length, (page + 1) * PAGE)
        words = np.where(high > low, (high + 3) // 4 - low // 4, 0)
        count = count + (words * 4 + most - 1) // most
    return count


@given(st.integers(0, (1 << 64) - 10000), st.integers(0, 10000), st.sampled_from(SIZES))
def test_the_batch_form_is_the_reference(address, length, most):
    address %= 1 << 62
    parts = split(address, length, most)
    batch = split_batch(np.array([address]), np.array([length]), most)
    assert batch.begin.tolist() == [0, len(parts)]
    assert list(zip(batch.address.tolist(), batch.bytes.tolist(), strict=True)) == parts
    assert batch.dws.tolist() == [dws(*part) for part in parts]
    assert list(zip(batch.first_be.tolist(), batch.last_be.tolist(), strict=True)) == [
        byte_enables(*part) for part in parts
    ]


@given(st.lists(st.tuples(st.integers(0, 1 << 40), st.integers(0, 5000)), max_size=40), st.sampled_from(SIZES))
def test_many_at_once_are_each_alone(requests, most):
    address, length = (np.array([one[n] for one in requests], np.int64) for n in (0, 1))
    batch = split_batch(address, length, most)
    for n, request in enumerate(requests):
        mine = slice(batch.begin[n], batch.begin[n + 1])
        assert list(zip(batch.address[mine].tolist(), batch.bytes[mine].tolist(), strict=True)) == split(*request, most)


def assert_whole(address, length, most):
    """Every TLP of these requests by itself."""
    parts = split_batch(address, length, most)
    count = np.diff(parts.begin)
    owner = np.repeat(np.arange(len(length)), count)
    first = np.zeros(len(owner), bool)
    first[parts.begin[:-1][count > 0]] = True
    end = parts.address + parts.bytes
    assert (parts.address[first] == address[count > 0]).all()
    assert (parts.address[1:][~first[1:]] == end[:-1][~first[1:]]).all(), "no gap, no byte twice"
    assert (end[parts.begin[1:][count > 0] - 1] == (address + length)[count > 0]).all()
    assert (count[length == 0] == 0).all() and (parts.bytes > 0).all()
    assert (parts.dws * 4 <= most).all()
    assert (parts.address // PAGE == (end - 1) // PAGE).all()
    assert (count == fewest(address, length, most)).all()
    on = (parts.first_be[:, None] >> np.arange(4) & 1).sum(1) + (parts.last_be[:, None] >> np.arange(4) & 1).sum(1)
    assert (on + np.maximum(0, parts.dws - 2) * 4 == parts.bytes).all()
    lane = parts.address % 4
    assert (parts.first_be >> lane & 1 == 1).all() and (parts.first_be % (1 << lane) == 0).all()
    assert ((parts.last_be == 0) == (parts.dws == 1)).all()


@pytest.mark.parametrize("most", SIZES)
def test_every_request_of_a_page_is_split_whole_and_into_as_few_as_can_be(most):
    """A TLP takes what it may whatever follows: so the TLPs but the last are those of the longest request from this
    offset (``test_many_at_once_are_each_alone`` says so), and of each length count and last TLP remain to be seen."""
    table = cuts(most, LONGEST).astype(np.int16)
    lengths = np.arange(LONGEST + 1, dtype=np.int16)
    offsets = np.arange(PAGE)
    assert_whole(offsets, np.full(PAGE, LONGEST), most)
    for some in np.array_split(offsets, 16):
        index = np.zeros((len(some), LONGEST + 1), np.int8)
        rows, columns = np.nonzero(table[some] < LONGEST)
        index[rows, table[some][rows, columns] + 1] = 1
        count = np.cumsum(index, axis=1, dtype=np.int16)
        assert (count == fewest(some[:, None].astype(np.int16), lengths, most)).all()
        last = np.take_along_axis(table[some], np.maximum(count - 1, 0), axis=1)
        start, size = some[:, None].astype(np.int16) + last, lengths - last
        assert (size[:, 1:] > 0).all() and (start % 4 + size <= most).all()
        assert (start[:, 1:] // PAGE == ((start + size) - 1)[:, 1:] // PAGE).all()


@pytest.mark.parametrize("most", SIZES)
def test_requests_near_the_ends_of_a_page_are_split_byte_by_byte(most):
    offsets = np.r_[0:5, 60:66, 126:130, PAGE - 130 : PAGE - 126, PAGE - 5 : PAGE]
    lengths = np.arange(LONGEST + 1)
    assert_whole(np.repeat(offsets, len(lengths)), np.tile(lengths, len(offsets)), most)


@pytest.mark.regress
@pytest.mark.parametrize("most", SIZES)
def test_all_requests_of_a_page_are_split_byte_by_byte(most):
    lengths = np.arange(LONGEST + 1)
    for offsets in np.array_split(np.arange(PAGE), 128):
        assert_whole(np.repeat(offsets, len(lengths)), np.tile(lengths, len(offsets)), most)


@pytest.mark.parametrize("most", SIZES)
def test_mrrs_4096_aligned_4096_bytes_are_one_read(most):
    """verilog-pcie#35: the last TLP was found by a comparison modulo 4096."""
    assert len(split(0x1000, 4096, most)) == 4096 // most
    assert [len(split(0x1000, length, 4096)) for length in (4095, 4096, 4097)] == [1, 1, 2]
    assert split(0x1001, 4096, 4096) == [(0x1001, 4095), (0x2000, 1)]


@pytest.mark.parametrize("most", SIZES)
def test_4_kib_is_crossed_by_no_tlp_from_ff0_to_fff(most):
    """verilog-axi#12, libtlp#5, tapa#159: the crossing was found by a bit of a count."""
    for offset in range(0xFF0, 0x1000):
        for length in [*range(1, 65), 4096]:
            parts = split(0x7_0000_0000 + offset, length, most)
            assert all(part.address % PAGE + part.bytes <= PAGE for part in parts)
            room = PAGE - offset
            assert parts[0] == (0x7_0000_0000 + offset, min(length, room))
            if length > room:
                assert parts[1].address == 0x7_0000_1000


@pytest.mark.parametrize("mps", WRITES)
def test_masked_bytes_of_a_dw_count_in_the_payload(mps):
    assert split(3, mps, mps) == [(3, mps - 3), (mps, 3)]
    assert dws(*split(3, mps, mps)[0]) * 4 == mps


# ------------------------------------------------------------------------------------- what completions can be at most


def test_lines_and_completion_credits_of_every_read_are_those_of_its_chunks():
    chunk = np.arange(PAGE) // LINE
    for address in [*range(0, 70), *range(4000, PAGE)]:
        size = np.arange(1, PAGE - address + 1)
        count, credits = lines_batch(np.full(len(size), address), size)
        end = address + size - 1
        assert (count == chunk[end] - chunk[address] + 1).all()
        full = np.minimum((chunk[end] + 1) * LINE, end + 1)
        words = np.zeros(len(size), np.int64)
        for number in range(chunk[address], chunk[PAGE - 1] + 1):
            low, high = max(address, number * LINE), np.minimum(full, (number + 1) * LINE)
            held = np.where(high > low, (high + 3) // 4 - low // 4, 0)
            words += (held + 3) // 4
        assert (credits == words).all()


@given(st.integers(0, 1 << 40), st.integers(1, 4096))
def test_lines_and_credits_in_closed_form_are_the_reference(address, length):
    length = min(length, PAGE - address % PAGE)
    count, credits = lines_batch(np.array([address]), np.array([length]))
    assert (int(count[0]), int(credits[0])) == (lines(address, length), data_credits(address, length))


@pytest.mark.parametrize("rcb", [64, 128])
def test_the_finest_split_at_any_rcb_fits_lines_and_credits(rcb):
    """No completer brings more completions, or data credits, than were counted at 64 bytes."""
    for address in range(0, 260):
        for length in (1, 2, 63, 64, 65, 127, 128, 129, 512, 1000):
            stops = [*range(address - address % rcb + rcb, address + length, rcb), address + length]
            starts = [address, *stops[:-1]]
            headers = len(starts)
            data = sum(-(-dws(low, high - low) // 4) for low, high in zip(starts, stops, strict=True))
            assert headers <= lines(address, length) and data <= data_credits(address, length)
            if rcb == 64:
                assert (headers, data) == (lines(address, length), data_credits(address, length))


def test_a_read_of_no_bytes_expects_one_dw():
    assert (dws(0x1003, 0), byte_enables(0x1003, 0), lower_address(0x1003, 0)) == (1, (0, 0), 0)
    assert (lines(0x1003, 0), data_credits(0x1003, 0)) == (1, 1)
    assert split(0x1003, 0, 128) == []
