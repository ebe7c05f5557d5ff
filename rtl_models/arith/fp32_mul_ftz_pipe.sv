// A binary32 product without subnormals: its stages with registers between them. The result comes `Latency` enabled edges after the operands.
module fp32_mul_ftz_pipe
  import fp_pkg::*;
  import fp_fn_pkg::*;
#(
  parameter int unsigned Latency = 4
) (
  input  logic        clk_i,
  input  logic        en_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] y_o
);
  localparam int unsigned Stages = 4;

  fp32_mul_ftz_t parts;
  fp_cut #(.data_t(fp32_mul_ftz_t), .Stage(1), .Stages(Stages), .Latency(Latency)) u_parts (
    .clk_i, .en_i, .d_i(fp32_mul_ftz_parts(a_i, b_i)), .q_o(parts)
  );
  fp32_mul_short_t product;
  fp_cut #(.data_t(fp32_mul_short_t), .Stage(2), .Stages(Stages), .Latency(Latency)) u_product (
    .clk_i, .en_i, .d_i(fp32_mul_ftz_product(parts)), .q_o(product)
  );
  fp32_round_t shift;
  fp_cut #(.data_t(fp32_round_t), .Stage(3), .Stages(Stages), .Latency(Latency)) u_shift (
    .clk_i, .en_i, .d_i(fp32_mul_ftz_shift(product)), .q_o(shift)
  );
  fp_cut #(.data_t(logic [31:0]), .Stage(4), .Stages(Stages), .Latency(Latency)) u_round (
    .clk_i, .en_i, .d_i(fp32_round(shift)), .q_o(y_o)
  );
endmodule
