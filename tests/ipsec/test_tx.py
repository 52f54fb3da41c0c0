"""Launches the bench of ``ipsec_tx``; Scapy and tshark decrypt what it sends.

Sweep:    modes, families, NAT-T, ciphers, tags, every length to 200 and long ones, every field of an outer header, each
          check of the page and pairs of them, numbers across 2^32 and at their end, lifetimes, SAs that change under
          traffic, every pair of pauses, resets, random storms; parameters SAS, SM4_EN, HOLD_BEATS
Stimulus: frames built byte by byte, with the metadata of the parser's model; noise on whatever isn't valid, X under
          Icarus
Checks:   every byte, metadata, tuser, disposition, counter, event and state against models/ipsec.py; nothing of a frame
          that ends; idle; what Scapy and tshark decrypt
Timing:   the cycle of each frame's first and last beat and of each disposition, exact (models/ipsec_time.py); cycles of
          frames in a row against the wire's
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scapy.all import ESP, IP, Ether, IPv6, raw, wrpcap
from scapy.layers.ipsec import SecurityAssociation

from tb.ipsec.designs import slot_design
from tb.ipsec.frames import HERE, HERE6, KEY, SALT, SPI, THERE, THERE6
from tests.ipsec.test_captures import tshark_fields

BENCH = "tb.ipsec.bench_tx"
FOR_OTHERS = "frames_for_others_to_decrypt"
ICARUS = [
    "every_form_of_esp_is_put_on",
    "bad_frames_end_with_their_reason_and_short_ones_as_truncated",
    "a_reset_in_mid_frame_leaves_nothing",
]
"""What Icarus runs: it knows X."""
SMALL = [
    "a_key_that_the_engine_has_not_is_no_key",
    "no_packet_is_longer_than_its_limits",
    "long_packets_are_encrypted_whole",
    "keys_and_salts_are_never_read",
    "a_storm_of_all_kinds_is_as_the_model_says",
    "sas_change_under_traffic_and_each_frame_has_the_old_one_or_the_new",
]


def test_transmit(sim: str, simulate: Callable[..., Any]) -> None:
    small = sim == "icarus"
    design = slot_design("ipsec_tx", **({"SAS": 8, "HOLD_BEATS": 64} if small else {}))
    env = {"NICLOOP_SLOT": "ipsec_tx", "NICLOOP_HOLD": "64" if small else "1024"}
    simulate(design, BENCH, tests=ICARUS if small else None, env=env)


def test_transmit_without_sm4_and_with_few_sas_and_beats(simulate: Callable[..., Any]) -> None:
    env = {"NICLOOP_SLOT": "ipsec_tx", "NICLOOP_HOLD": "64", "NICLOOP_SM4": "0"}
    simulate(slot_design("ipsec_tx", SAS=8, HOLD_BEATS=64, SM4_EN=0), BENCH, tests=SMALL, env=env)


@pytest.fixture
def sent(simulate: Callable[..., Any]) -> list[tuple[int, bytes, bytes]]:
    """Frames of ``ipsec_tx``: number of the SA, plain, sealed."""
    run = simulate(slot_design("ipsec_tx"), BENCH, tests=[FOR_OTHERS], env={"NICLOOP_SLOT": "ipsec_tx"})
    lines = (Path(run.folder) / "sent.txt").read_text().splitlines()
    found = [(int(number), bytes.fromhex(plain), bytes.fromhex(out)) for number, plain, out in map(str.split, lines)]
    assert len(found) == 36
    return found


def test_scapy_decrypts_what_leaves(sent: list[tuple[int, bytes, bytes]]) -> None:
    """Tags of 16 bytes: of others Scapy knows nothing (scapy#4903)."""
    judged = 0
    for number, plain, out in sent:
        if number == 1:
            continue
        header = IP(src=THERE, dst=HERE) if number == 0 else IPv6(src=THERE6, dst=HERE6)
        theirs = SecurityAssociation(
            ESP, spi=SPI + number, crypt_algo="AES-GCM", crypt_key=KEY + SALT, tunnel_header=header
        )
        assert raw(theirs.decrypt((IP if number == 0 else IPv6)(out[14:]))) == plain[14:]
        judged += 1
    assert judged == 24


def test_tshark_finds_the_tags_of_what_leaves_good(
    sent: list[tuple[int, bytes, bytes]], tshark: str, tmp_path: Path
) -> None:
    wrpcap(str(tmp_path / "out.pcap"), [Ether(out) for _, _, out in sent])
    key = f"0x{(KEY + SALT).hex()}"
    records = [
        f'"{family}","*","{dst}","{SPI + number:#010x}","AES-GCM with {tag} octet ICV [RFC4106]","{key}","NULL",""'
        for number, (family, dst, tag) in enumerate((("IPv4", HERE, 16), ("IPv4", HERE, 12), ("IPv6", HERE6, 16)))
    ]
    found = tshark_fields(tshark, tmp_path / "out.pcap", records, ["esp.icv_good", "esp.pad_len"])
    want = [["1", str(-(len(plain) - 14 + 2) % 4)] for _, plain, _ in sent]
    assert [[row[0].replace("True", "1"), row[1]] for row in found] == want
