"""Golden model of the 64B/66B PCS of block ``mac`` (IEEE 802.3 clauses 49 and 107): words of XGMII to blocks and back.

A block is a number of 66 bits, bit 0 first on the wire: the sync header in ``block[1:0]`` (the wire's "01" is 0b10,
data; "10" is 0b01, control), the payload in ``block[65:2]``, its first octet lowest. Scrambler and test patterns are in
``models/mac_scramble.py``, block lock and the BER monitor in ``models/mac_lock.py``. There is no energy-efficient
Ethernet: /LI/ is no valid control character. Figures are numbered as before that came into clause 49 (802.3-2008).
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar, NamedTuple

from models.mac_xgmii import (
    CONTROL,
    ERROR,
    IDLE,
    LOCAL_FAULT_WORD,
    SEQUENCE,
    START,
    TERMINATE,
    Word,
    characters,
    word_of,
)

__all__ = [
    "CONTROL_CODES",
    "CONTROL_SYNC",
    "DATA_SYNC",
    "EBLOCK",
    "ERROR_WORD",
    "LBLOCK",
    "PCS_LATENCY",
    "RX_LATENCY",
    "TX_LATENCY",
    "BlockType",
    "Receive",
    "Transmit",
    "decode",
    "encode",
    "r_block_type",
    "t_block_type",
    "type_field",
]

TX_LATENCY = 2
RX_LATENCY = 3
PCS_LATENCY = TX_LATENCY + RX_LATENCY

DATA_SYNC = 0b10
CONTROL_SYNC = 0b01
SIGNAL = 0x5C | CONTROL

CONTROL_CODES = {
    IDLE: 0x00,
    ERROR: 0x1E,
    0x1C | CONTROL: 0x2D,
    0x3C | CONTROL: 0x33,
    0x7C | CONTROL: 0x4B,
    0xBC | CONTROL: 0x55,
    0xDC | CONTROL: 0x66,
    0xF7 | CONTROL: 0x78,
}
"""Table 49-1: control characters of 7 bits: /I/, /E/ and the six reserved ones."""
_CHARACTERS = {code: char for char, code in CONTROL_CODES.items()}
O_CODES = {SEQUENCE: 0x0, SIGNAL: 0xF}
"""Table 49-1: /Q/ and /Fsig/."""
_CODES = CONTROL_CODES | O_CODES
_ORDERED = {code: char for char, code in O_CODES.items()}


class _Layout(NamedTuple):
    """A row of figure 49-7: the kind of each lane, and the payload behind the type field in the order of the wire:
    lanes ("D" of 8 bits, "C" of 7, "O" of 4) and pads of so many bits."""

    lanes: str
    fields: tuple[tuple[str, int], ...]


def _terminated(lane: int) -> _Layout:
    """/T/ in ``lane``: data before it, control characters behind it, and as many pad bits as octets became codes."""
    data = tuple(("D", at) for at in range(lane))
    pad = (("pad", 7 - lane),) if lane < 7 else ()
    return _Layout("D" * lane + "T" + "C" * (7 - lane), (*data, *pad, *(("C", at) for at in range(lane + 1, 8))))


_C0123 = (("C", 0), ("C", 1), ("C", 2), ("C", 3))
_C4567 = (("C", 4), ("C", 5), ("C", 6), ("C", 7))
_D123 = (("D", 1), ("D", 2), ("D", 3))
_D567 = (("D", 5), ("D", 6), ("D", 7))
LAYOUTS = {
    0x1E: _Layout("CCCCCCCC", (*_C0123, *_C4567)),
    0x2D: _Layout("CCCCODDD", (*_C0123, ("O", 4), *_D567)),
    0x33: _Layout("CCCCSDDD", (*_C0123, ("pad", 4), *_D567)),
    0x66: _Layout("ODDDSDDD", (*_D123, ("O", 0), ("pad", 4), *_D567)),
    0x55: _Layout("ODDDODDD", (*_D123, ("O", 0), ("O", 4), *_D567)),
    0x78: _Layout("SDDDDDDD", (*_D123, ("D", 4), *_D567)),
    0x4B: _Layout("ODDDCCCC", (*_D123, ("O", 0), *_C4567)),
    0x87: _terminated(0),
    0x99: _terminated(1),
    0xAA: _terminated(2),
    0xB4: _terminated(3),
    0xCC: _terminated(4),
    0xD2: _terminated(5),
    0xE1: _terminated(6),
    0xFF: _terminated(7),
}
"""Figure 49-7, by block type field."""
_FIELD_OF = {layout.lanes: field for field, layout in LAYOUTS.items()}
_BITS = {"D": 8, "C": 7, "O": 4}


def _kind(char: int) -> str:
    """What a character is to figure 49-7; "?": nothing that a block can hold."""
    if char < CONTROL:
        return "D"
    if char in CONTROL_CODES:
        return "C"
    return {START: "S", TERMINATE: "T", SEQUENCE: "O", SIGNAL: "O"}.get(char, "?")


def type_field(d: int, c: int) -> int | None:
    """Block type field of a word with control characters; None where it fits none of figure 49-7."""
    return _FIELD_OF.get("".join(map(_kind, characters(d, c))))


def encode(d: int, c: int) -> int:
    """ENCODE(): the block of a word, not scrambled. A word that fits no row of figure 49-7 is `EBLOCK`."""
    if c == 0:
        return d << 2 | DATA_SYNC
    field = type_field(d, c)
    if field is None:
        return EBLOCK
    chars = characters(d, c)
    payload, at = field, 8
    for kind, lane in LAYOUTS[field].fields:
        if kind == "pad":
            at += lane
            continue
        payload |= _CODES.get(chars[lane], chars[lane]) << at
        at += _BITS[kind]
    return payload << 2 | CONTROL_SYNC


def decode(block: int) -> Word | None:
    """DECODE(): the word of a block that isn't scrambled; None: no valid block. Pad bits aren't looked at."""
    if block & 3 == DATA_SYNC:
        return block >> 2, 0
    layout = LAYOUTS.get(block >> 2 & 0xFF)
    if block & 3 != CONTROL_SYNC or layout is None:
        return None
    chars: list[int | None] = [{"S": START, "T": TERMINATE}.get(kind) for kind in layout.lanes]
    at = 10
    for kind, lane in layout.fields:
        if kind == "pad":
            at += lane
            continue
        value = block >> at & (1 << _BITS[kind]) - 1
        chars[lane] = value if kind == "D" else (_CHARACTERS if kind == "C" else _ORDERED).get(value)
        at += _BITS[kind]
    found = [char for char in chars if char is not None]
    return word_of(found) if len(found) == 8 else None


class BlockType(Enum):
    """T_BLOCK_TYPE and R_BLOCK_TYPE (49.2.13.2.3)."""

    C = "C"
    S = "S"
    T = "T"
    D = "D"
    E = "E"


def t_block_type(d: int, c: int) -> BlockType:
    """T_TYPE(tx_raw): eight control characters with /E/ among them are no C, all else is as figure 49-7 has it."""
    if c == 0:
        return BlockType.D
    field = type_field(d, c)
    if field is None or (field == 0x1E and ERROR in characters(d, c)):
        return BlockType.E
    if field in (0x33, 0x66, 0x78):
        return BlockType.S
    return BlockType.C if field in (0x1E, 0x2D, 0x4B, 0x55) else BlockType.T


def r_block_type(block: int) -> BlockType:
    """R_TYPE(rx_coded) of a block that isn't scrambled."""
    word = decode(block)
    return BlockType.E if word is None else t_block_type(*word)


