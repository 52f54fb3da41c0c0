// The rules of a stream (docs/architecture.md, section 2): what a source offers it holds, with everything beside it and on
// first beats with meta, until it is taken. Assumed of the sources around a design, asserted of the design's outputs.
module stream_rules #(
    parameter ASSUME = 0,
    parameter BEAT_W = 8,            // tdata, tkeep, tuser
    parameter META_W = 2
) (
    input              clk,
    input              rst,
    input [BEAT_W-1:0] beat,
    input              last,
    input [META_W-1:0] meta,
    input              valid,
    input              ready,
    output             first         // the beat offered, or the next one, is a frame's first
);

    reg              first_reg = 1'b1;
    reg              held_reg = 1'b0;    // what was offered in the cycle before was not taken
    reg [BEAT_W-1:0] beat_reg;
    reg              last_reg;
    reg [META_W-1:0] meta_reg;

    assign first = first_reg;

    wire same = valid && beat == beat_reg && last == last_reg && (!first || meta == meta_reg);

    always @(posedge clk) begin
        held_reg <= !rst && valid && !ready;
        beat_reg <= beat;
        last_reg <= last;
        meta_reg <= meta;
        if (rst) first_reg <= 1'b1;
        else if (valid && ready) first_reg <= last;
    end

    always @* begin
        if (held_reg && !rst) begin
            if (ASSUME != 0) assume (same);
            else assert (same);
        end
        if (ASSUME == 0 && rst) assert (!valid);
    end

endmodule
