// A unit on a memory bus of two strobes and a ready, its registers behind two addresses; sizes are plain inputs.
module bus_strobes #(parameter DW = 64, parameter AW = 32) (
  // expect: clock subordinate
  input  logic clk,
  // expect: reset subordinate
  input  logic rst_n,
  // expect: done subordinate
  input  logic start,
  output logic bsy,
  // expect: -
  input  logic [7:0] rows, columns,
  // expect: strobe_memory manager
  output logic [AW-1:0] mem_addr,
  output logic          mem_read,
  output logic          mem_write,
  output logic [DW-1:0] mem_wdata,
  output logic [DW/8-1:0] mem_wstrb,
  input  logic [DW-1:0] mem_rdata,
  input  logic          mem_ready,
  // expect: two_port_sram subordinate
  input  logic          cfg_wr_en,
  input  logic [11:0]   cfg_wr_addr,
  input  logic [31:0]   cfg_wr_data,
  input  logic [3:0]    cfg_wr_strb,
  input  logic [11:0]   cfg_rd_addr,
  output logic [31:0]   cfg_rd_data
);
endmodule
