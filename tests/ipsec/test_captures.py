"""ESP of others: captures of Linux, DPDK and strongSwan with their keys, vectors of the Linux kernel, Scapy and tshark.

Sweep:    every AES-GCM ESP capture of the material; AES-128 and -256, with and without ESN, across 2^32; both modes
Stimulus: the captures; frames that the model encrypts
Checks:   decrypted frames against ``cryptography`` called here; encrypted ones against Scapy, tshark, the parser
Timing:   none
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidTag
from scapy.all import ESP, IP, UDP, Ether, IPv6, raw
from scapy.layers.ipsec import SecurityAssociation
from scapy.utils import checksum, wrpcap

from models.ipsec import IpsecRx, IpsecTx
from models.ipsec_sa import Cipher, Mode, Natt, Sa
from models.meta import FIELDS, Code
from models.parser import ParserModel
from tb.ipsec.frames import (
    HERE,
    HERE6,
    KEY,
    NEXT,
    SALT,
    SPI,
    THERE,
    THERE6,
    address,
    datagram,
    described,
    ethernet,
    ipv4,
    ipv6,
    sa,
    trailer,
    unsealed,
)
from tb.replay.capture import read_capture

CAPTURES = (
    "dpdk_secgw_aes128gcm_esn0",
    "dpdk_secgw_aes128gcm_esn1",
    "dpdk_secgw_aes256gcm_esn0",
    "esp_transport_aes128gcm",
    "esp_transport_aes128gcm_esn_wrap",
    "esp_transport_aes256gcm",
    "esp_transport_aes256gcm_esn",
    "esp_transport_aes256gcm_esn_wrap",
    "esp_tunnel_aes128gcm",
    "esp_tunnel_aes128gcm_esn",
    "esp_tunnel_aes128gcm_esn_wrap",
    "esp_tunnel_aes256gcm",
    "esp_tunnel_aes256gcm_esn",
    "ike_guest_transport_esn",
    "ike_guest_transport_noesn",
    "ike_guest_tunnel_noesn",
)
CIPHERS = {16: Cipher.AES_128_GCM, 32: Cipher.AES_256_GCM}


@dataclass
class Peer:
    """An SA of a capture as its keys say it."""

    key: bytes
    salt: bytes
    esn: bool
    high: int = 0
    """High half of the number that came last."""
    low: int = 0


def independent(packet: bytes, peer: Peer) -> tuple[bytes, int]:
    """Text of an ESP packet and its next header, and the peer's number moved on: a lower number that decrypts with the
    next high half is beyond 2^32."""
    low = int.from_bytes(packet[4:8], "big")
    for high in (peer.high, peer.high + 1) if peer.esn else (None,):
        try:
            text = unsealed(packet, peer.key, peer.salt, high)
        except InvalidTag:
            continue
        if high is not None:
            peer.high = high
        peer.low = low
        return text[: len(text) - 2 - text[-2]], text[-1]
    raise AssertionError(f"{packet[:8].hex()}: not even cryptography opens it")


def peers_of(material: Path, name: str) -> dict[int, Peer]:
    found = json.loads((material / f"10_peers/{name}.pcap.keys.json").read_text())
    return {
        int(one["spi"], 16): Peer(bytes.fromhex(one["key"])[:-4], bytes.fromhex(one["key"])[-4:], one["esn"])
        for one in found
    }


def test_all_captures_of_peers_with_keys_are_named_here(material):
    names = {path.name.split(".")[0] for path in (material / "10_peers").glob("*.keys.json")}
    assert names == set(CAPTURES)


@pytest.mark.parametrize("name", CAPTURES)
def test_every_frame_of_a_peer_decrypts_to_what_cryptography_says(name, material):
    peers = peers_of(material, name)
    keys = json.loads((material / f"10_peers/{name}.pcap.keys.json").read_text())
    capture = read_capture(material / f"10_peers/{name}.pcap")
    frames = [capture.batch.frame(i) for i in range(len(capture.batch))]
    rx = IpsecRx()
    for number, one in enumerate(keys):
        peer = peers[int(one["spi"], 16)]
        wraps = "wrap" in name
        rx.table.write(
            number,
            Sa(
                spi=int(one["spi"], 16),
                cipher=CIPHERS[len(peer.key)],
                key=peer.key,
                salt=peer.salt,
                mode=Mode.EITHER,
                esn=peer.esn,
                dst=address(one["dst"]),
                window=64,
                sequence=0xFFFFFF00 if wraps else 0,
            ),
        )
    seen: Counter[int] = Counter()
    highs = defaultdict(set)
    for frame in frames:
        given = described(frame)
        result = rx.decap(frame, given)
        if given.l4_kind != 5:
            assert result.frame == frame and not result.meta
            continue
        peer = peers[given.spi]
        payload, next_header = independent(frame[given.l4_offset : given.end], peer)
        assert result.code == Code.NONE, Code(result.code).name
        assert result.frame is not None
        if next_header in (4, 41):
            length = int.from_bytes(payload[2:4], "big")
            assert next_header == 4 and result.frame == frame[: given.l3_offset] + payload[:length]
        else:
            assert result.frame[given.l3_payload_offset :] == payload
            ip = IP(result.frame[given.l3_offset :])
            assert (ip.proto, ip.len) == (next_header, len(result.frame) - given.l3_offset)
            assert checksum(result.frame[given.l3_offset : given.l3_payload_offset]) == 0
        # The packet in it is whole: its own checksums say so.
        parsed = ParserModel().parse(result.frame)
        assert (parsed.code, parsed.ip_checksum) == (0, 1) and parsed.user >> 8 in (0, 1)
        seen[given.spi] += 1
        highs[given.spi].add(peer.high)
    assert len(seen) == len(keys), "an SA of the capture has no frame"
    assert rx.counters["secured"] == sum(seen.values()) and rx.counters["frames"] == len(frames)
    if "wrap" in name:
        assert all(found == {0, 1} for found in highs.values()), "the capture doesn't cross 2^32"


def test_published_packets_of_dpdk_decrypt_to_the_published_packet(material):
    vectors = json.loads((material / "02_esp/dpdk_esp_aead_packets.json").read_text())["vectors"]
    judged = []
    for vector in vectors:
        key = bytes.fromhex(vector["key"])
        packet = bytes.fromhex(vector["esp_ip"])
        frame = ethernet(packet)
        given = described(frame)
        ours = vector["alg"] == "AES_GCM" and len(key) in CIPHERS
        rx = IpsecRx()
        rx.drop_cipher = True
        rx.table.write(
            0,
            Sa(
                spi=vector["spi"],
                cipher=CIPHERS[len(key)] if ours else Cipher.OTHER,
                key=key if ours else b"",
                salt=bytes.fromhex(vector["salt"])[:4] if ours else bytes(4),
                ipv6=packet[0] >> 4 == 6,
                dst=given.ip_dst,
            ),
        )
        result = rx.decap(frame, given)
        if not ours:
            assert result.code == Code.IPSEC_CIPHER
            continue
        assert result.frame is not None, Code(result.code).name
        assert result.frame[14:] == bytes.fromhex(vector["plain_ip"])
        judged.append(vector["name"])
    assert judged == ["pkt_aes_128_gcm", "pkt_aes_256_gcm", "pkt_aes_256_gcm_v6", "pkt_aes_128_gcm_frag"]


def test_rfc4106_vectors_of_the_linux_kernel_encrypt_and_decrypt(material):
    vectors = json.loads((material / "02_esp/linux_testmgr_rfc4106.json").read_text())["vectors"]
    judged = 0
    for vector in vectors:
        raw_key, iv = bytes.fromhex(vector["key"]), bytes.fromhex(vector["iv"])
        aad = bytes.fromhex(vector["aad"])[:-8]
        text, sealed = bytes.fromhex(vector["pt"]), bytes.fromhex(vector["ct_tag"])
        if len(raw_key) - 4 not in CIPHERS:
            continue
        one = Sa(
            spi=int.from_bytes(aad[:4], "big"),
            cipher=CIPHERS[len(raw_key) - 4],
            key=raw_key[:-4],
            salt=raw_key[-4:],
            esn=len(aad) == 12,
        )
        number = int.from_bytes(aad[4:], "big")
        assert one.encrypt(number, iv, text) == sealed
        assert one.decrypt(number, iv, sealed) == text
        judged += 1
    assert judged == 22, "one of 23 is AES-192"


INNER = {
    4: lambda size: ipv4(datagram(bytes(range(size))), src="10.0.0.1", dst="10.0.0.2", tos=0xB9),
    6: lambda size: ipv6(datagram(bytes(range(size))), src="fd00::1", dst="fd00::2", traffic_class=0xB9),
}
OUTER = {4: (THERE, HERE), 6: (THERE6, HERE6)}


def encrypted(frame: bytes, one: Sa) -> bytes:
    """The frame that ``ipsec_tx`` makes, whose metadata must be what a parser reads in it."""
    tx = IpsecTx()
    tx.table.write(9, one)
    result = tx.encap(frame, described(frame, protect=9))
    assert result.frame is not None, Code(result.code).name
    parsed = ParserModel(parse_bytes=256).parse(result.frame)
    before = ParserModel(parse_bytes=256).parse(frame).meta_fields()
    assert before | {k: v for k, v in result.meta.items() if k in before} == parsed.meta_fields()
    again = described(result.frame)
    extra = {k: result.meta[k] for k in ("protocol_offset", "l3_payload_offset", "segments_left") if k in result.meta}
    assert {k: getattr(again, k) for k in extra} == extra
    assert result.user == parsed.user and result.meta["sa"] == 9
    assert set(result.meta) <= {f.name for f in FIELDS} | {"protocol_offset", "l3_payload_offset", "segments_left"}
    return result.frame


@pytest.mark.parametrize("esn", [False, True])
@pytest.mark.parametrize("natt", [False, True])
@pytest.mark.parametrize(("outer", "inner"), list(product((4, 6), (4, 6))))
def test_scapy_decrypts_a_tunnel_of_the_model(outer, inner, natt, esn):
    src, dst = OUTER[outer]
    header = IP(src=src, dst=dst) if outer == 4 else IPv6(src=src, dst=dst)
    encap = UDP(sport=4500, dport=4500) if natt else None
    theirs = SecurityAssociation(
        ESP, spi=SPI, crypt_algo="AES-GCM", crypt_key=KEY + SALT, tunnel_header=header, nat_t_header=encap
    )
    for size in range(5):
        packet = INNER[inner](size)
        one = sa(
            mode=Mode.TUNNEL,
            natt=Natt.YES if natt else Natt.NO,
            esn=esn,
            ipv6=outer == 6,
            src=address(src),
            dst=address(dst),
            sequence=(3 << 32) - 1 if esn else 5,
        )
        frame = encrypted(ethernet(packet), one)
        out = frame[14:]
        found = (IP if outer == 4 else IPv6)(out)
        if outer == 6 and natt:
            assert_udp6_checksum(out)
        opened = theirs.decrypt(found, esn_en=esn, esn=3)
        assert raw(opened) == packet


def assert_udp6_checksum(packet: bytes) -> None:
    """Sum of pseudo-header and datagram (RFC 8200 8.1) is 0."""
    length = len(packet) - 40
    pseudo = packet[8:40] + length.to_bytes(4, "big") + bytes((0, 0, 0, 17))
    assert packet[46:48] != bytes(2) and checksum(pseudo + packet[40:]) == 0


@pytest.mark.parametrize("natt", [False, True])
@pytest.mark.parametrize("version", [4, 6])
def test_scapy_decrypts_transport_mode_of_the_model(version, natt):
    src, dst = OUTER[version]
    theirs = SecurityAssociation(
        ESP,
        spi=SPI,
        crypt_algo="AES-GCM",
        crypt_key=KEY + SALT,
        nat_t_header=UDP(sport=4500, dport=4500) if natt else None,
    )
    for size in range(5):
        packet = (ipv4 if version == 4 else ipv6)(datagram(bytes(range(size))), src=src, dst=dst)
        frame = encrypted(ethernet(packet), sa(natt=Natt.YES if natt else Natt.NO, ipv6=version == 6))
        if natt and version == 6:
            # Of scapy#4371: Scapy leaves the UDP header of IPv6 in place.
            assert_udp6_checksum(frame[14:])
            text = unsealed(frame[14 + 48 :], KEY, SALT)
            assert text == trailer(packet[40:], 17)
            continue
        opened = theirs.decrypt((IP if version == 4 else IPv6)(frame[14:]))
        assert raw(opened) == packet


@pytest.mark.parametrize("tag", [8, 12, 16])
def test_a_tag_of_each_length_is_the_beginning_of_scapys(tag):
    """Of scapy#4903: 16 bytes come whatever is asked. So they are cut here."""
    theirs = SecurityAssociation(
        ESP, spi=SPI, crypt_algo="AES-GCM", crypt_key=KEY + SALT, tunnel_header=IP(src=THERE, dst=HERE)
    )
    inner = INNER[4](10)
    found = theirs.encrypt(IP(inner))
    frame = ethernet(ipv4(raw(found.payload)[: len(found.payload) - 16 + tag], 50))
    one = sa(mode=Mode.TUNNEL, tag=tag, src=address(THERE))
    rx = IpsecRx()
    rx.table.write(0, one)
    result = rx.decap(frame, described(frame))
    assert result.frame == ethernet(inner), Code(result.code).name
    assert len(encrypted(ethernet(inner), one)) == len(frame)


