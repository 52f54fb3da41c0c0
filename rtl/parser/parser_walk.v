// The walk along a frame's header chain: one layer a cycle, as its bytes arrive.
//
// Each cycle it looks at the layer at `pos`: is there room for its fixed part, is what that part says in order, is there
// room for the whole? If bytes are still missing it waits; else the layer is read in this cycle: its `set_*` is 1, or
// the walk ends with a code, in the cycle of `done`. What layers say is kept in parser_found. `start` stands in the cycle
// in which a frame's first beat is taken; Ethernet is read in the next cycle at the earliest. A tunnel's header leads on
// to Ethernet or IP once more, with `in_tunnel`.
//
// `free` is 1 when `start` may come in this cycle: the walk stands still, or reads a last layer. (A frame comes to this
// walk only after another frame, so all of the frame before it is there, and nothing waits.)
//
// The walk has PARSE_BYTES/16 + 2 turns: where layer i is read in the turn max(turn of i - 1, beat of its last byte) + 1, a
// chain that is not at its end after the layer of the last turn is too deep. That bounds the latency, whatever the chain;
// counted in beats and layers, so that gaps in a frame change nothing.
//
// Standards and order of the checks: docs/parser.md. Parameters: PARSE_BYTES, a power of two, 64 to 256; TUNNEL_EN, 1
// reads VXLAN, GENEVE and what is inside.

`resetall
`timescale 1ns / 1ps
`default_nettype none

`include "meta.vh"

module parser_walk #(
    parameter PARSE_BYTES = 128,
    parameter TUNNEL_EN = 0
) (
    input  wire         clk,
    input  wire         rst,

    // Frame: bytes held, no more will come, the first 22 bytes at `pos` with byte `pos` on top
    input  wire         start,
    output wire         free,
    input  wire [8:0]   have,
    input  wire         ended,
    output wire         walking,
    output wire [8:0]   pos,
    input  wire [175:0] head,

    // What layers before this one left (parser_found)
    input  wire         in_tunnel,
    input  wire         was_outer_fragment,
    input  wire         was_ip6,
    input  wire [16:0]  was_l3_end,
    input  wire [7:0]   was_protocol,
    input  wire [2:0]   was_exts,
    input  wire         was_fragment,
    input  wire [15:0]  was_udp_length,

    // What is read in this cycle: the layer, for Ethernet its tags, for L4 and NAT-T the kind; for IP the packet's end
    output reg          set_eth,
    output reg          set_mac,
    output reg          set_ip4,
    output reg          set_ip6,
    output reg  [4:0]   set_ext,
    output reg  [2:0]   set_l4,
    output reg          set_bth,
    output reg  [1:0]   set_natt,
    output reg          set_tunnel,
    output reg          set_geneve,
    output reg  [1:0]   tags,
    output wire [8:0]   pos_after,
    output wire [16:0]  ip_end,

    // The walk ends in this cycle
    output wire         done,
    output wire [6:0]   code
);

localparam [3:0] LAYER_END = 4'd0;
localparam [3:0] LAYER_ETH = 4'd1;
localparam [3:0] LAYER_MAC = 4'd2;
localparam [3:0] LAYER_IP4 = 4'd3;
localparam [3:0] LAYER_IP6 = 4'd4;
localparam [3:0] LAYER_EXT = 4'd5;
localparam [3:0] LAYER_TCP = 4'd6;
localparam [3:0] LAYER_UDP = 4'd7;
localparam [3:0] LAYER_ICMP = 4'd8;
localparam [3:0] LAYER_ESP = 4'd9;
localparam [3:0] LAYER_BTH = 4'd10;
localparam [3:0] LAYER_NATT = 4'd11;
localparam [3:0] LAYER_VXLAN = 4'd12;
localparam [3:0] LAYER_GENEVE = 4'd13;

localparam [15:0] TYPE_IP4 = 16'h0800;
localparam [15:0] TYPE_IP6 = 16'h86dd;
localparam [15:0] TYPE_MAC = 16'h8808;
localparam [15:0] TYPE_CTAG = 16'h8100;
localparam [15:0] TYPE_STAG = 16'h88a8;
localparam [15:0] TYPE_ETH = 16'h6558;

