// A GPU whose AXI ports are unpacked arrays, one element a bank; a device configuration port.
module vx_style #(parameter int BANKS = 2, parameter int DW = 512, parameter int AW = 48, parameter int TW = 8) (
  // expect: clock subordinate
  input  wire clk,
  // expect: reset subordinate
  input  wire reset,
  // expect: axi4 manager
  output wire m_axi_awvalid [BANKS], input wire m_axi_awready [BANKS], output wire [AW-1:0] m_axi_awaddr [BANKS],
  output wire [TW-1:0] m_axi_awid [BANKS], output wire [7:0] m_axi_awlen [BANKS], output wire [2:0] m_axi_awsize [BANKS],
  output wire [1:0] m_axi_awburst [BANKS], output wire [1:0] m_axi_awlock [BANKS], output wire [3:0] m_axi_awcache [BANKS],
  output wire [2:0] m_axi_awprot [BANKS], output wire [3:0] m_axi_awqos [BANKS], output wire [3:0] m_axi_awregion [BANKS],
  output wire m_axi_wvalid [BANKS], input wire m_axi_wready [BANKS], output wire [DW-1:0] m_axi_wdata [BANKS],
  output wire [DW/8-1:0] m_axi_wstrb [BANKS], output wire m_axi_wlast [BANKS],
  input wire m_axi_bvalid [BANKS], output wire m_axi_bready [BANKS], input wire [TW-1:0] m_axi_bid [BANKS],
  input wire [1:0] m_axi_bresp [BANKS],
  output wire m_axi_arvalid [BANKS], input wire m_axi_arready [BANKS], output wire [AW-1:0] m_axi_araddr [BANKS],
  output wire [TW-1:0] m_axi_arid [BANKS], output wire [7:0] m_axi_arlen [BANKS], output wire [2:0] m_axi_arsize [BANKS],
  output wire [1:0] m_axi_arburst [BANKS],
  input wire m_axi_rvalid [BANKS], output wire m_axi_rready [BANKS], input wire [DW-1:0] m_axi_rdata [BANKS],
  input wire m_axi_rlast [BANKS], input wire [TW-1:0] m_axi_rid [BANKS], input wire [1:0] m_axi_rresp [BANKS],
  // expect: stream subordinate
  input wire dcr_wr_valid, input wire [11:0] dcr_wr_addr, input wire [31:0] dcr_wr_data,
  // expect: done
  output wire busy
);
endmodule
