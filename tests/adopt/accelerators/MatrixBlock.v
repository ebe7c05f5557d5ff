// Chisel: memories with camel-case strobes that the design has for others, and one start.
module MatrixBlock(
  // expect: clock subordinate
  input         clock,
  // expect: reset subordinate
  input         reset,
  // expect: done subordinate
  input         io_start,
  output        io_done,
  // expect: strobe_memory subordinate
  input         io_left_writeEn,
  input         io_left_readEn,
  input  [5:0]  io_left_addr,
  input  [15:0] io_left_writeData,
  output [15:0] io_left_readData,
  input         io_sumB_writeEn,
  input         io_sumB_readEn,
  input  [5:0]  io_sumB_addr,
  input  [31:0] io_sumB_writeData,
  output [31:0] io_sumB_readData
);
endmodule
