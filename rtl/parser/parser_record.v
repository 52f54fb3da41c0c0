// What a walk found, kept from layer to layer, and made into the metadata word when the frame leaves.
//
// A ring of SLOTS records: one that is being written, the others waiting for their frame to leave. Each layer writes its
// group of fields once, as it is read; which groups count is known with `done`, so nothing needs to be cleared.
//
// `start` in the cycle in which a frame's first beat is taken, with its metadata so far; `done` in the cycle in which
// its walk ends; `waiting` from the cycle after, until `take`, which moves the oldest record to the outputs: they stand
// from the cycle after `take` until the next one. `free` says that there is a record for one more `start`.
//
// The IPv4 header is summed in two steps: five sums of six words as the layer is read, the rest with `take`.
//
// Parameters: SLOTS, a power of two, at least 2.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module parser_record #(
    parameter SLOTS = 2
) (
    input  wire               clk,
    input  wire               rst,

    // Frame in
    input  wire               start,
    input  wire [`META_W-1:0] start_meta,
    output wire               free,

    // Layers: 64 bytes from the layer's first one on, which is on top
    input  wire [511:0]       head,
    input  wire [8:0]         pos,
    input  wire               set_eth,
    input  wire               set_mac,
    input  wire               set_ip4,
    input  wire               set_ip6,
    input  wire               set_l4,
    input  wire               set_upper,
    input  wire [1:0]         tags,

    // What was found
    input  wire               done,
    input  wire [6:0]         code,
    input  wire               has_eth,
    input  wire               has_mac,
    input  wire [1:0]         l3_kind,
    input  wire [16:0]        l3_end,
    input  wire [7:0]         protocol,
    input  wire [4:0]         ext_mask,
    input  wire               fragment,
    input  wire               more_fragments,
    input  wire [12:0]        frag_offset,
    input  wire               segments_left,
    input  wire [2:0]         l4_kind,
    input  wire [7:0]         l4_offset,
    input  wire [8:0]         payload_offset,
    input  wire [15:0]        udp_length,
    input  wire               roce,
    input  wire [1:0]         natt,

    // Record out
    output wire               waiting,
    input  wire               take,
    output wire [`META_W-1:0] out_meta,
    output wire [6:0]         out_code,
    output wire [1:0]         out_l3_kind,
    output wire [16:0]        out_l3_end,
    output wire [1:0]         out_sum_kind,
    output wire [31:0]        out_sum_addresses,
    output wire [7:0]         out_sum_start,
    output wire [16:0]        out_sum_end,
    output wire [16:0]        out_sum_init
);

localparam SLOT_W = $clog2(SLOTS);
localparam [SLOT_W-1:0] ONE_SLOT = 1;
localparam [SLOT_W:0] ONE = 1;

localparam [15:0] TYPE_STAG = 16'h88a8;
localparam [1:0] KIND_IP4 = 2'd1;
localparam [1:0] KIND_IP6 = 2'd2;
localparam [2:0] KIND_TCP = 3'd1;
localparam [2:0] KIND_UDP = 3'd2;
localparam [2:0] KIND_ICMP = 3'd3;
localparam [2:0] KIND_ICMP6 = 3'd4;
localparam [2:0] KIND_ESP = 3'd5;
localparam [1:0] NATT_ESP = 2'd1;
localparam [7:0] PROTO_TCP = 8'd6;
localparam [7:0] PROTO_UDP = 8'd17;
localparam [1:0] SUM_NONE = 2'd0;
localparam [1:0] SUM_CHECK = 2'd1;
localparam [1:0] SUM_UNKNOWN = 2'd3;
localparam [1:0] CHECKSUM_GOOD = 2'd1;
localparam [1:0] CHECKSUM_BAD = 2'd2;

localparam CARRY_W = `MF_SEQ_W + `MF_PORT_W + `MF_DIRECTION_W + `MF_TCLASS_W + `MF_QUEUE_W + `MF_TIMESTAMP_W;
localparam ETH_W = 48 + 48 + 16 + 2 + 16 + 16 + 1 + 1;
localparam MAC_W = 16;
localparam IP_W = 128 + 128 + 8 + 17 + 6 + 2 + 8 + 1 + 1;
localparam IP_SUM_W = 5 * 19;
localparam L4_W = 64 + 12;
localparam UPPER_W = 64 + 1 + 24;
localparam FOUND_W = 7 + 1 + 1 + 2 + 8 + 5 + 1 + 1 + 13 + 3 + 8 + 9 + 16 + 1 + 2;
localparam RANGE_W = 17 + 1;

