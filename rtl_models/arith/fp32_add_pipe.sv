// A binary32 sum: its stages with registers between them. The result comes `Latency` enabled edges after the operands.
module fp32_add_pipe
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

  fp32_add_order_t order;
  fp_cut #(.data_t(fp32_add_order_t), .Stage(1), .Stages(Stages), .Latency(Latency)) u_order (
    .clk_i, .en_i, .d_i(fp32_add_order(a_i, b_i)), .q_o(order)
  );
  fp32_add_align_t align;
  fp_cut #(.data_t(fp32_add_align_t), .Stage(2), .Stages(Stages), .Latency(Latency)) u_align (
    .clk_i, .en_i, .d_i(fp32_add_align(order)), .q_o(align)
  );
  fp32_add_align_t shift;
  fp_cut #(.data_t(fp32_add_align_t), .Stage(3), .Stages(Stages), .Latency(Latency)) u_shift (
    .clk_i, .en_i, .d_i(fp32_add_shift(align)), .q_o(shift)
  );
  fp32_add_sum_t sum;
  fp_cut #(.data_t(fp32_add_sum_t), .Stage(4), .Stages(Stages), .Latency(Latency)) u_sum (
    .clk_i, .en_i, .d_i(fp32_add_sum(shift)), .q_o(sum)
  );
  fp32_add_count_t count;
  fp_cut #(.data_t(fp32_add_count_t), .Stage(5), .Stages(Stages), .Latency(Latency)) u_count (
    .clk_i, .en_i, .d_i(fp32_add_count(sum)), .q_o(count)
  );
  fp32_add_limit_t limit;
  fp_cut #(.data_t(fp32_add_limit_t), .Stage(6), .Stages(Stages), .Latency(Latency)) u_limit (
    .clk_i, .en_i, .d_i(fp32_add_limit(count)), .q_o(limit)
  );
  fp32_round_t rounding;
  fp_cut #(.data_t(fp32_round_t), .Stage(7), .Stages(Stages), .Latency(Latency)) u_rounding (
    .clk_i, .en_i, .d_i(fp32_add_rounding(limit)), .q_o(rounding)
  );
  fp_cut #(.data_t(logic [31:0]), .Stage(8), .Stages(Stages), .Latency(Latency)) u_round (
    .clk_i, .en_i, .d_i(fp32_round(rounding)), .q_o(y_o)
  );
endmodule
