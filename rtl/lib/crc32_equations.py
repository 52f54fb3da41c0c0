"""Writes `crc32_64.v` and `crc32_128.v`: the CRC-32 of IEEE 802.3, clause 3.2.9, as explicit XOR equations.

`python rtl/lib/crc32_equations.py` rewrites both files beside this script. The equations follow from linearity: the CRC
register after a whole word is the XOR, over the word's one bits, of what each bit alone leaves in a register that was
zero. So each bit of the register is the parity of the word under a constant mask.
"""

from pathlib import Path

__all__ = ["WIDTHS", "masks", "verilog"]

WIDTHS = (64, 128)
POLYNOMIAL = 0xEDB88320
"""G(x) of clause 3.2.9 with the bits reversed: a byte's first bit on the wire is its least significant."""

TEMPLATE = """\
// crc32_{width}: the CRC-32 of a stream's bytes, {width} bits a cycle. Written by crc32_equations.py: don't edit.
//
// IEEE 802.3 clause 3.2.9, the frame check sequence. `crc` is the number that zlib.crc32 gives; on the wire its least
// significant byte goes first.
//
// Latency      crc and crc_valid 1 cycle after the last beat; crc is undefined in any other cycle.
// Throughput   one beat a cycle, frames back to back; s_valid may pause anywhere.
//
// s_keep has all bits set but on the last beat, where 1 to {bytes} bits are set from bit 0 up. What the other bytes of
// s_data hold doesn't matter. s_first starts a new frame, whatever came before.
//
// One network serves every tail length. Bytes of zero in front of a register of zero change nothing, so the word, with
// the register added to its first four bytes, is moved up until its last byte stands on top; a tail of less than four
// bytes leaves the rest of the register over, which is added behind the network.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module crc32_{width} (
    input  wire         clk,
    input  wire         rst,
    input  wire [{data_msb}:0]{pad} s_data,
    input  wire [{keep_msb}:0]{keep_pad} s_keep,
    input  wire         s_valid,
    input  wire         s_first,
    input  wire         s_last,
    output wire [31:0]  crc,
    output wire         crc_valid
);

    reg [31:0] state_reg;
    reg        valid_reg;

    // The register after `register` has taken the bytes of `data` that `keep` names.
    function [31:0] step;
        input [31:0] register;
        input [{data_msb}:0] data;
        input [{keep_msb}:0] keep;
        reg [{data_msb}:0] d;
        reg [{keep_msb}:0] k;
        reg [31:0] over;
        begin
            d = data ^ {{{upper}'d0, register}};
            k = keep;
            over = keep[3] ? 32'd0 : keep[2] ? register >> 24 : keep[1] ? register >> 16 : register >> 8;
{shifts}
{equations}
        end
    endfunction

    always @(posedge clk) begin
        valid_reg <= s_valid & s_last & ~rst;
        if (s_valid) state_reg <= step(s_first ? 32'hffffffff : state_reg, s_data, s_keep);
    end

    assign crc       = ~state_reg;
    assign crc_valid = valid_reg & ~rst;

endmodule

`resetall
"""


def masks(width: int) -> list[int]:
    """For each of the register's 32 bits, the bits of a word of `width` bits whose parity it is."""
    result = [0] * 32
    register = 1
    # A one in the word's last bit (the last on the wire) leaves the polynomial; each earlier bit is one step more.
    for bit in reversed(range(width)):
        register = (register >> 1) ^ (POLYNOMIAL if register & 1 else 0)
        for i in range(32):
            result[i] |= (register >> i & 1) << bit
    return result


def verilog(width: int) -> str:
    """The text of `crc32_<width>.v`."""
    lanes = width // 8
    shifts = []
    step = lanes // 2
    while step:
        move = f"d = d << {8 * step};"
        if step > 1:
            move = f"begin {move} k = {{k[{lanes - step - 1}:0], {step}'h{(1 << step) - 1:x}}}; end"
        shifts.append(f"            if (!k[{lanes - step}]) {move}")
        step //= 2
    equations = [
        f"            step[{i}] = over[{i}] ^ (^(d & {width}'h{mask:0{width // 4}x}));"
        for i, mask in enumerate(masks(width))
    ]
    return TEMPLATE.format(
        width=width,
        bytes=lanes,
        data_msb=width - 1,
        keep_msb=lanes - 1,
        pad=" " * (3 - len(str(width - 1))),
        keep_pad=" " * (3 - len(str(lanes - 1))),
        upper=width - 32,
        shifts="\n".join(shifts),
        equations="\n".join(equations),
    )


def main() -> None:
    """Rewrite both files beside this script."""
    for width in WIDTHS:
        Path(__file__).with_name(f"crc32_{width}.v").write_text(verilog(width))


if __name__ == "__main__":
    main()
