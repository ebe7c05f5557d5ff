// One HBM port's share of the array: for each pair of query head and token 16 products a step and their exact sum, and
// the sum of a row; for one pair a cycle its rounding to binary32, its scaling and rounding to FP16.
//
// Sums are integers in two words, so that what closes the loop over a row's beats is one addition of 64 bits. The sums of
// a row are complete together; the first pair's is rounded at once, the others wait for their turn.
// Functions, each in one cycle: simulation's view; hbm0923_att_column_stages is synthesis' view. Each is evaluated only when it
// has something to do: an idle array evaluates nothing. A process a function, so that simulation orders them instead of copying
// registers.
module hbm0923_att_column
  import hbm0923_att_pkg::*;
  import fp_pkg::*;
  import fp_fn_pkg::*;
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
  input  logic [Queries-1:0]       sum_i,
  input  logic                     sum_first_i,
  // one enable a stage
  input  logic                     narrow_i,
  input  logic                     narrow_first_i,  // sums are complete; else the next of those that wait
  input  logic                     round_i,
  input  logic [31:0]              scale_i,

  output logic [15:0]              y_o
);
  localparam int unsigned Waiting = (Queries > 1) ? Queries - 1 : 1;
  logic signed [63:0] dot_low_q [Queries], dot_high_q [Queries], low_q [Queries], high_q [Queries];
  logic signed [63:0] wait_low_q [Waiting], wait_high_q [Waiting];
  fp_odd_t            dot_odd_q [Queries], odd_q [Queries], wait_odd_q [Waiting];
  logic [31:0]        sum_q;

  // Pairs are counted from 0: where the first has nothing to do, none has.
  always_ff @(posedge clk_i) if (dot_i[0]) begin
    automatic att_lanes_t w = unpack_lanes(w_i, mask_i ? lanes_i : '1);
    for (int unsigned q = 0; q < Queries; q++) begin
      automatic logic signed [63:0] low, high;
      automatic fp_odd_t            odd;
      if (dot_i[q]) begin
        dot16(x_i[q], w, low, high, odd);
        dot_low_q[q]  <= low;
        dot_high_q[q] <= high;
        dot_odd_q[q]  <= odd;
      end
    end
  end
  always_ff @(posedge clk_i) if (sum_i[0]) begin
    for (int unsigned q = 0; q < Queries; q++) begin
      if (sum_i[q]) begin
        low_q[q]  <= (sum_first_i ? 64'sd0 : low_q[q]) + dot_low_q[q];
        high_q[q] <= (sum_first_i ? 64'sd0 : high_q[q]) + dot_high_q[q];
        odd_q[q]  <= (sum_first_i ? '0 : odd_q[q]) | dot_odd_q[q];
      end
    end
  end
  always_ff @(posedge clk_i) if (narrow_i) begin
    sum_q <= sum_to_fp32(narrow_first_i ? low_q[0] : wait_low_q[0], narrow_first_i ? high_q[0] : wait_high_q[0],
                         narrow_first_i ? odd_q[0] : wait_odd_q[0]);
    if (narrow_first_i) begin
      for (int unsigned q = 0; q < Waiting; q++) begin
        wait_low_q[q]  <= low_q[(q+1)%Queries];
        wait_high_q[q] <= high_q[(q+1)%Queries];
        wait_odd_q[q]  <= odd_q[(q+1)%Queries];
      end
    end else begin
      for (int unsigned q = 0; q + 1 < Waiting; q++) begin
        wait_low_q[q]  <= wait_low_q[q+1];
        wait_high_q[q] <= wait_high_q[q+1];
        wait_odd_q[q]  <= wait_odd_q[q+1];
      end
    end
  end
  always_ff @(posedge clk_i) if (round_i) y_o <= fp32_to_fp16(fp32_mul_short(sum_q, scale_i));
endmodule
