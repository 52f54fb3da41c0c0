"""``nicloop parse``: what the parser says of each frame of a capture."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from models.meta import Code, unpack
from models.parser import PARSER_FIELDS, ChecksumVerdict, NatT, ParserModel
from tb.build import SimulationFailed, simulate
from tb.parser.designs import PARSE_BYTES, parser_design
from tb.replay.capture import Capture, CaptureError, read_capture
from tb.replay.checks import UsageError, check_captures
from tb.replay.select import Filter, FrameRange, SelectError
from tb.toolchain import SIM_BUILD

__all__ = ["View", "parse"]

TARGETS = ("model", "cocotb")
WIDTH = 120
"""Columns of the table where no terminal says how many there are."""
TUNNEL_BYTES = 256
"""What a parser that reads tunnels sees of a frame."""
_LONG = 56
"""An address line of more characters is shown as two."""
_INNERMOST = ("tcp_flags", "icmp_type", "icmp_code", "spi", "esp_seq")
"""Fields of the innermost L4 header, which have no other name in a tunnel."""
_EXTENSIONS = ("hop-by-hop", "routing", "fragment", "destination", "AH")
_TCP_FLAGS = "FSRPAUECN"
"""From bit 0: FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, and AE (formerly NS)."""


@dataclass(frozen=True)
class View:
    """What one frame's parser says. number: in its capture, from 0. fields: the parser's own, by name. user: ``tuser``
    of the last beat. latency: cycles from first beat in to first beat out, of the frame alone."""

    number: int
    length: int
    fields: dict[str, int]
    user: int
    latency: int

    @property
    def code(self) -> str:
        """Name of the frame's code in lower case; "": none."""
        value = self.user >> 1 & 0x7F
        return "" if not value else Code(value).name.lower() if value in set(Code) else str(value)

    @property
    def checksum(self) -> str:
        """Verdict on the L4 checksum."""
        return ChecksumVerdict(self.user >> 8).name.lower()

    def record(self) -> dict[str, Any]:
        """As JSON: every field under its name in models/meta.py, addresses as text."""
        fields: dict[str, Any] = dict(self.fields)
        for inner in ("", "inner_"):
            for name in ("dst_mac", "src_mac"):
                fields[inner + name] = _mac(self.fields[inner + name])
            for name in ("ip_src", "ip_dst"):
                kind = self.fields[f"{inner}l3_kind"]
                fields[inner + name] = _ip(kind, self.fields[inner + name]) if kind else None
        return {
            "frame": self.number,
            "bytes": self.length,
            "code": self.code or None,
            "bad": bool(self.user & 1),
            "checksum": self.checksum,
            "latency_cycles": self.latency,
            "fields": fields,
        }


def _mac(value: int) -> str:
    return ":".join(f"{byte:02x}" for byte in value.to_bytes(6, "big"))


def _ip(kind: int, value: int) -> str:
    return str((ipaddress.IPv4Address if kind == 1 else ipaddress.IPv6Address)(value))


# Frames and what is said of them


def _by_model(frames: Iterable[tuple[int, bytes, int]], tunnel: bool) -> Iterator[View]:
    model = ParserModel(TUNNEL_BYTES, tunnel=True) if tunnel else ParserModel()
    for number, frame, bad in frames:
        parsed = model.parse(frame, bad)
        yield View(number, len(frame), parsed.meta_fields(), parsed.user, parsed.latency_cycles)


def _by_rtl(frames: Sequence[tuple[int, bytes, int]], tunnel: bool, sim: str, waves: bool) -> list[View]:
    """Every frame alone through ``parser``. SimulationFailed: it didn't get to its end."""
    design = parser_design(TUNNEL_BYTES if tunnel else PARSE_BYTES, tunnel)
    job = json.dumps({"parameters": design.parameters, "frames": [[frame.hex(), bad] for _, frame, bad in frames]})
    folder = SIM_BUILD / "jobs" / f"parse-{hashlib.sha256(job.encode()).hexdigest()[:12]}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "job.json").write_text(job)
    env = {"NICLOOP_JOB": str(folder)}
    simulate(design, "tb.parser.bench_parse", sim=sim, waves=waves, env=env, timeout_s=3600).check()
    views = []
    lines = (folder / "results.jsonl").read_text().splitlines()
    for (number, frame, _), line in zip(frames, lines, strict=True):
        result = json.loads(line)
        meta = unpack(int(result["meta"], 16))
        fields = {name: meta[name] for name in PARSER_FIELDS}
        views.append(View(number, len(frame), fields, int(result["user"], 16), result["latency"]))
    return views


