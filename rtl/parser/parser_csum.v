// The L4 checksum of a frame, beat by beat as the beats move into the output register, and how far the frame reaches.
//
// Ones' complement sum (RFC 1071) of the words of the addresses, of the L4 range, and of what `init` brings: the rest of
// the pseudo-header. Words are summed with their bytes the other way round, as they stand in a beat: the sum of such
// words is the right sum with its bytes the other way round, and all ones stays all ones.
//
// Two stages: a beat's words are masked and summed in the cycle of `load`; in the cycle after, when the beat is in the
// output register, that sum is added to what came before, and `good` is what it says. What is beside `load` belongs to
// the beat that moves; `good` and `*_beyond` to the beat that is in the output register.
//
// The first beat's sum is never needed (addresses lie behind byte 21): `addresses`, `start`, `stop`, `init` and `l3_end`
// are the frame's from the cycle after its first `load` on.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module parser_csum (
    input  wire         clk,

    // Beat that moves into the output register
    input  wire         load,
    input  wire         load_first,
    input  wire [127:0] load_data,

    // Frame: sum it at all; a bit for each of the first 32 words; the L4 range; the end of the IP packet
    input  wire         active,
    input  wire [31:0]  addresses,
    input  wire [7:0]   start,
    input  wire [16:0]  stop,
    input  wire [16:0]  init,
    input  wire [16:0]  l3_end,

    // Beat in the output register
    input  wire [15:0]  keep,
    output wire         good,
    output wire         stop_beyond,
    output wire         l3_beyond
);

localparam [12:0] INDEX_MOST = 13'h1fff;

// Index of the beat in the output register; beyond the longest IP packet it stands still.
reg [12:0] index_reg;
reg [31:0] before_reg;
reg [18:0] sum_reg;

wire [12:0] load_index = index_reg + 13'd1;

// Bytes below `below` of a beat's sixteen.
function [15:0] lanes_below(input [3:0] below);
    lanes_below = ~(16'hffff << below);
endfunction

// Which bytes of beat `index` are summed.
function [15:0] lanes(input [12:0] index, input [31:0] words, input [7:0] from, input [16:0] to);
    reg [7:0] word;
    begin
        lanes = index < {9'd0, from[7:4]} || index > to[16:4] ? 16'd0 : 16'hffff;
        if (index == {9'd0, from[7:4]}) begin
            lanes = lanes & ~lanes_below(from[3:0]);
        end
        if (index == to[16:4]) begin
            lanes = lanes & lanes_below(to[3:0]);
        end
        if (index < 13'd4) begin
            word = words[{index[1:0], 3'd0} +: 8];
            lanes = lanes | {
                {2{word[7]}}, {2{word[6]}}, {2{word[5]}}, {2{word[4]}}, {2{word[3]}}, {2{word[2]}}, {2{word[1]}}, {2{word[0]}}
            };
        end
    end
endfunction

function [15:0] word_of(input [15:0] word, input [1:0] kept);
    word_of = word & {{8{kept[1]}}, {8{kept[0]}}};
endfunction

function [18:0] sum_of(input [127:0] data, input [15:0] kept);
    sum_of = (({3'd0, word_of(data[15:0], kept[1:0])} + {3'd0, word_of(data[31:16], kept[3:2])})
            + ({3'd0, word_of(data[47:32], kept[5:4])} + {3'd0, word_of(data[63:48], kept[7:6])}))
           + (({3'd0, word_of(data[79:64], kept[9:8])} + {3'd0, word_of(data[95:80], kept[11:10])})
            + ({3'd0, word_of(data[111:96], kept[13:12])} + {3'd0, word_of(data[127:112], kept[15:14])}));
endfunction

// Whether byte `to - 1` lies behind the beat with this index and these bytes.
function beyond(input [16:0] to, input [12:0] index, input [15:0] kept);
    reg [16:0] last;
    begin
        last = to - 17'd1;
        beyond = last[16:4] > index || (last[16:4] == index && !kept[last[3:0]]);
    end
endfunction

// Sum with the beat in the output register, and its halves added: all ones, once or twice, if the checksum is good.
wire [31:0] total = before_reg + {13'd0, sum_reg};
wire [16:0] halves = {1'b0, total[31:16]} + {1'b0, total[15:0]};

assign good = halves == 17'h0ffff || halves == 17'h1fffe;
assign stop_beyond = beyond(stop, index_reg, keep);
assign l3_beyond = beyond(l3_end, index_reg, keep);

always @(posedge clk) begin
    if (load) begin
        if (load_first) begin
            index_reg <= 13'd0;
        end else if (index_reg != INDEX_MOST) begin
            index_reg <= load_index;
        end
        if (!load_first && active) begin
            before_reg <= index_reg == 13'd0 ? {15'd0, init} : total;
            sum_reg <= sum_of(load_data, lanes(load_index, addresses, start, stop));
        end
    end
end

endmodule

`resetall