// Groups of fields, a record in each slot.
reg [CARRY_W-1:0] carry_mem [0:SLOTS-1];
reg [ETH_W-1:0] eth_mem [0:SLOTS-1];
reg [MAC_W-1:0] mac_mem [0:SLOTS-1];
reg [IP_W-1:0] ip_mem [0:SLOTS-1];
reg [IP_SUM_W-1:0] ip_sum_mem [0:SLOTS-1];
reg [L4_W-1:0] l4_mem [0:SLOTS-1];
reg [UPPER_W-1:0] upper_mem [0:SLOTS-1];
reg [FOUND_W-1:0] found_mem [0:SLOTS-1];
reg [RANGE_W-1:0] range_mem [0:SLOTS-1];

reg [SLOT_W-1:0] write_reg;
reg [SLOT_W-1:0] read_reg;
reg [SLOT_W:0] held_reg;
reg [SLOT_W:0] waiting_reg;

reg [`META_W-1:0] meta_reg;
reg [6:0] code_reg;
reg [1:0] l3_kind_reg;
reg [16:0] l3_end_reg;
reg [1:0] sum_kind_reg;
reg [31:0] sum_addresses_reg;
reg [7:0] sum_start_reg;
reg [16:0] sum_end_reg;
reg [16:0] sum_init_reg;

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

// The metadata word of a record. A group counts if its layer was read; what nothing set is 0.
function [`META_W-1:0] word_of(
    input [CARRY_W-1:0] carry, input [ETH_W-1:0] eth, input [MAC_W-1:0] mac, input [IP_W-1:0] ip,
    input [IP_SUM_W-1:0] ip_sum, input [L4_W-1:0] l4, input [UPPER_W-1:0] upper, input [FOUND_W-1:0] found
);
    reg f_eth, f_mac, f_fragment, f_more, f_roce, df, options;
    reg [1:0] f_l3_kind, f_natt;
    reg [2:0] f_l4_kind;
    reg [4:0] f_ext_mask;
    reg [6:0] f_code;
    reg [7:0] f_protocol, f_l4_offset;
    reg [8:0] f_payload;
    reg [12:0] f_frag_offset;
    reg [15:0] f_udp_length;
    begin
        {f_code, f_eth, f_mac, f_l3_kind, f_protocol, f_ext_mask, f_fragment, f_more, f_frag_offset, f_l4_kind,
         f_l4_offset, f_payload, f_udp_length, f_roce, f_natt} = found;
        word_of = {`META_W{1'b0}};
        {word_of[`MF_TIMESTAMP], word_of[`MF_QUEUE], word_of[`MF_TCLASS], word_of[`MF_DIRECTION], word_of[`MF_PORT],
         word_of[`MF_SEQ]} = carry;
        word_of[`MF_PARSE_CODE] = f_code;
        if (f_eth) begin
            {word_of[`MF_DST_MAC], word_of[`MF_SRC_MAC], word_of[`MF_ETHERTYPE], word_of[`MF_VLAN_COUNT],
             word_of[`MF_VLAN0], word_of[`MF_VLAN1], word_of[`MF_VLAN0_AD], word_of[`MF_VLAN1_AD]} = eth;
        end
        if (f_mac) begin
            word_of[`MF_MAC_CONTROL] = 1'b1;
            word_of[`MF_MAC_OPCODE] = mac;
        end
        if (f_l3_kind != 2'd0) begin
            {word_of[`MF_IP_SRC], word_of[`MF_IP_DST], word_of[`MF_L3_OFFSET], word_of[`MF_L3_LENGTH], word_of[`MF_DSCP],
             word_of[`MF_ECN], word_of[`MF_TTL], df, options} = ip;
            word_of[`MF_L3_KIND] = f_l3_kind;
            word_of[`MF_DONT_FRAGMENT] = df;
            word_of[`MF_IP_OPTIONS] = options;
            word_of[`MF_PROTOCOL] = f_protocol;
            word_of[`MF_EXT_MASK] = f_ext_mask;
            word_of[`MF_FRAGMENT] = f_fragment;
            word_of[`MF_MORE_FRAGMENTS] = f_more;
            word_of[`MF_FRAG_OFFSET] = f_frag_offset;
            if (f_l3_kind == KIND_IP4) begin
                word_of[`MF_IP_CHECKSUM] = ip4_good(ip_sum) ? CHECKSUM_GOOD : CHECKSUM_BAD;
            end
        end
        word_of[`MF_L4_KIND] = f_l4_kind;
        word_of[`MF_L4_OFFSET] = f_l4_offset;
        word_of[`MF_PAYLOAD_OFFSET] = f_payload;
        case (f_l4_kind)
            KIND_TCP: begin
                {word_of[`MF_SRC_PORT], word_of[`MF_DST_PORT]} = l4[75:44];
                word_of[`MF_TCP_FLAGS] = l4[11:0];
            end
            KIND_UDP: begin
                {word_of[`MF_SRC_PORT], word_of[`MF_DST_PORT]} = l4[75:44];
                word_of[`MF_UDP_LENGTH] = f_udp_length;
            end
            KIND_ICMP, KIND_ICMP6: {word_of[`MF_ICMP_TYPE], word_of[`MF_ICMP_CODE]} = l4[75:60];
            KIND_ESP: {word_of[`MF_SPI], word_of[`MF_ESP_SEQ]} = l4[75:12];
            default: begin
            end
        endcase
        word_of[`MF_NATT] = f_natt;
        if (f_natt == NATT_ESP) begin
            {word_of[`MF_SPI], word_of[`MF_ESP_SEQ]} = upper[88:25];
        end
        if (f_roce) begin
            word_of[`MF_ROCE] = 1'b1;
            word_of[`MF_BTH_OPCODE] = upper[88:81];
            word_of[`MF_BTH_FLAGS] = upper[80:73];
            word_of[`MF_BTH_PKEY] = upper[72:57];
            word_of[`MF_BTH_FECN] = upper[56];
            word_of[`MF_BTH_BECN] = upper[55];
            word_of[`MF_BTH_DEST_QP] = upper[48:25];
            word_of[`MF_BTH_ACK_REQ] = upper[24];
            word_of[`MF_BTH_PSN] = upper[23:0];
        end
    end
endfunction

// Write side

wire [SLOT_W-1:0] start_slot = write_reg + ONE_SLOT;
wire unused_in = &{1'b0, start_meta, head[31:0], pos[8]};

assign free = !held_reg[SLOT_W];
assign waiting = waiting_reg != {(SLOT_W + 1){1'b0}};

always @(posedge clk) begin
    if (start) begin
        write_reg <= start_slot;
        carry_mem[start_slot] <= {
            start_meta[`MF_TIMESTAMP], start_meta[`MF_QUEUE], start_meta[`MF_TCLASS], start_meta[`MF_DIRECTION],
            start_meta[`MF_PORT], start_meta[`MF_SEQ]
        };
    end
    if (take) begin
        read_reg <= read_reg + ONE_SLOT;
    end
    if (start && !take) begin
        held_reg <= held_reg + ONE;
    end else if (take && !start) begin
        held_reg <= held_reg - ONE;
    end
    if (done && !take) begin
        waiting_reg <= waiting_reg + ONE;
    end else if (take && !done) begin
        waiting_reg <= waiting_reg - ONE;
    end

    if (rst) begin
        write_reg <= {SLOT_W{1'b0}};
        read_reg <= ONE_SLOT;
        held_reg <= {(SLOT_W + 1){1'b0}};
        waiting_reg <= {(SLOT_W + 1){1'b0}};
    end
end

always @(posedge clk) begin
    if (set_eth) begin
        eth_mem[write_reg] <= eth_group(head[511:336], tags);
    end
    if (set_mac) begin
        mac_mem[write_reg] <= head[511:496];
    end
    if (set_ip4) begin
        ip_mem[write_reg] <= {
            96'd0, head[415:384], 96'd0, head[383:352], pos[7:0], 1'b0, head[495:480], head[503:496], head[447:440],
            head[462], head[507:504] != 4'd5
        };
        ip_sum_mem[write_reg] <= ip4_sums(head[511:32]);
    end
    if (set_ip6) begin
        ip_mem[write_reg] <= {
            head[447:192], pos[7:0], {1'b0, head[479:464]} + 17'd40, head[507:500], head[455:448], 2'b00
        };
    end
    if (set_l4) begin
        l4_mem[write_reg] <= {head[511:448], head[411:400]};
    end
    if (set_upper) begin
        upper_mem[write_reg] <= {head[511:447], head[439:416]};
    end
    if (done) begin
        found_mem[write_reg] <= {
            code, has_eth, has_mac, l3_kind, protocol, ext_mask, fragment, more_fragments, frag_offset, l4_kind, l4_offset,
            payload_offset, udp_length, roce, natt
        };
        range_mem[write_reg] <= {l3_end, segments_left};
    end
end

// Read side: the record whose turn it is

wire [6:0] f_code;
wire f_has_eth;
wire f_has_mac;
wire [1:0] f_l3_kind;
wire [16:0] f_l3_end;
wire [7:0] f_protocol;
wire [4:0] f_ext_mask;
wire f_fragment;
wire f_more;
wire [12:0] f_frag_offset;
wire f_segments;
wire [2:0] f_l4_kind;
wire [7:0] f_l4_offset;
wire [8:0] f_payload;
wire [15:0] f_udp_length;
wire f_roce;
wire [1:0] f_natt;

assign {f_code, f_has_eth, f_has_mac, f_l3_kind, f_protocol, f_ext_mask, f_fragment, f_more, f_frag_offset, f_l4_kind,
        f_l4_offset, f_payload, f_udp_length, f_roce, f_natt} = found_mem[read_reg];
assign {f_l3_end, f_segments} = range_mem[read_reg];

wire unused_found = &{1'b0, f_has_eth, f_has_mac, f_protocol, f_ext_mask, f_more, f_frag_offset, f_payload, f_roce,
                      f_natt};

// Bytes that the L4 checksum covers: the addresses, as a bit for each of the frame's first 32 words, and a range.
wire [7:0] l3_offset = ip_mem[read_reg][IP_W-257 -: 8];
wire [31:0] addresses = f_l3_kind == KIND_IP6 ? 32'h000ffff0 << l3_offset[4:1] : 32'h000003c0 << l3_offset[4:1];
wire is_udp = f_l4_kind == KIND_UDP;
wire is_tcp = f_l4_kind == KIND_TCP;
wire no_udp_checksum = l4_mem[read_reg][27:12] == 16'd0;
wire [16:0] l4_bytes = is_udp ? {1'b0, f_udp_length} : f_l3_end - {9'd0, f_l4_offset};
wire [7:0] l4_proto = is_udp ? PROTO_UDP : PROTO_TCP;

wire unused_l3_offset = &{1'b0, l3_offset, l4_bytes[16]};

always @(posedge clk) begin
    if (take) begin
        meta_reg <= word_of(
            carry_mem[read_reg], eth_mem[read_reg], mac_mem[read_reg], ip_mem[read_reg], ip_sum_mem[read_reg],
            l4_mem[read_reg], upper_mem[read_reg], found_mem[read_reg]
        );
        code_reg <= f_code;
        l3_kind_reg <= f_l3_kind;
        l3_end_reg <= f_l3_end;
        if (is_tcp || (is_udp && !no_udp_checksum)) begin
            sum_kind_reg <= f_fragment || f_segments ? SUM_UNKNOWN : SUM_CHECK;
        end else begin
            sum_kind_reg <= SUM_NONE;
        end
        sum_addresses_reg <= addresses;
        sum_start_reg <= f_l4_offset;
        sum_end_reg <= is_udp ? {9'd0, f_l4_offset} + {1'b0, f_udp_length} : f_l3_end;
        // The rest of the pseudo-header, the bytes of each word the other way round, as they stand in a beat
        sum_init_reg <= {1'b0, l4_bytes[7:0], l4_bytes[15:8]} + {1'b0, l4_proto, 8'd0};
    end
end

assign out_meta = meta_reg;
assign out_code = code_reg;
assign out_l3_kind = l3_kind_reg;
assign out_l3_end = l3_end_reg;
assign out_sum_kind = sum_kind_reg;
assign out_sum_addresses = sum_addresses_reg;
assign out_sum_start = sum_start_reg;
assign out_sum_end = sum_end_reg;
assign out_sum_init = sum_init_reg;

endmodule

`resetall
