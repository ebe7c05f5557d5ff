// The MVM unit: INT4 weights from every HBM port, FP16 activations from DDR, FP16 outputs to DDR.
//
// Two slots take instructions in turn. The one in the other slot is checked and its weights are fetched while the first
// one runs; everything behind the weights' rings works on one instruction, whose plan is kept from its launch.
module hbm0923_mvm
  import hbm0923_pkg::*;
  import hbm0923_mvm_pkg::*;
  import hbm0923_unit_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Tin           = 128,
  parameter int unsigned Tout          = 32,
  parameter int unsigned TgroupCh      = 2048,
  parameter int unsigned DatDepth      = 8192,
  parameter int unsigned WtDepth       = 1024,
  parameter int unsigned PortFifoDepth = 128,
  parameter int unsigned MaxToken      = 2048,
  parameter int unsigned Log2BankStep  = 28,
  parameter bit          Sparse        = 1'b0,
  parameter int unsigned ArrayLatency   = 4,
  parameter int unsigned ProductLatency = 6,
  parameter int unsigned RoundLatency   = 7,
  parameter int unsigned ScaleLatency   = 3,
  parameter int unsigned AddLatency     = 9,
  parameter int unsigned NarrowLatency  = 2,
  parameter int unsigned OnchipDepth   = 1024,
  parameter int unsigned DdrMegabytes  = 4096,
  parameter int unsigned HbmMegabytes  = 256
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // One bit or element a slot. At most one starts in a cycle, and none while the other one is being checked.
  input  logic [1:0]       start_i,
  input  logic [31:0]      mode_i,
  input  mvm_operands_t    operands_i,

  output logic [1:0]       busy_o,
  input  logic [1:0]       oldest_i,
  output logic [1:0]       checked_o,
  output hulls_t [1:0]     hulls_o,
  input  logic [1:0]       data_go_i,
  input  bound_t [1:0][1:0] bounds_i,
  output bound_t [1:0]     settled_o,
  input  logic [1:0]       coef_go_i,
  input  logic [1:0]       hbm_go_i,

  output hbm_rd_req_t [Tout-1:0] hbm_req_o,
  input  hbm_rd_rsp_t [Tout-1:0] hbm_rsp_i,

  output ddr_rd_req_t      ddr_rd_req_o,
  input  ddr_rd_rsp_t      ddr_rd_rsp_i,
  output ddr_wr_req_t      ddr_wr_req_o,
  input  ddr_wr_rsp_t      ddr_wr_rsp_i,

  output logic [1:0]            commit_valid_o,
  output logic [1:0][15:0]      commit_opcode_o,
  output logic [1:0][15:0]      commit_error_o,
  output logic [1:0]            commit_result_valid_o,
  output logic [1:0][31:0]      commit_result_o,
  output logic [1:0][5:0][31:0] commit_cycles_o
);
  localparam int unsigned DatWords   = DatDepth * Tin / BeatLanes;
  localparam int unsigned DataDepth  = WtDepth * Tin / BeatLanes;
  // Scales of a block that fills the weight ring, in groups of 32.
  localparam int unsigned ScaleDepth = ((WtDepth * Tin + TgroupCh - 1) / TgroupCh) * (TgroupCh / 32 / ScalesABeat);
  localparam int unsigned DatAw      = $clog2(DatWords);
  localparam int unsigned Dw         = $clog2(DataDepth);
  localparam int unsigned Sw         = $clog2(ScaleDepth);
  localparam int unsigned PlaceDepth = DataDepth / 4;   // places of a block that fills the weight ring
  localparam int unsigned Pw         = $clog2(PlaceDepth);
  localparam int unsigned DatLanes   = Sparse ? SparseLanes : BeatLanes;
  // Outputs that are promised a place: those under way, and a burst of writes.
  localparam int unsigned OutDepth   = 64;
  localparam int unsigned BnDepth    = 32;
  localparam int unsigned ResDepth   = 64;

  // ---- control
  logic          slot_q, exec_q, feed_q;        // that started last; that runs; whose weights are asked for
  logic [1:0]    check, launch, run_slot, flush_slot, suppress_slot, bus_error_q, fed_q, feed;
  logic          check_done, run, flush, flushing, suppress, running, write_idle, write_error;
  logic [1:0]    wt_busy, wt_error;
  logic          wait_dat, wait_wt, wait_epilogue, no_room, operands_held, wait_dependency;
  logic          oldest, data_go, coef_go, hbm_go;
  logic [15:0]   check_error;
  logic [31:0]   mode_q, argmax_result;
  logic [15:0]   opcode_q [2];
  mvm_operands_t operands_q;
  mvm_plan_t     checked_plan, plan_q, plan;    // of the instruction that started last; of the one that runs
  hulls_t        hulls;
  hulls_t [1:0]  hulls_q;

  function automatic logic [15:0] opcode(input logic [31:0] mode);
    if ((mode & ~StartMvmOptional) == StartMvm) return OpMvm;
    if ((mode & ~StartMvmBnOptional) == StartMvmBn) return OpMvmBn;
    if ((mode & ~StartMvmBnResOptional) == StartMvmBnRes) return OpMvmBnRes;
    return 16'd0;
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
      exec_q  <= 1'b0;
      plan_q  <= '0;
      hulls_q <= '0;
    end else begin
      if (launch != '0) begin
        exec_q <= launch[1];
        plan_q <= checked_plan;
      end
      if (check_done) hulls_q[slot_q] <= hulls;
    end
  end
  assign plan     = plan_q;
  assign run      = run_slot != '0;
  assign flush    = flush_slot != '0;
  assign suppress = suppress_slot[exec_q];
  assign oldest   = oldest_i[exec_q];
  assign data_go  = data_go_i[exec_q];
  assign coef_go  = coef_go_i[exec_q];
  assign hbm_go   = hbm_go_i[feed_q];
  assign hulls_o  = hulls_q;

  // What is missing may be held back for the sake of an earlier instruction.
  assign operands_held   = !data_go || (plan.bn && !coef_go);
  assign wait_dependency = (wait_dat && !data_go) || (wait_wt && !hbm_go_i[exec_q])
                           || (wait_epilogue && (no_room ? !oldest : operands_held));

  logic [1:0] waits, idle_slot, settles;   // found legal, and before its commit; runs not; what is written is its
  bound_t     settled;
  logic [1:0] read_error;  // of the instruction that runs, of the other one
  for (genvar s = 0; s < 2; s++) begin : gen_slot
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) opcode_q[s] <= '0;
      else if (start_i[s]) opcode_q[s] <= opcode(mode_i);
    end

    hbm0923_unit_ctrl u_ctrl (
      .clk_i,
      .rst_ni,
      .start_i              (start_i[s]),
      .busy_o               (busy_o[s]),
      .oldest_i             (oldest_i[s]),
      .check_o              (check[s]),
      .check_done_i         (check_done && slot_q == 1'(s)),
      .check_error_i        (check_error),
      .checked_o            (checked_o[s]),
      .legal_o              (waits[s]),
      .may_run_i            (idle_slot[1-s]),
      .idle_o               (idle_slot[s]),
      .launch_o             (launch[s]),
      .run_o                (run_slot[s]),
      .settles_o            (settles[s]),
      .running_i            (running),
      .need_flush_i         (plan.argmax),
      .flush_o              (flush_slot[s]),
      .flushing_i           (flushing),
      .draining_i           (wt_busy[s] || !write_idle || bus_error_q[s]),
      .bus_error_i          (bus_error_q[s]),
      .suppress_o           (suppress_slot[s]),
      .wait_dependency_i    (wait_dependency),
      .wait_activation_i    (wait_dat || (wait_epilogue && !no_room)),
      .wait_weight_i        (wait_wt),
      .wait_write_i         (wait_epilogue && no_room),
      .opcode_i             (opcode_q[s]),
      .result_valid_i       (plan.argmax),
      .result_i             (argmax_result),
      .commit_valid_o       (commit_valid_o[s]),
      .commit_opcode_o      (commit_opcode_o[s]),
      .commit_error_o       (commit_error_o[s]),
      .commit_result_valid_o(commit_result_valid_o[s]),
      .commit_result_o      (commit_result_o[s]),
      .commit_cycles_o      (commit_cycles_o[s])
    );

    assign settled_o[s] = settles[s] ? settled : '0;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) bus_error_q[s] <= 1'b0;
      else bus_error_q[s] <= wt_error[s] || (exec_q == 1'(s) ? read_error[0] || write_error : read_error[1]);
    end
  end

  hbm0923_mvm_check #(
    .Tin(Tin),
    .Tout(Tout),
    .TgroupCh(TgroupCh),
    .DatDepth(DatDepth),
    .WtDepth(WtDepth),
    .MaxToken(MaxToken),
    .Log2BankStep(Log2BankStep),
    .Sparse(Sparse),
    .OnchipDepth(OnchipDepth),
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

  // ---- weights: asked for when nothing earlier writes them, of an instruction that is found legal and of none before it
  logic feed_ready;
  assign feed = waits & ~fed_q & {2{feed_ready}};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fed_q  <= '0;
      feed_q <= 1'b0;
    end else begin
      fed_q <= (fed_q | feed) & busy_o & ~commit_valid_o;
      if (feed != '0) feed_q <= feed[1];
    end
  end

  logic                wt_read, scale_read, place_read;
  logic [Tout*256-1:0] wt, scale, place;
  logic [Dw:0]         data_end, data_free;
  logic [Sw:0]         scale_free;
  logic [Dw-1:0]       wt_addr1;
  logic [Sw-1:0]       scale_read_addr;
  logic [Pw:0]         place_free;
  logic [Pw-1:0]       place_addr, place_addr1;

  hbm0923_mvm_weights #(
    .Ports(Tout),
    .PortFifoDepth(PortFifoDepth),
    .DataDepth(DataDepth),
    .ScaleDepth(ScaleDepth),
    .Log2BankStep(Log2BankStep),
    .Sparse(Sparse),
    .PlaceDepth(PlaceDepth)
  ) u_weights (
    .clk_i,
    .rst_ni,
    .enable_i    (busy_o != '0),
    .go_i        (hbm_go),
    .ask_i       ((waits & ~fed_q) != '0),
    .ready_o     (feed_ready),
    .start_i     (feed != '0),
    .slot_i      (feed[1]),
    .plan_i      (checked_plan),
    .busy_o      (wt_busy),
    .error_o     (wt_error),
    .hbm_req_o,
    .hbm_rsp_i,
    .data_end_o  (data_end),
    .data_free_i (data_free),
    .scale_free_i(scale_free),
    .data_read_i (wt_read),
    .data_addr_i (wt_addr1),
    .data_o      (wt),
    .scale_read_i(scale_read),
    .scale_addr_i(scale_read_addr),
    .scale_o     (scale),
    .place_free_i(place_free),
    .place_read_i(place_read),
    .place_addr_i(place_addr1),
    .place_o     (place)
  );

  // ---- activations, batch norm, residual
  logic       bn_valid, res_valid;
  logic [1:0] bn_pop, res_pop;
  logic             dat_here;
  logic [15:0]      token, beat;
  logic             issue, issue_output, issue_active;
  logic [DatAw-1:0] dat_addr;
  logic [DatLanes*16-1:0] dat;

  hbm0923_mvm_inputs #(
    .Tout(Tout), .Depth(DatWords), .BnDepth(BnDepth), .ResDepth(ResDepth), .Sparse(Sparse)
  ) u_inputs (
    .clk_i,
    .rst_ni,
    .launch_i   (launch != '0),
    .run_i      (run),
    .running_i  (!idle_slot[exec_q]),
    .plan_i     (plan),
    .waits_i    (waits[!exec_q] && slot_q != exec_q),
    .next_plan_i(checked_plan),
    .data_go_i  ({data_go_i[!exec_q], data_go}),
    .bounds_i   ({bounds_i[!exec_q], bounds_i[exec_q]}),
    .coef_go_i  (coef_go),
    .error_o    (read_error),
    .token_i    (token),
    .beat_i     (beat),
    .here_o     (dat_here),
    .read_i     (issue),
    .addr_i     (dat_addr),
    .data_o     (dat),
    .bn_valid_o (bn_valid),
    .res_valid_o(res_valid),
    .bn_pop_i   (bn_pop),
    .res_pop_i  (res_pop),
    .ddr_req_o  (ddr_rd_req_o),
    .ddr_rsp_i  (ddr_rd_rsp_i)
  );

  // ---- the walk over the beats
  beat_ctrl_t    ctrl, ctrl1, ctrl3;
  logic          valid1, valid3, epilogue_operands, room;
  logic [Dw-1:0] wt_addr;
  logic [Sw-1:0] scale_addr;
  logic [19:0]   block;

  hbm0923_mvm_issue #(
    .DatAw(DatAw), .Dw(Dw), .Sw(Sw), .Pw(Pw), .Sparse(Sparse), .ArrayLatency(ArrayLatency)
  ) u_issue (
    .clk_i, .rst_ni,
    .start_i         (run),
    .plan_i          (plan),
    .active_o        (issue_active),
    .dat_here_i      (dat_here),
    .data_end_i      (data_end),
    .data_free_o     (data_free),
    .scale_free_o    (scale_free),
    .place_free_o    (place_free),
    .epilogue_ready_i(epilogue_operands && room),
    .block_o         (block),
    .token_o         (token),
    .beat_o          (beat),
    .issue_o         (issue),
    .ctrl_o          (ctrl),
    .output_o        (issue_output),
    .dat_addr_o      (dat_addr),
    .data_addr_o     (wt_addr),
    .scale_addr_o    (scale_addr),
    .place_addr_o    (place_addr),
    .wait_dat_o      (wait_dat),
    .wait_wt_o       (wait_wt),
    .wait_epilogue_o (wait_epilogue)
  );

  hbm0923_mvm_beats #(
    .Dw(Dw), .Sw(Sw), .Pw(Pw), .Sparse(Sparse), .ArrayLatency(ArrayLatency)
  ) u_beats (
    .clk_i, .rst_ni, .valid_i(issue), .ctrl_i(ctrl), .data_addr_i(wt_addr), .scale_addr_i(scale_addr), .place_addr_i(place_addr),
    .valid_o(valid1), .ctrl_o(ctrl1), .data_addr_o(wt_addr1), .place_read_o(place_read), .place_addr_o(place_addr1),
    .dense_i(ctrl3.kept == Dense), .scale_addr_o(scale_read_addr)
  );

  // ---- arithmetic
  logic signed [63:0] low [Tout];
  logic signed [63:0] high [Tout];
  logic [Tout-1:0]    low_nan, low_pos, low_neg, high_nan, high_pos, high_neg;
  logic               acc_valid, y_valid;
  logic [31:0]        acc [Tout];
  logic [Tout*16-1:0] y;
  out_ctrl_t          out;

  hbm0923_mvm_array #(.Tout(Tout), .Sparse(Sparse), .ArrayLatency(ArrayLatency)) u_array (
    .clk_i,
    .rst_ni,
    .valid_i    (valid1),
    .ctrl_i     (ctrl1),
    .last_mask_i(plan.last_mask),
    .last_lanes_i(plan.last_lanes),
    .dat_i      (dat),
    .wt_read_o  (wt_read),
    .wt_i       (wt),
    .place_i    (place),
    .valid_o    (valid3),
    .ctrl_o     (ctrl3),
    .low_o      (low),
    .high_o     (high),
    .low_nan_o  (low_nan),
    .low_pos_o  (low_pos),
    .low_neg_o  (low_neg),
    .high_nan_o (high_nan),
    .high_pos_o (high_pos),
    .high_neg_o (high_neg)
  );

  hbm0923_mvm_accumulate #(
    .Tout(Tout), .ArrayLatency(ArrayLatency), .ProductLatency(ProductLatency), .RoundLatency(RoundLatency)
  ) u_accumulate (
    .clk_i,
    .rst_ni,
    .valid_i     (valid3),
    .ctrl_i      (ctrl3),
    .low_i       (low),
    .high_i      (high),
    .low_nan_i   (low_nan),
    .low_pos_i   (low_pos),
    .low_neg_i   (low_neg),
    .high_nan_i  (high_nan),
    .high_pos_i  (high_pos),
    .high_neg_i  (high_neg),
    .scale_read_o(scale_read),
    .scale_i     (scale),
    .valid_o     (acc_valid),
    .acc_o       (acc)
  );

  hbm0923_mvm_epilogue #(
    .Tout(Tout), .BnDepth(BnDepth), .ResDepth(ResDepth), .RoundLatency(RoundLatency), .ScaleLatency(ScaleLatency),
    .AddLatency(AddLatency), .NarrowLatency(NarrowLatency)
  ) u_epilogue (
    .clk_i, .rst_ni,
    .start_i    (run),
    .plan_i     (plan),
    .bn_valid_i (bn_valid),
    .res_valid_i(res_valid),
    .rdata_i    (ddr_rd_rsp_i.r.data),
    .bn_pop_o   (bn_pop),
    .res_pop_o  (res_pop),
    .block_i    (block),
    .output_i   (issue_output),
    .ready_o    (epilogue_operands),
    .valid_i    (acc_valid),
    .acc_i      (acc),
    .valid_o    (y_valid),
    .out_o      (out),
    .y_o        (y)
  );

  // ---- results: offered when this is the oldest instruction; until then the queue holds them
  logic pending;

  hbm0923_mvm_results #(
    .Tout(Tout), .MaxToken(MaxToken), .Depth(OutDepth)
  ) u_results (
    .clk_i,
    .rst_ni,
    .start_i   (run),
    .plan_i    (plan),
    .go_i      (oldest),
    .suppress_i(suppress),
    .issue_i   (issue_output),
    .room_o    (room),
    .pending_o (pending),
    .valid_i   (y_valid),
    .out_i     (out),
    .y_i       (y),
    .flush_i   (flush),
    .flushing_o(flushing),
    .argmax_o  (argmax_result),
    .idle_o    (write_idle),
    .error_o   (write_error),
    .settled_o (settled),
    .ddr_req_o (ddr_wr_req_o),
    .ddr_rsp_i (ddr_wr_rsp_i)
  );

  assign no_room   = !room;
  assign running   = issue_active || pending;

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    assert ($onehot0(start_i) && $onehot0(check) && $onehot0(launch) && $onehot0(feed));
    assert (idle_slot != 2'b00);
    // The check's plan is the waiting instruction's until that has been launched and its weights are asked for.
    if (check != '0) assert ((waits & ~fed_q) == '0);
  end
`endif

  if (HbmBits * Tout == 0) begin : gen_check
    $error("Tout must not be 0");
  end
  if (ArrayLatency * ProductLatency * RoundLatency * ScaleLatency * AddLatency * NarrowLatency == 0) begin : gen_check_latency
    $error("latencies are at least 1");
  end
  // Bit 0 of a response tells exclusive from plain.
  logic unused_resp;
  assign unused_resp = ^{ddr_rd_rsp_i.r.resp[0], ddr_rd_rsp_i.r.last};
endmodule
