// A block of high-level synthesis whose arguments are memories, FIFOs and scalars (ap_memory, bram, ap_fifo, ap_vld, ap_none).
module ap_ports (
  // expect: clock subordinate
  input ap_clk,
  // expect: reset subordinate
  input ap_rst,
  // expect: done subordinate
  input ap_start, output ap_done, output ap_idle, output ap_ready, input ap_continue,
  // expect: sram manager
  output [5:0] a_address0, output a_ce0, input [31:0] a_q0,
  output [5:0] y_address0, output y_ce0, output y_we0, output [31:0] y_d0, input [31:0] y_q0,
  // expect: sram manager
  output [31:0] w_Addr_A, output w_EN_A, output [3:0] w_WEN_A, output [31:0] w_Din_A, input [31:0] w_Dout_A,
  // expect: clock manager
  output w_Clk_A,
  // expect: reset manager
  output w_Rst_A,
  // expect: fifo_read manager
  input [15:0] in_dout, input in_empty_n, output in_read,
  // expect: fifo_write manager
  output [15:0] out_din, input out_full_n, output out_write,
  // expect: stream manager
  output [15:0] sum, output sum_ap_vld,
  // expect: -
  input [7:0] gain
);
endmodule
