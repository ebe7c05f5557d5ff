// The bench around one instruction set: the design (in the generated fleet_dut), its memories, the host that plays register
// scripts, the recorder of commits and the watchdog. fleet_tb wraps it, so that nothing in here need be visible to a simulator's
// programming interface.
//
// Not synthesisable: test bench.

module fleet_bench
  import fleet_dut_pkg::HbmPorts;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        slow_i,  // registers are driven from outside; no script is played

  input  logic        s_axil_awvalid_i,
  output logic        s_axil_awready_o,
  input  logic [15:0] s_axil_awaddr_i,
  input  logic        s_axil_wvalid_i,
  output logic        s_axil_wready_o,
  input  logic [31:0] s_axil_wdata_i,
  input  logic [3:0]  s_axil_wstrb_i,
  output logic        s_axil_bvalid_o,
  input  logic        s_axil_bready_i,
  output logic [1:0]  s_axil_bresp_o,
  input  logic        s_axil_arvalid_i,
  output logic        s_axil_arready_o,
  input  logic [15:0] s_axil_araddr_i,
  output logic        s_axil_rvalid_o,
  input  logic        s_axil_rready_i,
  output logic [31:0] s_axil_rdata_o,
  output logic [1:0]  s_axil_rresp_o,

  output logic        irq_o
);
  import "DPI-C" function void fleet_bench_limits(output longint unsigned max_cycles, output longint unsigned quiet_cycles);
  import "DPI-C" function void fleet_bench_hang(input longint unsigned cycle, input int unsigned quiet);
  import "DPI-C" function void fleet_bench_commit(
    input longint unsigned cycle, input int unsigned opcode, input int unsigned error, input int unsigned result_valid,
    input int unsigned result, input bit [191:0] cycles);

  // Registers: from outside or from the host.
  logic        host_awvalid, host_wvalid, host_bready, host_arvalid, host_rready, host_progress;
  logic [15:0] host_addr;
  logic [31:0] host_wdata;
  logic        awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  logic [15:0] awaddr, araddr;
  logic [31:0] wdata, rdata;
  logic [3:0]  wstrb;
  logic [1:0]  bresp, rresp;

  assign awvalid = slow_i ? s_axil_awvalid_i : host_awvalid;
  assign awaddr  = slow_i ? s_axil_awaddr_i : host_addr;
  assign wvalid  = slow_i ? s_axil_wvalid_i : host_wvalid;
  assign wdata   = slow_i ? s_axil_wdata_i : host_wdata;
  assign wstrb   = slow_i ? s_axil_wstrb_i : 4'hF;
  assign bready  = slow_i ? s_axil_bready_i : host_bready;
  assign arvalid = slow_i ? s_axil_arvalid_i : host_arvalid;
  assign araddr  = slow_i ? s_axil_araddr_i : host_addr;
  assign rready  = slow_i ? s_axil_rready_i : host_rready;

  assign s_axil_awready_o = slow_i & awready;
  assign s_axil_wready_o  = slow_i & wready;
  assign s_axil_bvalid_o  = slow_i & bvalid;
  assign s_axil_bresp_o   = bresp;
  assign s_axil_arready_o = slow_i & arready;
  assign s_axil_rvalid_o  = slow_i & rvalid;
  assign s_axil_rdata_o   = rdata;
  assign s_axil_rresp_o   = rresp;

  // Cycles since reset, and the watchdog: a design that neither moves data nor lets the script advance hangs.
  logic [63:0] cycle_q, quiet_q, max_cycles_q, quiet_cycles_q;
  logic        memory_progress, hung_q, commit_valid, irq;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      automatic longint unsigned max_cycles, quiet_cycles;
      fleet_bench_limits(max_cycles, quiet_cycles);
      max_cycles_q   <= max_cycles;
      quiet_cycles_q <= quiet_cycles;
      cycle_q        <= '0;
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
    .enable_i      (!slow_i),
    .cycle_i       (cycle_q),
    .irq_i         (irq),
    .progress_o    (host_progress),
    .axil_awvalid_o(host_awvalid),
    .axil_awready_i(awready),
    .axil_addr_o   (host_addr),
    .axil_wvalid_o (host_wvalid),
    .axil_wready_i (wready),
    .axil_wdata_o  (host_wdata),
    .axil_bvalid_i (bvalid),
    .axil_bready_o (host_bready),
    .axil_bresp_i  (bresp),
    .axil_arvalid_o(host_arvalid),
    .axil_arready_i(arready),
    .axil_rvalid_i (rvalid),
    .axil_rready_o (host_rready),
    .axil_rdata_i  (rdata),
    .axil_rresp_i  (rresp)
  );

  fleet_axi_checker #(.AddrWidth(16), .DataWidth(32), .Lite(1'b1)) u_register_checker (
    .clk_i,
    .rst_ni,
    .cycle_i  (cycle_q),
    .port_i   (32'd65),
    .arvalid_i(arvalid),
    .arready_i(arready),
    .araddr_i (araddr),
    .arlen_i  (8'd0),
    .arid_i   (1'b0),
    .rvalid_i (rvalid),
    .rready_i (rready),
    .rdata_i  (rdata),
    .rresp_i  (rresp),
    .rlast_i  (1'b1),
    .rid_i    (1'b0),
    .awvalid_i(awvalid),
    .awready_i(awready),
    .awaddr_i (awaddr),
    .awlen_i  (8'd0),
    .awid_i   (1'b0),
    .wvalid_i (wvalid),
    .wready_i (wready),
    .wdata_i  (wdata),
    .wstrb_i  (wstrb),
    .wlast_i  (1'b1),
    .bvalid_i (bvalid),
    .bready_i (bready),
    .bresp_i  (bresp),
    .bid_i    (1'b0)
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
  logic [HbmPorts-1:0]        hbm_arvalid, hbm_arready, hbm_rvalid, hbm_rready, hbm_rlast, hbm_awvalid, hbm_awready;
  logic [HbmPorts-1:0]        hbm_wvalid, hbm_wready, hbm_wlast, hbm_bvalid, hbm_bready;
  logic [HbmPorts-1:0][32:0]  hbm_araddr, hbm_awaddr;
  logic [HbmPorts-1:0][7:0]   hbm_arlen, hbm_awlen;
  logic [HbmPorts-1:0][255:0] hbm_rdata, hbm_wdata;
  logic [HbmPorts-1:0][31:0]  hbm_wstrb;
  logic [HbmPorts-1:0][1:0]   hbm_rresp, hbm_bresp;
  logic                       ddr_arvalid, ddr_arready, ddr_rvalid, ddr_rready, ddr_rlast, ddr_awvalid, ddr_awready;
  logic                       ddr_wvalid, ddr_wready, ddr_wlast, ddr_bvalid, ddr_bready;
  logic [3:0]                 ddr_arid, ddr_rid, ddr_awid, ddr_bid;
  logic [32:0]                ddr_araddr, ddr_awaddr;
  logic [7:0]                 ddr_arlen, ddr_awlen;
  logic [511:0]               ddr_rdata, ddr_wdata;
  logic [63:0]                ddr_wstrb;
  logic [1:0]                 ddr_rresp, ddr_bresp;

  fleet_memory #(.HbmPorts(HbmPorts)) u_memory (
    .clk_i,
    .rst_ni,
    .cycle_i      (cycle_q),
    .progress_o   (memory_progress),
    .hbm_arvalid_i(hbm_arvalid),
    .hbm_araddr_i (hbm_araddr),
    .hbm_arlen_i  (hbm_arlen),
    .hbm_rready_i (hbm_rready),
    .hbm_awvalid_i(hbm_awvalid),
    .hbm_awaddr_i (hbm_awaddr),
    .hbm_awlen_i  (hbm_awlen),
    .hbm_wvalid_i (hbm_wvalid),
    .hbm_wdata_i  (hbm_wdata),
    .hbm_wstrb_i  (hbm_wstrb),
    .hbm_wlast_i  (hbm_wlast),
    .hbm_bready_i (hbm_bready),
    .hbm_arready_o(hbm_arready),
    .hbm_rvalid_o (hbm_rvalid),
    .hbm_rdata_o  (hbm_rdata),
    .hbm_rresp_o  (hbm_rresp),
    .hbm_rlast_o  (hbm_rlast),
    .hbm_awready_o(hbm_awready),
    .hbm_wready_o (hbm_wready),
    .hbm_bvalid_o (hbm_bvalid),
    .hbm_bresp_o  (hbm_bresp),
    .ddr_arvalid_i(ddr_arvalid),
    .ddr_arid_i   (ddr_arid),
    .ddr_araddr_i (ddr_araddr),
    .ddr_arlen_i  (ddr_arlen),
    .ddr_rready_i (ddr_rready),
    .ddr_awvalid_i(ddr_awvalid),
    .ddr_awid_i   (ddr_awid),
    .ddr_awaddr_i (ddr_awaddr),
    .ddr_awlen_i  (ddr_awlen),
    .ddr_wvalid_i (ddr_wvalid),
    .ddr_wdata_i  (ddr_wdata),
    .ddr_wstrb_i  (ddr_wstrb),
    .ddr_wlast_i  (ddr_wlast),
    .ddr_bready_i (ddr_bready),
    .ddr_arready_o(ddr_arready),
    .ddr_rvalid_o (ddr_rvalid),
    .ddr_rid_o    (ddr_rid),
    .ddr_rdata_o  (ddr_rdata),
    .ddr_rresp_o  (ddr_rresp),
    .ddr_rlast_o  (ddr_rlast),
    .ddr_awready_o(ddr_awready),
    .ddr_wready_o (ddr_wready),
    .ddr_bvalid_o (ddr_bvalid),
    .ddr_bid_o    (ddr_bid),
    .ddr_bresp_o  (ddr_bresp)
  );

  fleet_dut u_dut (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i     (awvalid),
    .s_axil_awaddr_i      (awaddr),
    .s_axil_wvalid_i      (wvalid),
    .s_axil_wdata_i       (wdata),
    .s_axil_wstrb_i       (wstrb),
    .s_axil_bready_i      (bready),
    .s_axil_arvalid_i     (arvalid),
    .s_axil_araddr_i      (araddr),
    .s_axil_rready_i      (rready),
    .s_axil_awready_o     (awready),
    .s_axil_wready_o      (wready),
    .s_axil_bvalid_o      (bvalid),
    .s_axil_bresp_o       (bresp),
    .s_axil_arready_o     (arready),
    .s_axil_rvalid_o      (rvalid),
    .s_axil_rdata_o       (rdata),
    .s_axil_rresp_o       (rresp),
    .hbm_arvalid_o        (hbm_arvalid),
    .hbm_araddr_o         (hbm_araddr),
    .hbm_arlen_o          (hbm_arlen),
    .hbm_rready_o         (hbm_rready),
    .hbm_awvalid_o        (hbm_awvalid),
    .hbm_awaddr_o         (hbm_awaddr),
    .hbm_awlen_o          (hbm_awlen),
    .hbm_wvalid_o         (hbm_wvalid),
    .hbm_wdata_o          (hbm_wdata),
    .hbm_wstrb_o          (hbm_wstrb),
    .hbm_wlast_o          (hbm_wlast),
    .hbm_bready_o         (hbm_bready),
    .hbm_arready_i        (hbm_arready),
    .hbm_rvalid_i         (hbm_rvalid),
    .hbm_rdata_i          (hbm_rdata),
    .hbm_rresp_i          (hbm_rresp),
    .hbm_rlast_i          (hbm_rlast),
    .hbm_awready_i        (hbm_awready),
    .hbm_wready_i         (hbm_wready),
    .hbm_bvalid_i         (hbm_bvalid),
    .hbm_bresp_i          (hbm_bresp),
    .ddr_arvalid_o        (ddr_arvalid),
    .ddr_arid_o           (ddr_arid),
    .ddr_araddr_o         (ddr_araddr),
    .ddr_arlen_o          (ddr_arlen),
    .ddr_rready_o         (ddr_rready),
    .ddr_awvalid_o        (ddr_awvalid),
    .ddr_awid_o           (ddr_awid),
    .ddr_awaddr_o         (ddr_awaddr),
    .ddr_awlen_o          (ddr_awlen),
    .ddr_wvalid_o         (ddr_wvalid),
    .ddr_wdata_o          (ddr_wdata),
    .ddr_wstrb_o          (ddr_wstrb),
    .ddr_wlast_o          (ddr_wlast),
    .ddr_bready_o         (ddr_bready),
    .ddr_arready_i        (ddr_arready),
    .ddr_rvalid_i         (ddr_rvalid),
    .ddr_rid_i            (ddr_rid),
    .ddr_rdata_i          (ddr_rdata),
    .ddr_rresp_i          (ddr_rresp),
    .ddr_rlast_i          (ddr_rlast),
    .ddr_awready_i        (ddr_awready),
    .ddr_wready_i         (ddr_wready),
    .ddr_bvalid_i         (ddr_bvalid),
    .ddr_bid_i            (ddr_bid),
    .ddr_bresp_i          (ddr_bresp),
    .irq_o                (irq),
    .commit_valid_o       (commit_valid),
    .commit_opcode_o      (commit_opcode),
    .commit_error_o       (commit_error),
    .commit_result_valid_o(commit_result_valid),
    .commit_result_o      (commit_result),
    .commit_cycles_o      (commit_cycles)
  );
endmodule
