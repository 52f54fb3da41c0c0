"""Writes `mac_crc_fold.v` and `mac_crc_residue.v`: the MAC's CRC-32 (IEEE 802.3, 3.2.9) as explicit XOR equations.

`python rtl/mac/mac_crc_equations.py` rewrites both files beside this script. The masks are those of
`rtl/lib/crc32_equations.py`; here they stand alone, without the register and the shifts around them, so that the MAC
can put what `crc32_64` does in one cycle into two.
"""

import runpy
from pathlib import Path

__all__ = ["FILES", "residues"]

_HERE = Path(__file__).parent
_MASKS: list[int] = runpy.run_path(str(_HERE.parent / "lib" / "crc32_equations.py"))["masks"](64)
RESIDUE = 0xDEBB20E3
"""The register behind a frame and its right FCS."""

FOLD = """\
// mac_crc_fold: the CRC-32 register after 64 bits, from a register of zero.
// Written by mac_crc_equations.py: don't edit.
//
// IEEE 802.3 clause 3.2.9. What the register held before is added to the word's first four bytes. No register, no
// latency: each bit is the parity of about half the word.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_crc_fold (
    input  wire [63:0] word,
    output wire [31:0] crc
);

{equations}

endmodule

`resetall
"""

RESIDUES = """\
// mac_crc_residue: is this the register behind a frame with a right FCS? Written by mac_crc_equations.py: don't edit.
//
// The frame's last word, of `count` bytes (0 to 7), was filled up with zeros: they take the residue of IEEE 802.3,
// clause 3.2.9, to another constant, one a count. So no word need be moved for its length. No register, no latency.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_crc_residue (
    input  wire [31:0] crc,
    input  wire [2:0]  count,
    output wire        ok
);

reg [31:0] expected;

always @* begin
    case (count)
{cases}
    endcase
end

assign ok = crc == expected;

endmodule

`resetall
"""


def _zero_byte(register: int) -> int:
    for _ in range(8):
        register = (register >> 1) ^ (0xEDB88320 if register & 1 else 0)
    return register


def residues() -> list[int]:
    """For 0 to 7 bytes in the last word, the register behind that word."""
    values = [RESIDUE]
    for _ in range(8):
        values.append(_zero_byte(values[-1]))
    return [values[8 - count] for count in range(8)]


def _fold() -> str:
    lines = [f"assign crc[{i}] = ^(word & 64'h{mask:016x});" for i, mask in enumerate(_MASKS)]
    return FOLD.format(equations="\n".join(lines))


def _residue() -> str:
    lines = [f"        3'd{count}: expected = 32'h{value:08x};" for count, value in enumerate(residues())]
    lines[-1] = lines[-1].replace("3'd7:", "default:")
    return RESIDUES.format(cases="\n".join(lines))


FILES = {"mac_crc_fold.v": _fold(), "mac_crc_residue.v": _residue()}
"""Name and text of each file."""


def main() -> None:
    """Rewrite the files beside this script."""
    for name, text in FILES.items():
        (_HERE / name).write_text(text)


if __name__ == "__main__":
    main()
