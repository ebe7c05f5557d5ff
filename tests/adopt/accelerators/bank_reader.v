// Memories of the outside without a read enable, one whose write enable has nothing to write, and a start named apart from its done.
module bank_reader (
  // expect: clock subordinate
  input clk,
  // expect: reset subordinate
  input rstn,
  // expect: done subordinate
  input start_layer,
  output layer_done,
  // expect: two_port_sram manager
  output [9:0]  bank_raddr_x0,
  input  [31:0] bank_rdata_x0,
  output [16:0] bank_raddr_kernel,
  input  [99:0] bank_rdata_kernel,
  output        bank_write_enable_y0,
  output [9:0]  bank_waddr_y0,
  output [3:0]  bank_bytemask_y0,
  output [31:0] bank_wdata_y0,
  // expect: sram manager
  output [4:0]  table_addr0,
  input  [7:0]  table_data0,
  // expect: sram subordinate
  input         en_result_port,
  input  [11:0] addr_result_port,
  output [15:0] dout_result_port,
  // expect: -
  input         we_result_port
);
endmodule
