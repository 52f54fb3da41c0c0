// What a walk found, kept from layer to layer until the frame leaves, and then made into the metadata word (parser_word).
//
// A ring of SLOTS records: one that is being written, the others waiting for their frame to leave. Each layer writes its
// group of fields once, as it is read; which groups count is known with `done`, so nothing needs to be cleared. The
// headers outside a tunnel and those inside are two sets of the same groups (parser_groups): the first is closed with
// the tunnel's header, or with `done`.
//
// `start` in the cycle in which a frame's first beat is taken, with its metadata so far; `done` in the cycle in which
// its walk ends; `waiting` from the cycle after, until `take`, which moves the oldest record to the outputs: they stand
// from the cycle after `take` until the next one. `free` says that there is a record for one more `start`.
//
// Parameters: SLOTS, a power of two, at least 2; TUNNEL_EN, 0 leaves the tunnel's set out.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module parser_record #(
    parameter SLOTS = 2,
    parameter TUNNEL_EN = 0
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
    input  wire               in_tunnel,
    input  wire               set_eth,
    input  wire               set_mac,
    input  wire               set_ip4,
    input  wire               set_ip6,
    input  wire               set_l4,
    input  wire               set_upper,
    input  wire               set_tunnel,
    input  wire               set_geneve,
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
    input  wire [7:0]         protocol_offset,
    input  wire [8:0]         l3_payload_offset,
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

localparam [1:0] KIND_IP6 = 2'd2;
localparam [2:0] KIND_TCP = 3'd1;
localparam [2:0] KIND_UDP = 3'd2;
localparam [1:0] TUNNEL_VXLAN = 2'd1;
localparam [1:0] TUNNEL_GENEVE = 2'd2;
localparam [15:0] TYPE_ETH = 16'h6558;
localparam [7:0] PROTO_TCP = 8'd6;
localparam [7:0] PROTO_UDP = 8'd17;
localparam [1:0] SUM_NONE = 2'd0;
localparam [1:0] SUM_CHECK = 2'd1;
localparam [1:0] SUM_UNKNOWN = 2'd3;

localparam CARRY_W = `MF_SEQ_W + `MF_PORT_W + `MF_DIRECTION_W + `MF_TCLASS_W + `MF_QUEUE_W + `MF_TIMESTAMP_W
                   + `MF_DECRYPTED_W + `MF_SA_W;
localparam MAC_W = 16;
localparam UPPER_W = 64 + 1 + 24;
localparam TUNNEL_W = 2 + 8 + 24 + 16;
localparam LAST_W = 7 + 1 + 9 + 1 + 2 + 1 + 1;
localparam RANGE_W = 17 + 1 + 8 + 9;

// Groups of fields, a record in each slot.
reg [CARRY_W-1:0] carry_mem [0:SLOTS-1];
reg [MAC_W-1:0] mac_mem [0:SLOTS-1];
reg [UPPER_W-1:0] upper_mem [0:SLOTS-1];
reg [LAST_W-1:0] last_mem [0:SLOTS-1];
reg [RANGE_W-1:0] range_mem [0:SLOTS-1];

reg [SLOT_W-1:0] write_reg;
reg [SLOT_W-1:0] read_reg;
reg [SLOT_W:0] held_reg;
reg [SLOT_W:0] waiting_reg;

reg [6:0] code_reg;
reg [1:0] l3_kind_reg;
reg [16:0] l3_end_reg;
reg [1:0] sum_kind_reg;
reg [31:0] sum_addresses_reg;
reg [7:0] sum_start_reg;
reg [16:0] sum_end_reg;
reg [16:0] sum_init_reg;

// The tunnel's header, as a group: kind, flags, VNI, and what GENEVE carries if it isn't Ethernet.
function [TUNNEL_W-1:0] tunnel_group(input [55:0] bytes, input geneve);
    tunnel_group = {
        geneve ? TUNNEL_GENEVE : TUNNEL_VXLAN,
        geneve ? bytes[47:40] : bytes[55:48],
        bytes[23:0],
        geneve && bytes[39:24] != TYPE_ETH ? bytes[39:24] : 16'd0
    };
