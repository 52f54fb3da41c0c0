"""Golden model of the GCM engine: AES-GCM (NIST SP 800-38D) and SM4-GCM (RFC 8998), packets and parts of them.

The ciphers are OpenSSL's, through ``cryptography``. GHASH stands here, since OpenSSL doesn't give what it holds in
mid-stream, and that is a part of a saved state. Names and section numbers are the standard's: H the hash subkey, Y the
GHASH so far, J0 the pre-counter block. ``docs/gcm.md`` has the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

__all__ = [
    "BLOCK",
    "COMMAND_CYCLES",
    "KEY_WAIT_CYCLES",
    "MOST_AAD",
    "MOST_TEXT",
    "STATE_BITS",
    "TAG_BYTES",
    "CipherKind",
    "Command",
    "GcmModel",
    "Key",
    "Part",
    "Result",
    "State",
    "blocks",
    "ghash",
    "hash_subkey",
    "key_cycles",
    "latency_cycles",
    "open_",
    "packet_cycles",
    "seal",
]

BLOCK = 16
"""Bytes of a block."""
TAG_BYTES = (8, 12, 16)
"""Lengths of a tag that the engine knows; any other is taken as 16."""
MOST_TEXT = 2**36 - 32
"""Bytes of text in a packet (SP 800-38D section 5.2.1.1)."""
MOST_AAD = 65535
"""Bytes of AAD in a packet."""
COMMAND_CYCLES = 2
"""Cycles from a command to the first beat of its packet, at the least."""
KEY_WAIT_CYCLES = 16
"""Cycles that a key waits, at the most, for a free place among packets."""
STATE_BITS = 308
"""A state word: GHASH, block that isn't full, bytes of AAD (16 bits) and of text (36 bits)."""

_R = 0xE1 << 120
_AAD_AT, _TEXT_AT = 256, 272


class CipherKind(IntEnum):
    """``key_cipher``."""

    AES = 0
    SM4 = 1


@dataclass(frozen=True, slots=True)
class Key:
    """A key: 16 bytes, or of AES 32 too. ValueError: another length."""

    cipher: CipherKind
    data: bytes

    def __post_init__(self) -> None:
        lengths = (16, 32) if self.cipher is CipherKind.AES else (16,)
        if len(self.data) not in lengths:
            accepted = " or ".join(map(str, lengths))
            raise ValueError(f"a key of {len(self.data)} bytes; accepted of {self.cipher.name}: {accepted}")

    def algorithm(self) -> algorithms.AES | algorithms.SM4:
        return (algorithms.AES if self.cipher is CipherKind.AES else algorithms.SM4)(self.data)


@dataclass(frozen=True, slots=True)
class State:
    """What is kept of a stream that stopped."""

    y: bytes = bytes(BLOCK)
    """GHASH of the AAD and of every full block of ciphertext."""
    rest: bytes = b""
    """Ciphertext of the block that isn't full."""
    aad_bytes: int = 0
    text_bytes: int = 0

    def word(self) -> int:
        """The 308 bits of ``m_axis_state``: bytes of the block that aren't there are 0."""
        return (
            int.from_bytes(self.y + self.rest, "little")
            | self.aad_bytes % 2**16 << _AAD_AT
            | self.text_bytes % 2**36 << _TEXT_AT
        )

    @classmethod
    def of(cls, word: int) -> State:
        """From the 308 bits."""
        data = (word & (1 << _AAD_AT) - 1).to_bytes(2 * BLOCK, "little")
        text_bytes = word >> _TEXT_AT
        rest = data[BLOCK : BLOCK + text_bytes % BLOCK]
        return cls(data[:BLOCK], rest, word >> _AAD_AT & 0xFFFF, text_bytes)


