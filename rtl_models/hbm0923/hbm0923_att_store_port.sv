// The writing side of one HBM port in dat2hbm: takes its part of a pixel, and writes it in single beats.
//
// K: both halves of the pixel, two beats. V: one of 16 slots in a beat for each of its channels, 32 / Ports beats, written
// when the token after is not of the same 16. Only the bytes of tokens that came are strobed.
module hbm0923_att_store_port
  import hbm0923_att_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Port         = 0,
  parameter int unsigned Ports        = 32,
  parameter int unsigned Log2BankStep = 28
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               enable_i,

  input  logic               clear_i,     // forget what was gathered and not written (after an error)
  input  logic               valid_i,     // a pixel, only while busy_o is low
  input  att_store_t         store_i,
  input  logic [DdrBits-1:0] pixel_i,
  input  logic [27:0]        stride_i,    // V: from channel to channel

  output logic               busy_o,      // beats are to be written
  output logic               idle_o,      // and none waits for its response
  output logic               error_o,

  output hbm_wr_req_t        hbm_req_o,
  input  hbm_wr_rsp_t        hbm_rsp_i
);
  localparam int unsigned Channels = PixelLanes / Ports;
  localparam int unsigned Beats    = (Channels < 2) ? 2 : Channels;
  localparam int unsigned Bw       = $clog2(Beats) + 1;

  logic [31:0]   strb_q;
  logic          keys_q;
  logic [27:0]   addr_q, stride_q;
  logic [Bw-1:0] left_q, beat_q;  // beats still to be written, and which one
  logic          aw_q, w_q;       // address, data of this one still to be taken
  logic [7:0]    waiting_q;       // responses
  logic          mine, taken, aw_ready, w_ready, b_valid;

  assign aw_ready = hbm_rsp_i.aw_ready;
  assign w_ready  = hbm_rsp_i.w_ready;
  assign b_valid  = hbm_rsp_i.b_valid;
  assign mine     = valid_i && (!store_i.keys || store_i.port == 5'(Port));
  assign taken    = (!aw_q || aw_ready) && (!w_q || w_ready);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      strb_q    <= '0;
      keys_q    <= 1'b0;
      left_q    <= '0;
      beat_q    <= '0;
      aw_q      <= 1'b0;
      w_q       <= 1'b0;
      waiting_q <= '0;
      addr_q    <= '0;
      stride_q  <= '0;
    end else if (enable_i) begin
      if (mine) begin
        addr_q   <= store_i.addr;
        keys_q   <= store_i.keys;
        beat_q   <= '0;
        stride_q <= store_i.keys ? 28'd32 : stride_i;
        strb_q   <= store_i.keys ? '1 : strb_q | (32'd3 << {store_i.slot, 1'b0});
        if (store_i.keys || store_i.flush) begin
          left_q <= store_i.keys ? Bw'(2) : Bw'(Channels);
          aw_q   <= 1'b1;
          w_q    <= 1'b1;
        end
      end else if (left_q != '0) begin
        if (aw_ready) aw_q <= 1'b0;
        if (w_ready) w_q <= 1'b0;
        if (taken) begin
          left_q <= left_q - Bw'(1'b1);
          beat_q <= beat_q + Bw'(1'b1);
          addr_q <= addr_q + stride_q;
          aw_q   <= left_q != Bw'(1'b1);
          w_q    <= left_q != Bw'(1'b1);
          if (left_q == Bw'(1'b1)) strb_q <= '0;
        end
      end
      if (clear_i) strb_q <= '0;
      waiting_q <= waiting_q + 8'(aw_q && aw_ready) - 8'(b_valid);
    end
  end

  // K: the pixel. V: the channels of this port, 16 tokens of them.
  logic [DdrBits-1:0]     pixel_q;
  logic [Channels*16-1:0] slots [BeatLanes];

  function automatic logic [Channels*16-1:0] own(input logic [DdrBits-1:0] pixel);
    logic [Channels*16-1:0] lanes;
    for (int unsigned c = 0; c < Channels; c++) lanes[16*c+:16] = pixel[16*(Port+Ports*c)+:16];
    return lanes;
  endfunction

  always_ff @(posedge clk_i) if (mine && store_i.keys) pixel_q <= pixel_i;
  always_ff @(posedge clk_i) if (mine && !store_i.keys) slots[store_i.slot] <= own(pixel_i);

  logic [HbmBits-1:0] beat;
  always_comb begin
    beat = '0;
    if (w_q) begin
      if (keys_q) beat = beat_q[0] ? pixel_q[HbmBits+:HbmBits] : pixel_q[0+:HbmBits];
      else for (int unsigned t = 0; t < BeatLanes; t++) beat[16*t+:16] = 16'(slots[t] >> {beat_q, 4'd0});
    end
  end

  assign busy_o             = left_q != '0;
  assign idle_o             = left_q == '0 && waiting_q == '0;
  assign error_o            = b_valid && hbm_rsp_i.b.resp[1];
  assign hbm_req_o.aw_valid = aw_q;
  assign hbm_req_o.aw.addr  = (33'(Port) << Log2BankStep) | 33'(addr_q);
  assign hbm_req_o.aw.len   = '0;
  assign hbm_req_o.w_valid  = w_q;
  assign hbm_req_o.w.data   = beat;
  assign hbm_req_o.w.strb   = strb_q;
  assign hbm_req_o.w.last   = 1'b1;
  assign hbm_req_o.b_ready  = 1'b1;
  logic unused_response;
  assign unused_response = hbm_rsp_i.b.resp[0];
endmodule
