// ----------------------------------------------------------------------
//  HLS HDL:        Verilog Netlister (Catapult)
// ----------------------------------------------------------------------
module catapult_conv (
  // expect: clock
  clk,
  // expect: reset
  rst, arst_n,
  // expect: stream subordinate
  din_rsc_dat, din_rsc_vld, din_rsc_rdy,
  // expect: stream manager
  dout_rsc_dat, dout_rsc_vld, dout_rsc_rdy,
  // expect: -
  bias_rsc_dat, bias_rsc_triosy_lz,
  // expect: two_port_sram manager
  weights_rsc_radr, weights_rsc_re, weights_rsc_q,
  // expect: sram manager
  line_rsc_en, line_rsc_we, line_rsc_adr, line_rsc_d, line_rsc_q,
  // expect: -
  line_rsc_triosy_lz
);
  input clk; input rst; input arst_n;
  input [63:0] din_rsc_dat; input din_rsc_vld; output din_rsc_rdy;
  output [31:0] dout_rsc_dat; output dout_rsc_vld; input dout_rsc_rdy;
  input [15:0] bias_rsc_dat; output bias_rsc_triosy_lz;
  output [7:0] weights_rsc_radr; output weights_rsc_re; input [71:0] weights_rsc_q;
  output line_rsc_en, line_rsc_we; output [9:0] line_rsc_adr; output [31:0] line_rsc_d; input [31:0] line_rsc_q;
  output line_rsc_triosy_lz;
endmodule
