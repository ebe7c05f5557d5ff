module amaranth_dma (
  // expect: stream subordinate
  input [63:0] desc__payload__addr, input [15:0] desc__payload__len, input desc__valid, output desc__ready,
  // expect: axi4_lite subordinate
  input [7:0] ctrl__awaddr, input ctrl__awvalid, output ctrl__awready, input [31:0] ctrl__wdata, input [3:0] ctrl__wstrb,
  input ctrl__wvalid, output ctrl__wready, output [1:0] ctrl__bresp, output ctrl__bvalid, input ctrl__bready,
  input [7:0] ctrl__araddr, input ctrl__arvalid, output ctrl__arready, output [31:0] ctrl__rdata, output [1:0] ctrl__rresp,
  output ctrl__rvalid, input ctrl__rready,
  // expect: tilelink manager
  output [2:0] mem__a__opcode, mem__a__param, output [3:0] mem__a__size, output mem__a__source, output [31:0] mem__a__address,
  output [7:0] mem__a__mask, output [63:0] mem__a__data, output mem__a__corrupt, mem__a__valid, input mem__a__ready,
  input [2:0] mem__d__opcode, input [1:0] mem__d__param, input [3:0] mem__d__size, input mem__d__source, mem__d__sink,
  input [63:0] mem__d__data, input mem__d__corrupt, mem__d__denied, mem__d__valid, output mem__d__ready,
  // expect: sram manager
  output [9:0] w_port__addr, output w_port__en, output [31:0] w_port__data,
  // expect: interrupt
  output irq,
  // expect: clock
  input clk,
  // expect: reset
  input rst
);
endmodule
