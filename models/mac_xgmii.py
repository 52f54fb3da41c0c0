"""Characters and words of a 64-bit XGMII (IEEE 802.3 clause 46), and the link fault state behind it.

A word is ``(d, c)``: 64 bits of data and 8 control bits, lane 0 in the low byte. A character is a number of 9 bits: the
octet, and 0x100 where it is a control character. A column is four lanes (46.1.6): a word holds two of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum

__all__ = [
    "CONTROL",
    "ERROR",
    "IDLE",
    "IDLE_WORD",
    "LOCAL_FAULT_WORD",
    "REMOTE_FAULT_WORD",
    "SEQUENCE",
    "START",
    "TERMINATE",
    "Fault",
    "LinkFault",
    "Word",
    "characters",
    "word_of",
    "words_of",
]

Word = tuple[int, int]

CONTROL = 0x100
# Table 46-3: TXD and TXC encodings.
IDLE = 0x07 | CONTROL
SEQUENCE = 0x9C | CONTROL
START = 0xFB | CONTROL
TERMINATE = 0xFD | CONTROL
ERROR = 0xFE | CONTROL

IDLE_WORD: Word = (0x0707070707070707, 0xFF)
LOCAL_FAULT_WORD: Word = (0x0100009C0100009C, 0x11)
REMOTE_FAULT_WORD: Word = (0x0200009C0200009C, 0x11)


def characters(d: int, c: int) -> list[int]:
    """The eight characters of a word, lane 0 first."""
    return [octet | (c >> lane & 1) << 8 for lane, octet in enumerate(d.to_bytes(8, "little"))]


def word_of(chars: Iterable[int]) -> Word:
    """The word of eight characters."""
    d = c = 0
    for lane, char in enumerate(chars):
        d |= (char & 0xFF) << 8 * lane
        c |= (char >> 8) << lane
    return d, c


def words_of(chars: list[int]) -> Iterator[Word]:
    """The words of a run of characters that begins in lane 0; idle fills the last one."""
    for at in range(0, len(chars), 8):
        piece = chars[at : at + 8]
        yield word_of(piece + [IDLE] * (8 - len(piece)))


class Fault(IntEnum):
    """``link_fault`` (46.3.4.2); the number is the value of the sequence ordered set (table 46-5)."""

    OK = 0
    LOCAL = 1
    REMOTE = 2


class LinkFault:
    """The link fault signalling state diagram, 46.3.4.3, in the words of 46.3.4.2 and 46.3.4.3.

    ``link_fault`` is set by four fault sequences of one value, each two of them less than 128 columns apart and none of
    the other value between them; it is OK after 128 columns without a fault sequence. ``began`` counts, by fault, how
    often the state was entered.
    """

    def __init__(self) -> None:
        self.link_fault = Fault.OK
        self.began = {Fault.LOCAL: 0, Fault.REMOTE: 0}
        self._seq_type = Fault.OK
        self._seq_cnt = 0
        self._col_cnt = 0

    def word(self, d: int, c: int) -> Fault:
        """Takes the two columns of a word; returns the state behind it."""
        self._column(d & 0xFFFFFFFF, c & 15)
        self._column(d >> 32, c >> 4)
        return self.link_fault

    def _column(self, d: int, c: int) -> None:
        value = d >> 24 | (d >> 16 & 0xFF) << 8 | (d >> 8 & 0xFF) << 16  # lane 1 is its high octet
        if c != 1 or d & 0xFF != SEQUENCE & 0xFF or value not in (1, 2):
            self._col_cnt += 1
            if self._col_cnt >= 128:
                self.link_fault = Fault.OK
                self._seq_cnt = 0
            return
        seq_type = Fault(value)
        self._seq_cnt = self._seq_cnt + 1 if self._seq_cnt and seq_type == self._seq_type else 1
        self._seq_type = seq_type
        self._col_cnt = 0
        if self._seq_cnt >= 4:
            if self.link_fault != seq_type:
                self.began[seq_type] += 1
            self.link_fault = seq_type
