// word_queue: whoever writes with room and reads what is valid loses nothing, sees no entry twice and all in order; the
// output comes in the cycle after the write, or with BYPASS in its own where nothing is in front.
//
// Entries are followed by their number: the queue must give the number that is due.
module prove_word_queue #(
    parameter BYPASS = 0
) (
    input clk,
    input rst,
    input write_any,
    input read_any
);

    localparam DEPTH = 4;

    wire       valid;
    wire [3:0] number;
    wire [2:0] held;

    // Connected to what is inside by test_formal.py
    wire [2:0]  peek_write, peek_read;
    wire [15:0] peek_mem;

    reg [3:0] written_reg;       // modulo 16, as all numbers
    reg [3:0] left_reg;
    reg       begun_reg = 1'b0;

    wire [3:0] inside = written_reg - left_reg;
    wire write = write_any && inside < DEPTH && !rst;
    wire read = read_any && valid && !rst;

    word_queue #(.WIDTH(4), .DEPTH(DEPTH), .BYPASS(BYPASS)) dut (
        .clk(clk), .rst(rst), .write(write), .write_data(written_reg), .valid(valid), .read_data(number), .read(read),
        .held(held)
    );

    always @(posedge clk) begin
        begun_reg <= 1'b1;
        if (write) written_reg <= written_reg + 4'd1;
        if (read) left_reg <= left_reg + 4'd1;
        if (rst) begin
            written_reg <= 4'd0;
            left_reg <= 4'd0;
        end
    end

    function [3:0] at(input [1:0] place);
        at = peek_mem[4 * place +: 4];
    endfunction

    always @* begin
        if (!begun_reg) assume (rst);
        else begin
            assert (inside <= DEPTH);
            assert (held == inside[2:0]);
            assert (valid == (inside != 4'd0 || BYPASS != 0 && write));
            if (valid) assert (number == left_reg);
            // What holds inside, for the induction.
            assert (peek_write - peek_read == inside[2:0]);
            if (inside > 4'd0) assert (at(peek_read[1:0]) == left_reg);
            if (inside > 4'd1) assert (at(peek_read[1:0] + 2'd1) == left_reg + 4'd1);
            if (inside > 4'd2) assert (at(peek_read[1:0] + 2'd2) == left_reg + 4'd2);
            if (inside > 4'd3) assert (at(peek_read[1:0] + 2'd3) == left_reg + 4'd3);
            cover (inside == DEPTH && read);
            cover (left_reg == 4'd9 && inside == 4'd0);
            cover (read && write && inside == (BYPASS != 0 ? 4'd0 : 4'd1));
        end
    end

endmodule
