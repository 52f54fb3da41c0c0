"""What may come on XGMII, each kind once, with what becomes of it: the table of docs/mac.md, section mac_rx."""

from __future__ import annotations

from random import Random

from models.mac import fcs
from models.meta import Code
from tb.mac.wire import C, Wire

__all__ = ["MAX", "VERDICTS", "near_misses", "payload", "wrong"]

MAX = 9596
"""Longest frame that a port takes, without FCS."""


def payload(length: int, seed: int = 1) -> bytes:
    """Random bytes of a frame to one station, which are no tag and no pause frame."""
    data = bytearray(Random(f"{length}:{seed}").randbytes(length))
    data[:1] = bytes([data[0] & 0xFE]) if data else b""
    data[12:14] = b"\x08\0"[: len(data[12:14])]
    return bytes(data)


def near_misses() -> list[bytes]:
    """Frames to everybody and pause frames, and those that differ from them in one bit of address or EtherType."""
    heads = [(1 << 48) - 1 ^ bit for bit in (0, *(1 << at for at in range(48)))]
    types = [0x8808 ^ bit for bit in (0, *(1 << at for at in range(16)))]
    frames = [head.to_bytes(6, "big") + payload(54)[6:] for head in heads]
    frames += [b"\1\x80\xc2\0\0\1" + payload(6) + kind.to_bytes(2, "big") for kind in types]
    return [frame.ljust(60, b"\0") for frame in frames]


def wrong(data: bytes) -> bytes:
    """No FCS of ``data``."""
    return bytes(255 - octet for octet in fcs(data))


TAGGED = payload(12) + b"\x81\x00\x00\x01"
TWICE = payload(12) + b"\x88\xa8\x00\x01\x81\x00\x00\x02"
VERDICTS: dict[str, tuple[Wire, list[tuple[int, int]], str | None]] = {
    "a frame of 64 octets is good": (Wire().frame(payload(60)), [(60, 0)], None),
    "63 octets with a right FCS are a runt": (Wire().frame(payload(59)), [(59, Code.RUNT)], "undersize"),
    "five octets with a right FCS are a runt": (Wire().frame(payload(1)), [(1, Code.RUNT)], "undersize"),
    "63 octets with a wrong FCS are a fragment": (
        Wire().frame(payload(59), check=wrong(payload(59))),
        [(59, Code.RUNT)],
        "fragments",
    ),
    "four octets are no stream": (Wire().frame(b"", check=b"\1\2\3\4"), [], "fragments"),
    "no octet is no stream": (Wire().frame(b"", check=b""), [], "fragments"),
    "a wrong FCS": (Wire().frame(payload(64), check=wrong(payload(64))), [(64, Code.BAD_FCS)], "fcs_errors"),
    "the longest frame is good": (Wire().frame(payload(1514)), [(1514, 0)], None),
    "one octet more is cut": (Wire().frame(payload(1515)), [(1514, Code.OVERSIZE)], "oversize"),
    "with a wrong FCS it is a jabber": (
        Wire().frame(payload(1600), check=wrong(payload(1600))),
        [(1514, Code.OVERSIZE)],
        "jabbers",
    ),
    "a tag allows four octets": (Wire().frame(TAGGED.ljust(1518)), [(1518, 0)], None),
    "and no five": (Wire().frame(TAGGED.ljust(1519)), [(1518, Code.OVERSIZE)], "oversize"),
    "two tags allow eight": (Wire().frame(TWICE.ljust(1522)), [(1522, 0)], None),
    "a third tag allows nothing": (
        Wire().frame((TWICE + TAGGED[12:]).ljust(1523)),
        [(1522, Code.OVERSIZE)],
        "oversize",
    ),
    "and no nine": (Wire().frame(TWICE.ljust(1523)), [(1522, Code.OVERSIZE)], "oversize"),
    "an error inside": (
        Wire().raw([*payload(30), C | 0xFE, *payload(40)]).raw([C | 0xFD], start=False),
        [(26, Code.RX_ERROR)],
        "symbol_errors",
    ),
    "idle inside": (Wire().raw([*payload(30)]), [(26, Code.RX_ERROR)], "symbol_errors"),
    "start inside begins no frame": (
        Wire().raw([*payload(32)]).frame(payload(60)),
        [(28, Code.RX_ERROR)],
        "symbol_errors bad_preamble",
    ),
    "start behind a column of idle and data": (
        Wire().raw([*payload(33), C | 0x07, C | 0x07, C | 0x07]).frame(payload(60)),
        [(29, Code.RX_ERROR)],
        "symbol_errors bad_preamble",
    ),
    "start behind a sequence ordered set": (
        Wire().raw([C | 0x9C, 0, 0, 1], start=False).frame(payload(60)),
        [(60, 0)],
        None,
    ),
    "start behind another ordered set": (
        Wire().raw([C | 0x5C, 0, 0, 1], start=False).frame(payload(60)),
        [],
        "bad_preamble",
    ),
    "an error behind the limit": (
        Wire().raw([*payload(1600), C | 0xFE]),
        [(1514, Code.OVERSIZE)],
        "jabbers",
    ),
    "an error ahead of five octets": (Wire().raw([*payload(4), C | 0xFE]), [], "symbol_errors"),
    "start in lane 1": (Wire().idle(1).frame(payload(60)), [], "bad_preamble"),
    "start in lane 7": (Wire().idle(7).frame(payload(60)), [], "bad_preamble"),
    "no SFD in its place": (Wire().raw([*payload(80)], sfd=0x55), [], "bad_preamble"),
    "error in the preamble": (Wire().raw([*payload(80)], preamble=[0x55, C | 0xFE, *[0x55] * 4]), [], "bad_preamble"),
    "odd octets in the preamble": (Wire().frame(payload(60), preamble=[0, 0xD5, 0xAA, 1, 2, 3]), [(60, 0)], None),
    "a pause frame": (Wire().frame(b"\1\x80\xc2\0\0\1" + payload(6) + b"\x88\x08" + payload(46)), [(60, 0)], None),
}
"""Wire, the frames that come out (length, code), and the one event beside those of good frames."""