ERROR_WORD: Word = word_of([ERROR] * 8)
"""EBLOCK_R: eight /E/."""
EBLOCK = sum(0x1E << 10 + 7 * lane for lane in range(8)) | 0x1E << 2 | CONTROL_SYNC
"""EBLOCK_T."""
LBLOCK = encode(*LOCAL_FAULT_WORD)
"""LBLOCK_T: two local fault ordered sets."""

_C, _S, _T, _D, _E = BlockType


class Transmit:
    """The transmit state diagram, figure 49-14, after its reset: a word a call, a block that isn't scrambled back."""

    NEXT: ClassVar = {
        "TX_INIT": {_S: "TX_D", _C: "TX_C"},
        "TX_C": {_C: "TX_C", _S: "TX_D"},
        "TX_D": {_D: "TX_D", _T: "TX_T"},
        "TX_T": {_C: "TX_C", _S: "TX_D"},
        "TX_E": {_T: "TX_T", _D: "TX_D", _C: "TX_C"},
    }
    """Where each type leads; every other one leads to TX_E."""

    def __init__(self) -> None:
        self.state = "TX_INIT"

    def step(self, d: int, c: int) -> int:
        self.state = self.NEXT[self.state].get(t_block_type(d, c), "TX_E")
        return EBLOCK if self.state == "TX_E" else encode(d, c)


class Receive:
    """The receive state diagram, figure 49-15: RX_INIT, RX_C, RX_D, RX_T, RX_E.

    A terminate block is believed when the block behind it is C or S, so a call takes a block and the one that follows.
    """

    NEXT: ClassVar = {
        "RX_INIT": {_S: "RX_D", _C: "RX_C"},
        "RX_C": {_C: "RX_C", _S: "RX_D"},
        "RX_D": {_D: "RX_D", _T: "RX_T"},
        "RX_T": {_C: "RX_C", _S: "RX_D"},
        "RX_E": {_D: "RX_D", _T: "RX_T", _C: "RX_C"},
    }
    """Where each type leads; every other one, and T without C or S behind it, leads to RX_E."""

    def __init__(self) -> None:
        self.state = "RX_INIT"

    def step(self, block: int, behind: int, *, down: bool = False) -> Word:
        """The word of ``block``; down: no block lock, high BER or a test pattern, which hold RX_INIT."""
        if down:
            self.state = "RX_INIT"
            return LOCAL_FAULT_WORD
        kind = r_block_type(block)
        self.state = self.NEXT[self.state].get(kind, "RX_E")
        if self.state == "RX_T" and r_block_type(behind) not in (_C, _S):
            self.state = "RX_E"
        word = decode(block)
        return ERROR_WORD if self.state == "RX_E" or word is None else word
