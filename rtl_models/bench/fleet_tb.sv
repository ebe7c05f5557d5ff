// Top level of every simulation. Only ports: these are what a simulator's programming interface sees (verilator
// --public-depth 1), everything else may be optimised.
//
// Two modes. Burst: C++ (bench/loop.h) drives clock and reset and plays whole jobs; job_i, burst_i and burst_state_i are the
// mailbox between cocotb and C++ and are not used by any logic. Slow (slow_i = 1): cocotb drives clock, reset and the registers
// (AXI4-Lite, names as cocotbext-axi wants them).

module fleet_tb (
  input  logic        clk_i,
  // Designs reset asynchronously, the bench itself synchronously: a DPI call has no place in an asynchronous reset.
  /* verilator lint_off SYNCASYNCNET */
  input  logic        rst_ni,
  /* verilator lint_on SYNCASYNCNET */
  input  logic        slow_i,

  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [15:0] s_axil_awaddr,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  input  logic [31:0] s_axil_wdata,
  input  logic [3:0]  s_axil_wstrb,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  output logic [1:0]  s_axil_bresp,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  input  logic [15:0] s_axil_araddr,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,
  output logic [31:0] s_axil_rdata,
  output logic [1:0]  s_axil_rresp,
  output logic        irq_o,

  input  logic [31:0] job_i,         // number of the job that the next burst starts; 0: go on with the current one
  input  logic [31:0] burst_i,       // clock cycles to run; C++ sets it back to 0
  input  logic [1:0]  burst_state_i  // written by C++: 0 no job, 1 running, 2 over (the job's status file says how)
);
  fleet_bench u_bench (
    .clk_i,
    .rst_ni,
    .slow_i,
    .s_axil_awvalid_i(s_axil_awvalid),
    .s_axil_awready_o(s_axil_awready),
    .s_axil_awaddr_i (s_axil_awaddr),
    .s_axil_wvalid_i (s_axil_wvalid),
    .s_axil_wready_o (s_axil_wready),
    .s_axil_wdata_i  (s_axil_wdata),
    .s_axil_wstrb_i  (s_axil_wstrb),
    .s_axil_bvalid_o (s_axil_bvalid),
    .s_axil_bready_i (s_axil_bready),
    .s_axil_bresp_o  (s_axil_bresp),
    .s_axil_arvalid_i(s_axil_arvalid),
    .s_axil_arready_o(s_axil_arready),
    .s_axil_araddr_i (s_axil_araddr),
    .s_axil_rvalid_o (s_axil_rvalid),
    .s_axil_rready_i (s_axil_rready),
    .s_axil_rdata_o  (s_axil_rdata),
    .s_axil_rresp_o  (s_axil_rresp),
    .irq_o
  );

  // Read and written by C++ and cocotb only.
  logic unused_mailbox;
  assign unused_mailbox = ^{job_i, burst_i, burst_state_i};
endmodule