localparam [7:0] PROTO_HOP = 8'd0;
localparam [7:0] PROTO_ICMP = 8'd1;
localparam [7:0] PROTO_TCP = 8'd6;
localparam [7:0] PROTO_UDP = 8'd17;
localparam [7:0] PROTO_ROUTING = 8'd43;
localparam [7:0] PROTO_FRAGMENT = 8'd44;
localparam [7:0] PROTO_ESP = 8'd50;
localparam [7:0] PROTO_AH = 8'd51;
localparam [7:0] PROTO_ICMP6 = 8'd58;
localparam [7:0] PROTO_DEST = 8'd60;

localparam [15:0] PORT_ROCE = 16'd4791;
localparam [15:0] PORT_NATT = 16'd4500;
localparam [15:0] PORT_VXLAN = 16'd4789;
localparam [15:0] PORT_GENEVE = 16'd6081;
localparam [15:0] UDP_WITH_BTH = 16'd20;
localparam [15:0] UDP_WITH_TUNNEL = 16'd16;

localparam [2:0] KIND_TCP = 3'd1;
localparam [2:0] KIND_UDP = 3'd2;
localparam [2:0] KIND_ICMP = 3'd3;
localparam [2:0] KIND_ICMP6 = 3'd4;
localparam [2:0] KIND_ESP = 3'd5;
localparam [1:0] NATT_ESP = 2'd1;
localparam [1:0] NATT_IKE = 2'd2;
localparam [1:0] NATT_KEEPALIVE = 2'd3;
localparam [4:0] EXT_HOP = 5'b00001;
localparam [4:0] EXT_ROUTING = 5'b00010;
localparam [4:0] EXT_FRAGMENT = 5'b00100;
localparam [4:0] EXT_DEST = 5'b01000;
localparam [4:0] EXT_AH = 5'b10000;

localparam [2:0] EXT_MOST = 3'd4;
localparam TURNS = PARSE_BYTES / 16 + 2;

localparam [7:0] L2_TRUNCATED = `CODE_L2_TRUNCATED;
localparam [7:0] L3_TRUNCATED = `CODE_L3_TRUNCATED;
localparam [7:0] BAD_IP_VERSION = `CODE_BAD_IP_VERSION;
localparam [7:0] BAD_IHL = `CODE_BAD_IHL;
localparam [7:0] BAD_L3_LENGTH = `CODE_BAD_L3_LENGTH;
localparam [7:0] TOO_DEEP = `CODE_TOO_DEEP;
localparam [7:0] EXT_TRUNCATED = `CODE_EXT_TRUNCATED;
localparam [7:0] L4_TRUNCATED = `CODE_L4_TRUNCATED;
localparam [7:0] BAD_TCP_OFFSET = `CODE_BAD_TCP_OFFSET;
localparam [7:0] BAD_UDP_LENGTH = `CODE_BAD_UDP_LENGTH;
localparam [7:0] BTH_TRUNCATED = `CODE_BTH_TRUNCATED;
localparam [7:0] ESP_TRUNCATED = `CODE_ESP_TRUNCATED;
localparam [7:0] TUNNEL_TRUNCATED = `CODE_TUNNEL_TRUNCATED;
localparam [7:0] BAD_TUNNEL = `CODE_BAD_TUNNEL;

localparam [1:0] ROOM = 2'd0;
localparam [1:0] ROOM_WAIT = 2'd1;
localparam [1:0] ROOM_TRUNCATED = 2'd2;
localparam [1:0] ROOM_TOO_DEEP = 2'd3;

// Where the walk stands.
reg [3:0] layer_reg, layer_next;
reg [8:0] pos_reg, pos_next;
reg [4:0] turn_reg, turn_next;

// The layer in this cycle: bytes of its fixed part and of the whole, codes, outcome.
reg [11:0] fixed;
reg [11:0] whole;
reg [7:0] truncated;
reg [7:0] bad;
reg [7:0] fail;
reg above;
reg ok;
reg late;
reg [8:0] last_byte;
reg [1:0] room;
reg [15:0] ethertype;

wire [7:0] byte_0 = head[175:168];
wire [7:0] byte_1 = head[167:160];
wire [15:0] word_0 = head[175:160];
wire [15:0] word_2 = head[159:144];
wire [15:0] word_4 = head[143:128];
wire [15:0] word_6 = head[127:112];
wire [15:0] word_12 = head[79:64];
wire [15:0] word_16 = head[47:32];
wire [15:0] word_20 = head[15:0];

