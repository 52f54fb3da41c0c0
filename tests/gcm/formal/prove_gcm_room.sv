// gcm_room in front of gcm_queue, with a way of any length between them: what enters with room is never lost, comes out in
// order, and the room says empty only where nothing is on its way.
//
// A pipeline that doesn't stall stands between them in the engine; here what has entered is written whenever the solver
// likes. Entries are followed by their number: the queue must give the number that is due.
module prove_gcm_room (
    input clk,
    input rst,
    input enter,
    input arrive,
    input leave
);

    localparam DEPTH = 4;

    wire       room, empty, valid;
    wire [3:0] number;

    // Connected to what is inside by test_formal.py
    wire [2:0] peek_count, peek_write, peek_read;
    wire [3:0] peek_mem_0, peek_mem_1, peek_mem_2, peek_mem_3;

    reg [3:0] entered_reg;       // modulo 16, as all numbers
    reg [3:0] written_reg;
    reg [3:0] left_reg;
    reg       begun_reg = 1'b0;

    wire taken = enter && room && !rst;
    wire write = arrive && written_reg != entered_reg && !rst;
    wire read = leave && valid && !rst;

    gcm_room #(.DEPTH(DEPTH)) credits (
        .clk(clk), .rst(rst), .taken(taken), .given(read), .room(room), .empty(empty)
    );

    gcm_queue #(.WIDTH(4), .DEPTH(DEPTH)) queue (
        .clk(clk), .rst(rst), .write(write), .write_data(written_reg), .valid(valid), .read_data(number), .read(read)
    );

    always @(posedge clk) begin
        begun_reg <= 1'b1;
        if (taken) entered_reg <= entered_reg + 4'd1;
        if (write) written_reg <= written_reg + 4'd1;
        if (read) left_reg <= left_reg + 4'd1;
        if (rst) begin
            entered_reg <= 4'd0;
            written_reg <= 4'd0;
            left_reg <= 4'd0;
        end
    end

    wire [3:0] under_way = entered_reg - left_reg;
    wire [3:0] held = written_reg - left_reg;
    wire [2:0] peek_held = peek_write - peek_read;
    wire [3:0] oldest = peek_read[1:0] == 2'd0 ? peek_mem_0 : peek_read[1:0] == 2'd1 ? peek_mem_1
                      : peek_read[1:0] == 2'd2 ? peek_mem_2 : peek_mem_3;

    always @* begin
        if (!begun_reg) assume (rst);
        else begin
            assert (under_way <= DEPTH);
            assert (held <= under_way);
            assert (empty == (under_way == 4'd0));
            assert (room == (under_way != DEPTH));
            assert (valid == (held != 4'd0));
            if (valid) assert (number == left_reg);
            // What holds inside, for the induction.
            assert (peek_count == under_way[2:0]);
            assert (peek_held == held[2:0]);
            assert (oldest == number);
            if (held > 4'd0) assert (at(peek_read[1:0]) == left_reg);
            if (held > 4'd1) assert (at(peek_read[1:0] + 2'd1) == left_reg + 4'd1);
            if (held > 4'd2) assert (at(peek_read[1:0] + 2'd2) == left_reg + 4'd2);
            if (held > 4'd3) assert (at(peek_read[1:0] + 2'd3) == left_reg + 4'd3);
            cover (under_way == DEPTH && held == 4'd0);
            cover (held == DEPTH);
            cover (left_reg == 4'd9 && empty);
        end
    end

    function [3:0] at(input [1:0] place);
        at = place == 2'd0 ? peek_mem_0 : place == 2'd1 ? peek_mem_1 : place == 2'd2 ? peek_mem_2 : peek_mem_3;
    endfunction

endmodule
