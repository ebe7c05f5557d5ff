// Amaranth: two underscores between an interface and its members.
module amaranth_mac (
  // expect: axi4_stream subordinate
  input  [31:0] i__tdata, input i__tvalid, output i__tready, input i__tlast, input [3:0] i__tid, input [1:0] i__tuser,
  // expect: stream subordinate
  input  [15:0] weights__payload__value, input [3:0] weights__payload__index, input weights__valid, output weights__ready,
  // expect: stream manager
  output [31:0] sums__payload, output sums__valid, input sums__ready,
  // expect: csr_bus subordinate
  input  [9:0]  csr_bus__addr, output [7:0] csr_bus__r_data, input csr_bus__r_stb, input [7:0] csr_bus__w_data, input csr_bus__w_stb,
  // expect: wishbone manager
  output [29:0] bus__adr, output [31:0] bus__dat_w, input [31:0] bus__dat_r, output [3:0] bus__sel,
  output bus__cyc, bus__stb, bus__we, input bus__ack, input bus__err,
  // expect: interrupt
  output irq,
  // expect: clock
  input clk,
  // expect: reset
  input rst
);
endmodule
