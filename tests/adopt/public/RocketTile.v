// Diplomatic names and the ports of a RoCC unit beside its memory: requests for a cache and for translation.
module RocketTile (
  // expect: clock subordinate
  input clock,
  // expect: reset subordinate
  input reset,
  // expect: tilelink manager
  input auto_dma_out_a_ready, output auto_dma_out_a_valid, output [2:0] auto_dma_out_a_bits_opcode, auto_dma_out_a_bits_param,
  output [3:0] auto_dma_out_a_bits_size, auto_dma_out_a_bits_source, output [31:0] auto_dma_out_a_bits_address,
  output [15:0] auto_dma_out_a_bits_mask, output [127:0] auto_dma_out_a_bits_data, output auto_dma_out_a_bits_corrupt,
  output auto_dma_out_d_ready, input auto_dma_out_d_valid, input [2:0] auto_dma_out_d_bits_opcode,
  input [1:0] auto_dma_out_d_bits_param, input [3:0] auto_dma_out_d_bits_size, auto_dma_out_d_bits_source,
  input [2:0] auto_dma_out_d_bits_sink, input auto_dma_out_d_bits_denied, input [127:0] auto_dma_out_d_bits_data,
  input auto_dma_out_d_bits_corrupt,
  // expect: rocc subordinate
  output io_cmd_ready, input io_cmd_valid, input [6:0] io_cmd_bits_inst_funct, input [4:0] io_cmd_bits_inst_rs2,
  io_cmd_bits_inst_rs1, input io_cmd_bits_inst_xd, io_cmd_bits_inst_xs1, io_cmd_bits_inst_xs2, input [4:0] io_cmd_bits_inst_rd,
  input [6:0] io_cmd_bits_inst_opcode, input [63:0] io_cmd_bits_rs1, io_cmd_bits_rs2,
  input io_resp_ready, output io_resp_valid, output [4:0] io_resp_bits_rd, output [63:0] io_resp_bits_data,
  output io_busy, io_interrupt, input io_exception,
  // expect: stream manager
  input io_ptw_0_req_ready, output io_ptw_0_req_valid, io_ptw_0_req_bits_valid, output [26:0] io_ptw_0_req_bits_bits_addr,
  // expect: stream subordinate
  input io_ptw_0_resp_valid, input [43:0] io_ptw_0_resp_bits_pte_ppn, input io_ptw_0_resp_bits_pte_v,
  // expect: -
  input [3:0] io_ptw_0_ptbr_mode, input [43:0] io_ptw_0_ptbr_ppn, input io_ptw_0_status_mxr,
  // expect: clock_enable subordinate
  input io_mem_clock_enabled
);
endmodule
