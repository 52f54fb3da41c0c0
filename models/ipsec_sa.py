"""Part of the model of block ``ipsec``: security associations, their cipher, their table, their lifetimes.

An SA (RFC 4301 4.4.2) is what was written, and its state what frames did to it since.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher as LibraryCipher
from cryptography.hazmat.primitives.ciphers import algorithms, modes

from models.ipsec_window import ReplayWindow

__all__ = ["KEY_BYTES", "Cipher", "Df", "Event", "EventKind", "Mode", "Natt", "Sa", "SaState", "SaTable"]


class Cipher(IntEnum):
    """AES-GCM (RFC 4106), SM4-GCM in the same form, one that the block hasn't."""

    AES_128_GCM = 0
    AES_256_GCM = 1
    SM4_GCM = 2
    OTHER = 3


class Mode(IntEnum):
    """RFC 4303 3.1. EITHER, on rx: the next header says which."""

    TRANSPORT = 0
    TUNNEL = 1
    EITHER = 2


class Natt(IntEnum):
    """ESP in UDP (RFC 3948). EITHER, on rx: both are taken."""

    NO = 0
    YES = 1
    EITHER = 2


class Df(IntEnum):
    """DF of an outer IPv4 header (RFC 4301 8.1)."""

    COPY = 0
    CLEAR = 1
    SET = 2


KEY_BYTES = {Cipher.AES_128_GCM: 16, Cipher.AES_256_GCM: 32, Cipher.SM4_GCM: 16, Cipher.OTHER: 0}


@dataclass(frozen=True)
class Sa:
    """What an SA is written with: docs/ipsec.md, Security associations.

    tag      bytes of the tag: 8, 12, 16
    window   numbers: 0, or a multiple of 32 to 1024
    ttl      0: the inner packet's
    dscp     None: the inner packet's
    mtu      0: none
    sequence rx: the highest number so far; tx: the last one used

    ValueError: a value that no field has room for, or that goes with no other.
    """

    spi: int
    cipher: Cipher
    key: bytes = b""
    salt: bytes = bytes(4)
    mode: Mode = Mode.TUNNEL
    natt: Natt = Natt.NO
    esn: bool = False
    tag: int = 16
    ipv6: bool = False
    src: int = 0
    dst: int = 0
    window: int = 64
    sequence: int = 0
    soft_packets: int = 0
    hard_packets: int = 0
    soft_bytes: int = 0
    hard_bytes: int = 0
    src_port: int = 4500
    dst_port: int = 4500
    dscp: int | None = None
    ecn_compat: bool = False
    df: Df = Df.COPY
    ttl: int = 64
    flow_label: int = 0
    mtu: int = 0
    nat_delta: int = 0

    def __post_init__(self) -> None:
        if self.tag not in (8, 12, 16):
            raise ValueError(f"tag {self.tag}: 8, 12 or 16 is wanted")
        if len(self.key) != KEY_BYTES[self.cipher]:
            raise ValueError(f"key: {KEY_BYTES[self.cipher]} bytes are wanted, not {len(self.key)}")
        if len(self.salt) != 4:
            raise ValueError(f"salt: 4 bytes are wanted, not {len(self.salt)}")
        address = 128 if self.ipv6 else 32
        widths = {"spi": 32, "src": address, "dst": address, "src_port": 16, "dst_port": 16, "ttl": 8, "flow_label": 20}
        widths |= {"mtu": 16, "nat_delta": 16}
        widths |= {f"{kind}_{what}": 64 for kind in ("soft", "hard") for what in ("packets", "bytes")}
        for name, width in widths.items():
            if not 0 <= getattr(self, name) < 1 << width:
                raise ValueError(f"{name} {getattr(self, name)}: {width} bits are wanted")
        if self.dscp is not None and not 0 <= self.dscp < 64:
            raise ValueError(f"dscp {self.dscp}: 6 bits are wanted")
        ReplayWindow(self.window, self.esn, self.sequence)

    def nonce(self, iv: bytes) -> bytes:
        """RFC 4106 section 4."""
        return self.salt + iv

    def aad(self, number: int) -> bytes:
        """RFC 4106 section 5."""
        return self.spi.to_bytes(4, "big") + number.to_bytes(8 if self.esn else 4, "big")

    def encrypt(self, number: int, iv: bytes, text: bytes) -> bytes:
        """Ciphertext and tag."""
        encryptor = LibraryCipher(self._algorithm(), modes.GCM(self.nonce(iv))).encryptor()
        encryptor.authenticate_additional_data(self.aad(number))
        sealed = encryptor.update(text) + encryptor.finalize()
        return sealed + encryptor.tag[: self.tag]

    def decrypt(self, number: int, iv: bytes, sealed: bytes) -> bytes | None:
        """Text of ciphertext and tag. None: the tag is wrong."""
        sealed, tag = sealed[: -self.tag], sealed[-self.tag :]
        mode = modes.GCM(self.nonce(iv), tag, min_tag_length=self.tag)
        decryptor = LibraryCipher(self._algorithm(), mode).decryptor()
        decryptor.authenticate_additional_data(self.aad(number))
        try:
            return decryptor.update(sealed) + decryptor.finalize()
        except InvalidTag:
            return None

    def _algorithm(self) -> algorithms.AES | algorithms.SM4:
        return algorithms.SM4(self.key) if self.cipher is Cipher.SM4_GCM else algorithms.AES(self.key)


