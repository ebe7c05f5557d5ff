// AXI5 with what ACE-Lite adds, and APB.
module npu_ace (
  // expect: clock
  input aclk,
  // expect: reset
  input aresetn,
  // expect: axi4 manager
  output [47:0] m0_awaddr, output [7:0] m0_awlen, output [2:0] m0_awsize, output [1:0] m0_awburst, output [7:0] m0_awid, output m0_awlock, output [3:0] m0_awcache, output [2:0] m0_awprot, output [3:0] m0_awqos, output [3:0] m0_awregion, output [2:0] m0_awsnoop, output [1:0] m0_awdomain, output [1:0] m0_awbar, output [15:0] m0_awuser, output m0_awunique, output [5:0] m0_awatop, output m0_awvalid, input m0_awready,
  output [255:0] m0_wdata, output [31:0] m0_wstrb, output m0_wlast, output [31:0] m0_wpoison, output m0_wvalid, input m0_wready,
  input [7:0] m0_bid, input [1:0] m0_bresp, input m0_bvalid, output m0_bready,
  output [47:0] m0_araddr, output [7:0] m0_arlen, output [2:0] m0_arsize, output [1:0] m0_arburst, output [7:0] m0_arid, output m0_arlock, output [3:0] m0_arcache, output [2:0] m0_arprot, output [3:0] m0_arqos, output [3:0] m0_arsnoop, output [1:0] m0_ardomain, output m0_arvalid, input m0_arready,
  input [255:0] m0_rdata, input [7:0] m0_rid, input [3:0] m0_rresp, input m0_rlast, input m0_rvalid, output m0_rready,
  // expect: apb subordinate
  input psel, input penable, input [11:0] paddr, input pwrite, input [31:0] pwdata, input [3:0] pstrb, input [2:0] pprot, output pready, output [31:0] prdata, output pslverr, input pwakeup,
  // expect: interrupt
  output irq,
  // expect: -
  output awakeup
);
endmodule
