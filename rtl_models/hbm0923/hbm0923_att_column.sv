// One HBM port's share of the array: 16 products a step, their tree, the sum of a row, its scaling and rounding.
//
// Every stage is clocked only when it has something to do: an idle array evaluates nothing. A process a stage, so that
// simulation orders them instead of copying registers.
module hbm0923_att_column
  import hbm0923_att_pkg::*;
  import fp_pkg::*;
(
  input  logic               clk_i,

  // one enable a stage, with what it is told
  input  logic               dot_i,
  input  logic               mask_i,
  input  logic [15:0]        lanes_i,
  input  att_lanes_t         x_i,
  input  logic [HbmBits-1:0] w_i,
  input  logic               low_i,      // keep as the lower half of 32 lanes
  input  logic               pair_i,     // the 32 lanes are complete
  input  logic               pair_high_i,
  input  logic               sum_i,
  input  logic               sum_first_i,
  input  logic               round_i,
  input  logic [31:0]        scale_i,

  output logic [15:0]        y_o
);
  logic [31:0] half_q, low_q, pair_q, sum_q;

  always_ff @(posedge clk_i) if (dot_i) half_q <= dot16(x_i, mask_i ? mask_lanes(w_i, lanes_i) : w_i);
  always_ff @(posedge clk_i) if (low_i) low_q <= half_q;
  always_ff @(posedge clk_i) if (pair_i) pair_q <= pair_high_i ? fp32_add(low_q, half_q) : fp32_add(half_q, 32'd0);
  always_ff @(posedge clk_i) if (sum_i) sum_q <= fp32_add(sum_first_i ? 32'd0 : sum_q, pair_q);
  always_ff @(posedge clk_i) if (round_i) y_o <= fp32_to_fp16(fp32_mul(sum_q, scale_i));
endmodule
