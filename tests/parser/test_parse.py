"""``nicloop parse``: what a person sees of a capture.

Sweep:    table and JSON; the model and the RTL; tunnels read or not; parts of a capture; whole, cut and wrong captures
Stimulus: captures of tests/captures, and what is made of them
Checks:   the fields are the model's; the RTL prints the same; 120 columns; exit codes and messages of DESIGN section 7
Timing:   the latency that is printed is the model's, on both targets
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from models.frames import Batch, bad_mark
from models.meta import Code
from models.parser import PARSER_FIELDS, ParserModel
from tb.build import SimulationFailed
from tb.cli import app
from tb.parser import commands
from tb.replay.capture import read_capture, write_capture
from tb.toolchain import ROOT

CAPTURES = sorted(path for path in (ROOT / "tests" / "captures").iterdir() if ".pcap" in path.name)
MALFORMED = ROOT / "tests" / "captures" / "scapy_malformed.pcapng"
VLAN = ROOT / "tests" / "captures" / "scapy_vlan.pcapng"
TUNNELS = ROOT / "tests" / "captures" / "scapy_inner.pcapng"
TEXTS = {inner + name for inner in ("", "inner_") for name in ("dst_mac", "src_mac", "ip_src", "ip_dst")}
"""Fields that are printed as text."""


def parse(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["parse", *map(str, arguments)])


def records(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("tunnel", [False, True], ids=["plain", "tunnels"])
def test_json_has_a_line_a_frame_with_every_field_of_the_model(tunnel: bool) -> None:
    model = ParserModel(256, tunnel=True) if tunnel else ParserModel()
    for path in CAPTURES:
        batch = read_capture(path).batch
        result = parse(path, "--json", *(["--tunnel"] if tunnel else []))
        assert result.exit_code == 0, result.stderr
        found = records(result)
        assert [record["frame"] for record in found] == list(range(len(batch)))
        for record, frame in zip(found, batch, strict=True):
            parsed = model.parse(frame)
            assert record["bytes"] == len(frame)
            assert record["code"] == (Code(parsed.code).name.lower() if parsed.code else None)
            assert record["latency_cycles"] == parsed.latency_cycles
            assert set(record["fields"]) == set(PARSER_FIELDS)
            fields = {name: value for name, value in record["fields"].items() if name not in TEXTS}
            assert fields == {name: value for name, value in parsed.meta_fields().items() if name not in TEXTS}


def test_addresses_are_printed_as_people_write_them() -> None:
    (record,) = records(parse(ROOT / "tests/captures/scapy_ipv6.pcapng", "--json", "--frames", "0"))
    fields = record["fields"]
    assert (fields["src_mac"], fields["dst_mac"]) == ("02:00:00:00:00:0a", "02:00:00:00:00:0b")
    assert (fields["ip_src"], fields["ip_dst"]) == ("2001:db8::1", "2001:db8::2")
    (record,) = records(parse(VLAN, "--json", "--frames", "13"))
    assert record["fields"]["ip_src"] is None and record["fields"]["inner_ip_src"] is None
    first, second = records(parse(TUNNELS, "--json", "--tunnel", "--frames", "0:2"))
    assert (first["fields"]["ip_src"], first["fields"]["inner_ip_src"]) == ("2001:db8::1", "10.0.0.1")
    assert second["fields"]["inner_dst_mac"] == "02:00:00:00:01:0b"


def test_table_says_every_layer_in_120_columns_and_plain_text_when_piped() -> None:
    for path in CAPTURES:
        result = parse(path)
        assert result.exit_code == 0, result.stderr
        assert max(map(len, result.stdout.splitlines())) <= commands.WIDTH, path.name
        assert "\x1b" not in result.stdout and "…" not in result.stdout
    shown = parse(VLAN, "--frames", "10:13").stdout
    for text in ("802.1ad VLAN 200 priority 3", "802.1Q VLAN 100 priority 6", "TCP 20 > 80 flags S", "22/42/62"):
        assert text in shown
    assert "3 frames; codes: too_deep 1" in shown
    shown = parse(ROOT / "tests/captures/scapy_rocev2.pcapng").stdout
    assert "BTH opcode 0x04 QP 0x11 PSN 2 P_Key 0xffff" in shown and "SE 0 M 1 pad 2 TVer 0 A 0" in shown
    shown = parse(ROOT / "tests/captures/scapy_esp.pcapng").stdout
    assert "UDP-encapsulated keepalive" in shown and "ESP SPI 0x00001010 sequence 9" in shown
    assert "MAC control, opcode 0x0001" in parse(ROOT / "tests/captures/scapy_pause.pcapng").stdout
    assert "piece at 1480, more follow" in parse(ROOT / "tests/captures/scapy_fragments.pcapng").stdout


def test_table_shows_what_is_in_a_tunnel_behind_bars() -> None:
    for path in CAPTURES:
        result = parse(path, "--tunnel")
        assert result.exit_code == 0, result.stderr
        assert max(map(len, result.stdout.splitlines())) <= commands.WIDTH, path.name
        assert result.stdout.splitlines()[0].rstrip() == f"{path.name}, by the model, with tunnels"

    def headers(frame: int, *options: str) -> list[str]:
        lines = parse(TUNNELS, "--frames", frame, *options).stdout.splitlines()[4:-2]
        return [line[15:].rstrip() for line in lines]

    assert headers(4, "--tunnel")[4:] == [
        "GENEVE VNI 11259375 flags 0x40 critical",
        "| 02:00:00:00:01:0a > 02:00:00:00:01:0b 0x0800",
        "| 802.1ad VLAN 200 priority 0 DEI",
        "| 802.1Q VLAN 100 priority 6",
        "| IPv4 10.0.0.1 > 10.0.0.2",
        "|   length 33 DSCP 0 ECN 0 TTL 64 protocol 17",
        "| UDP 49152 > 49153 length 13",
    ]
    assert " 14/54 " in headers(4, "--tunnel")[0] and headers(4, "--tunnel")[1].endswith("| 100/120/128")
    assert " 14/54/62 " in headers(4)[0] and len(headers(4)) == 4
    bare = "\n".join(headers(5, "--tunnel"))
    assert "GENEVE VNI 11259375 flags 0x80 OAM protocol 0x0800\n| IPv4 10.0.0.1 > 10.0.0.2" in bare
    # A tunnel in a tunnel is shown as UDP, MAC control by its type, an empty tunnel by its own line.
    assert headers(63, "--tunnel")[-1] == "| UDP 49152 > 4789 length 58"
    assert headers(62, "--tunnel")[-1] == "| 02:00:00:00:01:0a > 02:00:00:00:01:0b 0x8808"
    assert headers(64, "--tunnel")[-1] == "VXLAN VNI 1193046 flags 0x08"
    said = " ".join(parse(TUNNELS, "--tunnel").stdout.split())
    assert "bad_tunnel 2" in said and "tunnel_truncated 21" in said


@pytest.mark.parametrize(("text", "numbers"), [("3:5", [3, 4]), (":2", [0, 1]), ("7", [7]), ("108:900", [108, 109])])
def test_part_of_a_capture_keeps_its_numbers(text: str, numbers: list[int]) -> None:
    found = records(parse(MALFORMED, "--json", "--frames", text))
    assert [record["frame"] for record in found] == numbers


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--frames", "5:3"), "has no frame"),
        (("--filter", "host"), "column 5"),
        (("--frames", "x"), "must be A:B"),
        (("--frames", ":"), "must be A:B"),
        (("--target", "board"), "must be model or cocotb"),
        (("--sim", "vcs"), "must be verilator or icarus"),
    ],
)
def test_wrong_usage_is_named_and_ends_with_2(arguments: tuple[str, str], said: str) -> None:
    result = parse(VLAN, *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", " ").split())


def test_capture_that_cannot_be_read_is_named_and_ends_with_2(tmp_path: Path) -> None:
    result = parse(tmp_path / "none.pcap")
    assert result.exit_code == 2 and "none.pcap: no such capture\n" in result.stderr and not result.stdout
    result = parse(tmp_path)
    assert result.exit_code == 2 and f"{tmp_path}: is a folder: name the captures in it" in result.stderr
    raw = bytearray((ROOT / "tests/captures/roce_ud_send.pcap").read_bytes())
    raw[20:24] = b"\x65\0\0\0"
    other = tmp_path / "raw.pcap"
    other.write_bytes(raw)
    result = parse(other)
    assert result.exit_code == 2 and "link type 101 (raw IP)" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--frames", "1000:"), 2, "nothing was parsed: --frames 1000:: there are 23 frames, counted from 0"),
        (("--filter", "port 7"), 2, "nothing was parsed: --filter 'port 7' hits none of the 23 frames"),
        (("--frames", "20:24"), 0, "--frames 20:24: there are 23 frames, counted from 0"),
        (("--frames", "20:23"), 0, ""),
    ],
)
def test_a_choice_beyond_the_end_or_of_no_frame_is_said(arguments: tuple[str, str], code: int, said: str) -> None:
    result = parse(VLAN, *arguments, "--json")
    assert (result.exit_code, result.stderr) == (code, f"nicloop: {said}\n" if said else "")


def test_cut_capture_is_printed_up_to_the_cut_and_ends_with_2(tmp_path: Path) -> None:
    whole = (ROOT / "tests/captures/roce_ud_send.pcap").read_bytes()
    path = tmp_path / "cut.pcap"
    path.write_bytes(whole[:-5])
    result = parse(path, "--json")
    assert result.exit_code == 2
    assert len(records(result)) == len(read_capture(ROOT / "tests/captures/roce_ud_send.pcap").batch) - 1
    assert "cut off in a record" in result.stderr


def test_frame_of_no_bytes_is_left_out_and_said_so(tmp_path: Path) -> None:
    path = tmp_path / "empty.pcapng"
    write_capture(path, Batch.of([b"\1" * 60, b"", b"\2" * 60]))
    result = parse(path, "--json")
    assert result.exit_code == 0
    assert [record["frame"] for record in records(result)] == [0, 2]
    assert "left out: 1" in result.stderr


@pytest.mark.parametrize(
    ("name", "options"),
    [("scapy_malformed.pcapng", ()), ("scapy_ipv6.pcapng", ()), ("scapy_inner.pcapng", ("--tunnel",))],
)
def test_rtl_prints_what_the_model_prints(sim: str, name: str, options: tuple[str, ...], tmp_path: Path) -> None:
    batch = read_capture(ROOT / "tests" / "captures" / name).batch
    bad = [0] * len(batch)
    bad[2] = bad_mark()
    path = tmp_path / name
    write_capture(path, Batch.of(list(batch), bad=bad))
    arguments = (path, "--json", *options, *(("--frames", "0:20") if sim == "icarus" else ()))
    by_model = parse(*arguments)
    by_rtl = parse(*arguments, "--target", "cocotb", "--sim", sim)
    assert by_rtl.exit_code == 0, by_rtl.stderr
    assert by_rtl.stdout == by_model.stdout and records(by_rtl)[2]["bad"]


def test_rtl_that_differs_from_the_model_is_named_and_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def lying(frames: list[tuple[int, bytes, int]], tunnel: bool, sim: str, waves: bool) -> list[commands.View]:
        views = list(commands._by_model(frames, tunnel))
        views[3] = replace(views[3], latency=views[3].latency + 1)
        views[5] = replace(views[5], fields=views[5].fields | {"vlan0": 7777})
        return views

    monkeypatch.setattr(commands, "_by_rtl", lying)
    result = parse(VLAN, "--target", "cocotb")
    assert result.exit_code == 1
    assert "frame 3: latency: RTL" in result.stderr and "frame 5: vlan0: RTL 0x1e61" in result.stderr
    assert "differs from the model in 2 of" in result.stderr and "802.1Q VLAN" in result.stdout

    def dying(frames: list[tuple[int, bytes, int]], tunnel: bool, sim: str, waves: bool) -> list[commands.View]:
        raise SimulationFailed("it hung")

    monkeypatch.setattr(commands, "_by_rtl", dying)
    result = parse(VLAN, "--target", "cocotb")
    assert result.exit_code == 1 and "it hung" in result.stderr
