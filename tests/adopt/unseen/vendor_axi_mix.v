// A vendor's block: three clocks, AXI4-Lite, AXI-Stream with all sidebands, AXI4 read only, BRAM port, frame sync.
module vendor_axi_mix (
  // expect: clock
  input          s_axi_aclk, aclk, bram_clk_a,
  // expect: reset
  input          s_axi_aresetn, aresetn, bram_rst_a,
  // expect: axi4_lite subordinate
  input  [8:0]   s_axi_awaddr,  input s_axi_awvalid, output s_axi_awready,
  input  [31:0]  s_axi_wdata,   input [3:0] s_axi_wstrb, input s_axi_wvalid, output s_axi_wready,
  output [1:0]   s_axi_bresp,   output s_axi_bvalid, input s_axi_bready,
  input  [8:0]   s_axi_araddr,  input s_axi_arvalid, output s_axi_arready,
  output [31:0]  s_axi_rdata,   output [1:0] s_axi_rresp, output s_axi_rvalid, input s_axi_rready,
  // expect: axi4_stream subordinate
  input  [23:0]  s_axis_video_tdata, input s_axis_video_tvalid, output s_axis_video_tready,
  input          s_axis_video_tuser, s_axis_video_tlast, input [2:0] s_axis_video_tkeep,
  input  [7:0]   s_axis_video_tid, input [3:0] s_axis_video_tdest, input [2:0] s_axis_video_tstrb,
  // expect: axi4 manager
  output [3:0]   m_axi_mm2s_arid, output [31:0] m_axi_mm2s_araddr, output [7:0] m_axi_mm2s_arlen, output [2:0] m_axi_mm2s_arsize,
  output [1:0]   m_axi_mm2s_arburst, output [2:0] m_axi_mm2s_arprot, output [3:0] m_axi_mm2s_arcache, output m_axi_mm2s_arvalid,
  input          m_axi_mm2s_arready, input [3:0] m_axi_mm2s_rid, input [63:0] m_axi_mm2s_rdata, input [1:0] m_axi_mm2s_rresp,
  input          m_axi_mm2s_rlast, m_axi_mm2s_rvalid, output m_axi_mm2s_rready,
  // expect: sram subordinate
  input          bram_en_a, input [3:0] bram_we_a, input [12:0] bram_addr_a, input [31:0] bram_wrdata_a, output [31:0] bram_rddata_a,
  // expect: interrupt
  output         s2mm_introut, interrupt,
  // expect: done
  output         frame_done, err_o
);
endmodule
