// Entry and disposition monitor of the harness (tb/native), for Verilator: path ID. Latency 0, no throughput limit.

module bfm_path #(
    parameter int ID = 0  // index of the path in the harness
) (
    input wire clk,
    input wire rst,

    input wire entry_valid,
    input wire [15:0] entry_seq,
    input wire disp_valid,
    input wire [15:0] disp_seq,
    input wire [7:0] disp_code,
    input wire [7:0] disp_queue
);
    import "DPI-C" function void nicloop_dpi_entry(input int path, input int unsigned seq);
    import "DPI-C" function void nicloop_dpi_disposition(
        input int path, input int unsigned seq, input int unsigned code, input int unsigned host_queue);

    // The disposition first: a number that ends and begins in one cycle is two frames, and no frame ends as it begins.
    always @(posedge clk) begin
        if (!rst && disp_valid) nicloop_dpi_disposition(ID, {16'b0, disp_seq}, {24'b0, disp_code}, {24'b0, disp_queue});
        if (!rst && entry_valid) nicloop_dpi_entry(ID, {16'b0, entry_seq});
    end
endmodule