def _chosen(capture: Capture, frames: FrameRange, wanted: Filter | None) -> list[tuple[int, bytes, int]]:
    """Number, bytes and bad mark of the frames that were asked for."""
    batch = capture.batch
    index = np.arange(len(batch))[frames.part(0, len(batch))]
    if wanted is not None:
        index = index[wanted.hits(batch.select(index))]
    return [(i, batch.frame(i), int(batch.bad[i])) for i in index.tolist()]


def _beyond(capture: Capture, frames: str) -> str:
    """Of a range that goes on behind the last frame."""
    return f"--frames {frames}: there are {len(capture.batch)} frames, counted from 0"


def _none_chosen(capture: Capture, chosen: FrameRange, frames: str, wanted: str | None) -> str:
    """Why no frame was chosen."""
    if not len(capture.batch):
        return "there is no frame"
    if chosen.first >= len(capture.batch) or wanted is None:
        return _beyond(capture, frames)
    of = f"{len(capture.batch)} frames" if chosen == FrameRange() else f"frames of --frames {frames}"
    return f"--filter {shlex.quote(wanted)} hits none of the {of}"


# What a person sees


def _headers(f: Mapping[str, int]) -> str:
    """The chain of headers in words, a line or two for each layer; what is in a tunnel stands behind bars."""
    lines = _layers(f, link=bool(f["dst_mac"] or f["src_mac"] or f["ethertype"]))
    if f["tunnel_kind"]:
        inside = _inside(f)
        # GENEVE may carry IP without Ethernet: nothing but the addresses says so.
        link = bool(inside["dst_mac"] or inside["src_mac"] or (inside["ethertype"] and f["tunnel_kind"] == 1))
        lines.append(_tunnel(f, link))
        lines += [f"| {line}" for line in _layers(inside, link)]
    return "\n".join(lines)


def _inside(f: Mapping[str, int]) -> dict[str, int]:
    """What is in the tunnel, under the names that it would have outside."""
    found = {name: f.get(f"inner_{name}", 0) for name in f}
    return found | {name: f[name] for name in _INNERMOST}


def _tunnel(f: Mapping[str, int], link: bool) -> str:
    kind, flags = f["tunnel_kind"], f["tunnel_flags"]
    text = f"{'VXLAN' if kind == 1 else 'GENEVE'} VNI {f['vni']} flags {flags:#04x}"
    if kind == 2:
        text += "".join(f" {name}" for bit, name in ((7, "OAM"), (6, "critical")) if flags >> bit & 1)
        if f["inner_ethertype"] and not link:
            text += f" protocol {f['inner_ethertype']:#06x}"
    return text


def _layers(f: Mapping[str, int], link: bool) -> list[str]:
    lines = []
    if link:
        ethertype = f"{f['ethertype']:#06x}" if f["ethertype"] >= 0x600 else f"length {f['ethertype']}"
        lines.append(f"{_mac(f['src_mac'])} > {_mac(f['dst_mac'])} {ethertype}")
    for tag in range(f["vlan_count"]):
        tci = f[f"vlan{tag}"]
        kind = "802.1ad" if f[f"vlan{tag}_ad"] else "802.1Q"
        lines.append(f"{kind} VLAN {tci & 0xFFF} priority {tci >> 13}{' DEI' if tci >> 12 & 1 else ''}")
    if f["mac_control"]:
        lines.append(f"MAC control, opcode {f['mac_opcode']:#06x}")
    if f["l3_kind"]:
        lines += _network(f)
    if f["l4_kind"]:
        lines.append(_transport(f))
    if f["roce"]:
        lines += _roce(f)
    if f["natt"]:
        kind = {NatT.ESP: f"ESP, SPI {f['spi']:#010x} sequence {f['esp_seq']}", NatT.IKE: "IKE"}
        lines.append(f"UDP-encapsulated {kind.get(NatT(f['natt']), 'keepalive')}")
    return lines


