// A binary32 product: its stages with registers between them. The result comes `Latency` enabled edges after the operands.
module fp32_mul_pipe
  import fp_pkg::*;
#(
  parameter int unsigned Latency = 8
) (
  input  logic        clk_i,
  input  logic        en_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] y_o
);
  localparam int unsigned Stages = 8;

  fp32_mul_operands_t operands;
  fp_cut #(.data_t(fp32_mul_operands_t), .Stage(1), .Stages(Stages), .Latency(Latency)) u_operands (
    .clk_i, .en_i, .d_i(fp32_mul_operands(a_i, b_i)), .q_o(operands)
  );
  fp32_mul_parts_t parts;
  fp_cut #(.data_t(fp32_mul_parts_t), .Stage(2), .Stages(Stages), .Latency(Latency)) u_parts (
    .clk_i, .en_i, .d_i(fp32_mul_parts(operands)), .q_o(parts)
  );
  fp32_mul_product_t product;
  fp_cut #(.data_t(fp32_mul_product_t), .Stage(3), .Stages(Stages), .Latency(Latency)) u_product (
    .clk_i, .en_i, .d_i(fp32_mul_product(parts)), .q_o(product)
  );
  fp32_mul_count_t count;
  fp_cut #(.data_t(fp32_mul_count_t), .Stage(4), .Stages(Stages), .Latency(Latency)) u_count (
    .clk_i, .en_i, .d_i(fp32_mul_count(product)), .q_o(count)
  );
  fp32_mul_normal_t normal;
  fp_cut #(.data_t(fp32_mul_normal_t), .Stage(5), .Stages(Stages), .Latency(Latency)) u_normal (
    .clk_i, .en_i, .d_i(fp32_mul_normal(count)), .q_o(normal)
  );
  fp32_exact_t shift;
  fp_cut #(.data_t(fp32_exact_t), .Stage(6), .Stages(Stages), .Latency(Latency)) u_shift (
    .clk_i, .en_i, .d_i(fp32_mul_shift(normal)), .q_o(shift)
  );
  fp32_round_t rounding;
  fp_cut #(.data_t(fp32_round_t), .Stage(7), .Stages(Stages), .Latency(Latency)) u_rounding (
    .clk_i, .en_i, .d_i(fp32_rounding(shift)), .q_o(rounding)
  );
  fp_cut #(.data_t(logic [31:0]), .Stage(8), .Stages(Stages), .Latency(Latency)) u_round (
    .clk_i, .en_i, .d_i(fp32_round(rounding)), .q_o(y_o)
  );
endmodule
