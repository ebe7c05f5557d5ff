// Request/grant memory ports side by side in packed vectors.
module tcdm_engine (
  input logic clk_i,
  input logic rst_ni,
  output logic [3:0] tcdm_req_o,
  input logic [3:0] tcdm_gnt_i,
  output logic [3:0][31:0] tcdm_add_o,
  output logic [3:0] tcdm_wen_o,
  output logic [3:0][3:0] tcdm_be_o,
  output logic [3:0][31:0] tcdm_data_o,
  input logic [3:0][31:0] tcdm_r_data_i,
  input logic [3:0] tcdm_r_valid_i,
  input logic periph_req_i,
  output logic periph_gnt_o,
  input logic [31:0] periph_add_i,
  input logic periph_wen_i,
  input logic [3:0] periph_be_i,
  input logic [31:0] periph_data_i,
  input logic [4:0] periph_id_i,
  output logic [31:0] periph_r_data_o,
  output logic periph_r_valid_o,
  output logic [4:0] periph_r_id_o,
  output logic [1:0] evt_o
);
endmodule