def tshark_fields(tshark: str, capture: Path, records: list[str], names: list[str]) -> list[list[str]]:
    options = ["-o", "esp.enable_encryption_decode:TRUE", "-o", "esp.enable_authentication_check:TRUE"]
    for record in records:
        options += ["-o", f"uat:esp_sa:{record}"]
    for name in names:
        options += ["-e", name]
    command = [tshark, "-r", str(capture), "-T", "fields", "-E", "separator=|", *options]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return [line.split("|") for line in run.stdout.splitlines()]


def test_tshark_finds_the_tags_of_the_model_good_and_reads_the_packet_inside(tshark, tmp_path):
    frames, sizes = [], list(range(12))
    ones = {16: sa(mode=Mode.TUNNEL, src=address(THERE)), 12: sa(mode=Mode.TUNNEL, tag=12, spi=SPI + 1, src=1)}
    for size, one in product(sizes, ones.values()):
        frames.append(encrypted(ethernet(INNER[4](size)), one))
    wrpcap(str(tmp_path / "out.pcap"), [Ether(frame) for frame in frames])
    key = f"0x{(KEY + SALT).hex()}"
    records = [
        f'"IPv4","*","{HERE}","{one.spi:#010x}","AES-GCM with {tag} octet ICV [RFC4106]","{key}","NULL",""'
        for tag, one in ones.items()
    ]
    found = tshark_fields(
        tshark, tmp_path / "out.pcap", records, ["esp.icv_good", "esp.icv_bad", "udp.length", "esp.pad_len"]
    )
    want = []
    for size, _ in product(sizes, ones):
        pads = -(20 + 8 + size + 2) % 4
        want.append(["1", "", str(8 + size), str(pads)])
    assert [
        [row[0].replace("True", "1"), row[1].replace("False", "").replace("0", ""), *row[2:]] for row in found
    ] == want


def test_next_headers_of_a_tunnel_are_those_of_the_inner_family():
    assert NEXT == {4: 4, 6: 41}
    for outer, inner in product((4, 6), (4, 6)):
        src, dst = (address(one) for one in OUTER[outer])
        frame = encrypted(ethernet(INNER[inner](1)), sa(mode=Mode.TUNNEL, ipv6=outer == 6, src=src, dst=dst))
        assert unsealed(frame[14 + {4: 20, 6: 40}[outer] :], KEY, SALT)[-1] == NEXT[inner]
