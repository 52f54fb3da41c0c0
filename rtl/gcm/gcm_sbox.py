"""Writes `gcm_aes_sbox.vh` and `gcm_sm4_sbox.vh`: the S-boxes of AES and SM4, each from its definition.

`python rtl/gcm/gcm_sbox.py` rewrites both files beside this script. AES (FIPS 197, 5.1.1): the inverse in
GF(2^8), then an affine map. SM4 (GB/T 32907, its algebraic form): an affine map, the inverse, the same map again.
"""

from pathlib import Path

__all__ = ["FILES", "aes_sbox", "sm4_sbox"]

_HERE = Path(__file__).parent
_AES_FIELD, _SM4_FIELD = 0x11B, 0x1F5

TEXT = """\
// {title}. Written by gcm_sbox.py: don't edit.
(* rom_style = "logic" *)
reg [7:0] rom [0:255];

initial begin
{rows}
end
"""


def _times(a: int, b: int, field: int) -> int:
    result = 0
    while b:
        if b & 1:
            result ^= a
        a <<= 1
        if a & 0x100:
            a ^= field
        b >>= 1
    return result


def _inverse(a: int, field: int) -> int:
    """Of 0 it is 0."""
    return next((b for b in range(256) if _times(a, b, field) == 1), 0)


def _affine(a: int, row: int, constant: int) -> int:
    """Bit i is the parity of `a` under `row` rotated left by i, plus that bit of the constant."""
    rows = ((row << i | row >> (8 - i)) & 0xFF for i in range(8))
    return constant ^ sum(((a & mask).bit_count() & 1) << i for i, mask in enumerate(rows))


def aes_sbox() -> list[int]:
    """Of each byte."""
    return [_affine(_inverse(a, _AES_FIELD), 0xF1, 0x63) for a in range(256)]


def sm4_sbox() -> list[int]:
    """Of each byte."""
    return [_affine(_inverse(_affine(a, 0xA7, 0xD3), _SM4_FIELD), 0xA7, 0xD3) for a in range(256)]


def _text(title: str, sbox: list[int]) -> str:
    return TEXT.format(title=title, rows="\n".join(f"    rom[{a}] = 8'h{b:02x};" for a, b in enumerate(sbox)))


FILES = {
    "gcm_aes_sbox.vh": _text("The S-box of AES (FIPS 197, 5.1.1)", aes_sbox()),
    "gcm_sm4_sbox.vh": _text("The S-box of SM4 (GB/T 32907)", sm4_sbox()),
}
"""Name and text of each file."""


def main() -> None:
    """Rewrite the files beside this script."""
    for name, text in FILES.items():
        (_HERE / name).write_text(text)


if __name__ == "__main__":
    main()
