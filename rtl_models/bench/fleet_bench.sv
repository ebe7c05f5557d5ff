// The bench around one instruction set: the design (in the generated fleet_dut), its memories, the host that plays register
// scripts, the recorder of commits and the watchdog. fleet_tb wraps it, so that nothing in here need be visible to a simulator's
// programming interface.
//
// Not synthesisable: test bench.

module fleet_bench
  import fleet_axi_pkg::*;
  import fleet_dut_pkg::HbmPorts;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        slow_i,  // registers are driven from outside; no script is played

  input  axil_req_t   s_axil_req_i,
  output axil_rsp_t   s_axil_rsp_o,

  output logic        irq_o
);
  import "DPI-C" function void fleet_bench_limits(
    output longint unsigned start_cycle, output longint unsigned max_cycles, output longint unsigned quiet_cycles);
  import "DPI-C" function void fleet_bench_hang(input longint unsigned cycle, input int unsigned quiet);
  import "DPI-C" function void fleet_bench_commit(
    input longint unsigned cycle, input int unsigned opcode, input int unsigned error, input int unsigned result_valid,
    input int unsigned result, input bit [191:0] cycles);

  // Registers: from outside or from the host.
  axil_req_t host_req, axil_req;
  axil_rsp_t axil_rsp;
  logic      host_progress;
  assign axil_req = slow_i ? s_axil_req_i : host_req;
  always_comb begin
    s_axil_rsp_o = axil_rsp;
    if (!slow_i) begin
      s_axil_rsp_o.aw_ready = 1'b0;
      s_axil_rsp_o.w_ready  = 1'b0;
      s_axil_rsp_o.b_valid  = 1'b0;
      s_axil_rsp_o.ar_ready = 1'b0;
      s_axil_rsp_o.r_valid  = 1'b0;
    end
  end

  // Cycles since reset, from the job's start cycle on, and the watchdog: a design that neither moves data nor lets the script advance hangs.
  logic [63:0] cycle_q, quiet_q, max_cycles_q, quiet_cycles_q;
  logic        memory_progress, hung_q, commit_valid, irq;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      automatic longint unsigned start_cycle, max_cycles, quiet_cycles;
      fleet_bench_limits(start_cycle, max_cycles, quiet_cycles);
      max_cycles_q   <= max_cycles;
      quiet_cycles_q <= quiet_cycles;
      cycle_q        <= start_cycle;
      quiet_q        <= '0;
      hung_q         <= 1'b0;
    end else begin
      cycle_q <= cycle_q + 1;
      quiet_q <= (memory_progress || host_progress || commit_valid || slow_i) ? '0 : quiet_q + 1;
      if (!hung_q && !slow_i && (cycle_q >= max_cycles_q || quiet_q >= quiet_cycles_q)) begin
        hung_q <= 1'b1;
        fleet_bench_hang(cycle_q, 32'(cycle_q < max_cycles_q));
      end
    end
  end

  assign irq_o = irq;

  fleet_host u_host (
    .clk_i,
    .rst_ni,
    .enable_i  (!slow_i),
    .cycle_i   (cycle_q),
    .irq_i     (irq),
    .progress_o(host_progress),
    .axil_req_o(host_req),
    .axil_rsp_i(axil_rsp)
  );

  fleet_axi_checker #(
    .req_t(axil_req_t),
    .rsp_t(axil_rsp_t),
    .AddrWidth(16),
    .DataWidth(32),
    .Lite(1'b1)
  ) u_register_checker (
    .clk_i,
    .write_clk_i(clk_i),
    .rst_ni,
    .cycle_i(cycle_q),
    .port_i (32'd65),
    .req_i  (axil_req),
    .rsp_i  (axil_rsp)
  );

  // Commits.
  logic [15:0]      commit_opcode, commit_error;
  logic             commit_result_valid;
  logic [31:0]      commit_result;
  logic [5:0][31:0] commit_cycles;

  always_ff @(posedge clk_i) begin
    if (rst_ni && commit_valid) begin
      fleet_bench_commit(cycle_q, 32'(commit_opcode), 32'(commit_error), 32'(commit_result_valid), commit_result,
                         192'(commit_cycles));
    end
  end

  // Memories.
  hbm_req_t [HbmPorts-1:0] hbm_req;
  hbm_rsp_t [HbmPorts-1:0] hbm_rsp;
  ddr_req_t                ddr_req;
  ddr_rsp_t                ddr_rsp;

  fleet_memory #(.HbmPorts(HbmPorts)) u_memory (
    .clk_i,
    .rst_ni,
    .cycle_i   (cycle_q),
    .progress_o(memory_progress),
    .hbm_req_i (hbm_req),
    .hbm_rsp_o (hbm_rsp),
    .ddr_req_i (ddr_req),
    .ddr_rsp_o (ddr_rsp)
  );

  fleet_dut u_dut (
    .clk_i,
    .rst_ni,
    .s_axil_req_i         (axil_req),
    .s_axil_rsp_o         (axil_rsp),
    .hbm_req_o            (hbm_req),
    .hbm_rsp_i            (hbm_rsp),
    .ddr_req_o            (ddr_req),
    .ddr_rsp_i            (ddr_rsp),
    .irq_o                (irq),
    .commit_valid_o       (commit_valid),
    .commit_opcode_o      (commit_opcode),
    .commit_error_o       (commit_error),
    .commit_result_valid_o(commit_result_valid),
    .commit_result_o      (commit_result),
    .commit_cycles_o      (commit_cycles)
  );
endmodule
