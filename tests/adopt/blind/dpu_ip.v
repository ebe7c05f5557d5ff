// A vendor's packaged IP: capital letters, a clock and reset beside each port, doubled clock.
module dpu_ip (
  // expect: clock
  input          S_AXI_ACLK,
  // expect: reset
  input          S_AXI_ARESETN,
  // expect: axi4_lite subordinate
  input  [15:0]  S_AXI_AWADDR,
  input  [2:0]   S_AXI_AWPROT,
  input          S_AXI_AWVALID,
  output         S_AXI_AWREADY,
  input  [31:0]  S_AXI_WDATA,
  input  [3:0]   S_AXI_WSTRB,
  input          S_AXI_WVALID,
  output         S_AXI_WREADY,
  output [1:0]   S_AXI_BRESP,
  output         S_AXI_BVALID,
  input          S_AXI_BREADY,
  input  [15:0]  S_AXI_ARADDR,
  input  [2:0]   S_AXI_ARPROT,
  input          S_AXI_ARVALID,
  output         S_AXI_ARREADY,
  output [31:0]  S_AXI_RDATA,
  output [1:0]   S_AXI_RRESP,
  output         S_AXI_RVALID,
  input          S_AXI_RREADY,
  // expect: clock
  input          m_axi_dpu_aclk,
  // expect: reset
  input          m_axi_dpu_aresetn,
  // expect: clock
  input          dpu_2x_clk,
  // expect: reset
  input          dpu_2x_resetn,
  // expect: axi4 manager
  output [39:0]  DPU0_M_AXI_INSTR_araddr,
  output [1:0]   DPU0_M_AXI_INSTR_arburst,
  output [3:0]   DPU0_M_AXI_INSTR_arcache,
  output [0:0]   DPU0_M_AXI_INSTR_arid,
  output [7:0]   DPU0_M_AXI_INSTR_arlen,
  output [0:0]   DPU0_M_AXI_INSTR_arlock,
  output [2:0]   DPU0_M_AXI_INSTR_arprot,
  output [3:0]   DPU0_M_AXI_INSTR_arqos,
  input          DPU0_M_AXI_INSTR_arready,
  output [2:0]   DPU0_M_AXI_INSTR_arsize,
  output         DPU0_M_AXI_INSTR_arvalid,
  input  [63:0]  DPU0_M_AXI_INSTR_rdata,
  input  [0:0]   DPU0_M_AXI_INSTR_rid,
  input          DPU0_M_AXI_INSTR_rlast,
  output         DPU0_M_AXI_INSTR_rready,
  input  [1:0]   DPU0_M_AXI_INSTR_rresp,
  input          DPU0_M_AXI_INSTR_rvalid,
  // expect: interrupt
  output         dpu0_interrupt
);
endmodule
