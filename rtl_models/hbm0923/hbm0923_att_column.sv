// One HBM port's share of the array: for each pair of query head and token 16 products a step, their tree, the sum of a
// row, its scaling and rounding.
//
// Every stage is clocked only when it has something to do: an idle array evaluates nothing. A process a stage, so that
// simulation orders them instead of copying registers.
module hbm0923_att_column
  import hbm0923_att_pkg::*;
  import fp_pkg::*;
#(
  parameter int unsigned Queries = 1
) (
  input  logic                     clk_i,

  // one enable a stage and pair, with what all are told
  input  logic [Queries-1:0]       dot_i,
  input  logic                     mask_i,
  input  logic [15:0]              lanes_i,
  input  att_lanes_t [Queries-1:0] x_i,
  input  logic [HbmBits-1:0]       w_i,
  input  logic [Queries-1:0]       low_i,      // keep as the lower half of 32 lanes
  input  logic [Queries-1:0]       pair_i,     // the 32 lanes are complete
  input  logic                     pair_high_i,
  input  logic [Queries-1:0]       sum_i,
  input  logic                     sum_first_i,
  input  logic [Queries-1:0]       round_i,
  input  logic [31:0]              scale_i,

  output logic [Queries-1:0][15:0] y_o
);
  logic [Queries-1:0][31:0] half_q, low_q, pair_q, sum_q;

  // Pairs are counted from 0: where the first has nothing to do, none has.
  always_ff @(posedge clk_i) if (dot_i[0]) begin
    for (int unsigned q = 0; q < Queries; q++) begin
      if (dot_i[q]) half_q[q] <= dot16(x_i[q], mask_i ? mask_lanes(w_i, lanes_i) : w_i);
    end
  end
  always_ff @(posedge clk_i) if (low_i[0]) begin
    for (int unsigned q = 0; q < Queries; q++) if (low_i[q]) low_q[q] <= half_q[q];
  end
  always_ff @(posedge clk_i) if (pair_i[0]) begin
    for (int unsigned q = 0; q < Queries; q++) begin
      if (pair_i[q]) pair_q[q] <= pair_high_i ? fp32_add(low_q[q], half_q[q]) : fp32_add(half_q[q], 32'd0);
    end
  end
  always_ff @(posedge clk_i) if (sum_i[0]) begin
    for (int unsigned q = 0; q < Queries; q++) begin
      if (sum_i[q]) sum_q[q] <= fp32_add(sum_first_i ? 32'd0 : sum_q[q], pair_q[q]);
    end
  end
  always_ff @(posedge clk_i) if (round_i[0]) begin
    for (int unsigned q = 0; q < Queries; q++) if (round_i[q]) y_o[q] <= fp32_to_fp16(fp32_mul(sum_q[q], scale_i));
  end
endmodule