def _roce(f: Mapping[str, int]) -> list[str]:
    marks = "".join(f" {name}" for name in ("fecn", "becn") if f[f"bth_{name}"]).upper()
    flags = f["bth_flags"]
    return [
        f"BTH opcode {f['bth_opcode']:#04x} QP {f['bth_dest_qp']:#x} PSN {f['bth_psn']} P_Key {f['bth_pkey']:#06x}",
        f"  SE {flags >> 7} M {flags >> 6 & 1} pad {flags >> 4 & 3} TVer {flags & 15} A {f['bth_ack_req']}{marks}",
    ]


def _network(f: Mapping[str, int]) -> list[str]:
    src, dst = (_ip(f["l3_kind"], f[name]) for name in ("ip_src", "ip_dst"))
    lines = [f"IPv{4 if f['l3_kind'] == 1 else 6} {src} > {dst}"]
    if len(lines[0]) > _LONG:
        lines = [f"IPv6 {src}", f"  > {dst}"]
    lines.append(f"  length {f['l3_length']} DSCP {f['dscp']} ECN {f['ecn']} TTL {f['ttl']} protocol {f['protocol']}")
    words = ["options"] if f["ip_options"] else []
    if f["ip_checksum"] == ChecksumVerdict.BAD:
        words.append("bad header checksum")
    if f["dont_fragment"]:
        words.append("DF")
    if f["fragment"]:
        words.append(f"piece at {8 * f['frag_offset']}{', more follow' if f['more_fragments'] else ''}")
    if words:
        lines.append(f"  {', '.join(words)}")
    if f["ext_mask"]:
        names = [name for bit, name in enumerate(_EXTENSIONS) if f["ext_mask"] >> bit & 1]
        lines.append(f"  extension headers: {', '.join(names)}")
    return lines


def _transport(f: Mapping[str, int]) -> str:
    kind = f["l4_kind"]
    if kind == 1:
        flags = "".join(letter for bit, letter in enumerate(_TCP_FLAGS) if f["tcp_flags"] >> bit & 1)
        return f"TCP {f['src_port']} > {f['dst_port']} flags {flags or '-'}"
    if kind == 2:
        return f"UDP {f['src_port']} > {f['dst_port']} length {f['udp_length']}"
    if kind == 5:
        return f"ESP SPI {f['spi']:#010x} sequence {f['esp_seq']}"
    return f"{'ICMP' if kind == 3 else 'ICMPv6'} type {f['icmp_type']} code {f['icmp_code']}"


def _offsets(f: Mapping[str, int]) -> str:
    """The first byte of IP, of L4 and behind the last header; those in a tunnel in a line of their own."""
    lines = []
    for inner in ("", "inner_"):
        lines.append([f[f"{inner}l3_offset"] if f[f"{inner}l3_kind"] else None, f[f"{inner}l4_offset"] or None])
    shown = lines if f["tunnel_kind"] else lines[:1]
    shown[-1].append(f["payload_offset"] or None)
    texts = ["/".join("-" if value is None else str(value) for value in line) for line in shown]
    return "\n| ".join(texts)