endfunction

// Write side

wire [SLOT_W-1:0] start_slot = write_reg + ONE_SLOT;
wire set_outer = set_tunnel || (done && !in_tunnel);
wire outer_eth = set_eth && !in_tunnel;
wire outer_ip4 = set_ip4 && !in_tunnel;
wire outer_ip6 = set_ip6 && !in_tunnel;
wire outer_l4 = set_l4 && !in_tunnel;
wire unused_in = &{1'b0, start_meta};

assign free = !held_reg[SLOT_W];
assign waiting = waiting_reg != {(SLOT_W + 1){1'b0}};

always @(posedge clk) begin
    if (start) begin
        write_reg <= start_slot;
        carry_mem[start_slot] <= {
            start_meta[`MF_TIMESTAMP], start_meta[`MF_QUEUE], start_meta[`MF_TCLASS], start_meta[`MF_DIRECTION],
            start_meta[`MF_PORT], start_meta[`MF_SEQ], start_meta[`MF_DECRYPTED], start_meta[`MF_SA]
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
    if (set_mac) begin
        mac_mem[write_reg] <= head[511:496];
    end
    if (set_upper) begin
        upper_mem[write_reg] <= {head[511:447], head[439:416]};
    end
    if (set_outer) begin
        range_mem[write_reg] <= {l3_end, segments_left, protocol_offset, l3_payload_offset};
    end
    if (done) begin
        last_mem[write_reg] <= {code, has_mac, payload_offset, roce, natt, in_tunnel || set_tunnel, in_tunnel};
    end
end

// Read side: the record whose turn it is

wire [CARRY_W-1:0] carry = carry_mem[read_reg];
wire [MAC_W-1:0] mac = mac_mem[read_reg];
wire [UPPER_W-1:0] upper = upper_mem[read_reg];
wire [TUNNEL_W-1:0] tunnel;
wire [LAST_W-1:0] last = last_mem[read_reg];
wire [147:0] eth;
wire [298:0] ip;
wire [94:0] ip_sum;
wire [75:0] l4;
wire [57:0] found;
wire [147:0] inner_eth;
wire [298:0] inner_ip;
wire [94:0] inner_ip_sum;
wire [75:0] inner_l4;
wire [57:0] inner_found;
wire [16:0] f_l3_end;
wire f_segments;
wire [17:0] protocol_place;
wire f_has_eth;
wire [1:0] f_l3_kind;
wire [7:0] f_protocol;
wire [4:0] f_ext_mask;
wire f_fragment;
wire f_more;
wire [12:0] f_frag_offset;
wire [2:0] f_l4_kind;
wire [7:0] f_l4_offset;
wire [15:0] f_udp_length;

assign {f_l3_end, protocol_place} = range_mem[read_reg];
assign f_segments = protocol_place[17];
assign {f_has_eth, f_l3_kind, f_protocol, f_ext_mask, f_fragment, f_more, f_frag_offset, f_l4_kind, f_l4_offset,
        f_udp_length} = found;

wire unused_found = &{1'b0, f_has_eth, f_protocol, f_ext_mask, f_more, f_frag_offset};

// Bytes that the L4 checksum covers: the addresses, as a bit for each of the frame's first 32 words, and a range.
wire [7:0] l3_offset = ip[42:35];
wire [31:0] addresses = f_l3_kind == KIND_IP6 ? 32'h000ffff0 << l3_offset[4:1] : 32'h000003c0 << l3_offset[4:1];
wire is_udp = f_l4_kind == KIND_UDP;
wire is_tcp = f_l4_kind == KIND_TCP;
wire no_udp_checksum = l4[27:12] == 16'd0;
wire [16:0] l4_bytes = is_udp ? {1'b0, f_udp_length} : f_l3_end - {9'd0, f_l4_offset};
wire [7:0] l4_proto = is_udp ? PROTO_UDP : PROTO_TCP;

wire unused_l3_offset = &{1'b0, l3_offset, l4_bytes[16]};

always @(posedge clk) begin
    if (take) begin
        code_reg <= last[LAST_W-1 -: 7];
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

assign out_code = code_reg;
assign out_l3_kind = l3_kind_reg;
assign out_l3_end = l3_end_reg;
assign out_sum_kind = sum_kind_reg;
assign out_sum_addresses = sum_addresses_reg;
assign out_sum_start = sum_start_reg;
assign out_sum_end = sum_end_reg;
assign out_sum_init = sum_init_reg;

parser_word #(
    .TUNNEL_EN(TUNNEL_EN)
) word_inst (
    .clk(clk),
    .take(take),
    .carry(carry),
    .last(last),
    .protocol_place(protocol_place),
    .mac(mac),
    .upper(upper),
    .tunnel(tunnel),
    .eth(eth),
    .ip(ip),
    .ip_sum(ip_sum),
    .l4(l4),
    .found(found),
    .inner_eth(inner_eth),
    .inner_ip(inner_ip),
    .inner_ip_sum(inner_ip_sum),
    .inner_l4(inner_l4),
    .inner_found(inner_found),
    .meta(out_meta)
);

parser_groups #(
    .SLOTS(SLOTS)
) outer_inst (
    .clk(clk),
    .write_slot(write_reg),
    .head(head),
    .pos(pos),
    .set_eth(outer_eth),
    .set_ip4(outer_ip4),
    .set_ip6(outer_ip6),
    .set_l4(outer_l4),
    .tags(tags),
    .set_found(set_outer),
    .has_eth(has_eth),
    .l3_kind(l3_kind),
    .protocol(protocol),
    .ext_mask(ext_mask),
    .fragment(fragment),
    .more_fragments(more_fragments),
    .frag_offset(frag_offset),
    .l4_kind(l4_kind),
    .l4_offset(l4_offset),
    .udp_length(udp_length),
    .read_slot(read_reg),
    .eth(eth),
    .ip(ip),
    .ip_sum(ip_sum),
    .l4(l4),
    .found(found)
);

generate
    if (TUNNEL_EN != 0) begin : g_tunnel
        reg [TUNNEL_W-1:0] tunnel_mem [0:SLOTS-1];

        wire set_inner = done && in_tunnel;
        wire tunnel_eth = set_eth && in_tunnel;
        wire tunnel_ip4 = set_ip4 && in_tunnel;
        wire tunnel_ip6 = set_ip6 && in_tunnel;
        wire tunnel_l4 = set_l4 && in_tunnel;

        assign tunnel = tunnel_mem[read_reg];

        always @(posedge clk) begin
            if (set_tunnel) begin
                tunnel_mem[write_reg] <= tunnel_group(head[511:456], set_geneve);
            end
        end

        parser_groups #(
            .SLOTS(SLOTS)
        ) inner_inst (
            .clk(clk),
            .write_slot(write_reg),
            .head(head),
            .pos(pos),
            .set_eth(tunnel_eth),
            .set_ip4(tunnel_ip4),
            .set_ip6(tunnel_ip6),
            .set_l4(tunnel_l4),
            .tags(tags),
            .set_found(set_inner),
            .has_eth(has_eth),
            .l3_kind(l3_kind),
            .protocol(protocol),
            .ext_mask(ext_mask),
            .fragment(fragment),
            .more_fragments(more_fragments),
            .frag_offset(frag_offset),
            .l4_kind(l4_kind),
            .l4_offset(l4_offset),
            .udp_length(udp_length),
            .read_slot(read_reg),
            .eth(inner_eth),
            .ip(inner_ip),
            .ip_sum(inner_ip_sum),
            .l4(inner_l4),
            .found(inner_found)
        );
    end else begin : g_no_tunnel
        wire unused_tunnel = &{1'b0, set_geneve};

        assign tunnel = {TUNNEL_W{1'b0}};
        assign inner_eth = 148'd0;
        assign inner_ip = 299'd0;
        assign inner_ip_sum = 95'd0;
        assign inner_l4 = 76'd0;
        assign inner_found = 58'd0;
    end
endgenerate

endmodule

`resetall