@dataclass(frozen=True, slots=True)
class Command:
    """What stands beside a packet, or a part of one. key: a slot. iv: 12 bytes. resume: the state to go on from."""

    key: int
    iv: bytes
    decrypt: bool = False
    tag_bytes: int = BLOCK
    save: bool = False
    resume: State | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A packet or a part of one, as it goes in. tag: of a decrypted packet."""

    command: Command
    aad: bytes = b""
    text: bytes = b""
    tag: bytes = bytes(BLOCK)

    @property
    def offset(self) -> int:
        """Lane of the first byte of text."""
        return len(self.command.resume.rest) if self.command.resume is not None else 0

    @property
    def text_beats(self) -> int:
        """Beats of text, in and out; of a part without text the one beat out is not among them."""
        return blocks(self.offset + len(self.text)) if self.text else 0


@dataclass(frozen=True, slots=True)
class Result:
    """What comes out: the text, and what stands beside its last beat."""

    text: bytes
    bad: bool = False
    no_key: bool = False
    tag: bytes = bytes(BLOCK)
    state: State | None = None
    """Of a part that is saved; else the word is 0."""


def blocks(size: int) -> int:
    """Blocks that ``size`` bytes take."""
    return -(-size // BLOCK)


def _product(x: int, y: int) -> int:
    """Multiplication of blocks (section 6.3, algorithm 1); bit 0 of the standard is the most significant."""
    z, v = 0, y
    for bit in range(127, -1, -1):
        if x >> bit & 1:
            z ^= v
        v = v >> 1 ^ (_R if v & 1 else 0)
    return z


def ghash(h: bytes, data: bytes, y: bytes = bytes(BLOCK)) -> bytes:
    """GHASH_H (section 6.4, algorithm 2) of ``data``, padded with zeros to blocks, going on from ``y``."""
    subkey, hashed = int.from_bytes(h, "big"), int.from_bytes(y, "big")
    for at in range(0, len(data), BLOCK):
        block = data[at : at + BLOCK].ljust(BLOCK, b"\0")
        hashed = _product(hashed ^ int.from_bytes(block, "big"), subkey)
    return hashed.to_bytes(BLOCK, "big")


def hash_subkey(key: Key) -> bytes:
    """H = CIPH_K(0^128) (section 7.1, step 1)."""
    return _ciph(key, bytes(BLOCK))


def _ciph(key: Key, block: bytes) -> bytes:
    return Cipher(key.algorithm(), modes.ECB()).encryptor().update(block)


def _gctr(key: Key, iv: bytes, at: int, text: bytes) -> bytes:
    """GCTR (section 6.5) of a piece of text that has ``at`` bytes of text before it: block n has counter n + 2."""
    counter = iv + ((at // BLOCK + 2) % 2**32).to_bytes(4, "big")
    skipped = at % BLOCK
    return Cipher(key.algorithm(), modes.CTR(counter)).encryptor().update(bytes(skipped) + text)[skipped:]


def seal(key: Key, iv: bytes, aad: bytes, text: bytes) -> tuple[bytes, bytes]:
    """GCM-AE (section 7.1): ciphertext and the whole tag."""
    gcm = Cipher(key.algorithm(), modes.GCM(iv)).encryptor()
    gcm.authenticate_additional_data(aad)
    data = gcm.update(text) + gcm.finalize()
    return data, gcm.tag


def open_(key: Key, iv: bytes, aad: bytes, text: bytes, tag: bytes) -> tuple[bytes, bool]:
    """GCM-AD (section 7.2): plaintext, and whether the tag, of 8 to 16 bytes, is right.

    A stream has given its text away before it knows, so the text is there in both cases.
    """
    gcm = Cipher(key.algorithm(), modes.GCM(iv, tag, min_tag_length=len(tag))).decryptor()
    gcm.authenticate_additional_data(aad)
    data = gcm.update(text)
    try:
        return data + gcm.finalize(), True
    except InvalidTag:
        return data, False


def packet_cycles(part: Part) -> int:
    """Cycles that a part takes of an engine that is never idle: one for each block that GHASH takes in, one for the
    lengths; at least that of its one beat (docs/gcm.md, Time)."""
    text = blocks(part.offset + len(part.text))
    return max(blocks(len(part.aad)) + text + (0 if part.command.save else 1), 1)


def key_cycles(key: Key | None) -> int:
    """Cycles from a key write's handshake to its end, where no packet is in its way; None: an erasure."""
    return 2 if key is None else 18 if key.cipher is CipherKind.AES else 36


