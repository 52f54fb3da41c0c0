"""How a piece of a request becomes TLPs (docs/dma.md, TLPs): one by one as the page reads, and many at once in numpy.

PCI Express Base Specification 4.0: 2.2.3 (Length up to Max_Payload_Size), 2.2.7 (Max_Read_Request_Size; no request
crosses a 4 KiB boundary), 2.2.5 (byte enables), 2.3.1.1 (read completion boundary). ``most`` is Max_Payload_Size of a
write and Max_Read_Request_Size of a read, in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LINE",
    "PAGE",
    "SIZES",
    "Part",
    "Parts",
    "byte_enables",
    "cuts",
    "data_credits",
    "dws",
    "lines",
    "lines_batch",
    "lower_address",
    "split",
    "split_batch",
]

PAGE = 4096
"""No TLP crosses a multiple of this."""
LINE = 64
"""Bytes of a line of the read buffer; the shortest read completion boundary."""
SIZES = (128, 256, 512, 1024, 2048, 4096)
"""Values of Max_Payload_Size and Max_Read_Request_Size (7.5.3.4)."""
CREDIT = 16
"""Bytes of a credit of data (2.6.1)."""

Int64 = NDArray[np.int64]


class Part(NamedTuple):
    """What one TLP moves: bytes of memory from a byte's address."""

    address: int
    bytes: int


def dws(address: int, length: int) -> int:
    """DWs that these bytes lie in: Length of the TLP. One of no bytes has one (2.2.5)."""
    return max(1, (address % 4 + length + 3) // 4)


def byte_enables(address: int, length: int) -> tuple[int, int]:
    """First and last DW byte enables (2.2.5): contiguous; of a single DW the last is 0; of no bytes both are."""
    first = 0xF << address % 4 & 0xF
    last = 0xF >> -(address + length) % 4
    if length == 0:
        return 0, 0
    return (first & last, 0) if dws(address, length) == 1 else (first, last)


def split(address: int, length: int, most: int) -> list[Part]:
    """TLPs of one piece, in order: each takes as much as ``most`` and 4 KiB allow; masked bytes of a DW count."""
    parts = []
    while length:
        take = min(length, most - address % 4, PAGE - address % PAGE)
        parts.append(Part(address, take))
        address += take
        length -= take
    return parts


def lower_address(address: int, length: int) -> int:
    """Lower Address of the completion that begins with this byte; of no bytes that of the DW (2.3.1.1)."""
    return address & (0x7F if length else 0x7C)


def lines(address: int, length: int) -> int:
    """Lines of 64 bytes that a read takes in the buffer, and completions that it brings at most. No bytes: one."""
    return (address % LINE + max(1, length) + LINE - 1) // LINE


def data_credits(address: int, length: int) -> int:
    """Credits of completion data that a read brings back at most: those of each 64-byte split, a DW counts whole."""
    end = address + max(1, length)
    credits = 0
    while address < end:
        stop = min(end, address - address % LINE + LINE)
        credits += (4 * dws(address, stop - address) + CREDIT - 1) // CREDIT
        address = stop
    return credits


# ----------------------------------------------------------------------------------------------------- many at once


@dataclass(frozen=True)
class Parts:
    """TLPs of many requests, flat: those of request i are ``begin[i]`` to ``begin[i + 1]``."""

    begin: Int64
    address: Int64
    bytes: Int64
    dws: Int64
    first_be: Int64
    last_be: Int64


def cuts(most: int, length: int) -> Int64:
    """int64[4096, k]: for each offset in a page, how many bytes of a request of ``length`` go before its k-th TLP.

    A TLP takes what it may whatever comes behind it, so the cuts of a shorter request are the first of these.
    """
    offset = np.arange(PAGE, dtype=np.int64)
    done = np.zeros(PAGE, np.int64)
    columns = []
    while (done < length).any():
        columns.append(done)
        at = offset + done
        done = done + np.minimum(most - at % 4, PAGE - at % PAGE)
    return np.stack(columns, axis=1) if columns else np.zeros((PAGE, 0), np.int64)


def split_batch(address: Int64, length: Int64, most: int) -> Parts:
    """``split`` of many requests with the length, DWs and byte enables of each TLP."""
    table = cuts(most, int(length.max(initial=0)))[address % PAGE]
    sent = table < length[:, None]
    count = sent.sum(axis=1)
    owner = np.repeat(np.arange(len(length)), count)
    done = table[sent]
    begin = np.concatenate(([0], np.cumsum(count)))
    after = np.append(done[1:], 0)
    ends = begin[1:][count > 0] - 1
    after[ends] = length[count > 0]
    start = address[owner] + done
    size = after - done
    words = (start % 4 + size + 3) // 4
    first = 0xF << start % 4 & 0xF
    last = 0xF >> -(start + size) % 4
    one = words == 1
    return Parts(begin, start, size, words, np.where(one, first & last, first), np.where(one, 0, last))


def lines_batch(address: Int64, length: Int64) -> tuple[Int64, Int64]:
    """``lines`` and ``data_credits`` of many reads within 4 KiB each, in closed form."""
    size = np.maximum(1, length)
    first, last = address // LINE, (address + size - 1) // LINE
    one = first == last
    head = (LINE - address % LINE // 4 * 4 + CREDIT - 1) // CREDIT
    tail = (((address + size - 1) % LINE // 4 + 1) * 4 + CREDIT - 1) // CREDIT
    single = ((address % 4 + size + 3) // 4 * 4 + CREDIT - 1) // CREDIT
    return last - first + 1, np.where(one, single, head + tail + (last - first - 1) * (LINE // CREDIT))
