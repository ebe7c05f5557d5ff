// Custom logic of a cloud shell: the prefix of a port says who drives a signal, so each port has two.
module shell_cl (
  // expect: clock
  input               clk_main_a0,
  // expect: reset
  input               rst_main_n,
  // expect: axi4_lite subordinate
  input               sh_ocl_awvalid,
  input  [31:0]       sh_ocl_awaddr,
  output logic        ocl_sh_awready,
  input               sh_ocl_wvalid,
  input  [31:0]       sh_ocl_wdata,
  input  [3:0]        sh_ocl_wstrb,
  output logic        ocl_sh_wready,
  output logic        ocl_sh_bvalid,
  output logic [1:0]  ocl_sh_bresp,
  input               sh_ocl_bready,
  input               sh_ocl_arvalid,
  input  [31:0]       sh_ocl_araddr,
  output logic        ocl_sh_arready,
  output logic        ocl_sh_rvalid,
  output logic [31:0] ocl_sh_rdata,
  output logic [1:0]  ocl_sh_rresp,
  input               sh_ocl_rready,
  // expect: axi4 manager
  output logic [15:0] cl_sh_ddr_awid,
  output logic [63:0] cl_sh_ddr_awaddr,
  output logic [7:0]  cl_sh_ddr_awlen,
  output logic [2:0]  cl_sh_ddr_awsize,
  output logic [1:0]  cl_sh_ddr_awburst,
  output logic        cl_sh_ddr_awvalid,
  input               sh_cl_ddr_awready,
  output logic [15:0] cl_sh_ddr_wid,
  output logic [511:0] cl_sh_ddr_wdata,
  output logic [63:0] cl_sh_ddr_wstrb,
  output logic        cl_sh_ddr_wlast,
  output logic        cl_sh_ddr_wvalid,
  input               sh_cl_ddr_wready,
  input  [15:0]       sh_cl_ddr_bid,
  input  [1:0]        sh_cl_ddr_bresp,
  input               sh_cl_ddr_bvalid,
  output logic        cl_sh_ddr_bready,
  output logic [15:0] cl_sh_ddr_arid,
  output logic [63:0] cl_sh_ddr_araddr,
  output logic [7:0]  cl_sh_ddr_arlen,
  output logic [2:0]  cl_sh_ddr_arsize,
  output logic [1:0]  cl_sh_ddr_arburst,
  output logic        cl_sh_ddr_arvalid,
  input               sh_cl_ddr_arready,
  input  [15:0]       sh_cl_ddr_rid,
  input  [511:0]      sh_cl_ddr_rdata,
  input  [1:0]        sh_cl_ddr_rresp,
  input               sh_cl_ddr_rlast,
  input               sh_cl_ddr_rvalid,
  output logic        cl_sh_ddr_rready,
  // expect: -
  input               sh_cl_ddr_is_ready,
  output logic [31:0] cl_sh_id0,
  output logic [31:0] cl_sh_id1,
  input               sh_cl_flr_assert,
  // expect: done
  output logic        cl_sh_flr_done,
  // expect: -
  input  [15:0]       sh_cl_status_vdip,
  output logic [15:0] cl_sh_status_vled,
  // expect: interrupt
  output logic [15:0] cl_sh_apppf_irq_req,
  // expect: interrupt_ack
  input  [15:0]       sh_cl_apppf_irq_ack
);
endmodule