class EventKind(IntEnum):
    """What an SA got to, for the first time."""

    SOFT = 0
    HARD = 1
    ENDED = 2


@dataclass(frozen=True)
class Event:
    """``kind`` happened to SA ``sa``."""

    kind: EventKind
    sa: int


@dataclass
class SaState:
    """What frames did to an SA. ``used`` is the last number that tx used."""

    sa: Sa
    window: ReplayWindow = field(init=False)
    used: int = field(init=False)
    packets: int = 0
    bytes: int = 0
    soft: bool = False
    hard: bool = False
    ended: bool = False

    def __post_init__(self) -> None:
        self.window = ReplayWindow(self.sa.window, self.sa.esn, self.sa.sequence)
        self.used = self.sa.sequence

    def room(self, n: int) -> bool:
        """Hard lifetimes leave room for one more packet, of n bytes of text (RFC 4301 4.4.2.1)."""
        sa = self.sa
        return (not sa.hard_packets or self.packets + 1 <= sa.hard_packets) and (
            not sa.hard_bytes or self.bytes + n <= sa.hard_bytes
        )

    def count(self, n: int) -> bool:
        """Count a packet of n bytes. True: it is the one that reached a soft lifetime."""
        self.packets += 1
        self.bytes += n
        sa, before = self.sa, self.soft
        self.soft |= 0 < sa.soft_packets <= self.packets or 0 < sa.soft_bytes <= self.bytes
        return self.soft and not before

    def next_number(self) -> int | None:
        """RFC 4303 3.3.3. None: there is no further one."""
        return None if self.used + 1 >= 1 << (64 if self.sa.esn else 32) else self.used + 1


class SaTable:
    """The SAs of a slot by number."""

    def __init__(self, size: int = 256) -> None:
        if not 0 < size <= 4096 or size & size - 1:
            raise ValueError(f"size {size}: a power of two to 4096 is wanted")
        self.size = size
        self._states: dict[int, SaState] = {}
        self._found: dict[tuple[int, int, bool], list[int]] = {}

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._states))

    def write(self, number: int, sa: Sa) -> None:
        """SA ``number`` becomes this, with nothing counted and nothing seen. ValueError: there is no such number."""
        if not 0 <= number < self.size:
            raise ValueError(f"SA {number}: 0 to {self.size - 1} is wanted")
        self.remove(number)
        self._states[number] = SaState(sa)
        self._found.setdefault((sa.spi, sa.dst, sa.ipv6), []).append(number)

    def remove(self, number: int) -> None:
        """There is no SA ``number`` any more."""
        state = self._states.pop(number, None)
        if state is not None:
            self._found[state.sa.spi, state.sa.dst, state.sa.ipv6].remove(number)

    def read(self, number: int) -> SaState | None:
        """State of SA ``number``. None: there is none."""
        return self._states.get(number)

    def find(self, spi: int, dst: int, ipv6: bool) -> int | None:
        """Number of the SA of a packet received (RFC 4301 4.1): the lowest, if several are of these."""
        return min(self._found.get((spi, dst, ipv6), ()), default=None)
