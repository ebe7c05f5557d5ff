// The attention unit: trp_mvm and f2w_mvm (FP16 by FP16, one operand from the KV cache in HBM) and dat2hbm, which
// appends to that cache.
module hbm0923_attention
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_att_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Tout          = 32,
  parameter int unsigned HbmPorts      = 32,
  parameter int unsigned MaxToken      = 2048,
  parameter int unsigned OnchipDepth   = 8192,  // beats of a half
  parameter int unsigned AttInterval   = 1,     // cycles a step
  parameter int unsigned AttQueries    = 1,     // pairs of query head and token that a beat of K or V meets
  parameter bit          ScaleFp20     = 1'b0,
  parameter int unsigned Log2BankStep  = 28,
  parameter int unsigned DdrMegabytes  = 1024,
  parameter int unsigned HbmMegabytes  = 64,
  parameter int unsigned PortFifoDepth = 128,
  parameter int unsigned StartLatency  = 1
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  input  logic                       start_i,
  input  logic [31:0]                mode_i,
  input  trp_mvm_operands_t          operands_i,
  output logic                       busy_o,
  input  logic                       oldest_i,
  output logic                       checked_o,
  output hulls_t                     hulls_o,
  input  logic                       data_go_i,
  input  logic                       coef_go_i,
  input  logic                       hbm_go_i,

  output logic                       commit_valid_o,
  output logic [15:0]                commit_opcode_o,
  output logic [15:0]                commit_error_o,
  output logic                       commit_result_valid_o,
  output logic [31:0]                commit_result_o,
  output logic [5:0][31:0]           commit_cycles_o,

  output ddr_rd_req_t                ddr_rd_req_o,
  input  ddr_rd_rsp_t                ddr_rd_rsp_i,
  output ddr_wr_req_t                ddr_wr_req_o,
  input  ddr_wr_rsp_t                ddr_wr_rsp_i,

  output hbm_rd_req_t [HbmPorts-1:0] hbm_rd_req_o,
  input  hbm_rd_rsp_t [HbmPorts-1:0] hbm_rd_rsp_i,
  output hbm_wr_req_t [HbmPorts-1:0] hbm_wr_req_o,
  input  hbm_wr_rsp_t [HbmPorts-1:0] hbm_wr_rsp_i
);
  localparam int unsigned Ring    = 2 * 2 ** $clog2(MaxToken / PixelLanes);
  localparam int unsigned Credits = (AttQueries == 1) ? 16 : 32;

  // ---- the instruction
  logic              check, check_done, run, suppress, busy, flush;
  logic [15:0]       check_error, opcode;
  logic [31:0]       mode_q;
  trp_mvm_operands_t operands_q;
  att_plan_t         plan;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mode_q     <= '0;
      operands_q <= '0;
    end else if (start_i) begin
      mode_q     <= mode_i;
      operands_q <= operands_i;
    end
  end

  always_comb begin
    case (mode_q)
      StartTrpMvm:  opcode = OpTrpMvm;
      StartF2wMvm:  opcode = OpF2wMvm;
      StartDat2hbm: opcode = OpDat2hbm;
      default:      opcode = 16'd0;
    endcase
  end

  hbm0923_att_check #(
    .Ports(HbmPorts),
    .Queries(AttQueries),
    .MaxToken(MaxToken),
    .OnchipDepth(OnchipDepth),
    .ScaleFp20(ScaleFp20),
    .Log2BankStep(Log2BankStep),
    .DdrMegabytes(DdrMegabytes),
    .HbmMegabytes(HbmMegabytes)
  ) u_check (
    .clk_i,
    .rst_ni,
    .start_i   (check),
    .mode_i    (mode_q),
    .operands_i(operands_q),
    .done_o    (check_done),
    .error_o   (check_error),
    .plan_o    (plan),
    .hulls_o
  );

  // ---- what is read: pixels of the input, beats of every HBM port
  logic [AttQueries-1:0][15:0]        have;
  logic [15:0]                        index, issue_index, free_count, issue_free_count;
  logic [3:0]                         free_rings;
  logic                               read, free, step, issue_free, take;
  logic [AttQueries-1:0][DdrBits-1:0] pixel;
  logic                               ddr_mine, ddr_error;
  att_beat_t                          issue_beat;
  assign ddr_mine   = ddr_rd_rsp_i.r_valid && ddr_rd_rsp_i.r.id == IdAtt;
  assign ddr_error  = ddr_mine && ddr_rd_rsp_i.r.resp[1];
  assign read       = step || take;
  assign index      = plan.store ? 16'd0 : issue_index;
  assign free       = issue_free || take;
  assign free_count = plan.store ? 16'd1 : issue_free_count;
  assign free_rings = plan.store ? 4'd1 : issue_beat.pairs;

  hbm0923_att_pixels #(.Depth(Ring), .Queries(AttQueries), .Id(IdAtt)) u_pixels (
    .clk_i,
    .rst_ni,
    .enable_i    (busy),
    .start_i     (run),
    .plan_i      (plan),
    .go_i        (data_go_i),
    .ddr_req_o   (ddr_rd_req_o),
    .ddr_rsp_i   (ddr_rd_rsp_i),
    .have_o      (have),
    .read_i      (read),
    .index_i     (index),
    .pixel_o     (pixel),
    .free_i      (free),
    .free_rings_i(free_rings),
    .free_count_i(free_count)
  );

  logic                             burst_valid, burst_push;
  att_burst_t                       burst;
  logic [HbmPorts-1:0]              port_ready, port_valid;
  logic [HbmPorts-1:0][HbmBits-1:0] port_data;
  logic                             beats_read;
  assign burst_push = burst_valid && port_ready == '1;

  hbm0923_att_bursts u_bursts (
    .clk_i,
    .rst_ni,
    .start_i(run),
    .plan_i (plan),
    .go_i   (hbm_go_i),
    .valid_o(burst_valid),
    .burst_o(burst),
    .ready_i(burst_push)
  );

  // ---- dat2hbm's way, and the ports
  logic                store_valid, store_left, store_no_pixel, store_no_room;
  att_store_t          store;
  logic [HbmPorts-1:0] store_busy, store_idle, store_error;
  logic [HbmPorts-1:0] read_valid, read_error, write_valid, unused_response;

  hbm0923_att_store #(.Ports(HbmPorts)) u_store (
    .clk_i,
    .rst_ni,
    .enable_i  (busy),
    .start_i   (run),
    .plan_i    (plan),
    .oldest_i,
    .suppress_i(suppress),
    .have_i    (have[0]),
    .take_o    (take),
    .busy_i    (store_busy),
    .valid_o   (store_valid),
    .store_o   (store),
    .left_o    (store_left),
    .no_pixel_o(store_no_pixel),
    .no_room_o (store_no_room)
  );

  for (genvar p = 0; p < HbmPorts; p++) begin : gen_port
    hbm0923_att_port #(.Port(p), .Depth(PortFifoDepth), .Log2BankStep(Log2BankStep)) u_port (
      .clk_i,
      .rst_ni,
      .enable_i (busy),
      .push_i   (burst_push),
      .burst_i  (burst),
      .ready_o  (port_ready[p]),
      .hbm_req_o(hbm_rd_req_o[p]),
      .hbm_rsp_i(hbm_rd_rsp_i[p]),
      .valid_o  (port_valid[p]),
      .pop_i    (step),
      .read_i   (beats_read),
      .data_o   (port_data[p])
    );

    hbm0923_att_store_port #(.Port(p), .Ports(HbmPorts), .Log2BankStep(Log2BankStep)) u_store_port (
      .clk_i,
      .rst_ni,
      .enable_i (busy),
      .clear_i  (run),
      .valid_i  (store_valid),
      .store_i  (store),
      .pixel_i  (pixel[0]),
      .stride_i (plan.wt_line),
      .busy_o   (store_busy[p]),
      .idle_o   (store_idle[p]),
      .error_o  (store_error[p]),
      .hbm_req_o(hbm_wr_req_o[p]),
      .hbm_rsp_i(hbm_wr_rsp_i[p])
    );

    assign read_valid[p]      = hbm_rd_rsp_i[p].r_valid;
    assign read_error[p]      = hbm_rd_rsp_i[p].r.resp[1];
    assign write_valid[p]     = hbm_wr_rsp_i[p].b_valid;
    assign unused_response[p] = ^{hbm_rd_rsp_i[p].r.resp[0], hbm_rd_rsp_i[p].r.last};
  end

  // ---- the array, and what comes out of it
  att_beat_t                              row_beat;
  logic                                   issue_left, no_pixel, no_weight, no_room, written;
  logic                                   array_busy, row_valid, out_valid, writer_idle, writer_error;
  logic [HbmPorts*16-1:0]                 row;
  logic [3:0]                             row_pair;
  logic [32:0]                            out_addr;
  logic [DdrBits-1:0]                     out_data;

  hbm0923_att_issue #(.Ports(HbmPorts), .Queries(AttQueries), .Interval(AttInterval), .Credits(Credits)) u_issue (
    .clk_i,
    .rst_ni,
    .enable_i    (busy),
    .start_i     (run),
    .plan_i      (plan),
    .have_i      (have),
    .weights_i   (port_valid == '1),
    .written_i   (written),
    .step_o      (step),
    .index_o     (issue_index),
    .beat_o      (issue_beat),
    .free_o      (issue_free),
    .free_count_o(issue_free_count),
    .left_o      (issue_left),
    .no_pixel_o  (no_pixel),
    .no_weight_o (no_weight),
    .no_room_o   (no_room)
  );

  hbm0923_att_array #(.Ports(HbmPorts), .Queries(AttQueries)) u_array (
    .clk_i,
    .rst_ni,
    .enable_i(busy),
    .plan_i  (plan),
    .step_i  (step),
    .beat_i  (issue_beat),
    .pixel_i (pixel),
    .read_o  (beats_read),
    .w_i     (port_data),
    .busy_o  (array_busy),
    .valid_o (row_valid),
    .beat_o  (row_beat),
    .pair_o  (row_pair),
    .y_o     (row)
  );

  hbm0923_att_collect #(.Ports(HbmPorts), .Queries(AttQueries)) u_collect (
    .clk_i,
    .rst_ni,
    .start_i(run),
    .plan_i (plan),
    .valid_i(row_valid),
    .beat_i (row_beat),
    .pair_i (row_pair),
    .y_i    (row),
    .valid_o(out_valid),
    .addr_o (out_addr),
    .data_o (out_data)
  );

  hbm0923_att_writer #(.Depth(Credits), .Id(IdAtt)) u_writer (
    .clk_i,
    .rst_ni,
    .enable_i  (busy),
    .oldest_i,
    .suppress_i(suppress),
    .valid_i   (out_valid),
    .addr_i    (out_addr),
    .data_i    (out_data),
    .pop_o     (written),
    .idle_o    (writer_idle),
    .error_o   (writer_error),
    .ddr_req_o (ddr_wr_req_o),
    .ddr_rsp_i (ddr_wr_rsp_i)
  );

  // ---- its life
  logic running, draining, bus_error, waiting, held;
  assign running  = issue_left || array_busy || out_valid || store_left || store_valid;
  assign draining = !writer_idle || store_idle != '1;
  assign waiting  = no_pixel || no_weight || no_room || store_no_pixel || store_no_room;
  // An earlier instruction is what it waits for: to read, or to write.
  assign held     = (waiting && (!data_go_i || (!plan.store && !hbm_go_i))) || (!oldest_i && (store_left || no_room));

  always_comb begin
    bus_error = 1'b0;
    if (busy) bus_error = writer_error || ddr_error || store_error != '0 || (read_valid & read_error) != '0;
  end

  logic unused_legal, unused_idle, unused_launch;
  hbm0923_unit_ctrl #(.StartLatency(StartLatency)) u_ctrl (
    .clk_i,
    .rst_ni,
    .start_i,
    .busy_o           (busy),
    .oldest_i,
    .check_o          (check),
    .check_done_i     (check_done),
    .check_error_i    (check_error),
    .checked_o,
    .may_run_i        (1'b1),
    .legal_o          (unused_legal),
    .idle_o           (unused_idle),
    .launch_o         (unused_launch),
    .run_o            (run),
    .running_i        (running),
    .need_flush_i     (1'b0),
    .flush_o          (flush),
    .flushing_i       (1'b0),
    .draining_i       (draining),
    .bus_error_i      (bus_error),
    .suppress_o       (suppress),
    .wait_dependency_i(held),
    .wait_activation_i(no_pixel || store_no_pixel),
    .wait_weight_i    (no_weight),
    .wait_write_i     (no_room || store_no_room),
    .opcode_i         (opcode),
    .result_valid_i   (1'b0),
    .result_i         (32'd0),
    .commit_valid_o,
    .commit_opcode_o,
    .commit_error_o,
    .commit_result_valid_o,
    .commit_result_o,
    .commit_cycles_o
  );
  assign busy_o = busy;

  if (Tout != HbmPorts || AttInterval == 0) begin : gen_check
    $error("an output channel a port, and steps of at least one cycle");
  end
`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // Here once and not in every port: an assertion costs simulated time also when it has nothing to say.
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (step) assert (port_valid == '1);
    if (read_valid != '0 || write_valid != '0 || ddr_mine) assert (busy);
  end
`endif
  // Coefficients are not read; a response's lower bit and end say nothing that is not known.
  logic unused_inputs;
  assign unused_inputs = ^{coef_go_i, flush, ddr_rd_rsp_i.r.resp[0], ddr_rd_rsp_i.r.last, unused_response};
endmodule
