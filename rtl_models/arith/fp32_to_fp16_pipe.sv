// binary32 to FP16: its stages with registers between them. The result comes `Latency` enabled edges after the operands.
module fp32_to_fp16_pipe
  import fp_pkg::*;
#(
  parameter int unsigned Latency = 2
) (
  input  logic        clk_i,
  input  logic        en_i,
  input  logic [31:0] x_i,
  output logic [15:0] y_o
);
  localparam int unsigned Stages = 2;

  fp32_narrow_t shift;
  fp_cut #(.data_t(fp32_narrow_t), .Stage(1), .Stages(Stages), .Latency(Latency)) u_shift (
    .clk_i, .en_i, .d_i(fp32_narrow_shift(x_i)), .q_o(shift)
  );
  fp_cut #(.data_t(logic [15:0]), .Stage(2), .Stages(Stages), .Latency(Latency)) u_round (
    .clk_i, .en_i, .d_i(fp32_narrow_round(shift)), .q_o(y_o)
  );
endmodule
