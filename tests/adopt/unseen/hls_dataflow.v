// A kernel of a high-level synthesis: control handshake, FIFOs, memories, scalars.
module hls_dataflow (
  // expect: clock
  ap_clk,
  // expect: reset
  ap_rst,
  // expect: done subordinate
  ap_start, ap_done, ap_idle, ap_ready, ap_continue,
  // expect: fifo_read manager
  src_V_dout, src_V_empty_n, src_V_read, src_V_num_data_valid, src_V_fifo_cap,
  // expect: fifo_write manager
  dst_V_din, dst_V_full_n, dst_V_write,
  // expect: sram manager
  coef_address0, coef_ce0, coef_q0,
  buf_r_address0, buf_r_ce0, buf_r_we0, buf_r_d0, buf_r_q0,
  buf_r_address1, buf_r_ce1, buf_r_q1,
  // expect: -
  rows,
  // expect: stream manager
  sum, sum_ap_vld,
  // expect: -
  ap_return
);
input ap_clk, ap_rst, ap_start, ap_continue; output ap_done, ap_idle, ap_ready;
input [63:0] src_V_dout; input src_V_empty_n; output src_V_read; input [2:0] src_V_num_data_valid, src_V_fifo_cap;
output [31:0] dst_V_din; input dst_V_full_n; output dst_V_write;
output [7:0] coef_address0; output coef_ce0; input [15:0] coef_q0;
output [9:0] buf_r_address0; output buf_r_ce0, buf_r_we0; output [31:0] buf_r_d0; input [31:0] buf_r_q0;
output [9:0] buf_r_address1; output buf_r_ce1; input [31:0] buf_r_q1;
input [31:0] rows;
output [31:0] sum; output sum_ap_vld;
output [31:0] ap_return;
endmodule
