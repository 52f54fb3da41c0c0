"""``--records``: a JSON object a line for each input frame, in order. docs/replay.md says what its keys mean."""

from __future__ import annotations

import ipaddress
import json
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from models.acl_meter import Colour
from models.frames import Edge
from models.meta import FIRST_DROP, Code
from models.nic import Mismatch
from models.parser import ChecksumVerdict, L3Kind, L4Kind, NatT
from tb.replay.fields import header_fields
from tb.replay.sink import Sink
from tb.replay.statistics import code_name, disposition_name
from tb.replay.window import Judged, Ruled, Secured
from tb.targets.engine import DIRECTIONS

__all__ = ["EMPTY_FRAME", "KEYS", "VERSION", "Records", "difference", "records"]

VERSION = 2
"""Of the schema."""

EMPTY_FRAME = "empty_frame"
"""Reason of a frame that could not be offered, since it has no byte."""

KEYS = (
    "v", "index", "capture", "frame", "time_ns", "port", "direction", "length", "snapped", "disposition", "reason",
    "queue", "latency_cycles", "latency_ns", "match", "differences", "out", "acl_rule", "mark", "colour", "sa",
    "sequence", "code", "parse_code", "src", "dst", "proto", "src_port", "dst_port", "spi", "qpn", "psn", "ip_checksum",
    "l4_checksum",
)  # fmt: skip
"""Of a record, in their order; ``differences`` only where the frame doesn't match."""

_VERDICTS = {int(verdict): verdict.name.lower() for verdict in ChecksumVerdict}


class Records:
    """A listener that writes the records to a file, "-": standard output. CaptureError: it can't be written."""

    def __init__(self, path: str | os.PathLike[str], clock_ns: float) -> None:
        self._sink = Sink(path)
        self._clock_ns = clock_ns

    def take(self, judged: Judged) -> None:
        lines = [json.dumps(record, ensure_ascii=False) for record in records(judged, self._clock_ns)]
        self._sink.write(("\n".join(lines) + "\n").encode())
        self._sink.flush()

    def close(self) -> None:
        self._sink.close()


def difference(mismatch: Mismatch) -> str:
    """A difference in words, without the frame."""
    when = f" (cycle {mismatch.cycle})" if mismatch.cycle >= 0 else ""
    return f"{mismatch.what}: expected {mismatch.expected}, got {mismatch.got}{when}"


def records(judged: Judged, clock_ns: float) -> list[dict[str, Any]]:
    """The record of each frame of a window."""
    window, outcome = judged.window, judged.outcome
    batch, n = window.batch, len(window)
    differences = {at: [difference(mismatch) for mismatch in found] for at, found in judged.by_frame().items()}
    out: list[list[int]] = [[] for _ in range(n)]
    for number, source in enumerate(outcome.source.tolist(), judged.first_out):
        if source >= 0:
            out[source].append(number)
    ruled, secured = judged.ruled or Ruled.none(n), judged.secured or Secured.none(n)
    time_ns = np.where(outcome.first_in >= 0, judged.begin_ns + outcome.first_in * clock_ns, -1)
    columns = zip(
        window.index.tolist(),
        window.frame.tolist(),
        time_ns.astype(np.int64).tolist(),
        batch.port.tolist(),
        batch.edge.tolist(),
        batch.lengths.tolist(),
        window.snapped.tolist(),
        outcome.code.tolist(),
        outcome.queue.tolist(),
        outcome.latency_cycles.tolist(),
        out,
        zip(ruled.rule.tolist(), ruled.mark.tolist(), ruled.colour.tolist(), strict=True),
        zip(secured.sa.tolist(), secured.sequence.tolist(), strict=True),
        _headers(judged),
        strict=True,
    )
    made = []
    for at, (
        index, frame, time, port, edge, length, snapped, code, queue, latency, numbers, (rule, mark, colour),
        (sa, number), headers,
    ) in enumerate(columns):  # fmt: skip
        differs = at in differences or (code == Code.NONE and length > 0)
        record = {
            "v": VERSION,
            "index": index,
            "capture": window.capture,
            "frame": frame,
            "time_ns": time if time >= 0 else None,
            "port": port,
            "direction": DIRECTIONS[Edge(edge)],
            "length": length,
            "snapped": snapped,
            "disposition": disposition_name(code),
            "reason": code_name(code) if code >= FIRST_DROP else None if length else EMPTY_FRAME,
            "queue": queue,
            "latency_cycles": latency if latency >= 0 else None,
            "latency_ns": _whole(latency * clock_ns) if latency >= 0 else None,
            "match": not differs,
        }
        if differs:
            record["differences"] = differences.get(at, ["its end was not reported"])
        record["out"] = numbers
        record["acl_rule"] = rule if rule >= 0 else None
        record["mark"] = mark if mark >= 0 else None
        record["colour"] = Colour(colour).name.lower() if colour >= 0 else None
        record["sa"] = sa if sa >= 0 else None
        record["sequence"] = number or None
        record.update(headers)
        made.append(record)
    return made


def _whole(value: float) -> float | int:
    return int(value) if value == int(value) else value


def _headers(judged: Judged) -> Sequence[dict[str, Any]]:
    """What the headers of each frame say, by the keys of a record."""
    fields = header_fields(judged.window.batch)
    names = (
        "parse_code", "l3_kind", "protocol", "src_mac", "dst_mac", "l4_kind", "src_port", "dst_port", "natt", "spi",
        "roce", "bth_dest_qp", "bth_psn", "ip_checksum", "user",
    )  # fmt: skip
    rows = zip(*(fields[name].tolist() for name in names), strict=True)
    addresses = zip(fields["ip_src"].tolist(), fields["ip_dst"].tolist(), strict=True)
    found = []
    for row, (source, destination) in zip(rows, addresses, strict=True):
        code, l3, protocol, src_mac, dst_mac, l4, src_port, dst_port, natt, spi, roce, qpn, psn, ip_sum, user = row
        mark = user >> 1 & 0x7F if user else code  # of a frame without a byte there is no tuser
        src: str | None = None
        dst: str | None = None
        if l3 != L3Kind.NONE:
            src, dst = _ip(l3, *source), _ip(l3, *destination)
        elif code != Code.L2_TRUNCATED and (src_mac or dst_mac):
            src, dst = _mac(src_mac), _mac(dst_mac)
        ported = l4 in (L4Kind.TCP, L4Kind.UDP)
        found.append(
            {
                "code": code_name(mark) if mark else None,
                "parse_code": code_name(code) if code else None,
                "src": src,
                "dst": dst,
                "proto": protocol if l3 != L3Kind.NONE else None,
                "src_port": src_port if ported else None,
                "dst_port": dst_port if ported else None,
                "spi": spi if l4 == L4Kind.ESP or natt == NatT.ESP else None,
                "qpn": qpn if roce else None,
                "psn": psn if roce else None,
                "ip_checksum": _VERDICTS[ip_sum],
                "l4_checksum": _VERDICTS[user >> 8 & 3],
            }
        )
    return found


@lru_cache(maxsize=1 << 16)
def _ip(kind: int, high: int, low: int) -> str:
    if kind == L3Kind.IPV4:
        return str(ipaddress.IPv4Address(low))
    return str(ipaddress.IPv6Address(high << 64 | low))


@lru_cache(maxsize=1 << 16)
def _mac(value: int) -> str:
    return value.to_bytes(6, "big").hex(":")
