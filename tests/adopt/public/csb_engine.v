// An engine on the buses of NVDLA, with a second memory port for on-chip memory.
module csb_engine (
  // expect: clock subordinate
  input dla_core_clk, input dla_csb_clk,
  // expect: reset subordinate
  input dla_reset_rstn, input direct_reset_,
  // expect: test subordinate
  input test_mode,
  // expect: -
  input global_clk_ovr_on, input tmc2slcg_disable_clock_gating,
  // expect: csb subordinate
  input csb2nvdla_valid, output csb2nvdla_ready, input [15:0] csb2nvdla_addr, input [31:0] csb2nvdla_wdat,
  input csb2nvdla_write, input csb2nvdla_nposted, output nvdla2csb_valid, output [31:0] nvdla2csb_data,
  output nvdla2csb_wr_complete,
  // expect: axi4 manager
  output nvdla_core2dbb_aw_awvalid, input nvdla_core2dbb_aw_awready, output [7:0] nvdla_core2dbb_aw_awid,
  output [3:0] nvdla_core2dbb_aw_awlen, output [63:0] nvdla_core2dbb_aw_awaddr,
  output nvdla_core2dbb_w_wvalid, input nvdla_core2dbb_w_wready, output [511:0] nvdla_core2dbb_w_wdata,
  output [63:0] nvdla_core2dbb_w_wstrb, output nvdla_core2dbb_w_wlast,
  input nvdla_core2dbb_b_bvalid, output nvdla_core2dbb_b_bready, input [7:0] nvdla_core2dbb_b_bid,
  output nvdla_core2dbb_ar_arvalid, input nvdla_core2dbb_ar_arready, output [7:0] nvdla_core2dbb_ar_arid,
  output [3:0] nvdla_core2dbb_ar_arlen, output [63:0] nvdla_core2dbb_ar_araddr,
  input nvdla_core2dbb_r_rvalid, output nvdla_core2dbb_r_rready, input [7:0] nvdla_core2dbb_r_rid, input nvdla_core2dbb_r_rlast,
  input [511:0] nvdla_core2dbb_r_rdata,
  output nvdla_core2cvsram_aw_awvalid, input nvdla_core2cvsram_aw_awready, output [7:0] nvdla_core2cvsram_aw_awid,
  output [3:0] nvdla_core2cvsram_aw_awlen, output [63:0] nvdla_core2cvsram_aw_awaddr,
  output nvdla_core2cvsram_w_wvalid, input nvdla_core2cvsram_w_wready, output [511:0] nvdla_core2cvsram_w_wdata,
  output [63:0] nvdla_core2cvsram_w_wstrb, output nvdla_core2cvsram_w_wlast,
  input nvdla_core2cvsram_b_bvalid, output nvdla_core2cvsram_b_bready, input [7:0] nvdla_core2cvsram_b_bid,
  output nvdla_core2cvsram_ar_arvalid, input nvdla_core2cvsram_ar_arready, output [7:0] nvdla_core2cvsram_ar_arid,
  output [3:0] nvdla_core2cvsram_ar_arlen, output [63:0] nvdla_core2cvsram_ar_araddr,
  input nvdla_core2cvsram_r_rvalid, output nvdla_core2cvsram_r_rready, input [7:0] nvdla_core2cvsram_r_rid,
  input nvdla_core2cvsram_r_rlast, input [511:0] nvdla_core2cvsram_r_rdata,
  // expect: interrupt manager
  output dla_intr,
  // expect: -
  input [31:0] nvdla_pwrbus_ram_c_pd
);
endmodule
