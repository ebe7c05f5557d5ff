// An array between SRAM macros: one behind a memory compiler's names, one read only.
module pe_array (
  // expect: clock
  input  logic clk_i,
  // expect: reset
  input  logic rst_ni,
  // expect: done subordinate
  input  logic start_i,
  output logic done_o, busy_o,
  // expect: -
  input  logic [7:0] cfg_rows_i, cfg_cols_i,
  input  logic cfg_relu_i,
  // expect: sram manager
  output logic w_csb0, w_web0,
  output logic [3:0] w_wmask0,
  output logic [8:0] w_addr0,
  output logic [31:0] w_din0,
  input  logic [31:0] w_dout0,
  // expect: sram manager
  output logic a_cen, a_wen,
  output logic [10:0] a_addr,
  output logic [63:0] a_d,
  input  logic [63:0] a_q,
  // expect: sram manager
  output logic o_csb1,
  output logic [8:0] o_addr1,
  input  logic [31:0] o_dout1
);
endmodule
