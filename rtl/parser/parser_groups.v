// What the headers from Ethernet to L4 say, outside a tunnel or inside one, of each frame that an engine holds.
//
// Each layer writes its group of fields into the record `write_slot` once, as it is read; `set_found` writes what the walk
// found, and with it says which groups count, so nothing needs to be cleared. The groups of the record `read_slot` are
// at the outputs, highest bits first:
//
//     eth      dst_mac src_mac ethertype vlan_count vlan0 vlan1 vlan0_ad vlan1_ad
//     ip       ip_src ip_dst l3_offset l3_length dscp ecn ttl dont_fragment ip_options
//     ip_sum   five sums of 19 bits, of six words each of the IPv4 header
//     l4       the header's first eight bytes, then TCP's 12 flags
//     found    Ethernet was read, l3_kind protocol ext_mask fragment more_fragments frag_offset l4_kind l4_offset udp_length
//
// Parameters: SLOTS, records held, a power of two, at least 2.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module parser_groups #(
    parameter SLOTS = 2
) (
    input  wire                     clk,

    // Layers: 64 bytes from the layer's first one on, which is on top
    input  wire [$clog2(SLOTS)-1:0] write_slot,
    input  wire [511:0]             head,
    input  wire [8:0]               pos,
    input  wire                     set_eth,
    input  wire                     set_ip4,
    input  wire                     set_ip6,
    input  wire                     set_l4,
    input  wire [1:0]               tags,

    // What was found
    input  wire                     set_found,
    input  wire                     has_eth,
    input  wire [1:0]               l3_kind,
    input  wire [7:0]               protocol,
    input  wire [4:0]               ext_mask,
    input  wire                     fragment,
    input  wire                     more_fragments,
    input  wire [12:0]              frag_offset,
    input  wire [2:0]               l4_kind,
    input  wire [7:0]               l4_offset,
    input  wire [15:0]              udp_length,

    // Groups
    input  wire [$clog2(SLOTS)-1:0] read_slot,
    output wire [147:0]             eth,
    output wire [298:0]             ip,
    output wire [94:0]              ip_sum,
    output wire [75:0]              l4,
    output wire [57:0]              found
);

localparam [15:0] TYPE_STAG = 16'h88a8;

localparam ETH_W = 48 + 48 + 16 + 2 + 16 + 16 + 1 + 1;
localparam IP_W = 128 + 128 + 8 + 17 + 6 + 2 + 8 + 1 + 1;
localparam IP_SUM_W = 5 * 19;
localparam L4_W = 64 + 12;
localparam FOUND_W = 1 + 2 + 8 + 5 + 1 + 1 + 13 + 3 + 8 + 16;

// Groups of fields, a record in each slot.
reg [ETH_W-1:0] eth_mem [0:SLOTS-1];
reg [IP_W-1:0] ip_mem [0:SLOTS-1];
reg [IP_SUM_W-1:0] ip_sum_mem [0:SLOTS-1];
reg [L4_W-1:0] l4_mem [0:SLOTS-1];
reg [FOUND_W-1:0] found_mem [0:SLOTS-1];

// Ethernet and its tags, as a group.
function [ETH_W-1:0] eth_group(input [175:0] bytes, input [1:0] count);
    reg [15:0] word_12, word_14, word_16, word_18, word_20;
    begin
        {word_12, word_14, word_16, word_18, word_20} = bytes[79:0];
        eth_group = {
            bytes[175:80],
            count[1] ? word_20 : count[0] ? word_16 : word_12,
            count,
            count != 2'd0 ? word_14 : 16'd0,
            count[1] ? word_18 : 16'd0,
            count != 2'd0 && word_12 == TYPE_STAG,
            count[1] && word_16 == TYPE_STAG
        };
    end
endfunction

// IPv4 header of at most 30 words: five sums of six words each, those beyond the header left out.
function [IP_SUM_W-1:0] ip4_sums(input [479:0] bytes);
    integer i, k;
    reg [18:0] sum;
    begin
        ip4_sums = {IP_SUM_W{1'b0}};
        for (i = 0; i < 5; i = i + 1) begin
            sum = 19'd0;
            for (k = 0; k < 6; k = k + 1) begin
                if ({27'd0, bytes[475:472], 1'b0} > 6 * i + k) begin
                    sum = sum + {3'd0, bytes[464 - 16 * (6 * i + k) +: 16]};
                end
            end
            ip4_sums[19 * i +: 19] = sum;
        end
    end
endfunction

wire unused_in = &{1'b0, head[31:0], pos[8]};

always @(posedge clk) begin
    if (set_eth) begin
        eth_mem[write_slot] <= eth_group(head[511:336], tags);
    end
    if (set_ip4) begin
        ip_mem[write_slot] <= {
            96'd0, head[415:384], 96'd0, head[383:352], pos[7:0], 1'b0, head[495:480], head[503:496], head[447:440],
            head[462], head[507:504] != 4'd5
        };
        ip_sum_mem[write_slot] <= ip4_sums(head[511:32]);
    end
    if (set_ip6) begin
        ip_mem[write_slot] <= {
            head[447:192], pos[7:0], {1'b0, head[479:464]} + 17'd40, head[507:500], head[455:448], 2'b00
        };
    end
    if (set_l4) begin
        l4_mem[write_slot] <= {head[511:448], head[411:400]};
    end
    if (set_found) begin
        found_mem[write_slot] <= {
            has_eth, l3_kind, protocol, ext_mask, fragment, more_fragments, frag_offset, l4_kind, l4_offset, udp_length
        };
    end
end

assign eth = eth_mem[read_slot];
assign ip = ip_mem[read_slot];
assign ip_sum = ip_sum_mem[read_slot];
assign l4 = l4_mem[read_slot];
assign found = found_mem[read_slot];

endmodule

`resetall