def _table(views: Iterable[View], counted: Counter[str], title: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("frame", justify="right", no_wrap=True)
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("headers", overflow="fold")
    table.add_column("L3/L4/payload", justify="right", no_wrap=True)
    table.add_column("L4 sum", no_wrap=True)
    table.add_column("cycles", justify="right", no_wrap=True)
    table.add_column("code", no_wrap=True)
    for view in views:
        f = view.fields
        counted[view.code] += 1
        table.add_row(
            str(view.number),
            str(view.length),
            Text(_headers(f)),
            _offsets(f),
            Text(view.checksum, style="bold red" if view.checksum == "bad" else ""),
            str(view.latency),
            Text(view.code or "-", style="bold red" if view.code else ""),
        )
    return table


def _show(views: Iterable[View], as_json: bool, title: str) -> None:
    if as_json:
        for view in views:
            sys.stdout.write(json.dumps(view.record()) + "\n")
        return
    out = Console() if sys.stdout.isatty() else Console(width=WIDTH, no_color=True, highlight=False, emoji=False)
    counted: Counter[str] = Counter()
    out.print(_table(views, counted, title))
    codes = ", ".join(f"{name} {count}" for name, count in sorted(counted.items()) if name)
    out.print(f"{sum(counted.values())} frames; codes: {codes or 'none'}")


def _differences(views: Sequence[View], expected: Sequence[View]) -> list[str]:
    """Frames of which the RTL says something else than the model: the first field of each."""
    found = []
    for came, want in zip(views, expected, strict=True):
        if came == want:
            continue
        pairs = [(name, came.fields[name], want.fields[name]) for name in PARSER_FIELDS]
        pairs += [("tuser", came.user, want.user), ("latency", came.latency, want.latency)]
        name, rtl, model = next(pair for pair in pairs if pair[1] != pair[2])
        found.append(f"frame {came.number}: {name}: RTL {rtl:#x}, model {model:#x}")
    return found


def parse(
    capture: Annotated[str, typer.Argument(help="pcap or pcapng, gzipped or not; - is standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON, an object a line.")] = False,
    target: Annotated[str, typer.Option(help="Who parses: model, or cocotb: the RTL, compared with it.")] = "model",
    frames: Annotated[str, typer.Option(help="A:B, A:, :B or A: frames A to B-1, counted from 0.")] = "0:",
    wanted: Annotated[
        str | None, typer.Option("--filter", help="host A, src A, dst A, port N, ... with and, or, not.")
    ] = None,
    tunnel: Annotated[
        bool, typer.Option("--tunnel", help="See 256 bytes, and read what is in VXLAN and GENEVE.")
    ] = False,
    simulator: Annotated[str, typer.Option("--sim", help="Of the cocotb target: verilator or icarus.")] = "verilator",
    waves: Annotated[bool, typer.Option(help="Write a waveform (cocotb).", envvar="NICLOOP_WAVES")] = False,
) -> None:
    """Print what the parser says of each frame of a capture."""
    if target not in TARGETS:
        raise typer.BadParameter(f"{target!r} must be {' or '.join(TARGETS)}", param_hint="--target")
    if simulator not in ("verilator", "icarus"):
        raise typer.BadParameter(f"{simulator!r} must be verilator or icarus", param_hint="--sim")
    try:
        chosen = FrameRange.parse(frames)
        hits = Filter.parse(wanted) if wanted is not None else None
        check_captures([capture])
        read = read_capture(capture)
    except (CaptureError, SelectError, UsageError) as error:
        typer.echo(f"nicloop: {error}", err=True)
        raise typer.Exit(2) from error
    rows = _chosen(read, chosen, hits)
    empty = [number for number, frame, _ in rows if not frame]
    carried = [row for row in rows if row[1]]
    by = "model" if target == "model" else f"RTL ({simulator})"
    title = f"{Path(capture).name}, by the {by}{', with tunnels' if tunnel else ''}"
    wrong: list[str] = []
    if target == "model" or not carried:
        _show(_by_model(carried, tunnel), as_json, title)
    else:
        try:
            views = _by_rtl(carried, tunnel, simulator, waves)
        except SimulationFailed as error:
            typer.echo(f"nicloop: {error}", err=True)
            raise typer.Exit(1) from error
        _show(views, as_json, title)
        wrong = _differences(views, list(_by_model(carried, tunnel)))
    for text in wrong[:20]:
        typer.echo(text, err=True)
    if wrong:
        typer.echo(f"nicloop: the RTL differs from the model in {len(wrong)} of {len(carried)} frames", err=True)
    if empty:
        numbers = ", ".join(map(str, empty[:10])) + (", …" if len(empty) > 10 else "")
        typer.echo(f"nicloop: no stream carries a frame of no bytes: left out: {numbers}", err=True)
    if read.error is not None:
        typer.echo(f"nicloop: {read.error}", err=True)
    nothing = not carried and read.error is None
    if nothing and not empty:
        typer.echo(f"nicloop: nothing was parsed: {_none_chosen(read, chosen, frames, wanted)}", err=True)
    elif chosen.first >= len(read.batch) or (chosen.behind or 0) > len(read.batch):
        typer.echo(f"nicloop: {_beyond(read, frames)}", err=True)
    if wrong:
        raise typer.Exit(1)
    if nothing or read.error is not None:
        raise typer.Exit(2)
