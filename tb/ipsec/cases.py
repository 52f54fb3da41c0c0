"""What the benches of IPsec send: SAs, ESP frames of a peer, frames to be encrypted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address
from random import Random

from models.ipsec_sa import KEY_BYTES, Cipher, Mode, Natt, Sa
from tb.ipsec.frames import datagram, ethernet, ipv4, ipv6, trailer

__all__ = ["CIPHERS", "QINQ", "VLAN", "Peer", "any_sa", "inner", "plain", "sealed"]

CIPHERS = (Cipher.AES_128_GCM, Cipher.AES_256_GCM, Cipher.SM4_GCM)
VLAN = bytes.fromhex("8100a005")
QINQ = bytes.fromhex("88a8000281000003")


def _text(address: int, family: int) -> str:
    return str(IPv6Address(address) if family == 6 else IPv4Address(address))


def any_sa(rng: Random, **changes: object) -> Sa:
    """A random SA of tunnel mode with a window of 64."""
    ipv6_ = bool(changes.get("ipv6", rng.getrandbits(1)))
    cipher = changes.get("cipher", rng.choice(CIPHERS))
    assert isinstance(cipher, Cipher)
    bits = 128 if ipv6_ else 32
    given: dict[str, object] = {
        "spi": rng.randrange(256, 1 << 32),
        "cipher": cipher,
        "key": rng.randbytes(KEY_BYTES[cipher]),
        "salt": rng.randbytes(4),
        "tag": rng.choice((8, 12, 16)),
        "ipv6": ipv6_,
        "src": rng.getrandbits(bits),
        "dst": rng.getrandbits(bits),
    }
    return Sa(**(given | changes))  # type: ignore[arg-type]


def sealed(sa: Sa, text: bytes, number: int, iv: bytes) -> bytes:
    """An ESP packet of text that has its trailer."""
    low = (number & 0xFFFFFFFF).to_bytes(4, "big")
    return sa.spi.to_bytes(4, "big") + low + iv + sa.encrypt(number, iv, text)


def inner(rng: Random, family: int, size: int, tos: int = 0) -> bytes:
    """An IP packet of UDP with ``size`` bytes in it."""
    payload = datagram(rng.randbytes(size))
    if family == 4:
        return ipv4(payload, src="10.0.0.1", dst="10.0.0.2", tos=tos)
    return ipv6(payload, src="fd00::1", dst="fd00::2", traffic_class=tos)


@dataclass
class Peer:
    """Who sends ESP to an SA of ours. number: the last one that it used."""

    sa: Sa
    rng: Random
    number: int = 0

    @property
    def family(self) -> int:
        return 6 if self.sa.ipv6 else 4

    def next(self) -> int:
        """Its next number."""
        self.number += 1
        return self.number

    def packet(
        self,
        text: bytes,
        number: int | None = None,
        *,
        natt: bool | None = None,
        tos: int = 0,
        options: bytes = b"",
        extensions: tuple[int, bytes] | None = None,
        flags: int = 0x4000,
        ttl: int = 64,
        udp_sum: int = 0,
    ) -> bytes:
        """The IP packet of a text that has its trailer. extensions: the number of a header and the header, whose first
        byte is written here."""
        natt = self.sa.natt is Natt.YES if natt is None else natt
        number = self.next() if number is None else number
        esp = sealed(self.sa, text, number, self.rng.randbytes(8))
        protocol = 50
        if natt:
            esp, protocol = datagram(esp, 4500, 4500), 17
            esp = esp[:6] + udp_sum.to_bytes(2, "big") + esp[8:]
        dst = _text(self.sa.dst, self.family)
        src = _text(self.sa.src, self.family)
        if self.family == 4:
            return ipv4(esp, protocol, src, dst, tos=tos, options=options, flags=flags, ttl=ttl)
        if extensions is None:
            return ipv6(esp, protocol, src, dst, traffic_class=tos, hops=ttl)
        first, headers = extensions
        headers = bytes((protocol,)) + headers[1:] if len(headers) else headers
        return ipv6(esp, first, src, dst, traffic_class=tos, hops=ttl, extensions=headers)

    def frame(
        self,
        payload: bytes | None = None,
        next_header: int | None = None,
        number: int | None = None,
        *,
        padding: bytes | None = None,
        tags: bytes = b"",
        tail: bytes = b"",
        **packet: object,
    ) -> bytes:
        """A frame: without ``payload``, a packet that the SA's mode takes. tail: Ethernet padding."""
        if payload is None:
            family = self.rng.choice((4, 6))
            payload = inner(self.rng, family, self.rng.randrange(100))
            next_header = {4: 4, 6: 41}[family]
            if self.sa.mode is Mode.TRANSPORT:
                payload, next_header = datagram(self.rng.randbytes(self.rng.randrange(100))), 17
        assert next_header is not None
        text = trailer(payload, next_header, padding)
        return ethernet(self.packet(text, number, **packet), tags) + tail  # type: ignore[arg-type]

    def of(self, **changes: object) -> Peer:
        """The same with an SA that differs."""
        return Peer(replace(self.sa, **changes), self.rng, self.number)  # type: ignore[arg-type]


def plain(
    rng: Random, family: int, size: int, *, tags: bytes = b"", tos: int = 0, tail: bytes = b"", **ip: object
) -> bytes:
    """A frame to be encrypted: UDP with ``size`` bytes in it."""
    payload = datagram(rng.randbytes(size))
    if family == 4:
        return ethernet(ipv4(payload, tos=tos, **ip), tags) + tail  # type: ignore[arg-type]
    return ethernet(ipv6(payload, traffic_class=tos, **ip), tags) + tail  # type: ignore[arg-type]
