"""An SA as values of the registers of docs/ipsec.md, and the accesses that write a slot's SAs in a port."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from models.ipsec_sa import Sa
from models.port_map import PORT
from models.registers import RegisterMap

__all__ = ["REMOVE", "WRITE", "registers_of", "writes"]

WRITE, REMOVE = 1, 2
_TAGS = {8: 0, 12: 1, 16: 2}


def registers_of(sa: Sa, registers: RegisterMap = PORT, prefix: str = "ipsec_rx.") -> Iterator[tuple[str, int]]:
    """What an SA is written with, by register of the slot; ``registers``, ``prefix``: a map that has the slot, and
    what its names begin with there."""
    form = {"mode": sa.mode, "natt": sa.natt, "ipv6": sa.ipv6, "esn": sa.esn, "cipher": sa.cipher}
    form |= {"tag": _TAGS[sa.tag], "window": sa.window // 32}
    outer = {"dscp": sa.dscp or 0, "dscp_fixed": sa.dscp is not None, "ecn_compat": sa.ecn_compat, "df": sa.df}
    outer |= {"ttl": sa.ttl}
    yield "form", registers[f"{prefix}form"].encode({name: int(value) for name, value in form.items()})
    yield "outer", registers[f"{prefix}outer"].encode({name: int(value) for name, value in outer.items()})
    yield "spi", sa.spi
    yield "salt", int.from_bytes(sa.salt, "little")
    yield "ports", sa.dst_port << 16 | sa.src_port
    yield "flow_label", sa.flow_label
    yield "limits", sa.nat_delta << 16 | sa.mtu
    key = sa.key.ljust(32, b"\0")
    for word in range(4):
        yield f"src[{word}]", sa.src >> 32 * word & 0xFFFFFFFF
        yield f"dst[{word}]", sa.dst >> 32 * word & 0xFFFFFFFF
    for word in range(8):
        yield f"key[{word}]", int.from_bytes(key[4 * word : 4 * word + 4], "little")
    for name in ("sequence", "soft_packets", "hard_packets", "soft_bytes", "hard_bytes"):
        yield name, getattr(sa, name)


def writes(slot: str, sas: Sequence[Sa]) -> Iterator[tuple[int, int]]:
    """Address and value of every write that makes these the SAs 0, 1, ... of a slot ("ipsec_rx", "ipsec_tx")."""
    command = PORT[f"{slot}.command"]
    for number, sa in enumerate(sas):
        for name, value in registers_of(sa):
            register = PORT[f"{slot}.{name}"]
            for word in range(register.words):
                yield register.address + 4 * word, value >> 32 * word & 0xFFFF_FFFF
        yield command.address, command.encode({"op": WRITE, "number": number}, 0)
