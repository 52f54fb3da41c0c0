"""`nicloop replay --esp-sa`: SAs of Wireshark and TOML in a replay, received and transmitted.

Sweep:    all captures of peers with keys (IPsec of Linux and DPDK, tunnel and transport mode, ESN); both file forms
Stimulus: these captures; UDP and other frames of the repository's captures, transmitted
Checks:   what the peers' keys say of each frame by themselves; Scapy decrypts what was transmitted; tshark reads what
          came out; SA and number of each record; one line for what can't be used
Timing:   those of the golden model
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scapy.all import ESP, IP, raw
from scapy.layers.ipsec import SecurityAssociation
from typer.testing import CliRunner, Result

from models.config import NicConfig
from models.ipsec_sa import Cipher
from models.parser import ParserModel
from models.port_map import PORT
from tb.cli import app
from tb.replay.capture import read_capture
from tb.replay.sas import secured
from tb.targets.model import ModelTarget
from tb.targets.program import RulesError, check_rules
from tb.toolchain import ROOT
from tests.ipsec.test_captures import CAPTURES, independent, peers_of
from tests.nic.test_capture import fields

IPV4 = ROOT / "tests" / "captures" / "scapy_ipv4.pcapng"
KEY = "00112233445566778899aabbccddeeffa1a2a3a4"
OUT = 'spi = "0x1128"\nsrc = "192.0.2.1"\ndst = "192.0.2.2"\ncipher = "aes-128-gcm"\n' + f'key = "{KEY}"\n'


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def records_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def esp_sa(material: Path, name: str, path: Path) -> Path:
    """Wireshark's table of a capture's keys."""
    lines = []
    for one in json.loads((material / f"10_peers/{name}.pcap.keys.json").read_text()):
        lines.append(
            f'"IPv4","{one["src"]}","{one["dst"]}","0x{one["spi"]}","AES-GCM [RFC4106]","0x{one["key"]}","NULL","",'
            f'"{"64" if one["esn"] else "32"}-bit","0x0"\n'
        )
    path.write_text("".join(lines))
    return path


def near_the_wrap(material: Path, name: str, path: Path) -> Path:
    """The keys as TOML, with numbers that begin near 2^32."""
    tables = []
    for one in json.loads((material / f"10_peers/{name}.pcap.keys.json").read_text()):
        cipher = "aes-256-gcm" if len(one["key"]) == 72 else "aes-128-gcm"
        tables.append(
            f'[[sa]]\ndirection = "rx"\nspi = "0x{one["spi"]}"\ndst = "{one["dst"]}"\ncipher = "{cipher}"\n'
            f'mode = "either"\nkey = "{one["key"]}"\nesn = true\nsequence = 0xffffff00\n'
        )
    path.write_text("".join(tables))
    return path


@pytest.mark.parametrize("name", CAPTURES)
def test_a_peers_capture_comes_out_in_the_clear_by_its_keys(name, material, tmp_path):
    capture = material / f"10_peers/{name}.pcap"
    # Where the high half changes near the start, the table can't say it.
    table = (near_the_wrap if "wrap" in name else esp_sa)(
        material, name, tmp_path / ("sas.toml" if "wrap" in name else "esp_sa")
    )
    out, written = tmp_path / "out.pcapng", tmp_path / "r.jsonl"
    result = invoke(
        "replay", capture, "--esp-sa", table, "--target", "model", "--out", out, "--records", written, "--json"
    )
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)["ipsec"]
    peers, frames = peers_of(material, name), list(read_capture(capture).batch)
    spis = [int(one["spi"], 16) for one in json.loads((material / f"10_peers/{name}.pcap.keys.json").read_text())]
    clear = list(read_capture(out).batch)
    assert len(clear) == len(frames)
    seen = dict.fromkeys(spis, 0)
    for frame, came, record in zip(frames, clear, records_of(written), strict=True):
        parsed = ParserModel().parse(frame)
        assert (record["disposition"], record["match"]) == ("delivered", True)
        if parsed.l4_kind != 5:
            assert (came, record["sa"], record["sequence"]) == (frame, None, None)
            continue
        peer = peers[parsed.spi]
        payload, next_header = independent(frame[parsed.l4_offset : parsed.l3_end], peer)
        if next_header == 4:
            assert came == frame[:14] + payload[: int.from_bytes(payload[2:4], "big")]
        else:
            assert came[parsed.l3_payload_offset :] == payload
        assert (record["sa"], record["sequence"]) == (spis.index(parsed.spi), peer.high << 32 | peer.low)
        seen[parsed.spi] += 1
    assert [row["frames"] for row in figures[0]["used"]] == [seen[spi] for spi in spis]
    assert figures[0]["file"] == str(table)


def test_tshark_reads_the_packets_inside(tshark, material, tmp_path):
    table, out = esp_sa(material, "esp_tunnel_aes128gcm", tmp_path / "esp_sa"), tmp_path / "out.pcapng"
    capture = material / "10_peers/esp_tunnel_aes128gcm.pcap"
    assert invoke("replay", capture, "--esp-sa", table, "--target", "model", "--out", out).exit_code == 0
    protocols = [row[0] for row in fields(tshark, out, "frame.protocols")]
    assert len(protocols) == 31
    assert not any("esp" in row for row in protocols) and any("icmp" in row for row in protocols)


@pytest.mark.parametrize("window", [4096, 7])
def test_one_sa_without_rules_protects_every_packet_of_a_tunnel_and_says_so(window, tmp_path):
    sas, out, written = tmp_path / "sas.toml", tmp_path / "out.pcapng", tmp_path / "r.jsonl"
    sas.write_text(f'[[sa]]\nname = "away"\n{OUT}sequence = 41\n')
    result = invoke(
        *("replay", IPV4, "--direction", "tx", "--esp-sa", sas, "--target", "model", "--window", window),
        *("--out", out, "--records", written),
    )
    assert result.exit_code == 0, result.output
    told = "nicloop: no --acl: SA 0 (away, SPI 0x1128 to 192.0.2.2) protects every IP packet\n"
    assert result.stderr.startswith(told)
    theirs = SecurityAssociation(
        ESP, spi=0x1128, crypt_algo="AES-GCM", crypt_key=bytes.fromhex(KEY), tunnel_header=IP(src="1.2.3.4")
    )
    frames, made, next_number = list(read_capture(IPV4).batch), list(read_capture(out).batch), 42
    for frame, record in zip(frames, records_of(written), strict=True):
        parsed = ParserModel().parse(frame)
        if not parsed.l3_kind or parsed.l3_end > len(frame):
            continue
        assert (record["sa"], record["sequence"]) == (0, next_number)
        found = IP(made[record["out"][0]][14 + 4 * parsed.vlan_count :])
        assert (found.src, found.dst, found[ESP].seq) == ("192.0.2.1", "192.0.2.2", next_number)
        assert raw(theirs.decrypt(found)) == frame[parsed.l3_offset : parsed.l3_end]
        next_number += 1
    assert next_number > 80


def test_in_transport_mode_only_what_goes_to_the_peer_is_protected(tmp_path):
    frames = list(read_capture(IPV4).batch)
    peer = IP(frames[0][14:]).dst
    sas, written = tmp_path / "sas.toml", tmp_path / "r.jsonl"
    sas.write_text(f'[[sa]]\nmode = "transport"\n{OUT}'.replace("192.0.2.2", peer))
    result = invoke(*("replay", IPV4, "--direction", "tx", "--esp-sa", sas, "--target", "model", "--records", written))
    assert result.exit_code == 0, result.output
    assert f"protects what goes to {peer}" in result.stderr
    chosen = {record["sa"] is not None for record in records_of(written) if record["dst"] == peer}
    others = {record["sa"] for record in records_of(written) if record["dst"] != peer}
    assert chosen == {True} and others <= {None}


def test_rules_say_what_is_protected_where_there_are_some(tmp_path):
    sas, rules, written = tmp_path / "sas.toml", tmp_path / "rules.toml", tmp_path / "r.jsonl"
    sas.write_text(f"[[sa]]\n{OUT}[[sa]]\n{OUT}".replace("0x1128", "0x1129", 1))
    rules.write_text('[[rule]]\nprotocol = "udp"\nprotect = 1\n')
    result = invoke(
        *("replay", IPV4, "--direction", "tx", "--esp-sa", sas, "--acl", rules, "--target", "model"),
        *("--records", written),
    )
    assert result.exit_code == 0, result.output
    assert "no --acl" not in result.stderr
    for record in records_of(written):
        assert (record["sa"] == 1) == (record["acl_rule"] == 0)


@pytest.mark.parametrize(
    ("text", "name", "direction", "said"),
    [
        ("[[sa]]\nspi = 3\n", "a.toml", "rx", "a.toml:1: sa 0: dst: it is missing"),
        (f'[[sa]]\ndirection = "tx"\n{OUT}', "a.toml", "rx", "none of its 1 SAs is for rx\n"),
        (
            f'"IPv4","*","192.0.2.2","0x1128","AES-GCM [RFC4106]","0x{KEY}","NULL",""\n',
            "esp_sa",
            "tx",
            "none of its 1 SAs is for tx: an esp_sa table is for rx alone, for tx write the SAs in TOML\n",
        ),
        (f"[[sa]]\n{OUT}" * 2, "a.toml", "rx", "SAs 0 and 1 have the same SPI 0x1128 and destination; accepted: "),
        (f"[[sa]]\n{OUT}" * 2, "a.toml", "tx", "2 SAs are for tx, and nothing says which frames are whose: give rules"),
    ],
)
def test_what_cannot_be_used_is_one_line(text, name, direction, said, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    result = invoke("replay", IPV4, "--direction", direction, "--esp-sa", path, "--target", "model")
    assert result.exit_code == 2
    assert said in result.stderr and result.stderr.count("\n") == 1 and result.stderr.startswith(f"nicloop: {tmp_path}")


def test_a_device_without_ipsec_refuses_sas_and_those_that_it_has_no_room_for(tmp_path):
    sas = tmp_path / "sas.toml"
    sas.write_text(f"[[sa]]\n{OUT}")
    config, _ = secured(NicConfig(), sas, ["rx"])
    without = "ipsec_rx: doesn't fit: the device was built without IPsec"

    async def refused(size: dict[str, int] | None) -> str:
        target = ModelTarget()
        target.capabilities = replace(target.capabilities, built_to_order=False)
        if size is not None:
            await target.configure(config)

            async def read(address: int) -> int:
                return PORT["ipsec_rx.size"].encode(size, 0)

            target.read = read  # type: ignore[method-assign]
        with pytest.raises(RulesError) as caught:
            await check_rules(target, config)
        return str(caught.value)

    assert asyncio.run(refused(None)).startswith(without)
    assert asyncio.run(refused({"sas": 0, "sm4": 1})).endswith("1 SAs, and it has room for 0")
    one = config.ports[0].ipsec
    assert one is not None
    config = config.with_port(0, ipsec=replace(one, rx=(replace(one.rx[0], cipher=Cipher.SM4_GCM),)))
    assert asyncio.run(refused({"sas": 256, "sm4": 0})).endswith("an SA of SM4-GCM, which the device hasn't")


def test_the_rtl_decrypts_every_peers_capture_and_encrypts_as_the_model_says(verilator, material, tmp_path):
    sas, out = tmp_path / "sas.toml", tmp_path / "out.pcapng"
    for name in CAPTURES:
        table = (near_the_wrap if "wrap" in name else esp_sa)(
            material, name, tmp_path / ("near.toml" if "wrap" in name else "esp_sa")
        )
        for extra in ((), (IPV4,)):
            capture = material / f"10_peers/{name}.pcap"
            result = invoke("replay", capture, *extra, "--esp-sa", table, "--target", "native", "--json")
            assert result.exit_code == 0, (name, result.output)
            figures = json.loads(result.stdout)
            assert figures["ipsec"][0]["used"] and not any(row["dropped"] for row in figures["ipsec"][0]["used"]), name
    sas.write_text(f"[[sa]]\n{OUT}")
    result = invoke(
        *("replay", IPV4, "--direction", "tx", "--pace", "line-rate", "--esp-sa", sas, "--target", "native"),
        *("--out", out),
    )
    assert result.exit_code == 0, result.output
    theirs = SecurityAssociation(
        ESP, spi=0x1128, crypt_algo="AES-GCM", crypt_key=bytes.fromhex(KEY), tunnel_header=IP(src="1.2.3.4")
    )
    opened = [theirs.decrypt(IP(frame[14:])) for frame in read_capture(out).batch if frame[23:24] == b"\x32"]
    assert len(opened) > 30
