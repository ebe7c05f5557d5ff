// The attention unit: trp_mvm and f2w_mvm (FP16 by FP16, one operand from the KV cache in HBM) and dat2hbm, which
// appends to that cache.
//
// Two slots take instructions in turn. While the one in one of them runs, the one in the other is checked, and its keys or
// values are asked for, behind those of the first; all else works on one instruction, whose plan is kept from its launch.
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
  parameter int unsigned DotLatency    = 5,
  parameter int unsigned RoundLatency  = 7,
  parameter int unsigned ScaleLatency  = 3,
  parameter int unsigned NarrowLatency = 2,
  parameter int unsigned StartLatency  = 1
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  // One bit or element a slot. At most one starts in a cycle, and none while the other one is being checked.
  input  logic [1:0]                 start_i,
  input  logic [31:0]                mode_i,
  input  trp_mvm_operands_t          operands_i,
  output logic [1:0]                 busy_o,
  input  logic [1:0]                 oldest_i,
  output logic [1:0]                 checked_o,
  output hulls_t [1:0]               hulls_o,
  input  logic [1:0]                 data_go_i,
  input  bound_t [1:0]               bound_i,
  output bound_t [1:0]               settled_o,
  input  logic [1:0]                 coef_go_i,
  input  logic [1:0]                 hbm_go_i,

  output logic [1:0]                 commit_valid_o,
  output logic [1:0][15:0]           commit_opcode_o,
  output logic [1:0][15:0]           commit_error_o,
  output logic [1:0]                 commit_result_valid_o,
  output logic [1:0][31:0]           commit_result_o,
  output logic [1:0][5:0][31:0]      commit_cycles_o,

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
  // Pixels that are promised room: those of the array's latencies, but for a cycle each, beside what the writer's queue takes up.
  localparam int unsigned Latency = DotLatency + RoundLatency + ScaleLatency + NarrowLatency - 4;
  localparam int unsigned Credits = 2 ** $clog2(((AttQueries == 1) ? 16 : 32) + Latency);

  // ---- the instruction
  logic              slot_q, exec_q, feed_q;  // that started last; that runs; whose keys or values are asked for
  logic [1:0]        check, launch, run_slot, suppress_slot, flush, waits, idle_slot, settles, fed_q, feed;
  logic              check_done, run, suppress, busy, oldest, data_go, feeding;
  logic [15:0]       check_error;
  logic [15:0]       opcode_q [2];
  logic [31:0]       mode_q;
  trp_mvm_operands_t operands_q;
  att_plan_t         checked_plan, plan_q, plan, feed_plan_q;  // of the instruction that started last, runs, is asked for
  hulls_t            hulls;
  hulls_t [1:0]      hulls_q;

  function automatic logic [15:0] opcode(input logic [31:0] mode);
    case (mode)
      StartTrpMvm:  return OpTrpMvm;
      StartF2wMvm:  return OpF2wMvm;
      StartDat2hbm: return OpDat2hbm;
      default:      return 16'd0;
    endcase
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slot_q     <= 1'b0;
      mode_q     <= '0;
      operands_q <= '0;
    end else if (start_i != '0) begin
      slot_q     <= start_i[1];
      mode_q     <= mode_i;
      operands_q <= operands_i;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      exec_q      <= 1'b0;
      plan_q      <= '0;
      hulls_q     <= '0;
      fed_q       <= '0;
      feed_q      <= 1'b0;
      feed_plan_q <= '0;
    end else begin
      if (launch != '0) begin
        exec_q <= launch[1];
        plan_q <= checked_plan;
      end
      if (check_done) hulls_q[slot_q] <= hulls;
      fed_q <= (fed_q | feed) & busy_o & ~commit_valid_o;
      if (feed != '0) begin
        feed_q      <= feed[1];
        feed_plan_q <= checked_plan;
      end
    end
  end
  assign plan     = plan_q;
  assign run      = run_slot != '0;
  assign busy     = busy_o != '0;
  assign suppress = suppress_slot[exec_q];
  assign oldest   = oldest_i[exec_q];
  assign data_go  = data_go_i[exec_q];
  assign hulls_o  = hulls_q;
  // An instruction's bursts follow those of the one before it.
  assign feed     = waits & ~fed_q & {2{!feeding}};

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
    .start_i   (check != '0),
    .mode_i    (mode_q),
    .operands_i(operands_q),
    .done_o    (check_done),
    .error_o   (check_error),
    .plan_o    (checked_plan),
    .hulls_o   (hulls)
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
    .go_i        (data_go),
    .bound_i     (bound_i[exec_q]),
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
    .start_i(feed != '0),
    .plan_i (feed != '0 ? checked_plan : feed_plan_q),
    .go_i   (hbm_go_i[feed_q]),
    .left_o (feeding),
    .valid_o(burst_valid),
    .burst_o(burst),
    .ready_i(burst_push)
  );

  // ---- dat2hbm's way, and the ports
  logic                store_valid, store_left, store_no_pixel, store_no_room;
  att_store_t          store;
  logic [HbmPorts-1:0] store_busy, store_idle, store_error;
  logic [HbmPorts-1:0] read_valid, read_error, write_valid;

  hbm0923_att_store #(.Ports(HbmPorts)) u_store (
    .clk_i,
    .rst_ni,
    .enable_i  (busy),
    .start_i   (run),
    .plan_i    (plan),
    .oldest_i  (oldest),
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
      .error_o  (read_error[p]),
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
    assign write_valid[p]     = hbm_wr_rsp_i[p].b_valid;
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

  hbm0923_att_array #(
    .Ports        (HbmPorts),
    .Queries      (AttQueries),
    .DotLatency   (DotLatency),
    .RoundLatency (RoundLatency),
    .ScaleLatency (ScaleLatency),
    .NarrowLatency(NarrowLatency)
  ) u_array (
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

  bound_t settled;
  hbm0923_att_writer #(.Depth(Credits), .Id(IdAtt)) u_writer (
    .clk_i,
    .rst_ni,
    .enable_i  (busy),
    .oldest_i  (oldest),
    .suppress_i(suppress),
    .start_i   (run),
    .first_i   ({1'b0, plan.out_addr[32:6]}),
    .valid_i   (out_valid),
    .addr_i    (out_addr),
    .data_i    (out_data),
    .pop_o     (written),
    .idle_o    (writer_idle),
    .error_o   (writer_error),
    .settled_o (settled),
    .ddr_req_o (ddr_wr_req_o),
    .ddr_rsp_i (ddr_wr_rsp_i)
  );

  // ---- its life
  logic running, draining, bus_error, waiting, held;
  assign running  = issue_left || array_busy || out_valid || store_left || store_valid;
  assign draining = !writer_idle || store_idle != '1;
  assign waiting  = no_pixel || no_weight || no_room || store_no_pixel || store_no_room;
  // An earlier instruction is what it waits for: to read, or to write.
  assign held     = (waiting && (!data_go || (!plan.store && !hbm_go_i[exec_q]))) || (!oldest && (store_left || no_room));

  always_comb begin
    bus_error = 1'b0;
    if (busy) bus_error = writer_error || ddr_error || store_error != '0 || read_error != '0;
  end

  for (genvar s = 0; s < 2; s++) begin : gen_slot
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) opcode_q[s] <= '0;
      else if (start_i[s]) opcode_q[s] <= opcode(mode_i);
    end
    assign settled_o[s] = (settles[s] && !plan.store) ? settled : '0;

    hbm0923_unit_ctrl #(.StartLatency(StartLatency)) u_ctrl (
      .clk_i,
      .rst_ni,
      .start_i              (start_i[s]),
      .busy_o               (busy_o[s]),
      .oldest_i             (oldest_i[s]),
      .check_o              (check[s]),
      .check_done_i         (check_done && slot_q == 1'(s)),
      .check_error_i        (check_error),
      .checked_o            (checked_o[s]),
      .may_run_i            (idle_slot[1-s]),
      .legal_o              (waits[s]),
      .idle_o               (idle_slot[s]),
      .launch_o             (launch[s]),
      .settles_o            (settles[s]),
      .run_o                (run_slot[s]),
      .running_i            (running),
      .need_flush_i         (1'b0),
      .flush_o              (flush[s]),
      .flushing_i           (1'b0),
      .draining_i           (draining),
      .bus_error_i          (bus_error && exec_q == 1'(s)),
      .suppress_o           (suppress_slot[s]),
      .wait_dependency_i    (held),
      .wait_activation_i    (no_pixel || store_no_pixel),
      .wait_weight_i        (no_weight),
      .wait_write_i         (no_room || store_no_room),
      .opcode_i             (opcode_q[s]),
      .result_valid_i       (1'b0),
      .result_i             (32'd0),
      .commit_valid_o       (commit_valid_o[s]),
      .commit_opcode_o      (commit_opcode_o[s]),
      .commit_error_o       (commit_error_o[s]),
      .commit_result_valid_o(commit_result_valid_o[s]),
      .commit_result_o      (commit_result_o[s]),
      .commit_cycles_o      (commit_cycles_o[s])
    );
  end

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
    assert ($onehot0(start_i) && $onehot0(check) && $onehot0(launch) && $onehot0(feed));
    // The check's plan is the waiting instruction's until that has been launched and its keys or values are asked for.
    if (check != '0) assert ((waits & ~fed_q) == '0);
  end
`endif
  // Coefficients are not read; a response's lower bit and end say nothing that is not known.
  logic unused_inputs;
  assign unused_inputs = ^{coef_go_i, flush, ddr_rd_rsp_i.r.resp[0], ddr_rd_rsp_i.r.last};
endmodule
