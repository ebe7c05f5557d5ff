// Platform Designer's prefixes of sinks, sources, slaves and masters.
module packet_mac (
  // expect: clock subordinate
  input  logic        csi_clk,
  // expect: reset subordinate
  input  logic        rsi_reset_n,
  // expect: avalon_st subordinate
  input  logic [63:0] asi_in0_data,
  input  logic        asi_in0_valid,
  output logic        asi_in0_ready,
  input  logic        asi_in0_startofpacket, asi_in0_endofpacket,
  input  logic [2:0]  asi_in0_empty,
  input  logic [1:0]  asi_in0_channel,
  // expect: avalon_st manager
  output logic [63:0] aso_out0_data,
  output logic        aso_out0_valid,
  input  logic        aso_out0_ready,
  output logic        aso_out0_startofpacket, aso_out0_endofpacket,
  output logic [2:0]  aso_out0_empty,
  // expect: avalon_mm subordinate
  input  logic [4:0]  avs_csr_address,
  input  logic        avs_csr_read, avs_csr_write,
  input  logic [31:0] avs_csr_writedata,
  output logic [31:0] avs_csr_readdata,
  output logic        avs_csr_waitrequest,
  // expect: avalon_mm manager
  output logic [31:0] avm_mem_address,
  output logic        avm_mem_read,
  input  logic [255:0] avm_mem_readdata,
  input  logic        avm_mem_readdatavalid, avm_mem_waitrequest,
  output logic [4:0]  avm_mem_burstcount,
  // expect: interrupt manager
  output logic        ins_irq0_irq
);
endmodule
