// A core as LiteX writes it: Wishbone with its signals behind the name of the bus, a stream each way.
module litex_wishbone (
  // expect: clock subordinate
  input sys_clk,
  // expect: reset subordinate
  input sys_rst,
  // expect: wishbone subordinate
  input [29:0] bus_adr, input [31:0] bus_dat_w, output [31:0] bus_dat_r, input [3:0] bus_sel, input bus_cyc, input bus_stb,
  output bus_ack, input bus_we, input [2:0] bus_cti, input [1:0] bus_bte, output bus_err,
  // expect: wishbone manager
  output [29:0] dma_bus_adr, output [31:0] dma_bus_dat_w, input [31:0] dma_bus_dat_r, output [3:0] dma_bus_sel,
  output dma_bus_cyc, output dma_bus_stb, input dma_bus_ack, output dma_bus_we, output [2:0] dma_bus_cti,
  output [1:0] dma_bus_bte, input dma_bus_err,
  // expect: stream subordinate
  input sink_valid, output sink_ready, input sink_first, input sink_last, input [31:0] sink_payload_data,
  // expect: stream manager
  output source_valid, input source_ready, output source_first, output source_last, output [31:0] source_payload_data,
  // expect: interrupt manager
  output irq
);
endmodule
