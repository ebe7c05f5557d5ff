// What a row needs before its results can be made.
//
// Pass A finds the mean (layer norm) or the maximum (softmax) of a row; pass B subtracts it, and finds the root of the mean
// square, or the exponentials, which it keeps, and the reciprocal of their sum. Both passes take a beat a step; pass B
// works on a row while pass A is ahead on the next ones, and results wait for the last pass in order.
module hbm0923_sfu_stats
  import fp_pkg::*;
  import fp_fn_pkg::*;
  import hbm0923_sfu_plan_pkg::*;
#(
  parameter int unsigned MaxToken = 2048
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         step_i,

  input  logic         start_i,
  input  sfu_plan_t    plan_i,     // stands still

  input  logic         a_ready_i,  // a beat is there
  output logic         a_take_o,
  input  logic [511:0] a_data_i,   // the cycle after
  input  logic         b_ready_i,
  output logic         b_take_o,
  input  logic [511:0] b_data_i,
  output logic         starved_o,  // the first pass waits for a beat

  output logic         row_valid_o,  // the next row's results hold
  output logic [31:0]  mean_o,       // or maximum
  output logic [31:0]  root_o,       // or reciprocal
  input  logic         row_pop_i,
  input  logic         e_take_i,
  output logic [1023:0] e_o          // the cycle after
);
  localparam int unsigned Rows = 64;  // under way; more than the 39 steps from a row's first beat to its result
  localparam int unsigned Rw = $clog2(Rows);
  localparam int unsigned EDepth = 2 ** $clog2((MaxToken + 31) / 32 + Rows);  // a row, and what comes before its result
  localparam int unsigned Ew = $clog2(EDepth);

  logic softmax, norm, uses_a, uses_b;
  assign softmax = plan_i.kind == KindSoftmax;
  assign norm    = plan_i.kind == KindNorm;
  assign uses_a  = softmax || (norm && plan_i.layer);
  assign uses_b  = softmax || norm;

  // ---- rows under way
  logic       a_left, a_first, a_last, b_left, b_first, b_last;
  logic       a_line_last, b_line_last;
  logic [5:0] a_lanes, b_lanes;
  logic       row_begin, mean_write, root_write;
  logic [Rw:0]   rows_q, means_q, roots_q;     // begun and not popped; means that pass B has not begun with; results
  logic [Rw-1:0] mean_wr_q, mean_rd_q, root_wr_q, pop_q;
  logic [31:0] mean_mem [Rows];
  logic [31:0] root_mem [Rows];
  logic [31:0] mean_d, root_d;
  logic [Ew:0] e_free_q;

  hbm0923_sfu_walk u_walk_a (
    .clk_i, .rst_ni, .start_i, .none_i(!uses_a), .by_surface_i(1'b0), .plan_i, .take_i(a_take_o), .left_o(a_left),
    .first_o(a_first), .last_o(a_last), .line_last_o(a_line_last), .lanes_o(a_lanes)
  );
  hbm0923_sfu_walk u_walk_b (
    .clk_i, .rst_ni, .start_i, .none_i(!uses_b), .by_surface_i(1'b0), .plan_i, .take_i(b_take_o), .left_o(b_left),
    .first_o(b_first), .last_o(b_last), .line_last_o(b_line_last), .lanes_o(b_lanes)
  );

  assign a_take_o = step_i && a_left && a_ready_i && (!a_first || rows_q != (Rw + 1)'(Rows));
  assign b_take_o = step_i && b_left && b_ready_i && (!softmax || e_free_q != '0)
                    && (!b_first || (uses_a ? means_q != '0 : rows_q != (Rw + 1)'(Rows)));
  assign starved_o = uses_a ? a_left && !a_ready_i : b_left && !b_ready_i;
  assign row_begin = uses_a ? a_take_o && a_first : b_take_o && b_first;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rows_q    <= '0;
      means_q   <= '0;
      roots_q   <= '0;
      mean_wr_q <= '0;
      mean_rd_q <= '0;
      root_wr_q <= '0;
      pop_q     <= '0;
      e_free_q  <= (Ew + 1)'(EDepth);
    end else if (start_i) begin
      rows_q    <= '0;
      means_q   <= '0;
      roots_q   <= '0;
      mean_wr_q <= '0;
      mean_rd_q <= '0;
      root_wr_q <= '0;
      pop_q     <= '0;
      e_free_q  <= (Ew + 1)'(EDepth);
    end else begin
      rows_q  <= rows_q + (Rw + 1)'(row_begin) - (Rw + 1)'(row_pop_i);
      means_q <= means_q + (Rw + 1)'(mean_write) - (Rw + 1)'(uses_a && b_take_o && b_first);
      roots_q <= roots_q + (Rw + 1)'(root_write) - (Rw + 1)'(row_pop_i);
      if (mean_write) mean_wr_q <= mean_wr_q + Rw'(1'b1);
      if (b_take_o && b_last) mean_rd_q <= mean_rd_q + Rw'(1'b1);
      if (root_write) root_wr_q <= root_wr_q + Rw'(1'b1);
      if (row_pop_i) pop_q <= pop_q + Rw'(1'b1);
      e_free_q <= e_free_q - (Ew + 1)'(softmax && b_take_o) + (Ew + 1)'(e_take_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (mean_write) mean_mem[mean_wr_q] <= mean_d;
    if (root_write) root_mem[root_wr_q] <= root_d;
  end
  assign row_valid_o = roots_q != '0;
  assign mean_o      = mean_mem[pop_q];
  assign root_o      = root_mem[pop_q];

  // ---- pass A
  typedef struct packed {
    logic       first;
    logic       last;
    logic [5:0] lanes;
  } beat_t;
  logic  a1_q, a2_q, a3_q, a_sum_valid, mean_q, a_tree_busy;
  beat_t a1_beat_q, a2_beat_q;
  logic  a3_last_q;
  logic [31:0] a_wide_q [32];
  logic [31:0] a_sum, mean_value_q;
  logic signed [16:0] top_q [4];
  logic signed [16:0] max_q;
  localparam logic signed [16:0] NoKey = -17'sd32768;

  function automatic logic signed [16:0] larger(input logic signed [16:0] a, input logic signed [16:0] b);
    return (a > b) ? a : b;
  endfunction
  function automatic logic signed [16:0] largest8(input logic [127:0] x, input logic [7:0] counts);
    /*verilator no_inline_task*/
    logic signed [16:0] best;
    best = NoKey;
    for (int unsigned i = 0; i < 8; i++) if (counts[i]) best = larger(best, fp16_key(x[16*i+:16]));
    return best;
  endfunction

  logic [31:0] a_mask;
  assign a_mask = ~(32'hFFFF_FFFF << a1_beat_q.lanes);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      a1_q   <= 1'b0;
      a2_q   <= 1'b0;
      a3_q   <= 1'b0;
      mean_q <= 1'b0;
    end else if (step_i) begin
      a1_q   <= a_take_o;
      a2_q   <= a1_q;
      a3_q   <= a2_q && softmax;
      mean_q <= softmax ? a3_q && a3_last_q : a_sum_valid;
    end
  end

  always_ff @(posedge clk_i) begin
    if (a_take_o) a1_beat_q <= '{first: a_first, last: a_last, lanes: a_lanes};
    if (step_i && a1_q) begin
      a2_beat_q <= a1_beat_q;
      if (softmax) for (int unsigned i = 0; i < 4; i++) top_q[i] <= largest8(a_data_i[128*i+:128], a_mask[8*i+:8]);
      else for (int unsigned i = 0; i < 32; i++) a_wide_q[i] <= fp16_to_fp32(a_data_i[16*i+:16]);
    end
    if (step_i && a2_q && softmax) begin
      max_q     <= larger(larger(larger(top_q[0], top_q[1]), larger(top_q[2], top_q[3])), a2_beat_q.first ? NoKey : max_q);
      a3_last_q <= a2_beat_q.last;
    end
    if (step_i && softmax && a3_q) mean_value_q <= fp16_to_fp32(fp16_of_key(max_q));
    if (step_i && !softmax && a_sum_valid) mean_value_q <= fp32_mul(a_sum, plan_i.inv);
  end

  hbm0923_sfu_tree u_tree_a (
    .clk_i, .rst_ni, .step_i, .valid_i(a2_q && !softmax), .first_i(a2_beat_q.first), .last_i(a2_beat_q.last), .v_i(a_wide_q),
    .valid_o(a_sum_valid), .sum_o(a_sum), .busy_o(a_tree_busy)
  );
  assign mean_write = step_i && mean_q;
  assign mean_d     = mean_value_q;

  // ---- pass B: the difference
  logic  b1_q, b2_q, b3_q, b_sum_valid, e_valid, b_tree_busy, exp_busy, root_busy;
  beat_t b1_beat_q, b2_beat_q, b3_beat_q, e_beat;
  logic [31:0] b_mean_q;
  logic [31:0] d_q [32];
  logic [31:0] e [32];
  logic [31:0] v_q [32];
  logic [31:0] b1_mask, e_mask;
  assign b1_mask = ~(32'hFFFF_FFFF << b1_beat_q.lanes);
  assign e_mask  = ~(32'hFFFF_FFFF << e_beat.lanes);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      b1_q <= 1'b0;
      b2_q <= 1'b0;
      b3_q <= 1'b0;
    end else if (step_i) begin
      b1_q <= b_take_o;
      b2_q <= b1_q;
      b3_q <= softmax ? e_valid : b2_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (b_take_o) begin
      b1_beat_q <= '{first: b_first, last: b_last, lanes: b_lanes};
      b_mean_q  <= mean_mem[mean_rd_q];
    end
    if (step_i && b1_q) begin
      b2_beat_q <= b1_beat_q;
      for (int unsigned i = 0; i < 32; i++) begin
        if (!b1_mask[i])  d_q[i] <= 32'd0;
        else if (uses_a)  d_q[i] <= fp32_add(fp16_to_fp32(b_data_i[16*i+:16]), {!b_mean_q[31], b_mean_q[30:0]});
        else              d_q[i] <= fp16_to_fp32(b_data_i[16*i+:16]);
      end
    end
  end

  // ---- exponentials, kept for the last pass
  hbm0923_sfu_exp #(.Lanes(32), .TagW($bits(beat_t))) u_exp (
    .clk_i, .rst_ni, .step_i, .valid_i(b2_q && softmax), .tag_i(b2_beat_q), .x_i(d_q), .valid_o(e_valid), .tag_o(e_beat),
    .e_o(e), .busy_o(exp_busy)
  );

  logic [1023:0] e_mem [EDepth];
  logic [Ew-1:0] e_wr_q, e_rd_q;
  logic [1023:0] e_out_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      e_wr_q <= '0;
      e_rd_q <= '0;
    end else if (start_i) begin
      e_wr_q <= '0;
      e_rd_q <= '0;
    end else begin
      if (step_i && e_valid) e_wr_q <= e_wr_q + Ew'(1'b1);
      if (e_take_i) e_rd_q <= e_rd_q + Ew'(1'b1);
    end
  end
  always_ff @(posedge clk_i) begin
    if (step_i && e_valid) for (int unsigned i = 0; i < 32; i++) e_mem[e_wr_q][32*i+:32] <= e[i];
    if (e_take_i) e_out_q <= e_mem[e_rd_q];
  end
  assign e_o = e_out_q;

  // ---- squares or exponentials, added up
  always_ff @(posedge clk_i) begin
    if (step_i && softmax && e_valid) begin
      b3_beat_q <= e_beat;
      for (int unsigned i = 0; i < 32; i++) v_q[i] <= e_mask[i] ? e[i] : 32'd0;
    end
    if (step_i && norm && b2_q) begin
      b3_beat_q <= b2_beat_q;
      for (int unsigned i = 0; i < 32; i++) v_q[i] <= fp32_mul(d_q[i], d_q[i]);
    end
  end

  logic [31:0] b_sum;
  hbm0923_sfu_tree u_tree_b (
    .clk_i, .rst_ni, .step_i, .valid_i(b3_q), .first_i(b3_beat_q.first), .last_i(b3_beat_q.last), .v_i(v_q),
    .valid_o(b_sum_valid), .sum_o(b_sum), .busy_o(b_tree_busy)
  );

  // ---- and its root or reciprocal
  logic        s1_q, s2_q, root_valid;
  logic [31:0] s1_value_q, s2_value_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s1_q <= 1'b0;
      s2_q <= 1'b0;
    end else if (step_i) begin
      s1_q <= b_sum_valid;
      s2_q <= s1_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (step_i && b_sum_valid) s1_value_q <= norm ? fp32_mul(b_sum, plan_i.inv) : b_sum;
    if (step_i && s1_q)        s2_value_q <= norm ? fp32_add(s1_value_q, plan_i.eps) : s1_value_q;
  end
  hbm0923_sfu_root u_root (
    .clk_i, .rst_ni, .step_i, .valid_i(s2_q), .root_i(norm), .x_i(s2_value_q), .valid_o(root_valid), .y_o(root_d),
    .busy_o(root_busy)
  );
  assign root_write = step_i && root_valid;

  // Rows are counted, which says when all is done.
  logic unused_signals;
  assign unused_signals = ^{a_tree_busy, b_tree_busy, exp_busy, root_busy, a_line_last, b_line_last, a2_beat_q, b3_beat_q};

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (row_pop_i) assert (roots_q != '0);
    assert (roots_q <= rows_q && means_q <= rows_q && rows_q <= (Rw + 1)'(Rows));
    if (softmax && b_take_o) assert (e_free_q != '0);
    assert (e_free_q <= (Ew + 1)'(EDepth));
  end
`endif
endmodule
