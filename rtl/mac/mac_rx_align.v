// The front of mac_rx: finds starts in XGMII and gives each frame's words aligned to the first byte behind the SFD.
//
// Stages, `c` is the cycle in which a word stands on XGMII:
//   c      Its characters are told apart.
//   c + 1  The word is in the first register. A start in it is judged: the column before, the preamble, the SFD (which of
//          a start in lane 4 stand in the next word, on XGMII now). A frame's word is chosen: this one, or its upper half
//          with the lower half on XGMII; what stands behind its first control character is cleared.
//   c + 2  m_*.
//
// So behind a start in c the first word is on m_* in c + 3, from both lanes, and a word follows every cycle until m_end.
//
//   m_count     bytes before the first control character, 0 to 8; 8: there is none
//   m_end       the frame ends in this word; m_good: by a terminate
//   m_time      beside m_first: `now` in the cycle of the start
//   bad_preamble  a word had a start that begins no frame; 1 cycle after it was judged
//
// cfg_enable 0: starts are not looked at.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module mac_rx_align (
    input  wire        clk,
    input  wire        rst,

    input  wire [63:0] xgmii_d,
    input  wire [7:0]  xgmii_c,
    input  wire        cfg_enable,
    input  wire [95:0] now,

    output wire        m_valid,
    output wire        m_first,
    output wire [63:0] m_data,
    output wire [3:0]  m_count,
    output wire        m_end,
    output wire        m_good,
    output wire [95:0] m_time,

    output wire        bad_preamble,
    output wire        low_local,
    output wire        low_remote,
    output wire        high_local,
    output wire        high_remote,
    output wire        idle
);

localparam [7:0] SFD = 8'hd5;

// c: characters

wire [7:0] in_start, in_terminate;
wire [1:0] in_may_start, in_local, in_remote;

mac_rx_columns columns (
    .d(xgmii_d),
    .c(xgmii_c),
    .start(in_start),
    .terminate(in_terminate),
    .may_start(in_may_start),
    .local_fault(in_local),
    .remote_fault(in_remote)
);

reg [63:0] d_reg;
reg [7:0]  c_reg;
reg [7:0]  terminate_reg;
reg        start0_reg;
reg        start4_reg;
reg        start_other_reg;
reg [1:0]  may_start_reg;
reg        before_may_start_reg;     // the column before the word
reg [1:0]  local_reg;
reg [1:0]  remote_reg;
reg [95:0] time_reg;                 // of the last start

assign low_local = local_reg[0];
assign high_local = local_reg[1];
assign low_remote = remote_reg[0];
assign high_remote = remote_reg[1];

always @(posedge clk) begin
    d_reg <= xgmii_d;
    c_reg <= xgmii_c;
    terminate_reg <= in_terminate;
    start0_reg <= in_start[0];
    start4_reg <= in_start[4];
    start_other_reg <= {in_start[7:5], in_start[3:1]} != 6'd0;
    may_start_reg <= in_may_start;
    before_may_start_reg <= may_start_reg[1];
    local_reg <= in_local;
    remote_reg <= in_remote;
    if (in_start[0] || in_start[4]) begin
        time_reg <= now;
    end

    if (rst) begin
        c_reg <= 8'hff;
        start0_reg <= 1'b0;
        start4_reg <= 1'b0;
        start_other_reg <= 1'b0;
        may_start_reg <= 2'b11;
        before_may_start_reg <= 1'b1;
        local_reg <= 2'b00;
        remote_reg <= 2'b00;
    end
end

// c + 1: starts

wire begin0 = start0_reg && before_may_start_reg && c_reg[7:1] == 7'd0 && d_reg[63:56] == SFD;
wire begin4 = start4_reg && may_start_reg[0] && {xgmii_c[3:0], c_reg[7:5]} == 7'd0 && xgmii_d[31:24] == SFD;
wire begins = cfg_enable && (begin0 || begin4);

reg        open_reg;                 // a frame's word is to be chosen
reg        first_reg;
reg        lane4_reg;
reg        bad_preamble_reg;

assign bad_preamble = bad_preamble_reg;

// c + 1: the frame's word

wire [63:0] word = lane4_reg ? {xgmii_d[31:0], d_reg[63:32]} : d_reg;
wire [7:0] word_c = lane4_reg ? {xgmii_c[3:0], c_reg[7:4]} : c_reg;
wire [7:0] word_terminate = lane4_reg ? {in_terminate[3:0], terminate_reg[7:4]} : terminate_reg;

wire word_end = word_c != 8'd0;
wire [7:0] unbroken;                   // no control character up to and with this one

assign unbroken[0] = !word_c[0];
genvar i;
generate
    for (i = 1; i < 8; i = i + 1) begin : character
        assign unbroken[i] = word_c[i:0] == {(i + 1){1'b0}};
    end
endgenerate

reg [3:0] count;

always @* begin
    casez (unbroken)
        8'b1???????: count = 4'd8;
        8'b01??????: count = 4'd7;
        8'b001?????: count = 4'd6;
        8'b0001????: count = 4'd5;
        8'b00001???: count = 4'd4;
        8'b000001??: count = 4'd3;
        8'b0000001?: count = 4'd2;
        8'b00000001: count = 4'd1;
        default: count = 4'd0;
    endcase
end

// m_*

reg        m_valid_reg;
reg        m_first_reg;
reg [63:0] m_data_reg;
reg [3:0]  m_count_reg;
reg        m_end_reg;
reg [7:0]  m_control_reg;            // the first control character, one bit
reg [7:0]  m_terminate_reg;
reg [95:0] m_time_reg;

assign m_valid = m_valid_reg;
assign m_first = m_first_reg;
assign m_data = m_data_reg;
assign m_count = m_count_reg;
assign m_end = m_end_reg;
assign m_good = (m_control_reg & m_terminate_reg) != 8'd0;
assign m_time = m_time_reg;
assign idle = !open_reg && !m_valid_reg && !begins;

integer k;

always @(posedge clk) begin
    bad_preamble_reg <= cfg_enable && !rst
        && (start_other_reg || (start0_reg && !begin0) || (start4_reg && !begin4));

    if (begins) begin
        open_reg <= 1'b1;
        first_reg <= 1'b1;
        lane4_reg <= begin4;
    end else if (open_reg) begin
        open_reg <= !word_end;
        first_reg <= 1'b0;
    end

    m_valid_reg <= open_reg;
    if (open_reg) begin
        for (k = 0; k < 8; k = k + 1) begin
            m_data_reg[k*8 +: 8] <= word[k*8 +: 8] & {8{unbroken[k]}};
        end
        m_first_reg <= first_reg;
        m_count_reg <= count;
        m_end_reg <= word_end;
        m_control_reg <= ~unbroken & {unbroken[6:0], 1'b1};
        m_terminate_reg <= word_terminate;
        // A start in the word behind that of a frame's own leaves the frame four bytes at most: no stream, no time
        if (first_reg) begin
            m_time_reg <= time_reg;
        end
    end

    if (rst) begin
        open_reg <= 1'b0;
        m_valid_reg <= 1'b0;
    end
end

endmodule

`resetall