def latency_cycles(key: Key | None, part: Part) -> tuple[int, int]:
    """Of a part that comes without gaps into an engine that holds nothing, and leaves as it can.

    Cycles from the handshake of its first beat of text to the first beat out, and from its last beat's to the last beat
    out.

    A part of AAD alone that is saved waits for no cipher.
    """
    if key is None or (part.command.save and part.aad and not part.text):
        cipher = 0
    else:
        cipher = 15 if key.cipher is CipherKind.AES else 33
    last = cipher + 8
    if part.command.save or not (part.aad or part.text or part.offset):
        last -= 1
    return (cipher + 5, last) if part.text_beats > 1 else (last, last)


class GcmModel:
    """The engine's key table, and what it makes of a part. keys, sm4: the parameters KEYS and SM4_EN."""

    def __init__(self, keys: int = 256, sm4: bool = True) -> None:
        self._keys: list[Key | None] = [None] * keys
        self._sm4 = sm4

    def write(self, slot: int, key: Key | None) -> None:
        """Put a key into a slot; None erases it."""
        self._keys[slot] = key

    def key(self, slot: int) -> Key | None:
        """The key that a command gets that is taken now; None: there is none that the engine can use."""
        key = self._keys[slot]
        return None if key is not None and key.cipher is CipherKind.SM4 and not self._sm4 else key

    def run(self, part: Part) -> Result:
        """A part whose command is taken now."""
        return self.process(self.key(part.command.key), part)

    @staticmethod
    def process(key: Key | None, part: Part) -> Result:
        """A part with the key that its command took."""
        command = part.command
        if key is None:
            return Result(bytes(len(part.text)), bad=True, no_key=True)
        if command.save or command.resume is not None:
            return _process_part(key, part)
        if not command.decrypt:
            text, tag = seal(key, command.iv, part.aad, part.text)
            return Result(text, tag=tag)
        text, good = open_(key, command.iv, part.aad, part.text, part.tag[: _tag_bytes(command)])
        return Result(text, bad=not good)


def _tag_bytes(command: Command) -> int:
    return command.tag_bytes if command.tag_bytes in TAG_BYTES else BLOCK


def _process_part(key: Key, part: Part) -> Result:
    """A part that goes on, or is gone on from: the steps of sections 7.1 and 7.2 for as far as they get."""
    command = part.command
    h = hash_subkey(key)
    state = command.resume or State(y=ghash(h, part.aad), aad_bytes=len(part.aad))
    text = _gctr(key, command.iv, state.text_bytes, part.text)
    ciphertext = state.rest + (part.text if command.decrypt else text)
    full = len(ciphertext) // BLOCK * BLOCK
    y = ghash(h, ciphertext[:full], state.y)
    rest, text_bytes = ciphertext[full:], state.text_bytes + len(part.text)
    if command.save:
        return Result(text, state=State(y, rest, state.aad_bytes, text_bytes))
    lengths = (8 * state.aad_bytes).to_bytes(8, "big") + (8 * text_bytes).to_bytes(8, "big")
    s = ghash(h, lengths, ghash(h, rest, y))
    tag = bytes(x ^ e for x, e in zip(s, _ciph(key, command.iv + b"\0\0\0\1"), strict=True))
    if not command.decrypt:
        return Result(text, tag=tag)
    size = _tag_bytes(command)
    return Result(text, bad=part.tag[:size] != tag[:size])
