"""Bench of ``gcm_aes`` and of ``gcm_sm4``: the standards' vectors, then a block a cycle, each with a key of its own.

``dut.s_256`` tells which of the two it is.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from cocotb.triggers import RisingEdge
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tb.lib.clock import start_clock, wait_cycles
from tb.lib.suite import seeded, test

__all__: list[str] = []

COUNT = bytes.fromhex("00112233445566778899aabbccddeeff")
AES_KNOWN = [
    ("000102030405060708090a0b0c0d0e0f", COUNT, "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", COUNT, "8ea2b7ca516745bfeafc49904b496089"),
    ("2b7e151628aed2a6abf7158809cf4f3c", bytes.fromhex("3243f6a8885a308d313198a2e0370734"),
     "3925841d02dc09fbdc118597196a0b32"),
]  # fmt: skip
"""FIPS 197, appendices C.1, C.3 and B."""
_SM4 = "0123456789abcdeffedcba9876543210"
SM4_KNOWN = [(_SM4, bytes.fromhex(_SM4), "681edf34d206965e86b3e94f536e4246")]
"""GB/T 32907, appendix A.1."""


@test
async def blocks_of_any_key_come_out_a_cycle_each(dut: Any) -> None:
    """The published ones first; then keys of both sizes in any order, with cycles without any."""
    aes = hasattr(dut, "s_256")
    latency = 15 if aes else 33
    rng = seeded("gcm_cipher")
    start_clock(dut.clk)
    edge = RisingEdge(dut.clk)
    dut.rst.value, dut.s_valid.value, dut.s_user.value = 1, 0, 0
    await wait_cycles(dut.clk, 3)
    dut.rst.value = 0
    cases = [(bytes.fromhex(key), text, bytes.fromhex(out)) for key, text, out in (AES_KNOWN if aes else SM4_KNOWN)]
    for _ in range(200):
        key, text = rng.randbytes(rng.choice([16, 32]) if aes else 16), rng.randbytes(16)
        algorithm = algorithms.AES(key) if aes else algorithms.SM4(key)
        cases.append((key, text, Cipher(algorithm, modes.ECB()).encryptor().update(text)))
    waiting: deque[tuple[int, bytes, int] | None] = deque([None] * latency)
    at = 0
    while at < len(cases) or any(waiting):
        expected = None
        if at < len(cases) and rng.random() < 0.8:
            key, text, out = cases[at]
            user = rng.getrandbits(1)
            dut.s_valid.value, dut.s_user.value = 1, user
            dut.s_key.value = int.from_bytes(key, "little")
            dut.s_block.value = int.from_bytes(text, "little")
            if aes:
                dut.s_256.value = int(len(key) == 32)
            expected = at, out, user
            at += 1
        else:
            dut.s_valid.value = 0
        waiting.append(expected)
        await edge
        due = waiting.popleft()
        assert int(dut.m_valid.value) == int(due is not None)
        if due is not None:
            number, out, user = due
            came = dut.m_block.value.to_unsigned().to_bytes(16, "little")
            assert came == out, f"block {number}: {came.hex()}, not {out.hex()}"
            assert int(dut.m_user.value) == user


@test
async def a_reset_forgets_what_is_under_way(dut: Any) -> None:
    start_clock(dut.clk)
    dut.rst.value, dut.s_valid.value, dut.s_key.value, dut.s_block.value, dut.s_user.value = 0, 1, 0, 0, 0
    if hasattr(dut, "s_256"):
        dut.s_256.value = 0
    await wait_cycles(dut.clk, 60)
    assert int(dut.m_valid.value) == 1
    dut.rst.value, dut.s_valid.value = 1, 0
    await wait_cycles(dut.clk, 2)
    dut.rst.value = 0
    for _ in range(40):
        await RisingEdge(dut.clk)
        assert int(dut.m_valid.value) == 0
