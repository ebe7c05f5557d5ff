// A DPU's style: upper case, one register port and three memory ports with short suffixes.
module dpu_core (
  // expect: clock subordinate
  input S_AXI_CLK, input M_AXI_DPU_ACLK, input DPU_2X_CLK,
  // expect: reset subordinate
  input S_AXI_ARESETN, input M_AXI_DPU_ARESETN, input DPU_2X_RESETN,
  // expect: axi4_lite subordinate
  input [31:0] S_AXI_AWADDR, input S_AXI_AWVALID, output S_AXI_AWREADY, input [31:0] S_AXI_WDATA, input [3:0] S_AXI_WSTRB,
  input S_AXI_WVALID, output S_AXI_WREADY, output [1:0] S_AXI_BRESP, output S_AXI_BVALID, input S_AXI_BREADY,
  input [31:0] S_AXI_ARADDR, input S_AXI_ARVALID, output S_AXI_ARREADY, output [31:0] S_AXI_RDATA, output [1:0] S_AXI_RRESP,
  output S_AXI_RVALID, input S_AXI_RREADY,
  // expect: axi4 manager
  output [39:0] DPU0_M_AXI_INSTR_ARADDR, output [7:0] DPU0_M_AXI_INSTR_ARLEN, output DPU0_M_AXI_INSTR_ARVALID,
  input DPU0_M_AXI_INSTR_ARREADY, input [31:0] DPU0_M_AXI_INSTR_RDATA, input DPU0_M_AXI_INSTR_RLAST,
  input DPU0_M_AXI_INSTR_RVALID, output DPU0_M_AXI_INSTR_RREADY,
  output [39:0] DPU0_M_AXI_DATA0_AWADDR, output [7:0] DPU0_M_AXI_DATA0_AWLEN, output DPU0_M_AXI_DATA0_AWVALID,
  input DPU0_M_AXI_DATA0_AWREADY, output [127:0] DPU0_M_AXI_DATA0_WDATA, output [15:0] DPU0_M_AXI_DATA0_WSTRB,
  output DPU0_M_AXI_DATA0_WLAST, output DPU0_M_AXI_DATA0_WVALID, input DPU0_M_AXI_DATA0_WREADY,
  input [1:0] DPU0_M_AXI_DATA0_BRESP, input DPU0_M_AXI_DATA0_BVALID, output DPU0_M_AXI_DATA0_BREADY,
  output [39:0] DPU0_M_AXI_DATA0_ARADDR, output [7:0] DPU0_M_AXI_DATA0_ARLEN, output DPU0_M_AXI_DATA0_ARVALID,
  input DPU0_M_AXI_DATA0_ARREADY, input [127:0] DPU0_M_AXI_DATA0_RDATA, input DPU0_M_AXI_DATA0_RLAST,
  input DPU0_M_AXI_DATA0_RVALID, output DPU0_M_AXI_DATA0_RREADY,
  // expect: interrupt manager
  output dpu0_interrupt
);
endmodule
