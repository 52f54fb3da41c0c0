"""The GCM engine at work: the standards' vectors, and what OpenSSL says of everything else.

Sweep:    AES of both sizes, SM4, no key; packets without AAD, without text, without both; tags of 8, 12 and 16 bytes
Stimulus: vectors of SP 800-38D, RFC 8998, FIPS 197 and GB/T 32907; random packets under gaps and stalls, parts that
          stop at any byte, keys written under full load, resets at any time
Checks:   bytes, tags, verdicts, states
Timing:   to the first beat of text 20 cycles (AES), 38 (SM4), to the last one 23 and 41; A + T + 1 cycles a packet
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from typing import Any

import pytest

from tb.gcm.designs import cipher_design, engine_design
from tb.toolchain import ROOT


def test_the_engine_seals_and_opens(sim: str, simulate: Callable[..., Any]) -> None:
    simulate(engine_design(KEYS=16), "tb.gcm.bench_smoke_gcm")


@pytest.mark.parametrize("cipher", ["gcm_aes", "gcm_sm4"])
def test_the_ciphers_are_those_of_their_standards(sim: str, simulate: Callable[..., Any], cipher: str) -> None:
    simulate(cipher_design(cipher), "tb.gcm.bench_smoke_cipher")


def test_the_s_boxes_are_those_of_their_generator() -> None:
    generator = runpy.run_path(str(ROOT / "rtl" / "gcm" / "gcm_sbox.py"))
    for name, text in generator["FILES"].items():
        assert (ROOT / "rtl" / "gcm" / name).read_text() == text, "run python rtl/gcm/gcm_sbox.py"
