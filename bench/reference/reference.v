// The reference design of the speed benches: parser, ternary match, CRC-32, GHASH and two AES-128 in counter mode.
// Frozen: bench/README.md.
//
// Latency      12 cycles.
// Throughput   one beat a cycle; the pipeline stands still as a whole under back-pressure.
// Out          data is the input XOR both key streams; on the last beat also XOR CRC and tags in lanes 0 to 3,
//              and tuser[9:1] is the low bits of the CRC and the first tag, whether the frame's key matched, and the entry.
// State        about 24,000 flip-flops, 16,384 of them the entries of the match.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module reference (
    input  wire         clk,
    input  wire         rst,

    input  wire [127:0] s_axis_tdata,
    input  wire [15:0]  s_axis_tkeep,
    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    input  wire         s_axis_tlast,
    input  wire [9:0]   s_axis_tuser,

    output wire [127:0] m_axis_tdata,
    output wire [15:0]  m_axis_tkeep,
    output wire         m_axis_tvalid,
    input  wire         m_axis_tready,
    output wire         m_axis_tlast,
    output wire [9:0]   m_axis_tuser
);

    localparam STAGES = 10;

    // Skid buffer at the end; while it is full everything stands still.
    reg          ready_reg;
    wire         advance = ready_reg;
    assign s_axis_tready = ready_reg;

    // Stage 0 holds the beat as it came, stage n what round n made of it.
    reg [STAGES:0] valid_reg;
    reg [127:0]  data_reg [0:STAGES];
    reg [15:0]   keep_reg [0:STAGES];
    reg          last_reg [0:STAGES];
    reg          bad_reg [0:STAGES];
    reg          first_reg;
    reg          start_reg;
    reg [31:0]   frame_reg;
    reg [31:0]   beat_reg;

    wire [127:0] state0 = {64'h0123456789abcdef, frame_reg, beat_reg} ^ 128'h0f0e0d0c0b0a09080706050403020100;
    wire [127:0] key0 = 128'h0f0e0d0c0b0a09080706050403020100;
    wire [127:0] outer_state0 = {64'hfedcba9876543210, beat_reg, frame_reg} ^ 128'h3c4fcf098815f7aba6d2ae2816157e2b;
    wire [127:0] outer_key0 = 128'h3c4fcf098815f7aba6d2ae2816157e2b;
    wire [127:0] state1, key1, outer_state1, outer_key1;
    wire [127:0] state2, key2, outer_state2, outer_key2;
    wire [127:0] state3, key3, outer_state3, outer_key3;
    wire [127:0] state4, key4, outer_state4, outer_key4;
    wire [127:0] state5, key5, outer_state5, outer_key5;
    wire [127:0] state6, key6, outer_state6, outer_key6;
    wire [127:0] state7, key7, outer_state7, outer_key7;
    wire [127:0] state8, key8, outer_state8, outer_key8;
    wire [127:0] state9, key9, outer_state9, outer_key9;
    wire [127:0] state10, key10, outer_state10, outer_key10;
    wire         unused = &{1'b0, key10, outer_key10, s_axis_tuser[9:1]};

    ref_round #(.RCON(8'h01), .FINAL(0)) round1 (
        .clk(clk), .en(advance && valid_reg[0]), .s_state(state0), .s_key(key0), .m_state(state1), .m_key(key1)
    );
    ref_round #(.RCON(8'h02), .FINAL(0)) round2 (
        .clk(clk), .en(advance && valid_reg[1]), .s_state(state1), .s_key(key1), .m_state(state2), .m_key(key2)
    );
    ref_round #(.RCON(8'h04), .FINAL(0)) round3 (
        .clk(clk), .en(advance && valid_reg[2]), .s_state(state2), .s_key(key2), .m_state(state3), .m_key(key3)
    );
    ref_round #(.RCON(8'h08), .FINAL(0)) round4 (
        .clk(clk), .en(advance && valid_reg[3]), .s_state(state3), .s_key(key3), .m_state(state4), .m_key(key4)
    );
    ref_round #(.RCON(8'h10), .FINAL(0)) round5 (
        .clk(clk), .en(advance && valid_reg[4]), .s_state(state4), .s_key(key4), .m_state(state5), .m_key(key5)
    );
    ref_round #(.RCON(8'h20), .FINAL(0)) round6 (
        .clk(clk), .en(advance && valid_reg[5]), .s_state(state5), .s_key(key5), .m_state(state6), .m_key(key6)
    );
    ref_round #(.RCON(8'h40), .FINAL(0)) round7 (
        .clk(clk), .en(advance && valid_reg[6]), .s_state(state6), .s_key(key6), .m_state(state7), .m_key(key7)
    );
    ref_round #(.RCON(8'h80), .FINAL(0)) round8 (
        .clk(clk), .en(advance && valid_reg[7]), .s_state(state7), .s_key(key7), .m_state(state8), .m_key(key8)
    );
    ref_round #(.RCON(8'h1b), .FINAL(0)) round9 (
        .clk(clk), .en(advance && valid_reg[8]), .s_state(state8), .s_key(key8), .m_state(state9), .m_key(key9)
    );
    ref_round #(.RCON(8'h36), .FINAL(1)) round10 (
        .clk(clk), .en(advance && valid_reg[9]), .s_state(state9), .s_key(key9), .m_state(state10), .m_key(key10)
    );

    ref_round #(.RCON(8'h01), .FINAL(0)) outer_round1 (
        .clk(clk), .en(advance && valid_reg[0]), .s_state(outer_state0), .s_key(outer_key0), .m_state(outer_state1), .m_key(outer_key1)
    );
    ref_round #(.RCON(8'h02), .FINAL(0)) outer_round2 (
        .clk(clk), .en(advance && valid_reg[1]), .s_state(outer_state1), .s_key(outer_key1), .m_state(outer_state2), .m_key(outer_key2)
    );
    ref_round #(.RCON(8'h04), .FINAL(0)) outer_round3 (
        .clk(clk), .en(advance && valid_reg[2]), .s_state(outer_state2), .s_key(outer_key2), .m_state(outer_state3), .m_key(outer_key3)
    );
    ref_round #(.RCON(8'h08), .FINAL(0)) outer_round4 (
        .clk(clk), .en(advance && valid_reg[3]), .s_state(outer_state3), .s_key(outer_key3), .m_state(outer_state4), .m_key(outer_key4)
    );
    ref_round #(.RCON(8'h10), .FINAL(0)) outer_round5 (
        .clk(clk), .en(advance && valid_reg[4]), .s_state(outer_state4), .s_key(outer_key4), .m_state(outer_state5), .m_key(outer_key5)
    );
    ref_round #(.RCON(8'h20), .FINAL(0)) outer_round6 (
        .clk(clk), .en(advance && valid_reg[5]), .s_state(outer_state5), .s_key(outer_key5), .m_state(outer_state6), .m_key(outer_key6)
    );
    ref_round #(.RCON(8'h40), .FINAL(0)) outer_round7 (
        .clk(clk), .en(advance && valid_reg[6]), .s_state(outer_state6), .s_key(outer_key6), .m_state(outer_state7), .m_key(outer_key7)
    );
    ref_round #(.RCON(8'h80), .FINAL(0)) outer_round8 (
        .clk(clk), .en(advance && valid_reg[7]), .s_state(outer_state7), .s_key(outer_key7), .m_state(outer_state8), .m_key(outer_key8)
    );
    ref_round #(.RCON(8'h1b), .FINAL(0)) outer_round9 (
        .clk(clk), .en(advance && valid_reg[8]), .s_state(outer_state8), .s_key(outer_key8), .m_state(outer_state9), .m_key(outer_key9)
    );
    ref_round #(.RCON(8'h36), .FINAL(1)) outer_round10 (
        .clk(clk), .en(advance && valid_reg[9]), .s_state(outer_state9), .s_key(outer_key9), .m_state(outer_state10), .m_key(outer_key10)
    );

    // Parser and match go along with the beat that completes the key: the key in stage 2, the entry in stage 4.
    wire         key_valid;
    wire [127:0] key;
    wire         hit;
    wire [5:0]   index;
    wire [127:0] kept_data;

    ref_parser parser (
        .clk(clk), .rst(rst), .en(advance), .valid(valid_reg[0]), .last(last_reg[0]), .data(data_reg[0]),
        .key_valid_reg(key_valid), .key_reg(key)
    );
    ref_match match (
        .clk(clk), .rst(rst), .en(advance), .key_valid(key_valid), .key(key), .hit_reg(hit), .index_reg(index)
    );

    genvar g;
    generate
        for (g = 0; g < 16; g = g + 1) begin : lane
            assign kept_data[8*g +: 8] = keep_reg[0][g] ? data_reg[0][8*g +: 8] : 8'h00;
        end
    endgenerate

    wire [31:0]  crc;
    ref_crc crc_i (.clk(clk), .en(advance && valid_reg[0]), .first(start_reg), .data(kept_data), .crc_reg(crc));

    // GHASH over the plain beats.
    reg  [127:0] hash_key_reg;
    wire [127:0] tag;
    ref_ghash ghash (
        .clk(clk), .en(advance && valid_reg[0]), .first(start_reg), .data(kept_data), .key(hash_key_reg), .tag_reg(tag)
    );

    // CRC and tag stand beside stage 1, the match beside stage 4; the last beat takes them along.
    reg [31:0]   crc_reg [2:STAGES];
    reg [6:0]    entry_reg [5:STAGES];

    integer i;

    always @(posedge clk) begin
        if (advance) begin
            valid_reg <= {valid_reg[STAGES-1:0], s_axis_tvalid};
            if (s_axis_tvalid) begin
                data_reg[0] <= s_axis_tdata;
                keep_reg[0] <= s_axis_tkeep;
                last_reg[0] <= s_axis_tlast;
                bad_reg[0] <= s_axis_tuser[0];
                start_reg <= first_reg;
                first_reg <= s_axis_tlast;
                beat_reg <= first_reg ? 32'd0 : beat_reg + 32'd1;
                if (first_reg) frame_reg <= frame_reg + 32'd1;
            end
            for (i = 1; i <= STAGES; i = i + 1) begin
                if (valid_reg[i-1]) begin
                    data_reg[i] <= data_reg[i-1];
                    keep_reg[i] <= keep_reg[i-1];
                    last_reg[i] <= last_reg[i-1];
                    bad_reg[i] <= bad_reg[i-1];
                end
            end
            if (valid_reg[1]) crc_reg[2] <= crc ^ tag[31:0] ^ tag[63:32] ^ tag[95:64] ^ tag[127:96];
            for (i = 3; i <= STAGES; i = i + 1) if (valid_reg[i-1]) crc_reg[i] <= crc_reg[i-1];
            if (valid_reg[4]) entry_reg[5] <= {hit, index};
            for (i = 6; i <= STAGES; i = i + 1) if (valid_reg[i-1]) entry_reg[i] <= entry_reg[i-1];
        end
        if (rst) begin
            valid_reg <= {STAGES + 1{1'b0}};
            first_reg <= 1'b1;
            frame_reg <= 32'd0;
            hash_key_reg <= 128'h66e94bd4ef8a2c3b884cfa59ca342b2e;
        end
    end

    // GHASH over what leaves, up to the beat before.
    reg          out_first_reg;
    wire [127:0] cipher = data_reg[STAGES] ^ state10 ^ outer_state10;
    wire [127:0] out_tag;
    ref_ghash out_ghash (
        .clk(clk), .en(advance && valid_reg[STAGES]), .first(out_first_reg), .data(cipher), .key(hash_key_reg), .tag_reg(out_tag)
    );
    always @(posedge clk) begin
        if (advance && valid_reg[STAGES]) out_first_reg <= last_reg[STAGES];
        if (rst) out_first_reg <= 1'b1;
    end

    wire [31:0]  seal = ~crc_reg[STAGES] ^ (out_first_reg ? 32'd0 : out_tag[31:0] ^ out_tag[63:32] ^ out_tag[95:64] ^ out_tag[127:96]);
    wire [127:0] out_data = cipher ^ (last_reg[STAGES] ? {96'd0, seal} : 128'd0);
    wire [9:0]   out_user = {crc_reg[STAGES][1:0], entry_reg[STAGES], bad_reg[STAGES]};

    reg [127:0]  m_data_reg, skid_data_reg;
    reg [15:0]   m_keep_reg, skid_keep_reg;
    reg          m_last_reg, skid_last_reg;
    reg [9:0]    m_user_reg, skid_user_reg;
    reg          m_valid_reg, skid_valid_reg;

    assign m_axis_tdata = m_data_reg;
    assign m_axis_tkeep = m_keep_reg;
    assign m_axis_tlast = m_last_reg;
    assign m_axis_tuser = m_user_reg;
    assign m_axis_tvalid = m_valid_reg;

    // The output register is free when it is empty or being read; a beat that finds it taken goes into the skid register.
    wire         take = advance && valid_reg[STAGES];
    wire         free = !m_valid_reg || m_axis_tready;

    always @(posedge clk) begin
        if (free) begin
            m_valid_reg <= skid_valid_reg || take;
            if (skid_valid_reg) begin
                m_data_reg <= skid_data_reg;
                m_keep_reg <= skid_keep_reg;
                m_last_reg <= skid_last_reg;
                m_user_reg <= skid_user_reg;
            end else if (take) begin
                m_data_reg <= out_data;
                m_keep_reg <= keep_reg[STAGES];
                m_last_reg <= last_reg[STAGES];
                m_user_reg <= out_user;
            end
            skid_valid_reg <= 1'b0;
        end else if (take) begin
            skid_data_reg <= out_data;
            skid_keep_reg <= keep_reg[STAGES];
            skid_last_reg <= last_reg[STAGES];
            skid_user_reg <= out_user;
            skid_valid_reg <= 1'b1;
        end
        ready_reg <= free || !(take || skid_valid_reg);
        if (rst) begin
            m_valid_reg <= 1'b0;
            skid_valid_reg <= 1'b0;
            ready_reg <= 1'b0;
        end
    end

endmodule

`resetall
