// ipsec_lookup: SPI, destination and family to the number of an SA.
//
// Bit vectors by strides: the key's 160 bits are asked in four slots of a cycle each; in a slot each of ten memories is asked
// for four bits and answers with a bit an SA, and all answers are ANDed. Whatever SPIs and addresses the SAs have, it is
// exact; of several SAs that match the lowest number wins.
//
// A key that is taken in cycle c (s_valid) is answered in c + 10; one key in four cycles at most. After reset there is no
// SA.
//
// wr_on 1: SA wr_sa gets this key, 64 cycles; wr_on 0: it is taken out, in a cycle. Taken with wr_ready. A key that
// comes when wr_ready is 1 again finds what was written; one that comes in the cycle after it was taken out doesn't.
//
// Parameter: SAS, a power of two from 2 to 4096.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module ipsec_lookup #(
    parameter SAS = 256,
    parameter SA_W = $clog2(SAS)
) (
    input  wire            clk,
    input  wire            rst,

    input  wire            s_valid,
    input  wire [31:0]     s_spi,
    input  wire [127:0]    s_dst,
    input  wire            s_ipv6,

    output wire            m_valid,
    output wire            m_hit,
    output wire [SA_W-1:0] m_sa,

    input  wire            wr_valid,
    output wire            wr_ready,
    input  wire            wr_on,
    input  wire [SA_W-1:0] wr_sa,
    input  wire [31:0]     wr_spi,
    input  wire [127:0]    wr_dst,
    input  wire            wr_ipv6
);

localparam MEMORIES = 10;
localparam SLOT_W = 4 * MEMORIES;
localparam KEY_W = 4 * SLOT_W;

reg [SAS-1:0] on_reg;
reg [SAS-1:0] ipv6_reg;

// Write: a row of each memory a cycle. The slot that is written is at the key's low end.

reg write_reg;
reg [SA_W-1:0] write_sa_reg;
reg [5:0] row_reg;
reg [KEY_W-1:0] write_key_reg;

wire take = wr_valid && wr_ready;
wire write_last = write_reg && row_reg == 6'd63;

assign wr_ready = !write_reg;

always @(posedge clk) begin
    if (write_reg) begin
        row_reg <= row_reg + 6'd1;
        if (row_reg[3:0] == 4'd15) begin
            write_key_reg <= {{SLOT_W{1'b0}}, write_key_reg[KEY_W-1:SLOT_W]};
        end
        if (write_last) begin
            write_reg <= 1'b0;
            on_reg[write_sa_reg] <= 1'b1;
        end
    end
    if (take) begin
        write_reg <= wr_on;
        row_reg <= 6'd0;
        write_sa_reg <= wr_sa;
        write_key_reg <= {wr_dst, wr_spi};
        on_reg[wr_sa] <= 1'b0;
        ipv6_reg[wr_sa] <= wr_ipv6;
    end

    if (rst) begin
        write_reg <= 1'b0;
        on_reg <= {SAS{1'b0}};
    end
end

// Look-up: a slot a cycle, then a cycle later its sum

reg look_reg;
reg [1:0] slot_reg;
reg [KEY_W-1:0] key_reg;
reg is_ipv6_reg;
reg sum_reg;
reg [1:0] sum_slot_reg;
reg [SAS-1:0] part_reg;
reg [SAS-1:0] left_reg;
reg [SAS-1:0] match_reg;       // stands while the next key is looked up
reg start_reg;

wire [SAS-1:0] family = is_ipv6_reg ? ipv6_reg : ~ipv6_reg;
wire [SAS-1:0] left = part_reg & (sum_slot_reg == 2'd0 ? on_reg & family : left_reg);
wire [SAS*(MEMORIES+1)-1:0] parts;

assign parts[SAS-1:0] = {SAS{1'b1}};

genvar m;
generate
    for (m = 0; m < MEMORIES; m = m + 1) begin : g_memory
        reg [SAS-1:0] mem [0:63];
        wire bit_in = write_key_reg[4*m +: 4] == row_reg[3:0];

        assign parts[SAS*(m+1) +: SAS] = parts[SAS*m +: SAS] & mem[{slot_reg, key_reg[4*m +: 4]}];

        always @(posedge clk) begin
            if (write_reg) begin
                mem[row_reg][write_sa_reg] <= bit_in;
            end
        end
    end
endgenerate

always @(posedge clk) begin
    if (look_reg) begin
        part_reg <= parts[SAS*MEMORIES +: SAS];
    end
    if (sum_reg) begin
        left_reg <= left;
        if (sum_slot_reg == 2'd3) begin
            match_reg <= left;
        end
    end
end

always @(posedge clk) begin
    if (look_reg) begin
        slot_reg <= slot_reg + 2'd1;
        key_reg <= {{SLOT_W{1'b0}}, key_reg[KEY_W-1:SLOT_W]};
        look_reg <= slot_reg != 2'd3;
    end
    if (s_valid) begin
        look_reg <= 1'b1;
        key_reg <= {s_dst, s_spi};
        is_ipv6_reg <= s_ipv6;
    end
    sum_reg <= look_reg;
    sum_slot_reg <= slot_reg;
    start_reg <= sum_reg && sum_slot_reg == 2'd3;

    if (rst) begin
        look_reg <= 1'b0;
        slot_reg <= 2'd0;
        sum_reg <= 1'b0;
        start_reg <= 1'b0;
    end
end

ipsec_first #(.SAS(SAS)) first (
    .clk(clk), .rst(rst), .start(start_reg), .bits(match_reg), .done(m_valid), .found(m_hit), .number(m_sa)
);

endmodule

`resetall
