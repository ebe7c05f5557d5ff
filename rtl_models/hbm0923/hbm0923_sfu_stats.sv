// What a row needs before its results can be made.
//
// Norm: pass B finds a row's sums and from them what its deviations are multiplied by. Softmax: pass A finds its maximum, pass B
// the exponentials, which it keeps, and the reciprocal of their sum. Both passes take a beat a step; pass B works on a row while
// pass A is ahead on the next ones, and results wait for the last pass in order.
module hbm0923_sfu_stats
  import hbm0923_sfu_plan_pkg::*;
  import hbm0923_sfu_softmax_pkg::*;
  import hbm0923_sfu_norm_pkg::*;
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
  output row_sum_t     found_o,      // sum of a layer norm's row; maximum, FP16
  output logic [31:0]  root_o,       // factor of a norm's row, binary32; reciprocal, recip_t
  input  logic         row_pop_i,
  input  logic         e_take_i,
  output exps_t        e_o           // the cycle after
);
  localparam int unsigned Rows = 64;  // under way; more than the 24 steps from a row's first beat to its result
  localparam int unsigned Rw = $clog2(Rows);
  localparam int unsigned EDepth = 2 ** $clog2((MaxToken + 31) / 32 + Rows);  // a row, and what comes before its result
  localparam int unsigned Ew = $clog2(EDepth);

  logic softmax, norm;
  assign softmax = plan_i.kind == KindSoftmax;
  assign norm    = plan_i.kind == KindNorm;

  // ---- rows under way
  logic       a_left, a_first, a_last, b_left, b_first, b_last;
  logic       a_line_last, b_line_last;
  logic [5:0] a_lanes, b_lanes;
  logic       row_begin, found_write, root_write;
  logic [Rw:0]   rows_q, maxima_q, roots_q;    // begun and not popped; maxima that pass B has not begun with; results
  logic [Rw-1:0] found_wr_q, found_rd_q, root_wr_q, pop_q;
  row_sum_t      found_mem [Rows];
  row_sum_t      found_d;
  logic [31:0]   root_mem [Rows];
  logic [31:0]   root_d;
  logic [Ew:0]   e_free_q;

  hbm0923_sfu_walk u_walk_a (
    .clk_i, .rst_ni, .start_i, .none_i(!softmax), .by_surface_i(1'b0), .plan_i, .take_i(a_take_o), .left_o(a_left),
    .first_o(a_first), .last_o(a_last), .line_last_o(a_line_last), .lanes_o(a_lanes)
  );
  hbm0923_sfu_walk u_walk_b (
    .clk_i, .rst_ni, .start_i, .none_i(!softmax && !norm), .by_surface_i(1'b0), .plan_i, .take_i(b_take_o), .left_o(b_left),
    .first_o(b_first), .last_o(b_last), .line_last_o(b_line_last), .lanes_o(b_lanes)
  );

  assign a_take_o = step_i && a_left && a_ready_i && (!a_first || rows_q != (Rw + 1)'(Rows));
  assign b_take_o = step_i && b_left && b_ready_i && (!softmax || e_free_q != '0)
                    && (!b_first || (softmax ? maxima_q != '0 : rows_q != (Rw + 1)'(Rows)));
  assign starved_o = softmax ? a_left && !a_ready_i : b_left && !b_ready_i;
  assign row_begin = softmax ? a_take_o && a_first : b_take_o && b_first;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rows_q     <= '0;
      maxima_q   <= '0;
      roots_q    <= '0;
      found_wr_q <= '0;
      found_rd_q <= '0;
      root_wr_q  <= '0;
      pop_q      <= '0;
      e_free_q   <= (Ew + 1)'(EDepth);
    end else if (start_i) begin
      rows_q     <= '0;
      maxima_q   <= '0;
      roots_q    <= '0;
      found_wr_q <= '0;
      found_rd_q <= '0;
      root_wr_q  <= '0;
      pop_q      <= '0;
      e_free_q   <= (Ew + 1)'(EDepth);
    end else begin
      rows_q   <= rows_q + (Rw + 1)'(row_begin) - (Rw + 1)'(row_pop_i);
      maxima_q <= maxima_q + (Rw + 1)'(found_write && softmax) - (Rw + 1)'(softmax && b_take_o && b_first);
      roots_q  <= roots_q + (Rw + 1)'(root_write) - (Rw + 1)'(row_pop_i);
      if (found_write) found_wr_q <= found_wr_q + Rw'(1'b1);
      if (b_take_o && b_last) found_rd_q <= found_rd_q + Rw'(1'b1);
      if (root_write) root_wr_q <= root_wr_q + Rw'(1'b1);
      if (row_pop_i) pop_q <= pop_q + Rw'(1'b1);
      e_free_q <= e_free_q - (Ew + 1)'(softmax && b_take_o) + (Ew + 1)'(e_take_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (found_write) found_mem[found_wr_q] <= found_d;
    if (root_write) root_mem[root_wr_q] <= root_d;
  end
  assign row_valid_o = roots_q != '0;
  assign found_o     = found_mem[pop_q];
  assign root_o      = root_mem[pop_q];

  typedef struct packed {
    logic       first;
    logic       last;
    logic [5:0] lanes;
  } beat_t;
  logic  a1_q, b1_q, max_valid;
  beat_t a1_beat_q, b1_beat_q;
  logic [15:0] max, b_max_q;
  logic [31:0] b1_mask;
  assign b1_mask = ~(32'hFFFF_FFFF << b1_beat_q.lanes);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      a1_q <= 1'b0;
      b1_q <= 1'b0;
    end else if (step_i) begin
      a1_q <= a_take_o;
      b1_q <= b_take_o;
    end
  end
  always_ff @(posedge clk_i) begin
    if (a_take_o) a1_beat_q <= '{first: a_first, last: a_last, lanes: a_lanes};
    if (b_take_o) begin
      b1_beat_q <= '{first: b_first, last: b_last, lanes: b_lanes};
      b_max_q   <= found_mem[found_rd_q][15:0];
    end
  end

  // ---- pass A, of softmax alone: the largest of a row
  hbm0923_sfu_max u_max (
    .clk_i, .rst_ni, .step_i, .valid_i(a1_q), .first_i(a1_beat_q.first), .last_i(a1_beat_q.last), .lanes_i(a1_beat_q.lanes),
    .data_i(a_data_i), .valid_o(max_valid), .max_o(max)
  );

  // ---- pass B of norm: sums and their root
  logic     sums_valid, sums_odd, sums_busy, root_valid, root_busy;
  squares_t squares;
  row_sum_t row_sum;
  logic [31:0] root;
  hbm0923_sfu_moments u_moments (
    .clk_i, .rst_ni, .step_i, .layer_i(plan_i.layer), .valid_i(b1_q && norm), .first_i(b1_beat_q.first), .last_i(b1_beat_q.last),
    .mask_i(b1_mask), .data_i(b_data_i), .valid_o(sums_valid), .squares_o(squares), .sum_o(row_sum), .odd_o(sums_odd),
    .busy_o(sums_busy)
  );
  hbm0923_sfu_root u_root (
    .clk_i, .rst_ni, .step_i, .start_i(start_i && norm), .layer_i(plan_i.layer), .count_i(plan_i.lanes[CountBits-1:0]),
    .eps_i(plan_i.eps), .valid_i(sums_valid), .squares_i(squares), .sum_i(row_sum), .odd_i(sums_odd), .valid_o(root_valid),
    .factor_o(root), .busy_o(root_busy)
  );
  assign found_write = step_i && (softmax ? max_valid : sums_valid && plan_i.layer);
  assign found_d     = softmax ? row_sum_t'({1'b0, max}) : row_sum;

  // ---- pass B of softmax: exponentials, kept for the last pass, and the reciprocal of their sum
  logic        e_valid, recip_valid, exp_busy, recip_busy;
  beat_t       e_beat;
  exps_t       e;
  logic [36:0] term [32];
  recip_t      recip;
  hbm0923_sfu_exp #(.Lanes(32), .TagW($bits(beat_t))) u_exp (
    .clk_i, .rst_ni, .step_i, .valid_i(b1_q && softmax), .tag_i(b1_beat_q), .x_i(b_data_i), .max_i(b_max_q),
    .valid_o(e_valid), .tag_o(e_beat), .e_o(e), .term_o(term), .busy_o(exp_busy)
  );
  hbm0923_sfu_recip u_recip (
    .clk_i, .rst_ni, .step_i, .valid_i(e_valid), .first_i(e_beat.first), .last_i(e_beat.last),
    .mask_i(~(32'hFFFF_FFFF << e_beat.lanes)), .term_i(term), .valid_o(recip_valid), .recip_o(recip), .busy_o(recip_busy)
  );

  exps_t         e_mem [EDepth];
  exps_t         e_out_q;
  logic [Ew-1:0] e_wr_q, e_rd_q;
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
    if (step_i && e_valid) e_mem[e_wr_q] <= e;
    if (e_take_i) e_out_q <= e_mem[e_rd_q];
  end
  assign e_o        = e_out_q;
  assign root_write = step_i && (root_valid || recip_valid);
  assign root_d     = softmax ? recip : root;

  // Rows are counted, which says when all is done.
  logic unused_signals;
  assign unused_signals = ^{exp_busy, sums_busy, root_busy, recip_busy, a_line_last, b_line_last};

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (row_pop_i) assert (roots_q != '0);
    assert (roots_q <= rows_q && maxima_q <= rows_q && rows_q <= (Rw + 1)'(Rows));
    if (softmax && b_take_o) assert (e_free_q != '0);
    assert (e_free_q <= (Ew + 1)'(EDepth));
  end
`endif
endmodule
