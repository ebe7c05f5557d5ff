// The AUX unit: the fetch of binaries and wt2hbm, which share the operands and the DDR port. Only one is at work at a time.
module hbm0923_aux
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_fabric_pkg::*;
  import hbm0923_aux_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Ports        = 32,
  parameter int unsigned Log2BankStep = 28,
  parameter int unsigned DdrMegabytes = 4096,
  parameter int unsigned HbmMegabytes = 256
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // ---- the fetch
  input  logic                  run_start_i,   // one cycle, with the operands
  input  logic                  run_stop_i,
  input  logic                  run_end_i,
  output logic                  run_over_o,
  output logic [15:0]           run_error_o,
  output start_t                task_o,
  input  logic                  task_ready_i,
  output mvm_operands_t         task_mvm_o,    // its operands, for the unit that it is for
  output sfu_operands_t         task_sfu_o,
  output elementwise_operands_t task_elementwise_o,

  // ---- wt2hbm, a unit
  input  logic             start_i,
  input  logic [31:0]      mode_i,
  input  aux_operands_t    operands_i,
  output logic             busy_o,
  input  logic             oldest_i,
  output logic             checked_o,
  output hulls_t           hulls_o,
  input  logic             data_go_i,

  output logic             commit_valid_o,
  output logic [15:0]      commit_opcode_o,
  output logic [15:0]      commit_error_o,
  output logic             commit_result_valid_o,
  output logic [31:0]      commit_result_o,
  output logic [5:0][31:0] commit_cycles_o,

  output ddr_rd_req_t      ddr_req_o,
  input  ddr_rd_rsp_t      ddr_rsp_i,

  output hbm_wr_req_t [Ports-1:0] hbm_req_o,
  input  hbm_wr_rsp_t [Ports-1:0] hbm_rsp_i
);
  // Operands hold for the fetch as for a unit: latched at its start.
  logic          begin_q, fetching_q;
  aux_operands_t run_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begin_q    <= 1'b0;
      fetching_q <= 1'b0;
      run_q      <= '0;
    end else begin
      begin_q <= run_start_i;
      if (run_start_i) begin
        fetching_q <= 1'b1;
        run_q      <= operands_i;
      end else if (run_end_i) begin
        fetching_q <= 1'b0;
      end
    end
  end

  logic        mine;
  ddr_rd_req_t fetch_req, copy_req;
  ddr_rd_rsp_t fetch_rsp, copy_rsp;
  assign mine      = ddr_rsp_i.r_valid && ddr_rsp_i.r.id == IdAux;
  assign ddr_req_o = fetching_q ? fetch_req : copy_req;
  assign fetch_rsp = '{ar_ready: ddr_rsp_i.ar_ready && fetching_q, r_valid: mine && fetching_q, r: ddr_rsp_i.r};
  assign copy_rsp  = '{ar_ready: ddr_rsp_i.ar_ready && !fetching_q, r_valid: mine && !fetching_q, r: ddr_rsp_i.r};

  logic [AuxWords*32-1:0] words, ordered;
  // What was asked for comes before the run is over.
  logic fetch_clk;
  hbm0923_clock_gate u_fetch_gate (.clk_i, .rst_ni, .enable_i(begin_q || fetching_q), .clk_o(fetch_clk));

  hbm0923_aux_fetch #(.DdrMegabytes(DdrMegabytes)) u_fetch (
    .clk_i    (fetch_clk),
    .rst_ni,
    .start_i  (begin_q),
    .addr_i   (run_q.insts_addr),
    .beats_i  (run_q.beats),
    .tasks_i  (run_q.tasks),
    .stop_i   (run_stop_i),
    .end_i    (run_end_i),
    .over_o   (run_over_o),
    .error_o  (run_error_o),
    .task_o,
    .task_ready_i,
    .words_o  (words),
    .ddr_req_o(fetch_req),
    .ddr_rsp_i(fetch_rsp)
  );

  // Operands have the first word in the most significant place.
  for (genvar w = 0; w < AuxWords; w++) begin : gen_word
    assign ordered[32*(AuxWords-1-w)+:32] = words[32*w+:32];
  end
  assign task_mvm_o         = ordered[AuxWords*32-1-:$bits(mvm_operands_t)];
  assign task_sfu_o         = ordered[AuxWords*32-1-:$bits(sfu_operands_t)];
  assign task_elementwise_o = ordered[AuxWords*32-1-:$bits(elementwise_operands_t)];

  logic copy_clk;
  hbm0923_clock_gate u_copy_gate (.clk_i, .rst_ni, .enable_i(start_i || busy_o), .clk_o(copy_clk));

  hbm0923_wt2hbm #(
    .Ports(Ports),
    .Log2BankStep(Log2BankStep),
    .DdrMegabytes(DdrMegabytes),
    .HbmMegabytes(HbmMegabytes)
  ) u_wt2hbm (
    .clk_i(copy_clk),
    .rst_ni,
    .start_i,
    .mode_i,
    .operands_i,
    .busy_o,
    .oldest_i,
    .checked_o,
    .hulls_o,
    .data_go_i,
    .commit_valid_o,
    .commit_opcode_o,
    .commit_error_o,
    .commit_result_valid_o,
    .commit_result_o,
    .commit_cycles_o,
    .ddr_req_o(copy_req),
    .ddr_rsp_i(copy_rsp),
    .hbm_req_o,
    .hbm_rsp_i
  );

  // The last word is the start register, and goes elsewhere.
  logic unused_words;
  assign unused_words = ^{ordered, run_q};
endmodule
