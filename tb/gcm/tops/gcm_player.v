// Plays files of keys, commands and beats into `gcm` and writes what comes out to a file: Python wakes once in
// thousands of cycles.
//
// Files of the working folder, a record a line, all fields in hexadecimal (tb/gcm/player.py writes them):
//   keys.hex      need index cipher is_256 erase data      offered once `need` commands have been taken
//   commands.hex  need key decrypt iv tag_bytes save resume state      offered once `need` keys are done
//   beats.hex     tdata tkeep tlast tuser tag
//   results.hex   what came out: cycle tdata tkeep tlast tuser tag state
// They are opened when `go` rises and closed when it falls. Throughput: a record of each file a cycle.

`resetall
`timescale 1ns / 1ps
`default_nettype none

module gcm_player #(
    parameter KEYS   = 256,  // slots of the key table
    parameter SM4_EN = 1
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        go,
    output wire        ready,
    output wire        idle,
    output reg  [31:0] keys_done,
    output reg  [31:0] commands_taken,
    output reg  [31:0] beats_in,
    output reg  [31:0] packets_out,
    output wire [ 6:0] waiting         // key, command, data in: valid, ready each; data out: valid
);
  localparam KEY_W = $clog2(KEYS);

  integer key_file, command_file, beat_file, result_file, fields;
  reg running;
  reg key_read, key_end, command_read, command_end, beat_end;
  reg [31:0] cycle;

  reg [31:0] key_need, command_need;
  reg [KEY_W-1:0] next_index, next_key;
  reg next_cipher, next_256, next_erase, next_decrypt, next_save, next_resume, next_last, next_user;
  reg [255:0] next_key_data;
  reg [ 95:0] next_iv;
  reg [  4:0] next_tag_bytes;
  reg [307:0] next_state;
  reg [127:0] next_data, next_tag;
  reg [15:0] next_keep;

  reg key_valid;
  wire key_ready;
  reg [KEY_W-1:0] key_index;
  reg key_cipher, key_256, key_erase;
  reg [255:0] key_data;
  wire key_done;

  reg s_cmd_valid;
  wire s_cmd_ready;
  reg [KEY_W-1:0] s_cmd_key;
  reg s_cmd_decrypt, s_cmd_save, s_cmd_resume;
  reg [ 95:0] s_cmd_iv;
  reg [  4:0] s_cmd_tag_bytes;
  reg [307:0] s_cmd_state;

  reg [127:0] s_axis_tdata, s_axis_tag;
  reg [15:0] s_axis_tkeep;
  reg s_axis_tvalid, s_axis_tlast, s_axis_tuser;
  wire s_axis_tready;

  wire [127:0] m_axis_tdata, m_axis_tag;
  wire [ 15:0] m_axis_tkeep;
  wire [  1:0] m_axis_tuser;
  wire [307:0] m_axis_state;
  wire m_axis_tvalid, m_axis_tlast;

  assign waiting = {
    key_valid, key_ready, s_cmd_valid, s_cmd_ready, s_axis_tvalid, s_axis_tready, m_axis_tvalid
  };

  always @(posedge clk) begin
    cycle <= cycle + 32'd1;
    if (rst) begin
      cycle <= 32'd0;
      running <= 1'b0;
      keys_done <= 32'd0;
      commands_taken <= 32'd0;
      beats_in <= 32'd0;
      packets_out <= 32'd0;
      key_valid <= 1'b0;
      s_cmd_valid <= 1'b0;
      s_axis_tvalid <= 1'b0;
    end else if (!running) begin
      if (go) begin
        key_file = $fopen("keys.hex", "r");
        command_file = $fopen("commands.hex", "r");
        beat_file = $fopen("beats.hex", "r");
        result_file = $fopen("results.hex", "w");
        key_read = 1'b0;
        key_end = 1'b0;
        command_read = 1'b0;
        command_end = 1'b0;
        beat_end = 1'b0;
        keys_done <= 32'd0;
        commands_taken <= 32'd0;
        beats_in <= 32'd0;
        packets_out <= 32'd0;
        running <= 1'b1;
      end
    end else begin
      if (!go) begin
        $fclose(key_file);
        $fclose(command_file);
        $fclose(beat_file);
        $fclose(result_file);
        running <= 1'b0;
      end
      if (key_done) keys_done <= keys_done + 32'd1;
      if (s_cmd_valid && s_cmd_ready) commands_taken <= commands_taken + 32'd1;
      if (s_axis_tvalid && s_axis_tready) beats_in <= beats_in + 32'd1;

      if (!key_valid || key_ready) begin
        if (!key_read && !key_end) begin
          fields = $fscanf(key_file, "%h %h %h %h %h %h\n", key_need, next_index, next_cipher,
                           next_256, next_erase, next_key_data);
          key_read = fields == 6;
          key_end = !key_read;
        end
        key_valid <= key_read && key_need <= commands_taken;
        if (key_read && key_need <= commands_taken) begin
          key_index <= next_index;
          key_cipher <= next_cipher;
          key_256 <= next_256;
          key_erase <= next_erase;
          key_data <= next_key_data;
          key_read = 1'b0;
        end
      end

      if (!s_cmd_valid || s_cmd_ready) begin
        if (!command_read && !command_end) begin
          fields = $fscanf(command_file, "%h %h %h %h %h %h %h %h\n", command_need, next_key,
                           next_decrypt, next_iv, next_tag_bytes, next_save, next_resume,
                           next_state);
          command_read = fields == 8;
          command_end = !command_read;
        end
        s_cmd_valid <= command_read && command_need <= keys_done;
        if (command_read && command_need <= keys_done) begin
          s_cmd_key <= next_key;
          s_cmd_decrypt <= next_decrypt;
          s_cmd_iv <= next_iv;
          s_cmd_tag_bytes <= next_tag_bytes;
          s_cmd_save <= next_save;
          s_cmd_resume <= next_resume;
          s_cmd_state <= next_state;
          command_read = 1'b0;
        end
      end

      if (!s_axis_tvalid || s_axis_tready) begin
        fields = 0;
        if (!beat_end) begin
          fields = $fscanf(beat_file, "%h %h %h %h %h\n", next_data, next_keep, next_last,
                           next_user, next_tag);
          beat_end = fields != 5;
        end
        s_axis_tvalid <= fields == 5;
        if (fields == 5) begin
          s_axis_tdata <= next_data;
          s_axis_tkeep <= next_keep;
          s_axis_tlast <= next_last;
          s_axis_tuser <= next_user;
          s_axis_tag   <= next_tag;
        end
      end

      if (m_axis_tvalid) begin
        $fdisplay(result_file, "%h %h %h %h %h %h %h", cycle, m_axis_tdata, m_axis_tkeep,
                  m_axis_tlast, m_axis_tuser, m_axis_tag, m_axis_state);
        if (m_axis_tlast) packets_out <= packets_out + 32'd1;
      end
    end
  end

  gcm #(
      .KEYS(KEYS),
      .SM4_EN(SM4_EN)
  ) engine (
      .clk(clk),
      .rst(rst),
      .ready(ready),
      .key_valid(key_valid),
      .key_ready(key_ready),
      .key_index(key_index),
      .key_cipher(key_cipher),
      .key_256(key_256),
      .key_erase(key_erase),
      .key_data(key_data),
      .key_done(key_done),
      .s_cmd_valid(s_cmd_valid),
      .s_cmd_ready(s_cmd_ready),
      .s_cmd_key(s_cmd_key),
      .s_cmd_decrypt(s_cmd_decrypt),
      .s_cmd_iv(s_cmd_iv),
      .s_cmd_tag_bytes(s_cmd_tag_bytes),
      .s_cmd_save(s_cmd_save),
      .s_cmd_resume(s_cmd_resume),
      .s_cmd_state(s_cmd_state),
      .s_axis_tdata(s_axis_tdata),
      .s_axis_tkeep(s_axis_tkeep),
      .s_axis_tvalid(s_axis_tvalid),
      .s_axis_tready(s_axis_tready),
      .s_axis_tlast(s_axis_tlast),
      .s_axis_tuser(s_axis_tuser),
      .s_axis_tag(s_axis_tag),
      .m_axis_tdata(m_axis_tdata),
      .m_axis_tkeep(m_axis_tkeep),
      .m_axis_tvalid(m_axis_tvalid),
      .m_axis_tready(1'b1),
      .m_axis_tlast(m_axis_tlast),
      .m_axis_tuser(m_axis_tuser),
      .m_axis_tag(m_axis_tag),
      .m_axis_state(m_axis_state),
      .idle(idle)
  );
endmodule

`resetall
