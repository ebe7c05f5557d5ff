// The template of a peripheral with a slave for registers and a stream each way.
module S00_template_v1_0 #(parameter integer C_S00_AXI_DATA_WIDTH = 32, parameter integer C_S00_AXI_ADDR_WIDTH = 4,
                           parameter integer C_S00_AXIS_TDATA_WIDTH = 32, parameter integer C_M00_AXIS_TDATA_WIDTH = 32) (
  // expect: clock subordinate
  input wire s00_axi_aclk,
  // expect: reset subordinate
  input wire s00_axi_aresetn,
  // expect: axi4_lite subordinate
  input wire [C_S00_AXI_ADDR_WIDTH-1 : 0] s00_axi_awaddr,
  input wire [2 : 0] s00_axi_awprot,
  input wire s00_axi_awvalid,
  output wire s00_axi_awready,
  input wire [C_S00_AXI_DATA_WIDTH-1 : 0] s00_axi_wdata,
  input wire [(C_S00_AXI_DATA_WIDTH/8)-1 : 0] s00_axi_wstrb,
  input wire s00_axi_wvalid,
  output wire s00_axi_wready,
  output wire [1 : 0] s00_axi_bresp,
  output wire s00_axi_bvalid,
  input wire s00_axi_bready,
  input wire [C_S00_AXI_ADDR_WIDTH-1 : 0] s00_axi_araddr,
  input wire [2 : 0] s00_axi_arprot,
  input wire s00_axi_arvalid,
  output wire s00_axi_arready,
  output wire [C_S00_AXI_DATA_WIDTH-1 : 0] s00_axi_rdata,
  output wire [1 : 0] s00_axi_rresp,
  output wire s00_axi_rvalid,
  input wire s00_axi_rready,
  // expect: clock subordinate
  input wire s00_axis_aclk,
  // expect: reset subordinate
  input wire s00_axis_aresetn,
  // expect: axi4_stream subordinate
  output wire s00_axis_tready,
  input wire [C_S00_AXIS_TDATA_WIDTH-1 : 0] s00_axis_tdata,
  input wire [(C_S00_AXIS_TDATA_WIDTH/8)-1 : 0] s00_axis_tstrb,
  input wire s00_axis_tlast,
  input wire s00_axis_tvalid,
  // expect: clock subordinate
  input wire m00_axis_aclk,
  // expect: reset subordinate
  input wire m00_axis_aresetn,
  // expect: axi4_stream manager
  output wire m00_axis_tvalid,
  output wire [C_M00_AXIS_TDATA_WIDTH-1 : 0] m00_axis_tdata,
  output wire [(C_M00_AXIS_TDATA_WIDTH/8)-1 : 0] m00_axis_tstrb,
  output wire m00_axis_tlast,
  input wire m00_axis_tready
);
endmodule
