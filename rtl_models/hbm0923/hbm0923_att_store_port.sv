// The writing side of one HBM port in dat2hbm: takes its part of a pixel, and writes it in single beats.
//
// K: both halves of the pixel, two beats. V: one of 16 slots in a beat for each of its channels, 32 / Ports beats, written
// when the token after is not of the same 16. Only the bytes of tokens that came are strobed.
module hbm0923_att_store_port
  import hbm0923_att_pkg::*;
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

  output logic               awvalid_o,
  input  logic               awready_i,
  output logic [32:0]        awaddr_o,
  output logic               wvalid_o,
  input  logic               wready_i,
  output logic [HbmBits-1:0] wdata_o,
  output logic [31:0]        wstrb_o,
  input  logic               bvalid_i,
  input  logic [1:0]         bresp_i
);
  localparam int unsigned Channels = PixelLanes / Ports;
  localparam int unsigned Beats    = (Channels < 2) ? 2 : Channels;
  localparam int unsigned Bw       = $clog2(Beats) + 1;

  logic [Beats-1:0][HbmBits-1:0] data_q;    // the lowest is written first
  logic [31:0]                   strb_q;
  logic [27:0]                   addr_q, stride_q;
  logic [Bw-1:0]                 left_q;    // beats still to be written
  logic                          aw_q, w_q; // address, data of this one still to be taken
  logic [7:0]                    waiting_q; // responses
  logic                          mine, taken;

  assign mine  = valid_i && (!store_i.keys || store_i.port == 5'(Port));
  assign taken = (!aw_q || awready_i) && (!w_q || wready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      strb_q    <= '0;
      left_q    <= '0;
      aw_q      <= 1'b0;
      w_q       <= 1'b0;
      waiting_q <= '0;
      addr_q    <= '0;
      stride_q  <= '0;
    end else if (enable_i) begin
      if (mine) begin
        addr_q   <= store_i.addr;
        stride_q <= store_i.keys ? 28'd32 : stride_i;
        strb_q   <= store_i.keys ? '1 : strb_q | (32'd3 << {store_i.slot, 1'b0});
        if (store_i.keys || store_i.flush) begin
          left_q <= store_i.keys ? Bw'(2) : Bw'(Channels);
          aw_q   <= 1'b1;
          w_q    <= 1'b1;
        end
      end else if (left_q != '0) begin
        if (awready_i) aw_q <= 1'b0;
        if (wready_i) w_q <= 1'b0;
        if (taken) begin
          left_q <= left_q - Bw'(1'b1);
          addr_q <= addr_q + stride_q;
          aw_q   <= left_q != Bw'(1'b1);
          w_q    <= left_q != Bw'(1'b1);
          if (left_q == Bw'(1'b1)) strb_q <= '0;
        end
      end
      if (clear_i) strb_q <= '0;
      waiting_q <= waiting_q + 8'(aw_q && awready_i) - 8'(bvalid_i);
    end
  end

  // The pixel's channels of this port, each in the token's slot of its beat.
  typedef logic [Beats-1:0][HbmBits-1:0] beats_t;
  function automatic beats_t gather(input beats_t held, input logic [DdrBits-1:0] pixel, input logic [3:0] slot);
    /*verilator no_inline_task*/
    beats_t beats;
    beats = held;
    for (int unsigned c = 0; c < Channels; c++) begin
      for (int unsigned t = 0; t < BeatLanes; t++) begin
        if (slot == 4'(t)) beats[c][16*t+:16] = pixel[16*(Port+Ports*c)+:16];
      end
    end
    return beats;
  endfunction

  always_ff @(posedge clk_i) begin
    if (mine) data_q <= store_i.keys ? beats_t'(pixel_i) : gather(data_q, pixel_i, store_i.slot);
    else if (left_q != '0 && taken) data_q <= data_q >> HbmBits;
  end

  assign busy_o    = left_q != '0;
  assign idle_o    = left_q == '0 && waiting_q == '0;
  assign error_o   = bvalid_i && bresp_i[1];
  assign awvalid_o = aw_q;
  assign awaddr_o  = (33'(Port) << Log2BankStep) | 33'(addr_q);
  assign wvalid_o  = w_q;
  assign wdata_o   = data_q[0];
  assign wstrb_o   = strb_q;

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) mine |-> !busy_o);
`endif
  logic unused_response;
  assign unused_response = bresp_i[0];
endmodule
