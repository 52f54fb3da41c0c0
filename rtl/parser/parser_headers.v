// The fields of Ethernet to L4, outside a tunnel or inside one, of each frame that an engine holds.
//
// Each layer writes its group of fields into the record `write_slot` once, as it is read; `set_found` writes what the walk
// found, and with it says which groups count, so nothing needs to be cleared. With `show` the fields of the record
// `read_slot` stand in `fields`, each where it lies outside a tunnel, all else 0. `fields` is 0 while `show` is 0, for
// the sake of simulation speed.
//
// The IPv4 header is summed in two steps: five sums of six words as the layer is read, the rest with `show`.
//
// Parameters: SLOTS, records held, a power of two, at least 2.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module parser_headers #(
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

    // Fields; the checksum of UDP
    input  wire                     show,
    input  wire [$clog2(SLOTS)-1:0] read_slot,
    output reg  [`META_W-1:0]       fields,
    output wire [15:0]              udp_checksum
);

localparam [15:0] TYPE_STAG = 16'h88a8;
localparam [1:0] KIND_IP4 = 2'd1;
localparam [2:0] KIND_TCP = 3'd1;
localparam [2:0] KIND_UDP = 3'd2;
localparam [2:0] KIND_ICMP = 3'd3;
localparam [2:0] KIND_ICMP6 = 3'd4;
localparam [2:0] KIND_ESP = 3'd5;
localparam [1:0] CHECKSUM_GOOD = 2'd1;
localparam [1:0] CHECKSUM_BAD = 2'd2;

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

// The ones' complement sum of a good header is all ones (RFC 791, RFC 1071).
function ip4_good(input [IP_SUM_W-1:0] sums);
    reg [20:0] sum;
    begin
        sum = {2'd0, sums[18:0]} + {2'd0, sums[37:19]} + {2'd0, sums[56:38]} + {2'd0, sums[75:57]} + {2'd0, sums[94:76]};
        ip4_good = {1'b0, sum[15:0]} + {12'd0, sum[20:16]} == 17'h0ffff;
    end
endfunction

// The fields of a record. A group counts if its layer was read; what nothing set is 0.
function [`META_W-1:0] fields_of(
    input [ETH_W-1:0] f_ethernet, input [IP_W-1:0] f_ip, input [IP_SUM_W-1:0] f_ip_sum, input [L4_W-1:0] f_l4,
    input [FOUND_W-1:0] f_found
);
    reg f_eth, f_fragment, f_more, df, options;
    reg [1:0] f_l3_kind;
    reg [2:0] f_l4_kind;
    reg [4:0] f_ext_mask;
    reg [7:0] f_protocol, f_l4_offset;
    reg [12:0] f_frag_offset;
    reg [15:0] f_udp_length;
    begin
        {f_eth, f_l3_kind, f_protocol, f_ext_mask, f_fragment, f_more, f_frag_offset, f_l4_kind, f_l4_offset,
         f_udp_length} = f_found;
        fields_of = {`META_W{1'b0}};
        if (f_eth) begin
            {fields_of[`MF_DST_MAC], fields_of[`MF_SRC_MAC], fields_of[`MF_ETHERTYPE], fields_of[`MF_VLAN_COUNT],
             fields_of[`MF_VLAN0], fields_of[`MF_VLAN1], fields_of[`MF_VLAN0_AD], fields_of[`MF_VLAN1_AD]} = f_ethernet;
        end
        if (f_l3_kind != 2'd0) begin
            {fields_of[`MF_IP_SRC], fields_of[`MF_IP_DST], fields_of[`MF_L3_OFFSET], fields_of[`MF_L3_LENGTH],
             fields_of[`MF_DSCP], fields_of[`MF_ECN], fields_of[`MF_TTL], df, options} = f_ip;
            fields_of[`MF_L3_KIND] = f_l3_kind;
            fields_of[`MF_DONT_FRAGMENT] = df;
            fields_of[`MF_IP_OPTIONS] = options;
            fields_of[`MF_PROTOCOL] = f_protocol;
            fields_of[`MF_EXT_MASK] = f_ext_mask;
            fields_of[`MF_FRAGMENT] = f_fragment;
            fields_of[`MF_MORE_FRAGMENTS] = f_more;
            fields_of[`MF_FRAG_OFFSET] = f_frag_offset;
            if (f_l3_kind == KIND_IP4) begin
                fields_of[`MF_IP_CHECKSUM] = ip4_good(f_ip_sum) ? CHECKSUM_GOOD : CHECKSUM_BAD;
            end
        end
        fields_of[`MF_L4_KIND] = f_l4_kind;
        fields_of[`MF_L4_OFFSET] = f_l4_offset;
        case (f_l4_kind)
            KIND_TCP: begin
                {fields_of[`MF_SRC_PORT], fields_of[`MF_DST_PORT]} = f_l4[75:44];
                fields_of[`MF_TCP_FLAGS] = f_l4[11:0];
            end
            KIND_UDP: begin
                {fields_of[`MF_SRC_PORT], fields_of[`MF_DST_PORT]} = f_l4[75:44];
                fields_of[`MF_UDP_LENGTH] = f_udp_length;
            end
            KIND_ICMP, KIND_ICMP6: {fields_of[`MF_ICMP_TYPE], fields_of[`MF_ICMP_CODE]} = f_l4[75:60];
            KIND_ESP: {fields_of[`MF_SPI], fields_of[`MF_ESP_SEQ]} = f_l4[75:12];
            default: begin
            end
        endcase
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

wire [ETH_W-1:0] eth = eth_mem[read_slot];
wire [IP_W-1:0] ip = ip_mem[read_slot];
wire [IP_SUM_W-1:0] ip_sum = ip_sum_mem[read_slot];
wire [L4_W-1:0] l4 = l4_mem[read_slot];
wire [FOUND_W-1:0] found = found_mem[read_slot];

assign udp_checksum = l4[27:12];

always @* begin
    fields = {`META_W{1'b0}};
    if (show) begin
        fields = fields_of(eth, ip, ip_sum, l4, found);
    end
end

endmodule

`resetall
