// A pair of fixed-point words, or a special result, to binary32: its stages with registers between them. The result comes `Latency` enabled edges after the operands.
module fixed_pair_to_fp32_pipe
  import fp_pkg::*;
  import fp_fn_pkg::*;
#(
  parameter int unsigned Latency = 7,
  parameter int unsigned Split   = 30  // bits between the words
) (
  input  logic        clk_i,
  input  logic        en_i,
  input  logic signed [63:0] low_i,
  input  logic signed [63:0] high_i,
  input  logic [31:0] special_i,
  output logic [31:0] y_o
);
  localparam int unsigned Stages = 7;

  fixed_pair_sum_t sum;
  fp_cut #(.data_t(fixed_pair_sum_t), .Stage(1), .Stages(Stages), .Latency(Latency)) u_sum (
    .clk_i, .en_i, .d_i(fixed_pair_sum(low_i, high_i, special_i, 6'(Split))), .q_o(sum)
  );
  fixed_pair_magnitude_t magnitude;
  fp_cut #(.data_t(fixed_pair_magnitude_t), .Stage(2), .Stages(Stages), .Latency(Latency)) u_magnitude (
    .clk_i, .en_i, .d_i(fixed_pair_magnitude(sum)), .q_o(magnitude)
  );
  fixed_pair_top_t top;
  fp_cut #(.data_t(fixed_pair_top_t), .Stage(3), .Stages(Stages), .Latency(Latency)) u_top (
    .clk_i, .en_i, .d_i(fixed_pair_top(magnitude)), .q_o(top)
  );
  fixed_pair_count_t count;
  fp_cut #(.data_t(fixed_pair_count_t), .Stage(4), .Stages(Stages), .Latency(Latency)) u_count (
    .clk_i, .en_i, .d_i(fixed_pair_count(top)), .q_o(count)
  );
  fixed_pair_shift_t shift;
  fp_cut #(.data_t(fixed_pair_shift_t), .Stage(5), .Stages(Stages), .Latency(Latency)) u_shift (
    .clk_i, .en_i, .d_i(fixed_pair_shift(count)), .q_o(shift)
  );
  fp32_round_t rounding;
  fp_cut #(.data_t(fp32_round_t), .Stage(6), .Stages(Stages), .Latency(Latency)) u_rounding (
    .clk_i, .en_i, .d_i(fp32_rounding(fixed_pair_exact(shift))), .q_o(rounding)
  );
  fp_cut #(.data_t(logic [31:0]), .Stage(7), .Stages(Stages), .Latency(Latency)) u_round (
    .clk_i, .en_i, .d_i(fp32_round(rounding)), .q_o(y_o)
  );
endmodule
