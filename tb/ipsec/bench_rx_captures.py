"""Captures of other implementations through ``ipsec_rx``: Linux, DPDK, strongSwan, and published packets of DPDK.

Expected is what ``models/ipsec.py`` says, whose judge is ``cryptography`` (tests/ipsec/test_captures.py)."""

from __future__ import annotations

import json
import os
from pathlib import Path

from models.ipsec_sa import Cipher, Mode, Sa
from tb.ipsec.env import Slot, test
from tb.ipsec.frames import address, described, ethernet
from tb.replay.capture import read_capture

MATERIAL = Path(os.environ["NICLOOP_MATERIAL"])
CIPHERS = {16: Cipher.AES_128_GCM, 32: Cipher.AES_256_GCM}


@test
async def captures_of_peers_decrypt(slot: Slot) -> None:
    judged = 0
    for path in sorted((MATERIAL / "10_peers").glob("*.keys.json")):
        capture = read_capture(path.with_name(path.name.removesuffix(".keys.json")))
        for number, one in enumerate(json.loads(path.read_text())):
            key = bytes.fromhex(one["key"])
            await slot.write(
                number,
                Sa(
                    spi=int(one["spi"], 16),
                    cipher=CIPHERS[len(key) - 4],
                    key=key[:-4],
                    salt=key[-4:],
                    mode=Mode.EITHER,
                    esn=one["esn"],
                    dst=address(one["dst"]),
                    window=64,
                    sequence=0xFFFFFF00 if "wrap" in path.name else 0,
                ),
            )
        frames = [capture.batch.frame(at) for at in range(len(capture.batch))]
        esp = [described(frame).l4_kind == 5 for frame in frames]
        found = await slot.ends(map(slot.flight, frames))
        assert found == ["secured" if is_esp else "passed" for is_esp in esp], path.name
        judged += sum(esp)
        await slot.check()
    assert judged, "no capture has ESP"


@test
async def published_packets_of_dpdk_decrypt_to_the_published_packet(slot: Slot) -> None:
    await slot.driver.put("control", 2)
    slot.model.drop_cipher = True
    judged = 0
    for vector in json.loads((MATERIAL / "02_esp/dpdk_esp_aead_packets.json").read_text())["vectors"]:
        key, packet = bytes.fromhex(vector["key"]), bytes.fromhex(vector["esp_ip"])
        frame = ethernet(packet)
        given = described(frame)
        ours = vector["alg"] == "AES_GCM" and len(key) in CIPHERS
        await slot.write(
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
        flight = slot.flight(frame)
        assert await slot.ends([flight]) == ["secured" if ours else "ipsec_cipher"]
        if ours:
            assert flight.result is not None and flight.result.frame is not None
            assert flight.result.frame[14:] == bytes.fromhex(vector["plain_ip"])
            judged += 1
    assert judged == 4
