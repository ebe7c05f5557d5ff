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
  fleet_axi_pkg::axil_req_t axil_req;
  fleet_axi_pkg::axil_rsp_t axil_rsp;
  assign axil_req = '{
    aw: '{addr: s_axil_awaddr}, aw_valid: s_axil_awvalid, w: '{data: s_axil_wdata, strb: s_axil_wstrb}, w_valid: s_axil_wvalid,
    b_ready: s_axil_bready, ar: '{addr: s_axil_araddr}, ar_valid: s_axil_arvalid, r_ready: s_axil_rready
  };
  assign s_axil_awready = axil_rsp.aw_ready;
  assign s_axil_wready  = axil_rsp.w_ready;
  assign s_axil_bvalid  = axil_rsp.b_valid;
  assign s_axil_bresp   = axil_rsp.b.resp;
  assign s_axil_arready = axil_rsp.ar_ready;
  assign s_axil_rvalid  = axil_rsp.r_valid;
  assign s_axil_rdata   = axil_rsp.r.data;
  assign s_axil_rresp   = axil_rsp.r.resp;

  fleet_bench u_bench (
    .clk_i,
    .rst_ni,
    .slow_i,
    .s_axil_req_i(axil_req),
    .s_axil_rsp_o(axil_rsp),
    .irq_o
  );

  // Read and written by C++ and cocotb only.
  logic unused_mailbox;
  assign unused_mailbox = ^{job_i, burst_i, burst_state_i};
endmodule
