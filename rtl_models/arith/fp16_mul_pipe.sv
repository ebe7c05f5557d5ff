// An FP16 product as binary32: its stages with registers between them. The result comes `Latency` enabled edges after the operands.
module fp16_mul_pipe
  import fp_pkg::*;
  import fp_fn_pkg::*;
#(
  parameter int unsigned Latency = 3
) (
  input  logic        clk_i,
  input  logic        en_i,
  input  logic [15:0] a_i,
  input  logic [15:0] b_i,
  output logic [31:0] y_o
);
  localparam int unsigned Stages = 3;

  fp16_mul_product_t product;
  fp_cut #(.data_t(fp16_mul_product_t), .Stage(1), .Stages(Stages), .Latency(Latency)) u_product (
    .clk_i, .en_i, .d_i(fp16_mul_product(a_i, b_i)), .q_o(product)
  );
  fp16_mul_count_t count;
  fp_cut #(.data_t(fp16_mul_count_t), .Stage(2), .Stages(Stages), .Latency(Latency)) u_count (
    .clk_i, .en_i, .d_i(fp16_mul_count(product)), .q_o(count)
  );
  fp_cut #(.data_t(logic [31:0]), .Stage(3), .Stages(Stages), .Latency(Latency)) u_shift (
    .clk_i, .en_i, .d_i(fp16_mul_shift(count)), .q_o(y_o)
  );
endmodule
