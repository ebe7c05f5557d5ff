// A tile with credits, a vendor's AXI in lower case without prefix, and a plain host register port.
module noc_core (
  // expect: clock
  input clk,
  // expect: reset
  input rst_n,
  // expect: stream subordinate
  input noc_in_val, input [63:0] noc_in_data, output noc_in_rdy,
  // expect: stream manager
  output noc_out_val, output [63:0] noc_out_data, input noc_out_rdy,
  // expect: axi4 manager
  output [31:0] awaddr, output [7:0] awlen, output [2:0] awsize, output [1:0] awburst, output awvalid, input awready,
  output [63:0] wdata, output [7:0] wstrb, output wlast, wvalid, input wready, input [1:0] bresp, input bvalid, output bready,
  output [31:0] araddr, output [7:0] arlen, output [2:0] arsize, output [1:0] arburst, output arvalid, input arready,
  input [63:0] rdata, input [1:0] rresp, input rlast, rvalid, output rready,
  // expect: native_memory subordinate
  input host_req, host_we, input [15:0] host_addr, input [31:0] host_wdata, output [31:0] host_rdata, output host_ack,
  // expect: static
  input [7:0] chip_id, input [3:0] core_id,
  // expect: done
  input start, output done, busy,
  // expect: test
  input test_mode, scan_en
);
endmodule
