"""The committed CRC-32 modules are what their generator writes, and its equations are the CRC of IEEE 802.3.

Sweep:    both widths, 64 and 128 bit
Stimulus: random words and registers from a fixed seed
Checks:   the files' text against `rtl/lib/crc32_equations.py`; the masks against `zlib.crc32`
Timing:   none, no simulator runs
"""

import random
import runpy
import zlib
from pathlib import Path
from typing import Any

import pytest

RTL = Path(__file__).parents[2] / "rtl" / "lib"


@pytest.fixture(scope="module")
def generator() -> dict[str, Any]:
    return runpy.run_path(str(RTL / "crc32_equations.py"))


@pytest.mark.parametrize("width", [64, 128])
def test_module_is_current(generator: dict[str, Any], width: int) -> None:
    committed = (RTL / f"crc32_{width}.v").read_text()
    assert committed == generator["verilog"](width), "run python rtl/lib/crc32_equations.py"


@pytest.mark.parametrize("width", [64, 128])
def test_masks_give_zlib_crc32_of_a_word(generator: dict[str, Any], width: int) -> None:
    masks = generator["masks"](width)
    source = random.Random(width)
    for _ in range(200):
        register, word = source.getrandbits(32), source.getrandbits(width)
        stepped = sum((((word ^ register) & mask).bit_count() & 1) << i for i, mask in enumerate(masks))
        expected = zlib.crc32(word.to_bytes(width // 8, "little"), register ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
        assert stepped == expected, f"register {register:#010x}, word {word:#x}"
