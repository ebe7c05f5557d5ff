// A word of fixed point to binary32: its stages with registers between them. The result comes `Latency` enabled edges after the operand.
module word_to_fp32_pipe
  import fp_pkg::*;
  import fp_fn_pkg::*;
#(
  parameter int unsigned Latency = 5
) (
  input  logic        clk_i,
  input  logic        en_i,
  input  logic signed [63:0] x_i,
  output logic [31:0] y_o
);
  localparam int unsigned Stages = 5;

  fixed_magnitude_t magnitude;
  fp_cut #(.data_t(fixed_magnitude_t), .Stage(1), .Stages(Stages), .Latency(Latency)) u_magnitude (
    .clk_i, .en_i, .d_i(fixed_magnitude(x_i)), .q_o(magnitude)
  );
  word_count_t count;
  fp_cut #(.data_t(word_count_t), .Stage(2), .Stages(Stages), .Latency(Latency)) u_count (
    .clk_i, .en_i, .d_i(word_count(magnitude)), .q_o(count)
  );
  fixed_pair_shift_t shift;
  fp_cut #(.data_t(fixed_pair_shift_t), .Stage(3), .Stages(Stages), .Latency(Latency)) u_shift (
    .clk_i, .en_i, .d_i(word_shift(count)), .q_o(shift)
  );
  fp32_round_t rounding;
  fp_cut #(.data_t(fp32_round_t), .Stage(4), .Stages(Stages), .Latency(Latency)) u_rounding (
    .clk_i, .en_i, .d_i(fp32_rounding(fixed_pair_exact(shift))), .q_o(rounding)
  );
  fp_cut #(.data_t(logic [31:0]), .Stage(5), .Stages(Stages), .Latency(Latency)) u_round (
    .clk_i, .en_i, .d_i(fp32_round(rounding)), .q_o(y_o)
  );
endmodule
