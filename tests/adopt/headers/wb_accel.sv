// Wishbone B3 with _i and _o, a subordinate and a manager.
module wb_accel (
  input logic wb_clk_i,
  input logic wb_rst_i,
  input logic wbs_cyc_i,
  input logic wbs_stb_i,
  input logic wbs_we_i,
  input logic [31:0] wbs_adr_i,
  input logic [31:0] wbs_dat_i,
  input logic [3:0] wbs_sel_i,
  output logic [31:0] wbs_dat_o,
  output logic wbs_ack_o,
  output logic wbs_err_o,
  output logic wbm_cyc_o,
  output logic wbm_stb_o,
  output logic wbm_we_o,
  output logic [31:0] wbm_adr_o,
  output logic [63:0] wbm_dat_o,
  output logic [7:0] wbm_sel_o,
  output logic [2:0] wbm_cti_o,
  output logic [1:0] wbm_bte_o,
  input logic [63:0] wbm_dat_i,
  input logic wbm_ack_i,
  output logic int_o
);
endmodule
