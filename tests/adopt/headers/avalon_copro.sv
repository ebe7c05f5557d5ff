// Avalon-MM: a subordinate of registers, a bursting manager, active-low reset.
module avalon_copro (
  input logic clk,
  input logic reset_n,
  input logic [5:0] avs_csr_address,
  input logic avs_csr_read,
  input logic avs_csr_write,
  input logic [31:0] avs_csr_writedata,
  output logic [31:0] avs_csr_readdata,
  output logic avs_csr_waitrequest,
  output logic [31:0] avm_ddr_address,
  output logic avm_ddr_read,
  output logic avm_ddr_write,
  output logic [31:0] avm_ddr_byteenable,
  output logic [4:0] avm_ddr_burstcount,
  output logic [255:0] avm_ddr_writedata,
  input logic [255:0] avm_ddr_readdata,
  input logic avm_ddr_readdatavalid,
  input logic avm_ddr_waitrequest,
  output logic ins_irq0_irq
);
endmodule
