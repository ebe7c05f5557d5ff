// Vendor FIFO signals on both sides, active-high flags, in two clock domains.
module fifo_core (
  // expect: clock
  input wire          wr_clk, rd_clk,
  // expect: reset
  input wire          rst,
  // expect: fifo_write subordinate
  input wire          wr_en,
  input wire  [35:0]  din,
  output wire         full, almost_full, prog_full, wr_ack, overflow,
  output wire [9:0]   wr_data_count,
  // expect: fifo_read subordinate
  input wire          rd_en,
  output wire [35:0]  dout,
  output wire         empty, almost_empty, valid, underflow,
  output wire [9:0]   rd_data_count,
  // expect: fifo_read manager
  output wire         cmdq_pop,
  input  wire         cmdq_empty,
  input  wire [63:0]  cmdq_data,
  // expect: fifo_write manager
  output wire         resq_push,
  input  wire         resq_full,
  output wire [63:0]  resq_data
);
endmodule