wire tag_0 = word_12 == TYPE_CTAG || word_12 == TYPE_STAG;
wire tag_1 = word_16 == TYPE_CTAG || word_16 == TYPE_STAG;
wire tag_2 = word_20 == TYPE_CTAG || word_20 == TYPE_STAG;
wire has_tag_1 = {1'b0, have} >= {1'b0, pos_reg} + 10'd18;
wire non_esp = {word_0, word_2} == 32'd0;
wire natt_asks = was_udp_length >= 16'd12;
wire [7:0] options = {byte_0[5:0], 2'd0};

assign ip_end = {8'd0, pos_reg} + (layer_reg == LAYER_IP6 ? {1'b0, word_4} + 17'd40 : {1'b0, word_2});

// What is in a tunnel may not be longer than the tunnel, unless the tunnel itself comes in pieces; a UDP datagram no
// longer than its packet, unless one of both does.
wire in_piece = in_tunnel && was_outer_fragment;
wire ip_too_long = in_tunnel && !in_piece && ip_end > was_l3_end;
wire udp_too_long = !was_fragment && !in_piece && {8'd0, pos_reg} + {1'b0, word_4} > was_l3_end;

wire unused_head = &{1'b0, head};

// Is there room for the bytes below `upto`?
function [1:0] room_for(input [11:0] upto, input above_ip, input [16:0] room_end, input [8:0] held, input all);
    if (above_ip && {5'd0, upto} > room_end) begin
        room_for = ROOM_TRUNCATED;
    end else if (upto > PARSE_BYTES[11:0]) begin
        room_for = ROOM_TOO_DEEP;
    end else if (upto <= {3'd0, held}) begin
        room_for = ROOM;
    end else begin
        room_for = all ? ROOM_TRUNCATED : ROOM_WAIT;
    end
endfunction

// Layer that a next-header value announces.
function [3:0] layer_of(input [7:0] value, input ip6);
    case (value)
        PROTO_TCP: layer_of = LAYER_TCP;
        PROTO_UDP: layer_of = LAYER_UDP;
        PROTO_ESP: layer_of = LAYER_ESP;
        PROTO_AH: layer_of = LAYER_EXT;
        PROTO_ICMP: layer_of = ip6 ? LAYER_END : LAYER_ICMP;
        PROTO_ICMP6: layer_of = ip6 ? LAYER_ICMP : LAYER_END;
        PROTO_HOP, PROTO_ROUTING, PROTO_FRAGMENT, PROTO_DEST: layer_of = ip6 ? LAYER_EXT : LAYER_END;
        default: layer_of = LAYER_END;
    endcase
endfunction

// Layer that an EtherType announces, and the one that UDP's ports do.
function [3:0] layer_of_type(input [15:0] value);
    case (value)
        TYPE_IP4: layer_of_type = LAYER_IP4;
        TYPE_IP6: layer_of_type = LAYER_IP6;
        default: layer_of_type = LAYER_END;
    endcase
endfunction

function [3:0] layer_of_ports(input [15:0] from, input [15:0] to);
    if (to == PORT_ROCE) begin
        layer_of_ports = LAYER_BTH;
    end else if (TUNNEL_EN != 0 && to == PORT_VXLAN) begin
        layer_of_ports = LAYER_VXLAN;
    end else if (TUNNEL_EN != 0 && to == PORT_GENEVE) begin
        layer_of_ports = LAYER_GENEVE;
    end else begin
        layer_of_ports = from == PORT_NATT || to == PORT_NATT ? LAYER_NATT : LAYER_END;
    end
endfunction

wire on_tunnel = TUNNEL_EN != 0 && (layer_reg == LAYER_VXLAN || layer_reg == LAYER_GENEVE);

assign walking = layer_reg != LAYER_END;
assign pos = pos_reg;
assign free = layer_reg == LAYER_END || layer_reg == LAYER_MAC || layer_reg == LAYER_TCP || layer_reg == LAYER_ICMP
           || layer_reg == LAYER_ESP || layer_reg == LAYER_BTH || layer_reg == LAYER_NATT;

// Room and checks.
always @* begin
    fixed = 12'd8;
    whole = 12'd8;
    truncated = L4_TRUNCATED;
    bad = 8'd0;
    above = 1'b1;
    fail = 8'd0;
    ok = 1'b0;
    room = ROOM_WAIT;
    tags = 2'd0;

    if (walking) begin
        case (layer_reg)
            LAYER_ETH: begin
                above = in_tunnel;
                truncated = L2_TRUNCATED;
                fixed = 12'd14;
                whole = 12'd14;
                if (tag_0) begin
                    tags = has_tag_1 && tag_1 ? 2'd2 : 2'd1;
                    whole = tags[1] ? 12'd22 : 12'd18;
                end
            end
            LAYER_MAC: begin
                above = in_tunnel;
                truncated = L3_TRUNCATED;
                fixed = 12'd2;
                whole = 12'd2;
            end
            LAYER_IP4: begin
                above = in_tunnel;
                truncated = L3_TRUNCATED;
                fixed = 12'd20;
                whole = {6'd0, byte_0[3:0], 2'd0};
                if (byte_0[7:4] != 4'd4) begin
                    bad = BAD_IP_VERSION;
                end else if (byte_0[3:0] < 4'd5) begin
                    bad = BAD_IHL;
                end else if (word_2 < {10'd0, byte_0[3:0], 2'd0} || ip_too_long) begin
                    bad = BAD_L3_LENGTH;
                end
            end
            LAYER_IP6: begin
                above = in_tunnel;
                truncated = L3_TRUNCATED;
                fixed = 12'd40;
                whole = 12'd40;
                if (byte_0[7:4] != 4'd6) begin
                    bad = BAD_IP_VERSION;
                end else if (ip_too_long) begin
                    bad = BAD_L3_LENGTH;
                end
            end
            LAYER_EXT: begin
                truncated = EXT_TRUNCATED;
                case (was_protocol)
                    PROTO_FRAGMENT: whole = 12'd8;
                    PROTO_AH: whole = {2'd0, byte_1, 2'd0} + 12'd8;
                    default: whole = {1'd0, byte_1, 3'd0} + 12'd8;
                endcase
            end
            LAYER_TCP: begin
                fixed = 12'd20;
                whole = {6'd0, word_12[15:12], 2'd0};
                if (word_12[15:12] < 4'd5) begin
                    bad = BAD_TCP_OFFSET;
                end
            end
            LAYER_UDP: begin
                if (word_4 < 16'd8 || udp_too_long) begin
                    bad = BAD_UDP_LENGTH;
                end
            end
            LAYER_BTH: begin
                truncated = BTH_TRUNCATED;
                fixed = 12'd12;
                whole = 12'd12;
            end
            LAYER_NATT: begin
                truncated = ESP_TRUNCATED;
                fixed = natt_asks ? 12'd4 : was_udp_length == 16'd9 ? 12'd1 : 12'd0;
                whole = natt_asks && !non_esp ? 12'd8 : fixed;
                if (natt_asks && !non_esp && was_udp_length < 16'd16) begin
                    bad = ESP_TRUNCATED;
                end
            end
            LAYER_VXLAN: begin
                truncated = TUNNEL_TRUNCATED;
                if (!byte_0[3]) begin
                    bad = BAD_TUNNEL;
                end
            end
            LAYER_GENEVE: begin
                truncated = TUNNEL_TRUNCATED;
                whole = {4'd0, options} + 12'd8;
                if (byte_0[7:6] != 2'd0) begin
                    bad = BAD_TUNNEL;
                end else if (was_udp_length < UDP_WITH_TUNNEL + {8'd0, options}) begin
                    bad = TUNNEL_TRUNCATED;
                end
            end
            default: begin
            end
        endcase

        room = room_for({3'd0, pos_reg} + fixed, above, was_l3_end, have, ended);
        if (layer_reg == LAYER_EXT && was_exts == EXT_MOST) begin
            fail = TOO_DEEP;
        end else if (layer_reg == LAYER_BTH && was_udp_length < UDP_WITH_BTH) begin
            fail = BTH_TRUNCATED;
        end else if (on_tunnel && was_udp_length < UDP_WITH_TUNNEL) begin
            fail = TUNNEL_TRUNCATED;
        end else if (room == ROOM && bad != 8'd0) begin
            fail = bad;
        end else begin
            if (room == ROOM) begin
                room = room_for({3'd0, pos_reg} + whole, above, was_l3_end, have, ended);
            end
            case (room)
                ROOM_TRUNCATED: fail = truncated;
                ROOM_TOO_DEEP: fail = TOO_DEEP;
                ROOM: begin
                    if (layer_reg == LAYER_ETH && tags[1] && tag_2) begin
                        fail = TOO_DEEP;
                    end else begin
                        ok = 1'b1;
                    end
                end
                default: begin
                end
            endcase
        end
    end
end

// What the layer sets, and what comes after it.
always @* begin
    layer_next = layer_reg;
    pos_next = pos_reg;
    turn_next = turn_reg;
    last_byte = pos_reg;
    late = 1'b0;
    ethertype = word_12;
    set_eth = 1'b0;
    set_mac = 1'b0;
    set_ip4 = 1'b0;
    set_ip6 = 1'b0;
    set_ext = 5'd0;
    set_l4 = 3'd0;
    set_bth = 1'b0;
    set_natt = 2'd0;
    set_tunnel = 1'b0;
    set_geneve = 1'b0;

    if (fail != 8'd0) begin
        layer_next = LAYER_END;
    end else if (ok) begin
        layer_next = LAYER_END;
        pos_next = pos_reg + whole[8:0];
        last_byte = pos_next - 9'd1;
        turn_next = (last_byte[8:4] > turn_reg ? last_byte[8:4] : turn_reg) + 5'd1;
        case (layer_reg)
            LAYER_ETH: begin
                set_eth = 1'b1;
                if (tags[1]) begin
                    ethertype = word_20;
                end else if (tags[0]) begin
                    ethertype = word_16;
                end
                layer_next = ethertype == TYPE_MAC && !in_tunnel ? LAYER_MAC : layer_of_type(ethertype);
            end
            LAYER_MAC: set_mac = 1'b1;
            LAYER_IP4: begin
                set_ip4 = 1'b1;
                if (word_6[12:0] == 13'd0) begin
                    layer_next = layer_of(head[103:96], 1'b0);
                end
            end
            LAYER_IP6: begin
                set_ip6 = 1'b1;
                layer_next = layer_of(word_6[15:8], 1'b1);
            end
            LAYER_EXT: begin
                layer_next = layer_of(byte_0, was_ip6);
                case (was_protocol)
                    PROTO_HOP: set_ext = EXT_HOP;
                    PROTO_ROUTING: set_ext = EXT_ROUTING;
                    PROTO_FRAGMENT: begin
                        set_ext = EXT_FRAGMENT;
                        if (word_2[15:3] != 13'd0) begin
                            layer_next = LAYER_END;
                        end
                    end
                    PROTO_DEST: set_ext = EXT_DEST;
                    default: set_ext = EXT_AH;
                endcase
            end
            LAYER_TCP: set_l4 = KIND_TCP;
            LAYER_UDP: begin
                set_l4 = KIND_UDP;
                if (!in_tunnel) begin
                    layer_next = layer_of_ports(word_0, word_2);
                end
            end
            LAYER_ICMP: set_l4 = was_ip6 ? KIND_ICMP6 : KIND_ICMP;
            LAYER_ESP: set_l4 = KIND_ESP;
            LAYER_BTH: set_bth = 1'b1;
            LAYER_NATT: begin
                if (natt_asks) begin
                    set_natt = non_esp ? NATT_IKE : NATT_ESP;
                end else if (was_udp_length == 16'd9 && byte_0 == 8'hff) begin
                    set_natt = NATT_KEEPALIVE;
                end
            end
            default: begin
                if (on_tunnel) begin
                    set_tunnel = 1'b1;
                    set_geneve = layer_reg == LAYER_GENEVE;
                    if (!set_geneve || word_2 == TYPE_ETH) begin
                        layer_next = LAYER_ETH;
                    end else begin
                        layer_next = layer_of_type(word_2);
                    end
                end
            end
        endcase

        if (layer_next != LAYER_END && turn_next == TURNS[4:0]) begin
            late = 1'b1;
            layer_next = LAYER_END;
        end
    end
end

assign pos_after = pos_next;
assign done = walking && layer_next == LAYER_END;
assign code = late ? TOO_DEEP[6:0] : fail[6:0];

wire unused_code = &{1'b0, fail[7], last_byte[3:0]};

always @(posedge clk) begin
    layer_reg <= layer_next;
    pos_reg <= pos_next;
    turn_reg <= turn_next;

    if (start) begin
        layer_reg <= LAYER_ETH;
        pos_reg <= 9'd0;
        turn_reg <= 5'd0;
    end

    if (rst) begin
        layer_reg <= LAYER_END;
    end
end

endmodule

`resetall
