"""Bench of ``gcm``: the standards' own vectors, mixed traffic, parts, keys, cycles, resets; driven pin by pin.

What is expected is retyped from SP 800-38D's test cases and RFC 8998, or made by OpenSSL.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tb.lib.clock import cycle, reset, start_clock, wait_cycles
from tb.lib.suite import seeded, test

__all__: list[str] = []

AES, SM4 = 0, 1
LATENCY = {AES: 20, SM4: 38, None: 5}
"""By cipher; None: no key. To the last beat three more."""
TAIL = 3


@dataclass(frozen=True)
class Known:
    """A published vector."""

    cipher: int
    key: bytes
    iv: bytes
    aad: bytes
    text: bytes
    out: bytes
    tag: bytes


def known(cipher: int, key: str, iv: str, aad: str, text: str, out: str, tag: str) -> Known:
    return Known(cipher, *(bytes.fromhex(value) for value in (key, iv, aad, text, out, tag)))


KEY = "feffe9928665731c6d6a8f9467308308"
IV = "cafebabefacedbaddecaf888"
AAD = "feedfacedeadbeeffeedfacedeadbeefabaddad2"
TEXT = (
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255"
)
OUT_128 = (
    "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
    "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985"
)
OUT_256 = (
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad"
)
KNOWN = [
    known(AES, "00" * 16, "00" * 12, "", "", "", "58e2fccefa7e3061367f1d57a4e7455a"),
    known(AES, "00" * 16, "00" * 12, "", "00" * 16, "0388dace60b6a392f328c2b971b2fe78",
          "ab6e47d42cec13bdf53a67b21257bddf"),
    known(AES, KEY, IV, "", TEXT, OUT_128, "4d5c2af327cd64a62cf35abd2ba6fab4"),
    known(AES, KEY, IV, AAD, TEXT[:120], OUT_128[:120], "5bc94fbc3221a5db94fae95ae7121a47"),
    known(AES, "00" * 32, "00" * 12, "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"),
    known(AES, "00" * 32, "00" * 12, "", "00" * 16, "cea7403d4d606b6e074ec5d3baf39d18",
          "d0d1c8a799996bf0265b98b5d48ab919"),
    known(AES, KEY * 2, IV, "", TEXT, OUT_256, "b094dac5d93471bdec1a502270e3cc6c"),
    known(AES, KEY * 2, IV, AAD, TEXT[:120], OUT_256[:120], "76fc6ece0f4e1768cddf8853bb2d551b"),
    known(SM4, "0123456789abcdeffedcba9876543210", "00001234567800000000abcd", AAD,
          "aa" * 8 + "bb" * 8 + "cc" * 8 + "dd" * 8 + "ee" * 8 + "ff" * 8 + "ee" * 8 + "aa" * 8,
          "17f399f08c67d5ee19d0dc9969c4bb7d5fd46fd3756489069157b282bb200735"
          "d82710ca5c22f0ccfa7cbf93d496ac15a56834cbcf98c397b4024a2691233b8d",
          "83de3541e4c2b58177e065a9bf7b62ec"),
]  # fmt: skip
"""SP 800-38D (the mode's test cases 1 to 4 and 13 to 16), RFC 8998, appendix A.1."""


@dataclass
class Packet:
    """A command and its beats; what came out, and when."""

    key: int = 0
    iv: bytes = bytes(12)
    aad: bytes = b""
    text: bytes = b""
    decrypt: bool = False
    tag: bytes = bytes(16)
    tag_bytes: int = 16
    save: bool = False
    state: int | None = None
    taken: list[int] = field(default_factory=list)
    """The cycle of each beat's handshake, AAD first."""
    came: list[int] = field(default_factory=list)
    out: bytes = b""
    user: int = 0
    tag_out: bytes = b""
    state_out: int = 0

    def beats(self) -> Iterator[tuple[int, int, int]]:
        """Data, keep, and whether it is AAD."""
        place = (self.state >> 272) % 16 if self.state is not None else 0
        for at in range(0, len(self.aad), 16):
            yield _beat(self.aad[at : at + 16], 0, 1)
        if self.text:
            whole = bytes(place) + self.text
            for at in range(0, len(whole), 16):
                skip = place if at == 0 else 0
                yield _beat(whole[at + skip : at + 16], skip, 0)
        elif not self.aad:
            yield 0, 0, 0


def _beat(data: bytes, lane: int, aad: int) -> tuple[int, int, int]:
    return int.from_bytes(bytes(lane) + data, "little"), ((1 << len(data)) - 1) << lane, aad


def sealed(cipher: int, key: bytes, iv: bytes, aad: bytes, text: bytes) -> tuple[bytes, bytes]:
    """Ciphertext and tag, by OpenSSL."""
    algorithm = algorithms.SM4(key) if cipher == SM4 else algorithms.AES(key)
    encryptor = Cipher(algorithm, modes.GCM(iv)).encryptor()
    encryptor.authenticate_additional_data(aad)
    out = encryptor.update(text) + encryptor.finalize()
    return out, encryptor.tag


class Engine:
    """Drives commands and beats in order, takes what comes. gaps, stalls: chance of a cycle without."""

    def __init__(self, dut: Any, name: str) -> None:
        self.dut = dut
        self.rng: Random = seeded("gcm", name)
        start_clock(dut.clk)
        self.edge = RisingEdge(dut.clk)
        self.gaps = self.stalls = 0.0
        self.blocked = False
        self.off = False
        self.commands: deque[Packet] = deque()
        self.sources: deque[Packet] = deque()
        self.sinks: deque[Packet] = deque()
        self._beats: deque[tuple[int, int, int]] = deque()
        self.done: list[int] = []

    async def start(self) -> Engine:
        dut = self.dut
        for signal in ("key_valid", "s_cmd_valid", "s_axis_tvalid", "m_axis_tready", "key_erase", "s_cmd_resume",
                       "s_cmd_save", "s_axis_tuser", "s_axis_tlast"):  # fmt: skip
            getattr(dut, signal).value = 0
        await self.restart()
        cocotb.start_soon(self._run())
        return self

    async def restart(self) -> None:
        """A reset; whatever was under way is forgotten."""
        self.off = True
        self.dut.s_cmd_valid.value = self.dut.s_axis_tvalid.value = 0
        for queue in (self.commands, self.sources, self.sinks, self._beats):
            queue.clear()
        await reset(self.dut.rst, self.dut.clk, 2)
        self.off = False
        while not int(self.dut.ready.value):
            assert not int(self.dut.s_cmd_ready.value) and not int(self.dut.key_ready.value)
            await self.edge

    def send(self, *packets: Packet) -> None:
        for packet in packets:
            self.commands.append(packet)
            self.sources.append(packet)
            self.sinks.append(packet)

    async def drain(self, cycles: int = 20000) -> None:
        """Until all has come out; nothing is left inside."""
        for _ in range(cycles):
            if not self.sinks:
                break
            await self.edge
        assert not self.sinks, f"{len(self.sinks)} packets never came"
        await wait_cycles(self.dut.clk, 3)
        assert int(self.dut.idle.value) == 1, "not idle"

    async def key(self, index: int, key: bytes, cipher: int = AES, *, erase: bool = False) -> int:
        """Write a key; returns the cycles until it was done."""
        dut = self.dut
        dut.key_index.value, dut.key_cipher.value, dut.key_erase.value = index, cipher, int(erase)
        dut.key_256.value, dut.key_data.value = int(len(key) == 32), int.from_bytes(key, "little")
        dut.key_valid.value = 1
        await self.edge
        while not int(dut.key_ready.value):
            await self.edge
        dut.key_valid.value = 0
        begun = cycle(dut.clk)
        await self.edge
        while not int(dut.key_done.value):
            await self.edge
        return cycle(dut.clk) - begun

    async def _run(self) -> None:
        dut = self.dut
        while True:
            await self.edge
            now = cycle(dut.clk)
            if self.off:
                continue
            self._out(now)
            if int(dut.s_cmd_valid.value) and int(dut.s_cmd_ready.value):
                self.commands.popleft()
                dut.s_cmd_valid.value = 0
            if int(dut.s_axis_tvalid.value) and int(dut.s_axis_tready.value):
                self.sources[0].taken.append(now)
                self._beats.popleft()
                if not self._beats:
                    self.sources.popleft()
                dut.s_axis_tvalid.value = 0
            self._drive()

    def _drive(self) -> None:
        dut = self.dut
        if self.commands and self.rng.random() >= self.gaps:
            packet = self.commands[0]
            dut.s_cmd_valid.value = 1
            dut.s_cmd_key.value, dut.s_cmd_decrypt.value = packet.key, int(packet.decrypt)
            dut.s_cmd_iv.value = int.from_bytes(packet.iv, "little")
            dut.s_cmd_tag_bytes.value, dut.s_cmd_save.value = packet.tag_bytes, int(packet.save)
            dut.s_cmd_resume.value = int(packet.state is not None)
            dut.s_cmd_state.value = self.rng.getrandbits(308) if packet.state is None else packet.state
        if self.sources and self.rng.random() >= self.gaps:
            packet = self.sources[0]
            if not self._beats:
                self._beats.extend(packet.beats())
            data, keep, aad = self._beats[0]
            # Lanes that aren't kept hold noise.
            noise = sum(self.rng.getrandbits(8) << 8 * lane for lane in range(16) if not keep >> lane & 1)
            dut.s_axis_tvalid.value, dut.s_axis_tlast.value = 1, int(len(self._beats) == 1)
            dut.s_axis_tdata.value, dut.s_axis_tkeep.value, dut.s_axis_tuser.value = data | noise, keep, aad
            dut.s_axis_tag.value = int.from_bytes(packet.tag.ljust(16, b"\xa5"), "little")
        dut.m_axis_tready.value = int(not self.blocked and self.rng.random() >= self.stalls)

    def _out(self, now: int) -> None:
        dut = self.dut
        if not int(dut.m_axis_tvalid.value) or not int(dut.m_axis_tready.value):
            return
        assert self.sinks, "a beat that nobody waits for"
        packet = self.sinks[0]
        packet.came.append(now)
        keep, data = int(dut.m_axis_tkeep.value), dut.m_axis_tdata.value.to_unsigned().to_bytes(16, "little")
        packet.out += bytes(byte for lane, byte in enumerate(data) if keep >> lane & 1)
        assert all(byte == 0 for lane, byte in enumerate(data) if not keep >> lane & 1)
        if int(dut.m_axis_tlast.value):
            packet.user = int(dut.m_axis_tuser.value)
            packet.tag_out = dut.m_axis_tag.value.to_unsigned().to_bytes(16, "little")
            packet.state_out = dut.m_axis_state.value.to_unsigned()
            self.sinks.popleft()
        else:
            assert int(dut.m_axis_tuser.value) == 0 and dut.m_axis_tag.value.to_unsigned() == 0


def check(packet: Packet, out: bytes, tag: bytes, user: int = 0) -> None:
    assert packet.out == out, f"{packet.out.hex()}, not {out.hex()}"
    assert packet.tag_out == tag, f"tag {packet.tag_out.hex()}, not {tag.hex()}"
    assert packet.user == user, f"user {packet.user}, not {user}"
    assert packet.state_out == 0 or packet.save


@test
async def published_vectors_come_out_both_ways(dut: Any) -> None:
    engine = await Engine(dut, "published").start()
    for index, vector in enumerate(KNOWN):
        await engine.key(index, vector.key, vector.cipher)
    sent = []
    for index, vector in enumerate(KNOWN):
        wrong = bytes([vector.tag[0] ^ 0x80]) + vector.tag[1:]
        sent.append([
            Packet(index, vector.iv, vector.aad, vector.text),
            Packet(index, vector.iv, vector.aad, vector.out, True, vector.tag),
            Packet(index, vector.iv, vector.aad, vector.out, True, wrong),
        ])  # fmt: skip
        engine.send(*sent[-1])
    await engine.drain()
    for vector, (seal, open_, bad) in zip(KNOWN, sent, strict=True):
        check(seal, vector.out, vector.tag)
        check(open_, vector.text, bytes(16))
        check(bad, vector.text, bytes(16), 1)


KEYS: list[tuple[int, bytes] | None] = [
    (AES, bytes(range(16))), (AES, bytes(range(100, 132))), (SM4, bytes(range(50, 66))), None,
]  # fmt: skip


async def write_keys(engine: Engine) -> None:
    for index, key in enumerate(KEYS):
        if key is not None:
            await engine.key(index, key[1], key[0])


def random_packet(rng: Random) -> tuple[Packet, bytes, bytes, int]:
    """And what must come of it: bytes, tag, user."""
    index = rng.randrange(len(KEYS))
    key = KEYS[index]
    aad = rng.randbytes(rng.choice([0, 0, 8, 12, 16, 20, 33]))
    text = rng.randbytes(rng.choice([0, 1, 15, 16, 17, 46, 48, 64, 100]))
    packet = Packet(index, rng.randbytes(12), aad, text, rng.random() < 0.5, tag_bytes=rng.choice([8, 12, 16]))
    if key is None:
        return packet, bytes(len(text)), bytes(16), 3
    out, tag = sealed(*key, packet.iv, aad, text)
    if not packet.decrypt:
        return packet, out, tag, 0
    packet.text = out
    packet.tag = tag[: packet.tag_bytes]
    if rng.random() < 0.5:
        return packet, text, bytes(16), 0
    at = rng.randrange(8 * packet.tag_bytes)
    packet.tag = bytes(byte ^ (1 << at % 8 if at // 8 == i else 0) for i, byte in enumerate(packet.tag))
    return packet, text, bytes(16), 1


@test
async def packets_of_every_kind_pass_in_order(dut: Any) -> None:
    engine = await Engine(dut, "mixed").start()
    await write_keys(engine)
    for gaps, stalls in ((0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.3, 0.7), (0.9, 0.9)):
        engine.gaps, engine.stalls = gaps, stalls
        cases = [random_packet(engine.rng) for _ in range(40)]
        engine.send(*(case[0] for case in cases))
        await engine.drain()
        for packet, out, tag, user in cases:
            check(packet, out, tag, user)


@test
async def a_stop_of_the_output_loses_nothing(dut: Any) -> None:
    engine = await Engine(dut, "stop").start()
    await write_keys(engine)
    for wait in (30, 200):
        cases = [random_packet(engine.rng) for _ in range(60)]
        engine.send(*(case[0] for case in cases))
        await wait_cycles(dut.clk, 25)
        engine.blocked = True
        await wait_cycles(dut.clk, wait)
        engine.blocked = False
        await engine.drain()
        for packet, out, tag, user in cases:
            check(packet, out, tag, user)


@test
async def a_stream_stops_and_goes_on_at_any_byte(dut: Any) -> None:
    engine = await Engine(dut, "parts").start()
    await write_keys(engine)
    rng = engine.rng
    for number in range(40):
        index = number % 4
        key, iv = KEYS[index], rng.randbytes(12)
        aad, text = rng.randbytes(rng.choice([0, 5, 16])), rng.randbytes(rng.choice([0, 3, 16, 40, 70]))
        out, tag = sealed(*key, iv, aad, text) if key is not None else (bytes(len(text)), bytes(16))
        decrypt = rng.random() < 0.5
        source, expected = (out, text) if decrypt and key is not None else (text, out)
        cuts = sorted(rng.choices(range(len(text) + 1), k=rng.randrange(1, 4)))
        state, came, at = None, b"", 0
        for part, end in enumerate([*cuts, len(text)]):
            last = part == len(cuts)
            packet = Packet(index, iv, aad if part == 0 else b"", source[at:end], decrypt, tag, 16, not last, state)
            engine.send(packet)
            await engine.drain()
            came += packet.out
            state, at = packet.state_out, end
            if not last:
                assert packet.tag_out == bytes(16) and packet.user == (0 if key is not None else 3)
                counts = len(aad) | end << 16
                assert state >> 256 == (counts if key is not None else 0)
                if key is None:
                    assert state == 0
                    break
            else:
                assert came == expected
                assert packet.tag_out == (bytes(16) if decrypt else tag) and packet.user == 0


def latencies(packet: Packet) -> tuple[int, int]:
    """From the first beat of text and from the last beat."""
    aad_beats = -(-len(packet.aad) // 16)
    first = packet.taken[aad_beats if packet.text else -1]
    return packet.came[0] - first, packet.came[-1] - packet.taken[-1]


@test
async def latency_is_that_of_the_page(dut: Any) -> None:
    engine = await Engine(dut, "latency").start()
    await write_keys(engine)
    for index, key in enumerate(KEYS):
        wait = LATENCY[key[0] if key is not None else None]
        for aad, text in ((0, 48), (12, 46), (20, 16), (0, 1)):
            packet = Packet(index, bytes(12), bytes(aad), bytes(text))
            engine.send(packet)
            await engine.drain()
            first = wait + TAIL if text <= 16 else wait
            assert latencies(packet) == (first, wait + TAIL), f"{index} {aad} {text}: {latencies(packet)}"
        for packet in (Packet(index), Packet(index, save=True, text=bytes(7))):
            engine.send(packet)
            await engine.drain()
            assert latencies(packet)[1] == wait + TAIL - 1, f"{index}: {latencies(packet)}"
        packet = Packet(index, aad=bytes(16))
        engine.send(packet)
        await engine.drain()
        assert latencies(packet)[1] == wait + TAIL, f"{index}: {latencies(packet)}"


@test
async def a_packet_takes_a_cycle_for_each_block_and_one_more(dut: Any) -> None:
    engine = await Engine(dut, "rate").start()
    await write_keys(engine)
    shapes: list[tuple[int, int]] = [(0, 0), (0, 16), (12, 48), (8, 46), (16, 0), (0, 200)]
    for indexes in ([0], [2], [0, 1, 2]):
        for aad, text in shapes:
            packets = [Packet(indexes[i % len(indexes)], bytes(12), bytes(aad), bytes(text)) for i in range(80)]
            engine.send(*packets)
            await engine.drain()
            cycles = packets[-1].taken[-1] - packets[0].taken[-1]
            assert cycles == 79 * (-(-aad // 16) + -(-text // 16) + 1), f"{indexes} {aad} {text}: {cycles}"


@test
async def a_key_is_written_under_full_load(dut: Any) -> None:
    engine = await Engine(dut, "keys").start()
    await write_keys(engine)
    for cipher, alone in ((AES, 18), (SM4, 36)):
        for load in (None, 0, 2):
            packets = [] if load is None else [Packet(load, bytes(12), b"", bytes(2000)) for _ in range(2)]
            engine.send(*packets)
            await wait_cycles(dut.clk, 40)
            took = await engine.key(9, bytes(range(7, 23)), cipher)
            assert took == (alone if load is None else alone + 16), took
            after = Packet(9, b"twelve bytes", b"aad", b"some text that is longer than a block")
            engine.send(after)
            await engine.drain()
            check(after, *sealed(cipher, bytes(range(7, 23)), after.iv, after.aad, after.text))
            for packet in packets:
                key = KEYS[load or 0]
                assert key is not None
                check(packet, *sealed(*key, packet.iv, packet.aad, packet.text))
    assert await engine.key(9, bytes(16), erase=True) == 2
    gone = Packet(9, bytes(12), b"", b"text")
    engine.send(gone)
    await engine.drain()
    check(gone, bytes(4), bytes(16), 3)


@test
async def a_packet_under_way_keeps_its_key(dut: Any) -> None:
    engine = await Engine(dut, "under_way").start()
    await write_keys(engine)
    old = [Packet(0, bytes(12), b"", bytes(1600)), Packet(0, bytes(12), b"", bytes(160))]
    engine.send(*old)
    await wait_cycles(dut.clk, 10)
    await engine.key(0, bytes(16))
    new = Packet(0, bytes(12), b"", bytes(160))
    engine.send(new)
    await engine.drain()
    key = KEYS[0]
    assert key is not None
    for packet in old:
        check(packet, *sealed(*key, packet.iv, b"", packet.text))
    check(new, *sealed(AES, bytes(16), new.iv, b"", new.text))


@test
async def a_reset_in_mid_packet_leaves_nothing_behind(dut: Any) -> None:
    engine = await Engine(dut, "reset").start()
    for delay in range(0, 60, 4):
        await write_keys(engine)
        cases = [random_packet(engine.rng) for _ in range(20)]
        engine.send(*(case[0] for case in cases))
        await wait_cycles(dut.clk, delay)
        await engine.restart()
        lost = Packet(0, bytes(12), b"", b"no key any more")
        engine.send(lost)
        await engine.drain()
        check(lost, bytes(15), bytes(16), 3)
        await write_keys(engine)
        whole: Sequence[tuple[Packet, bytes, bytes, int]] = [random_packet(engine.rng) for _ in range(4)]
        engine.send(*(case[0] for case in whole))
        await engine.drain()
        for packet, out, tag, user in whole:
            check(packet, out, tag, user)
