// A project on a chip that others own: Wishbone, a logic analyser, pads.
module user_proj_mac #(parameter BITS = 16) (
  // expect: clock
  input wb_clk_i,
  // expect: reset
  input wb_rst_i,
  // expect: wishbone subordinate
  input wbs_stb_i, input wbs_cyc_i, input wbs_we_i, input [3:0] wbs_sel_i, input [31:0] wbs_dat_i, input [31:0] wbs_adr_i,
  output wbs_ack_o, output [31:0] wbs_dat_o,
  // expect: -
  input [127:0] la_data_in, output [127:0] la_data_out, input [127:0] la_oenb,
  input [BITS-1:0] io_in, output [BITS-1:0] io_out, output [BITS-1:0] io_oeb,
  // expect: interrupt
  output [2:0] irq
);
endmodule
