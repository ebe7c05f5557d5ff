// Intel's streaming interfaces with packets, a pipelined memory-mapped manager, a conduit.
module avalon_packet (
  // expect: clock
  input  logic         csi_clk,
  // expect: reset
  input  logic         rsi_reset_n,
  // expect: avalon_st subordinate
  input  logic [127:0] asi_in_data,
  input  logic         asi_in_valid,
  output logic         asi_in_ready,
  input  logic         asi_in_startofpacket, asi_in_endofpacket,
  input  logic [3:0]   asi_in_empty,
  input  logic [7:0]   asi_in_channel,
  input  logic [1:0]   asi_in_error,
  // expect: avalon_st manager
  output logic [127:0] aso_out_data,
  output logic         aso_out_valid,
  input  logic         aso_out_ready,
  output logic         aso_out_startofpacket, aso_out_endofpacket,
  output logic [3:0]   aso_out_empty,
  // expect: avalon_mm manager
  output logic [31:0]  avm_mem_address,
  output logic         avm_mem_read, avm_mem_write,
  output logic [31:0]  avm_mem_writedata,
  output logic [3:0]   avm_mem_byteenable,
  output logic [5:0]   avm_mem_burstcount,
  input  logic [31:0]  avm_mem_readdata,
  input  logic         avm_mem_readdatavalid, avm_mem_waitrequest,
  // expect: avalon_mm subordinate
  input  logic [5:0]   avs_csr_address,
  input  logic         avs_csr_read, avs_csr_write, avs_csr_chipselect,
  input  logic [31:0]  avs_csr_writedata,
  output logic [31:0]  avs_csr_readdata,
  // expect: interrupt
  output logic         ins_irq
);
endmodule
