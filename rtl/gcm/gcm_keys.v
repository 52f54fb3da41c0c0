// gcm_keys: the table of keys: per slot a key, its cipher and H = E(K, 0).
//
// A write is taken, its H is made in a free place of the cipher's pipeline (job_valid until job_go, then h_valid), and all of
// it is put into the slot at once; key_done is 1 in the first cycle in which a look-up sees it. One write at a time. An
// erase needs no H: key_done two cycles behind. So it is for a key of a cipher that isn't there (SM4_EN 0). job_late: the
// job found no free place in 16 cycles, it must get the next.
//
// A look-up gives the slot in the next cycle. `ready`: all slots were cleared, KEYS cycles behind a reset.
//
// SP 800-38D, 7.1, step 1 (H). Parameters: KEYS, a power of two from 2 on; SM4_EN 0 or 1.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_keys #(
    parameter KEYS = 256,
    parameter SM4_EN = 1,
    parameter KEY_W = $clog2(KEYS)
) (
    input  wire             clk,
    input  wire             rst,
    output wire             ready,
    output wire             idle,

    input  wire             key_valid,
    output wire             key_ready,
    input  wire [KEY_W-1:0] key_index,
    input  wire             key_cipher,
    input  wire             key_256,
    input  wire             key_erase,
    input  wire [255:0]     key_data,
    output wire             key_done,

    output wire             job_valid,
    output wire             job_late,
    output wire             job_cipher,
    output wire             job_256,
    output wire [255:0]     job_key,
    input  wire             job_go,
    input  wire             h_valid,
    input  wire [127:0]     h,

    input  wire             look_valid,
    input  wire [KEY_W-1:0] look_index,
    output wire             look_known,
    output wire             look_cipher,
    output wire             look_256,
    output wire [255:0]     look_key,
    output wire [127:0]     look_h
);

localparam WIDTH = 256 + 128 + 3;
localparam [KEY_W-1:0] ONE = 1;

reg [WIDTH-1:0] mem [0:KEYS-1];
reg [WIDTH-1:0] read_reg;

reg             clear_reg;
reg [KEY_W-1:0] clear_index_reg;

reg             busy_reg;        // a write is under way
reg             job_reg;         // its H has yet to be begun
reg [3:0]       wait_reg;        // cycles that it found no place
reg             late_reg;
reg             known_reg;       // the slot will have a key
reg             cipher_reg;
reg             is_256_reg;
reg [KEY_W-1:0] index_reg;
reg [255:0]     key_reg;
reg             done_reg;

wire take = key_valid && key_ready;
wire with_key = !key_erase && (SM4_EN != 0 || !key_cipher);
wire put = busy_reg && (known_reg ? h_valid : 1'b1);

assign ready = !clear_reg && !rst;
assign idle = !busy_reg;
assign key_ready = !clear_reg && !busy_reg && !rst;
assign key_done = done_reg;

assign job_valid = job_reg;
assign job_late = late_reg;
assign job_cipher = cipher_reg;
assign job_256 = is_256_reg;
assign job_key = key_reg;

assign {look_known, look_cipher, look_256, look_h, look_key} = read_reg;

always @(posedge clk) begin
    if (look_valid) begin
        read_reg <= mem[look_index];
    end
end

always @(posedge clk) begin
    if (clear_reg || put) begin
        mem[clear_reg ? clear_index_reg : index_reg] <= clear_reg || !known_reg
            ? {WIDTH{1'b0}} : {1'b1, cipher_reg, is_256_reg, h, key_reg};
    end
end

always @(posedge clk) begin
    if (take) begin
        cipher_reg <= key_cipher;
        is_256_reg <= key_256 && !key_cipher;
        known_reg <= with_key;
        index_reg <= key_index;
        key_reg <= key_data;
    end
end

always @(posedge clk) begin
    done_reg <= put;
    if (take) begin
        busy_reg <= 1'b1;
        job_reg <= with_key;
        wait_reg <= 4'd0;
        late_reg <= 1'b0;
    end else if (put) begin
        busy_reg <= 1'b0;
    end
    if (job_reg) begin
        wait_reg <= wait_reg + 4'd1;
        if (job_go) begin
            job_reg <= 1'b0;
            late_reg <= 1'b0;
        end else if (&wait_reg) begin
            late_reg <= 1'b1;
        end
    end
    if (clear_reg) begin
        clear_index_reg <= clear_index_reg + ONE;
        clear_reg <= !(&clear_index_reg);
    end

    if (rst) begin
        clear_reg <= 1'b1;
        clear_index_reg <= {KEY_W{1'b0}};
        busy_reg <= 1'b0;
        job_reg <= 1'b0;
        late_reg <= 1'b0;
        done_reg <= 1'b0;
    end
end

endmodule

`resetall
