// The SFU: norm, rotary embedding, softmax and activation.
//
//   DDR, on chip --> ring --> pass A (maximum) --> pass B (sums, root; exponentials) --> last pass --> writes
//                    coefficients ------------------------------------------------------^
//
// Reads run ahead as far as the ring and the coefficient buffer have room. Each pass takes a beat of 32 lanes once in
// SfuInterval cycles; the passes work on different rows at the same time.
module hbm0923_sfu
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_feature_pkg::*;
  import hbm0923_sfu_plan_pkg::*;
  import hbm0923_sfu_softmax_pkg::*;
  import hbm0923_sfu_norm_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned MaxToken     = 2048,
  parameter int unsigned MaxChannels  = 16384,  // of a row of norm
  parameter int unsigned OnchipDepth  = 8192,   // beats of a half
  parameter int unsigned SfuInterval  = 1,      // cycles of a step
  parameter int unsigned ScaleLatency  = 3,     // steps of operators in the last pass
  parameter int unsigned AddLatency    = 9,
  parameter int unsigned NarrowLatency = 2,
  parameter int unsigned DdrMegabytes = 1024,
  parameter int unsigned StartLatency = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             start_i,
  input  logic [31:0]      mode_i,
  input  sfu_operands_t    operands_i,
  input  logic [31:0]      eps_i,
  output logic             busy_o,
  input  logic             oldest_i,
  output logic             checked_o,
  output hulls_t           hulls_o,
  input  logic             data_go_i,
  input  logic             coef_go_i,
  input  bound_t           bound_i,
  output bound_t           settled_o,

  output logic             commit_valid_o,
  output logic [15:0]      commit_opcode_o,
  output logic [15:0]      commit_error_o,
  output logic             commit_result_valid_o,
  output logic [31:0]      commit_result_o,
  output logic [5:0][31:0] commit_cycles_o,

  output ddr_rd_req_t      ddr_rd_req_o,
  input  ddr_rd_rsp_t      ddr_rd_rsp_i,
  output ddr_wr_req_t      ddr_wr_req_o,
  input  ddr_wr_rsp_t      ddr_wr_rsp_i
);
  localparam int unsigned MaxBurst = 32;
  // Two rows of norm, or of softmax; gamma and beta of a row.
  localparam int unsigned RowBeats  = (MaxChannels > MaxToken ? MaxChannels : MaxToken) / 32;
  localparam int unsigned RingDepth = 2 ** $clog2(2 * RowBeats < 4 * MaxBurst ? 4 * MaxBurst : 2 * RowBeats);
  localparam int unsigned CoefDepth = 2 ** $clog2(MaxChannels / 16 < 4 * MaxBurst ? 4 * MaxBurst : MaxChannels / 16);
  localparam int unsigned WriteDepth = 64;  // more than the last pass has under way

  // ---- the instruction
  logic [31:0]   mode_q, eps_q;
  sfu_operands_t operands_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mode_q     <= '0;
      eps_q      <= '0;
      operands_q <= '0;
    end else if (start_i && !busy_o) begin
      mode_q     <= mode_i;
      eps_q      <= eps_i;
      operands_q <= operands_i;
    end
  end

  logic        check, check_done, run, flush, running, suppress, bus_error, writer_idle, write_error;
  logic [15:0] check_error, opcode;
  logic        wait_dependency, wait_activation, wait_weight, wait_write;
  sfu_plan_t   plan;

  bound_t settled;
  logic   settles, unused_legal, unused_idle, unused_launch;
  assign settled_o = settles ? settled : '0;
  hbm0923_unit_ctrl #(.StartLatency(StartLatency)) u_ctrl (
    .clk_i, .rst_ni, .start_i, .busy_o, .oldest_i,
    .check_o (check), .check_done_i (check_done), .check_error_i (check_error), .checked_o,
    .may_run_i (1'b1), .legal_o (unused_legal), .idle_o (unused_idle), .launch_o (unused_launch),
    .settles_o (settles), .run_o (run), .running_i (running), .need_flush_i (1'b0), .flush_o (flush), .flushing_i (1'b0),
    .draining_i (!writer_idle), .bus_error_i (bus_error), .suppress_o (suppress),
    .wait_dependency_i (wait_dependency), .wait_activation_i (wait_activation), .wait_weight_i (wait_weight),
    .wait_write_i (wait_write),
    .opcode_i (opcode), .result_valid_i (1'b0), .result_i (32'd0),
    .commit_valid_o, .commit_opcode_o, .commit_error_o, .commit_result_valid_o, .commit_result_o, .commit_cycles_o
  );

  hbm0923_sfu_check #(
    .MaxToken (MaxToken), .MaxChannels (MaxChannels), .CoefDepth (CoefDepth), .OnchipDepth (OnchipDepth),
    .DdrMegabytes (DdrMegabytes)
  ) u_check (
    .clk_i, .rst_ni, .start_i (check), .mode_i (mode_q), .operands_i (operands_q), .eps_i (eps_q), .done_o (check_done),
    .error_o (check_error), .hulls_o, .opcode_o (opcode), .plan_o (plan)
  );

  logic by_surface, rows, has_coef;
  assign by_surface = plan.kind == KindPosEmb || plan.kind == KindAct;
  assign rows       = !by_surface;
  assign has_coef   = plan.kind != KindSoftmax;

  // ---- steps
  logic step;
  if (SfuInterval == 1) begin : gen_every
    assign step = busy_o;
  end else begin : gen_some
    logic [3:0] count_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) count_q <= '0;
      else count_q <= (!busy_o || count_q == 4'(SfuInterval - 1)) ? 4'd0 : count_q + 4'd1;
    end
    assign step = busy_o && count_q == '0;
  end

  // ---- reads
  // Whole structs go in; not every field counts.
  // verilator lint_off UNUSEDSIGNAL
  function automatic walk_t side_walk(input sfu_plan_t p);
    walk_t  w;
    sizes_t sizes;
    sizes = p.sizes;
    if (p.resident) sizes.lines = 8'd1;
    w = walk_surfaces(p.side, sizes);
    if (p.kind != KindPosEmb) begin
      w = '{addr: {1'b0, p.side.addr}, stride0: 32'd64, stride1: '0, stride2: '0, n0: p.side_beats,
            n1: 16'd1, n2: 16'd1, grow: 1'b0, lanes: '0};
    end
    return w;
  endfunction

  function automatic walk_t data_walk(input sfu_plan_t p, input feature_t f, input logic active);
    walk_t w;
    w = (p.kind == KindNorm || p.kind == KindSoftmax) ? walk_tokens(f, p.sizes) : walk_surfaces(f, p.sizes);
    // Only the beats that have a lane that counts, where they differ from row to row.
    w.grow  = active && p.causal && p.sizes.surfaces != 16'd1;
    w.lanes = p.lanes[15:0];
    return w;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  walk_t read_walk_q, coef_walk_q, write_walk_q;
  always_ff @(posedge clk_i) begin
    if (check_done) begin
      read_walk_q  <= data_walk(plan, plan.src, 1'b1);
      coef_walk_q  <= side_walk(plan);
      write_walk_q <= data_walk(plan, plan.dst, 1'b0);
    end
  end

  logic [1:0] ask, given;
  read_t      data_read, coef_read;
  logic       data_left, coef_left, data_blocked, coef_blocked, ring_pop, coef_pop, data_valid, coef_valid;
  hbm0923_beat_reader #(.Depth(RingDepth), .MaxBurst(MaxBurst)) u_data_reader (
    .clk_i, .rst_ni, .start_i (run), .none_i (1'b0), .walk_i (read_walk_q), .go_i (data_go_i), .bound_i, .left_o (data_left),
    .blocked_o (data_blocked), .valid_o (ask[0]), .read_o (data_read), .ready_i (given[0]), .pop_i (ring_pop)
  );
  hbm0923_beat_reader #(.Depth(CoefDepth), .MaxBurst(MaxBurst)) u_coef_reader (
    .clk_i, .rst_ni, .start_i (run), .none_i (!has_coef), .walk_i (coef_walk_q), .go_i (coef_go_i), .bound_i ('0), .left_o (coef_left),
    .blocked_o (coef_blocked), .valid_o (ask[1]), .read_o (coef_read), .ready_i (given[1]), .pop_i (coef_pop)
  );
  hbm0923_beat_arbiter #(.Id(IdSfu)) u_arbiter (
    .clk_i, .rst_ni, .valid_i (ask), .read0_i (data_read), .read1_i (coef_read), .ready_o (given),
    .ar_valid_o (ddr_rd_req_o.ar_valid), .ar_ready_i (ddr_rd_rsp_i.ar_ready), .ar_o (ddr_rd_req_o.ar)
  );
  assign ddr_rd_req_o.r_ready = 1'b1;
  assign data_valid           = ddr_rd_rsp_i.r_valid && ddr_rd_rsp_i.r.id == IdSfu;
  assign coef_valid           = ddr_rd_rsp_i.r_valid && ddr_rd_rsp_i.r.id == IdSfu + 4'd1;
  assign bus_error            = ((data_valid || coef_valid) && ddr_rd_rsp_i.r.resp[1]) || write_error;

  // ---- buffers
  logic [2:0]   ring_ready, ring_take;
  logic [511:0] data_a, data_b, data_c, coef_low, coef_high;
  logic         a_take, b_take, c_take, coef_ready;
  hbm0923_sfu_ring #(.Depth(RingDepth)) u_ring (
    .clk_i, .rst_ni, .start_i (run), .valid_i (data_valid), .data_i (ddr_rd_rsp_i.r.data), .ready_o (ring_ready),
    .take_i (ring_take), .data_a_o (data_a), .data_b_o (data_b), .data_c_o (data_c)
  );
  logic c_left, c_last, c_line_last, c_first;
  logic [5:0] c_lanes;
  hbm0923_sfu_coef #(.Depth(CoefDepth)) u_coef (
    .clk_i, .rst_ni, .start_i (run), .plan_i (plan), .valid_i (coef_valid), .data_i (ddr_rd_rsp_i.r.data), .pop_o (coef_pop),
    .ready_o (coef_ready), .take_i (c_take && has_coef), .restart_i (rows ? c_last : c_line_last),
    .low_o (coef_low), .high_o (coef_high)
  );

  // ---- passes A and B
  logic        row_valid, row_pop, e_take, starved;
  row_sum_t    found;
  logic [31:0] root;
  exps_t       e;
  hbm0923_sfu_stats #(.MaxToken(MaxToken)) u_stats (
    .clk_i, .rst_ni, .step_i (step), .start_i (run), .plan_i (plan),
    .a_ready_i (ring_ready[0]), .a_take_o (a_take), .a_data_i (data_a),
    .b_ready_i (ring_ready[1]), .b_take_o (b_take), .b_data_i (data_b), .starved_o (starved),
    .row_valid_o (row_valid), .found_o (found), .root_o (root), .row_pop_i (row_pop), .e_take_i (e_take), .e_o (e)
  );

  // ---- the last pass
  localparam int unsigned Cw = $clog2(WriteDepth) + 1;
  logic [Cw-1:0] room_q;
  logic          write_pop, softmax, data_there, rows_there, coef_there;
  assign softmax    = plan.kind == KindSoftmax;
  assign data_there = softmax || ring_ready[2];
  assign rows_there = by_surface || row_valid;
  assign coef_there = !has_coef || coef_ready;
  assign c_take     = step && c_left && data_there && rows_there && coef_there && room_q != '0;
  assign row_pop    = c_take && rows && c_last;
  assign e_take     = c_take && softmax && c_lanes != '0;
  assign ring_take  = {c_take && !softmax, b_take, a_take};
  assign ring_pop   = softmax ? b_take : c_take;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) room_q <= Cw'(WriteDepth);
    else room_q <= room_q - Cw'(c_take) + Cw'(write_pop);
  end

  hbm0923_sfu_walk #(.Padded(1'b1)) u_walk_c (
    .clk_i, .rst_ni, .start_i (run), .none_i (1'b0), .by_surface_i (by_surface), .plan_i (plan), .take_i (c_take),
    .left_o (c_left), .first_o (c_first), .last_o (c_last), .line_last_o (c_line_last), .lanes_o (c_lanes)
  );

  logic         lanes_valid, lanes_busy, scale_valid, scale_busy;
  logic [511:0] lanes_data, scale_data;
  hbm0923_sfu_lanes #(.ScaleLatency(ScaleLatency), .AddLatency(AddLatency), .NarrowLatency(NarrowLatency)) u_lanes (
    .clk_i, .rst_ni, .step_i (step), .plan_i (plan), .valid_i (c_take && !softmax), .lanes_i (c_lanes), .sum_i (found),
    .factor_i (root), .data_i (data_c), .coef_low_i (coef_low), .coef_high_i (coef_high), .valid_o (lanes_valid),
    .data_o (lanes_data), .busy_o (lanes_busy)
  );
  hbm0923_sfu_scale u_scale (
    .clk_i, .rst_ni, .step_i (step), .valid_i (c_take && softmax), .lanes_i (c_lanes), .odd_i (found[14:10] == 5'd31),
    .recip_i (root), .e_i (e), .valid_o (scale_valid), .data_o (scale_data), .busy_o (scale_busy)
  );

  hbm0923_beat_writer #(.Id(IdSfu), .Depth(WriteDepth)) u_writer (
    .clk_i, .rst_ni, .start_i (run), .walk_i (write_walk_q), .go_i (oldest_i), .suppress_i (suppress),
    .valid_i (lanes_valid || scale_valid), .data_i (softmax ? scale_data : lanes_data), .pop_o (write_pop),
    .idle_o (writer_idle), .error_o (write_error), .settled_o (settled), .ddr_req_o (ddr_wr_req_o), .ddr_rsp_i (ddr_wr_rsp_i)
  );

  // ---- what a cycle is spent on
  assign running         = c_left || lanes_busy || scale_busy;
  assign wait_dependency = data_blocked || coef_blocked || (c_left && room_q == '0 && !oldest_i);
  assign wait_activation = rows ? starved : c_left && !ring_ready[2];
  assign wait_weight     = c_left && data_there && rows_there && !coef_there;
  assign wait_write      = c_left && room_q == '0;

  if (MaxToken > 32768 || MaxChannels > 65536 || MaxChannels % 32 != 0 || SfuInterval < 1 || SfuInterval > 15) begin : gen_check_sizes
    $error("sizes beyond what the counters hold");
  end

  logic unused_signals;
  assign unused_signals = ^{flush, data_left, coef_left, c_first, ddr_rd_rsp_i.r.resp[0], ddr_rd_rsp_i.r.last};
`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // A beat comes only where the ring has room, and leaves it only after it has come.
  logic [31:0] held_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= '0;
    else if (run) held_q <= '0;
    else if (data_valid != ring_pop) held_q <= data_valid ? held_q + 32'd1 : held_q - 32'd1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (data_valid) assert (held_q < 32'(RingDepth));
    if (ring_pop) assert (held_q != 32'd0);
    if (c_take) assert (room_q != '0);
    assert (room_q <= Cw'(WriteDepth));
  end
`endif
endmodule
