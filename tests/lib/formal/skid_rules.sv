// What an axis_register owes: every beat that it takes comes out once, in order, unchanged, one cycle later at the
// earliest and never kept back; meta comes out with its frame's first beat. One beat, which the solver chooses, is followed.
// The inputs named peek_* are the register's own, for the invariants that make induction close.
module skid_rules #(
    parameter BEAT_W = 8,
    parameter META_W = 2
) (
    input              clk,
    input              rst,
    input              begun,        // there has been a cycle of reset
    input              pick,         // follow the beat taken now

    input [BEAT_W-1:0] s_beat,
    input              s_last,
    input [META_W-1:0] s_meta,
    input              s_first,
    input              s_valid,
    input              s_ready,

    input [BEAT_W-1:0] m_beat,
    input              m_last,
    input [META_W-1:0] m_meta,
    input              m_first,
    input              m_valid,
    input              m_ready,

    input              peek_out_valid,
    input              peek_first,
    input [BEAT_W-1:0] peek_skid_beat,
    input              peek_skid_last,
    input [META_W-1:0] peek_skid_meta,
    input              peek_skid_first,
    input              peek_skid_valid
);

    wire take  = s_valid && s_ready;
    wire leave = m_valid && m_ready;

    reg [1:0]        held_reg = 2'd0;
    reg              follow_reg = 1'b0;
    reg [1:0]        ahead_reg = 2'd0;   // beats that leave before the one followed
    reg [BEAT_W-1:0] beat_reg;
    reg              last_reg;
    reg [META_W-1:0] meta_reg;
    reg              first_reg;

    always @(posedge clk) begin
        held_reg <= held_reg + {1'b0, take} - {1'b0, leave};
        if (take && pick && !follow_reg) begin
            follow_reg <= 1'b1;
            ahead_reg  <= held_reg - {1'b0, leave};
            beat_reg   <= s_beat;
            last_reg   <= s_last;
            meta_reg   <= s_meta;
            first_reg  <= s_first;
        end else if (follow_reg && leave) begin
            if (ahead_reg == 2'd0) follow_reg <= 1'b0;
            else ahead_reg <= ahead_reg - 2'd1;
        end
        if (rst) begin
            held_reg   <= 2'd0;
            follow_reg <= 1'b0;
        end
    end

    always @* if (!rst) begin
        // Latency 1 and no bubble; full only with two beats; nothing lost or made up.
        assert (m_valid == (held_reg != 2'd0));
        assert (s_ready == (held_reg != 2'd2));
        assert (held_reg <= 2'd2);

        if (follow_reg) assert (ahead_reg < held_reg);
        if (follow_reg && ahead_reg == 2'd0) begin
            assert (m_beat == beat_reg && m_last == last_reg && m_first == first_reg);
            if (first_reg) assert (m_meta == meta_reg);
        end
        if (follow_reg && ahead_reg == 2'd1) begin
            assert (peek_skid_beat == beat_reg && peek_skid_last == last_reg && peek_skid_first == first_reg);
            if (first_reg) assert (peek_skid_meta == meta_reg);
        end
    end

    always @* if (begun) begin
        assert (held_reg == {1'b0, peek_out_valid} + {1'b0, peek_skid_valid});
        assert (peek_out_valid || !peek_skid_valid);
        assert (peek_first == s_first);
        case (held_reg)
            2'd0: assert (s_first == m_first);
            2'd1: assert (s_first == m_last);
            default: assert (s_first == peek_skid_last && peek_skid_first == m_last);
        endcase
    end

    reg [2:0] stream_reg = 3'd0;         // cycles in a row in which a beat came and a beat went
    always @(posedge clk) stream_reg <= take && leave && !rst ? stream_reg + {2'd0, !(&stream_reg)} : 3'd0;

    always @* if (!rst) begin
        cover (follow_reg && ahead_reg == 2'd1 && first_reg && last_reg);
        cover (held_reg == 2'd2 && leave);
        cover (&stream_reg);
    end

endmodule
