// binary32 to the nearest integer: its stages with registers between them. The result comes `Latency` enabled edges after the operands.
module fp32_rint_pipe
  import fp_fn_pkg::*;
#(
  parameter int unsigned Latency = 2
) (
  input  logic        clk_i,
  input  logic        en_i,
  input  logic [31:0] x_i,
  output logic signed [31:0] y_o
);
  localparam int unsigned Stages = 2;

  fp32_rint_t shift;
  fp_cut #(.data_t(fp32_rint_t), .Stage(1), .Stages(Stages), .Latency(Latency)) u_shift (
    .clk_i, .en_i, .d_i(fp32_rint_shift(x_i)), .q_o(shift)
  );
  fp_cut #(.data_t(logic signed [31:0]), .Stage(2), .Stages(Stages), .Latency(Latency)) u_round (
    .clk_i, .en_i, .d_i(fp32_rint_round(shift)), .q_o(y_o)
  );
endmodule
