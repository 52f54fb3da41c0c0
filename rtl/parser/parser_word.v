// The metadata word of a record, made when its frame leaves: with `take` the word is made from the record's groups, and
// stands from the cycle after it until the next one.
//
// Groups, highest bits first:
//
//     carry    timestamp queue tclass direction port seq decrypted sa: what came with the frame
//     last     code, MAC control was read, payload_offset, roce, natt, a tunnel's header was read, the walk went on inside
//     protocol_place   segments_left protocol_offset l3_payload_offset, of the outermost IP header
//     mac      mac_opcode
//     upper    BTH, or ESP in UDP: its first 65 bits, then its bytes 9 to 11
//     tunnel   tunnel_kind tunnel_flags vni, and what GENEVE carries if it isn't Ethernet
//     others   parser_groups
//
// Inside a tunnel the same fields are found as outside, and put where they lie for what is inside. `spi`, `esp_seq`,
// `tcp_flags`, `icmp_type` and `icmp_code` have one place for both: outside there was UDP.
//
// All is done in the clocked block, so that it costs nothing in simulation while no frame leaves.
//
// Parameters: TUNNEL_EN, 0 leaves the tunnel out.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module parser_word #(
    parameter TUNNEL_EN = 0
) (
    input  wire               clk,
    input  wire               take,

    // Groups
    input  wire [112:0]       carry,
    input  wire [21:0]        last,
    input  wire [17:0]        protocol_place,
    input  wire [15:0]        mac,
    input  wire [88:0]        upper,
    input  wire [49:0]        tunnel,
    input  wire [147:0]       eth,
    input  wire [298:0]       ip,
    input  wire [94:0]        ip_sum,
    input  wire [75:0]        l4,
    input  wire [57:0]        found,

    // Groups inside a tunnel (parser_groups)
    input  wire [147:0]       inner_eth,
    input  wire [298:0]       inner_ip,
    input  wire [94:0]        inner_ip_sum,
    input  wire [75:0]        inner_l4,
    input  wire [57:0]        inner_found,

    output wire [`META_W-1:0] meta
);

localparam [1:0] KIND_IP4 = 2'd1;
localparam [2:0] KIND_TCP = 3'd1;
localparam [2:0] KIND_UDP = 3'd2;
localparam [2:0] KIND_ICMP = 3'd3;
localparam [2:0] KIND_ICMP6 = 3'd4;
localparam [2:0] KIND_ESP = 3'd5;
localparam [1:0] NATT_ESP = 2'd1;
localparam [1:0] CHECKSUM_GOOD = 2'd1;
localparam [1:0] CHECKSUM_BAD = 2'd2;

reg [`META_W-1:0] meta_reg;

// The ones' complement sum of a good header is all ones (RFC 791, RFC 1071).
function ip4_good(input [94:0] sums);
    reg [20:0] sum;
    begin
        sum = {2'd0, sums[18:0]} + {2'd0, sums[37:19]} + {2'd0, sums[56:38]} + {2'd0, sums[75:57]} + {2'd0, sums[94:76]};
        ip4_good = {1'b0, sum[15:0]} + {12'd0, sum[20:16]} == 17'h0ffff;
    end
endfunction

// The fields of one side, each where it lies outside a tunnel. A group counts if its layer was read; what nothing set is 0.
function [`META_W-1:0] fields_of(
    input [147:0] f_ethernet, input [298:0] f_ip, input [94:0] f_ip_sum, input [75:0] f_l4,
    input [57:0] f_found
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

// The metadata word of a record: what the headers say, and the rest. What nothing set is 0.
function [`META_W-1:0] word_of(
    input [147:0] f_ethernet, input [298:0] f_ip, input [94:0] f_ip_sum, input [75:0] f_l4, input [57:0] f_found,
    input [112:0] f_carry, input [15:0] f_opcode, input [88:0] f_upper,
    input [21:2] f_last, input [17:0] f_place
);
    reg f_mac, f_roce;
    reg [1:0] f_natt;
    reg [6:0] f_code;
    reg [8:0] f_payload;
    begin
        {f_code, f_mac, f_payload, f_roce, f_natt} = f_last;
        word_of = fields_of(f_ethernet, f_ip, f_ip_sum, f_l4, f_found);
        {word_of[`MF_TIMESTAMP], word_of[`MF_QUEUE], word_of[`MF_TCLASS], word_of[`MF_DIRECTION], word_of[`MF_PORT],
         word_of[`MF_SEQ], word_of[`MF_DECRYPTED], word_of[`MF_SA]} = f_carry;
        word_of[`MF_PARSE_CODE] = f_code;
        if (word_of[`MF_L3_KIND] != 2'd0) begin
            {word_of[`MF_SEGMENTS_LEFT], word_of[`MF_PROTOCOL_OFFSET], word_of[`MF_L3_PAYLOAD_OFFSET]} = f_place;
        end
        word_of[`MF_PAYLOAD_OFFSET] = f_payload;
        if (f_mac) begin
            word_of[`MF_MAC_CONTROL] = 1'b1;
            word_of[`MF_MAC_OPCODE] = f_opcode;
        end
        word_of[`MF_NATT] = f_natt;
        if (f_natt == NATT_ESP) begin
            {word_of[`MF_SPI], word_of[`MF_ESP_SEQ]} = f_upper[88:25];
        end
        if (f_roce) begin
            word_of[`MF_ROCE] = 1'b1;
            word_of[`MF_BTH_OPCODE] = f_upper[88:81];
            word_of[`MF_BTH_FLAGS] = f_upper[80:73];
            word_of[`MF_BTH_PKEY] = f_upper[72:57];
            word_of[`MF_BTH_FECN] = f_upper[56];
            word_of[`MF_BTH_BECN] = f_upper[55];
            word_of[`MF_BTH_DEST_QP] = f_upper[48:25];
            word_of[`MF_BTH_ACK_REQ] = f_upper[24];
            word_of[`MF_BTH_PSN] = f_upper[23:0];
        end
    end
endfunction

// The word of a frame with a tunnel; `inner` is 0 if the walk did not go on inside.
function [`META_W-1:0] word_inside(
    input [`META_W-1:0] word, input [`META_W-1:0] inner, input [49:0] f_tunnel
);
    reg [15:0] carried;
    reg unused;
    begin
        unused = &{1'b0, inner};
        word_inside = word;
        {word_inside[`MF_TUNNEL_KIND], word_inside[`MF_TUNNEL_FLAGS], word_inside[`MF_VNI], carried} = f_tunnel;
        word_inside[`MF_INNER_DST_MAC] = inner[`MF_DST_MAC];
        word_inside[`MF_INNER_SRC_MAC] = inner[`MF_SRC_MAC];
        word_inside[`MF_INNER_ETHERTYPE] = inner[`MF_ETHERTYPE] | carried;
        word_inside[`MF_INNER_VLAN_COUNT] = inner[`MF_VLAN_COUNT];
        word_inside[`MF_INNER_VLAN0] = inner[`MF_VLAN0];
        word_inside[`MF_INNER_VLAN1] = inner[`MF_VLAN1];
        word_inside[`MF_INNER_VLAN0_AD] = inner[`MF_VLAN0_AD];
        word_inside[`MF_INNER_VLAN1_AD] = inner[`MF_VLAN1_AD];
        word_inside[`MF_INNER_L3_KIND] = inner[`MF_L3_KIND];
        word_inside[`MF_INNER_L3_OFFSET] = inner[`MF_L3_OFFSET];
        word_inside[`MF_INNER_L3_LENGTH] = inner[`MF_L3_LENGTH];
        word_inside[`MF_INNER_IP_SRC] = inner[`MF_IP_SRC];
        word_inside[`MF_INNER_IP_DST] = inner[`MF_IP_DST];
        word_inside[`MF_INNER_DSCP] = inner[`MF_DSCP];
        word_inside[`MF_INNER_ECN] = inner[`MF_ECN];
        word_inside[`MF_INNER_TTL] = inner[`MF_TTL];
        word_inside[`MF_INNER_PROTOCOL] = inner[`MF_PROTOCOL];
        word_inside[`MF_INNER_IP_CHECKSUM] = inner[`MF_IP_CHECKSUM];
        word_inside[`MF_INNER_IP_OPTIONS] = inner[`MF_IP_OPTIONS];
        word_inside[`MF_INNER_EXT_MASK] = inner[`MF_EXT_MASK];
        word_inside[`MF_INNER_FRAGMENT] = inner[`MF_FRAGMENT];
        word_inside[`MF_INNER_MORE_FRAGMENTS] = inner[`MF_MORE_FRAGMENTS];
        word_inside[`MF_INNER_DONT_FRAGMENT] = inner[`MF_DONT_FRAGMENT];
        word_inside[`MF_INNER_FRAG_OFFSET] = inner[`MF_FRAG_OFFSET];
        word_inside[`MF_INNER_L4_KIND] = inner[`MF_L4_KIND];
        word_inside[`MF_INNER_L4_OFFSET] = inner[`MF_L4_OFFSET];
        word_inside[`MF_INNER_SRC_PORT] = inner[`MF_SRC_PORT];
        word_inside[`MF_INNER_DST_PORT] = inner[`MF_DST_PORT];
        word_inside[`MF_INNER_UDP_LENGTH] = inner[`MF_UDP_LENGTH];
        word_inside[`MF_TCP_FLAGS] = inner[`MF_TCP_FLAGS];
        word_inside[`MF_ICMP_TYPE] = inner[`MF_ICMP_TYPE];
        word_inside[`MF_ICMP_CODE] = inner[`MF_ICMP_CODE];
        word_inside[`MF_SPI] = inner[`MF_SPI];
        word_inside[`MF_ESP_SEQ] = inner[`MF_ESP_SEQ];
    end
endfunction

wire has_tunnel = TUNNEL_EN != 0 && last[1];
wire went_inside = last[0];

assign meta = meta_reg;

always @(posedge clk) begin
    if (take && has_tunnel) begin
        meta_reg <= word_inside(
            word_of(eth, ip, ip_sum, l4, found, carry, mac, upper, last[21:2], protocol_place),
            went_inside ? fields_of(inner_eth, inner_ip, inner_ip_sum, inner_l4, inner_found) : {`META_W{1'b0}},
            tunnel
        );
    end else if (take) begin
        meta_reg <= word_of(eth, ip, ip_sum, l4, found, carry, mac, upper, last[21:2], protocol_place);
    end
end

endmodule

`resetall
