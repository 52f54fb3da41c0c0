"""Frames for tests and benches of IPsec, built byte by byte; ESP sealed by ``cryptography``, without the model."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from scapy.utils import checksum

from models.ipsec import Fields
from models.ipsec_sa import Cipher, Mode, Sa
from models.parser import ParserModel

KEY, SALT = bytes(range(16)), b"salt"
SPI = 0x1234
HERE, THERE = "192.0.2.1", "192.0.2.2"
HERE6, THERE6 = "2001:db8::1", "2001:db8::2"
MACS = bytes.fromhex("02000000000102000000000a")
TYPES = {4: 0x0800, 6: 0x86DD}
NEXT = {4: 4, 6: 41}

_PARSER = ParserModel(parse_bytes=256)


def address(text: str) -> int:
    return int(ip_address(text))


def ethernet(packet: bytes, tags: bytes = b"") -> bytes:
    """A frame; ``tags`` are whole ones, TPID first."""
    return MACS + tags + TYPES[packet[0] >> 4].to_bytes(2, "big") + packet


def ipv4(
    payload: bytes,
    protocol: int = 17,
    src: str = THERE,
    dst: str = HERE,
    *,
    tos: int = 0,
    ttl: int = 64,
    flags: int = 0x4000,
    options: bytes = b"",
    identification: int = 7,
) -> bytes:
    """``flags``: DF 0x4000, MF 0x2000 and the offset."""
    length = 20 + len(options)
    head = bytes((0x40 | length // 4, tos)) + (length + len(payload)).to_bytes(2, "big")
    head += identification.to_bytes(2, "big") + flags.to_bytes(2, "big") + bytes((ttl, protocol))
    tail = ip_address(src).packed + ip_address(dst).packed + options
    return head + checksum(head + bytes(2) + tail).to_bytes(2, "big") + tail + payload


def ipv6(
    payload: bytes,
    next_header: int = 17,
    src: str = THERE6,
    dst: str = HERE6,
    *,
    traffic_class: int = 0,
    hops: int = 64,
    flow: int = 0,
    extensions: bytes = b"",
) -> bytes:
    """``extensions``: headers whose last one says what follows; ``next_header`` is then the first one's number."""
    head = (6 << 28 | traffic_class << 20 | flow).to_bytes(4, "big")
    head += (len(extensions) + len(payload)).to_bytes(2, "big") + bytes((next_header, hops))
    return head + ip_address(src).packed + ip_address(dst).packed + extensions + payload


def datagram(payload: bytes = b"payload", src: int = 1000, dst: int = 2000, length: int | None = None) -> bytes:
    """UDP without a checksum."""
    whole = 8 + len(payload) if length is None else length
    return src.to_bytes(2, "big") + dst.to_bytes(2, "big") + whole.to_bytes(2, "big") + bytes(2) + payload


def trailer(payload: bytes, next_header: int, padding: bytes | None = None) -> bytes:
    """Payload with padding, its length and the next header; without ``padding`` the least that there can be."""
    if padding is None:
        padding = bytes(range(1, 1 + -(len(payload) + 2) % 4))
    return payload + padding + bytes((len(padding), next_header))


def esp(
    text: bytes,
    number: int = 1,
    *,
    spi: int = SPI,
    key: bytes = KEY,
    salt: bytes = SALT,
    esn: bool = False,
    tag: int = 16,
    iv: bytes | None = None,
) -> bytes:
    """An ESP packet (RFC 4303 2, RFC 4106) of text that has its trailer."""
    iv = number.to_bytes(8, "little") if iv is None else iv
    high = (number >> 32).to_bytes(4, "big") if esn else b""
    low = (number & 0xFFFFFFFF).to_bytes(4, "big")
    sealed = AESGCM(key).encrypt(salt + iv, text, spi.to_bytes(4, "big") + high + low)
    return spi.to_bytes(4, "big") + low + iv + sealed[: len(text) + tag]


def unsealed(packet: bytes, key: bytes, salt: bytes, high: int | None = None) -> bytes:
    """Text of an ESP packet with a tag of 16 bytes. InvalidTag."""
    middle = b"" if high is None else high.to_bytes(4, "big")
    return AESGCM(key).decrypt(salt + packet[8:16], packet[16:], packet[:4] + middle + packet[4:8])


def metadata(frame: bytes) -> dict[str, int]:
    """What the parser says of a frame, by name."""
    return dict(_PARSER.parse(frame).meta_fields())


def described(frame: bytes, protect: int | None = None) -> Fields:
    """What parser and ACL say of a frame, as the block reads it. protect: the SA that the ACL names."""
    given = Fields.of(metadata(frame))
    return given if protect is None else replace(given, acl_protect=1, acl_sa=protect)


def sa(**changes: object) -> Sa:
    """An SA for what ``esp`` seals, in transport mode."""
    given: dict[str, object] = {
        "spi": SPI,
        "cipher": Cipher.AES_128_GCM,
        "key": KEY,
        "salt": SALT,
        "mode": Mode.TRANSPORT,
    }
    given |= {"dst": address(HERE6 if changes.get("ipv6") else HERE)}
    return Sa(**(given | changes))  # type: ignore[arg-type]
