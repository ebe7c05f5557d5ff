// Fixed point to binary32: its stages with registers between them. The result comes `Latency` enabled edges after the operands.
module fixed_to_fp32_pipe
  import fp_pkg::*;
#(
  parameter int unsigned Latency = 4
) (
  input  logic        clk_i,
  input  logic        en_i,
  input  logic signed [63:0] x_i,
  output logic [31:0] y_o
);
  localparam int unsigned Stages = 4;

  fixed_magnitude_t magnitude;
  fp_cut #(.data_t(fixed_magnitude_t), .Stage(1), .Stages(Stages), .Latency(Latency)) u_magnitude (
    .clk_i, .en_i, .d_i(fixed_magnitude(x_i)), .q_o(magnitude)
  );
  fixed_count_t count;
  fp_cut #(.data_t(fixed_count_t), .Stage(2), .Stages(Stages), .Latency(Latency)) u_count (
    .clk_i, .en_i, .d_i(fixed_count(magnitude)), .q_o(count)
  );
  fp32_round_t shift;
  fp_cut #(.data_t(fp32_round_t), .Stage(3), .Stages(Stages), .Latency(Latency)) u_shift (
    .clk_i, .en_i, .d_i(fixed_shift(count)), .q_o(shift)
  );
  fp_cut #(.data_t(logic [31:0]), .Stage(4), .Stages(Stages), .Latency(Latency)) u_round (
    .clk_i, .en_i, .d_i(fp32_round(shift)), .q_o(y_o)
  );
endmodule
