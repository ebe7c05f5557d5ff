// Calls every operator and conversion of fp_pkg and fp_fn_pkg on the same operands, once a clock.
module fp_probe
  import fp_pkg::*;
  import fp_fn_pkg::*;
(
  input  logic               clk_i,
  input  logic        [31:0] a_i,
  input  logic        [31:0] b_i,
  input  logic        [63:0] fixed_i,
  input  logic        [63:0] high_i,
  output logic        [31:0] sum_o,
  output logic        [31:0] short_o,
  output logic        [31:0] ftz_o,
  output logic        [31:0] word_o,
  output logic        [31:0] unpacked_o,
  output logic         [2:0] odd_o,
  output logic        [31:0] pair_o,
  output logic        [31:0] products_o,
  output logic signed [63:0] times_low_o,
  output logic signed [63:0] times_high_o,
  output logic         [2:0] times_odd_o,
  output logic        [31:0] odd_value_o,
  output logic        [31:0] widened_o,
  output logic        [15:0] narrowed_o,
  output logic signed [63:0] fixed_o,
  output logic signed [16:0] order_o
);
  fixed_product_t times;
  assign times = fixed_times_fp16($signed(fixed_i), b_i[15:0]);

  always_ff @(posedge clk_i) begin
    sum_o      <= fp32_add(a_i, b_i);
    short_o    <= fp32_mul_short(a_i, b_i & 32'hFFFF_FC00);
    ftz_o      <= fp32_mul_ftz(a_i, b_i);
    word_o     <= word_to_fp32($signed(fixed_i));
    unpacked_o <= fp16_unpack(a_i[15:0]);
    odd_o      <= fp16_odd_product(fp16_unpack(a_i[15:0]), fp16_unpack(b_i[15:0]));
    pair_o     <= fixed_pair_to_fp32($signed(fixed_i), $signed(high_i));
    products_o   <= fixed_products_to_fp32($signed(fixed_i), $signed(high_i));
    times_low_o  <= times.low;
    times_high_o <= times.high;
    times_odd_o  <= fixed_odd_product(high_i[2:0], $signed(fixed_i), b_i[15:0]);
    odd_value_o  <= fp_odd_to_fp32(high_i[2:0]);
    widened_o  <= fp16_to_fp32(a_i[15:0]);
    narrowed_o <= fp32_to_fp16(a_i);
    fixed_o    <= fp16_to_fixed(a_i[15:0]);
    order_o    <= fp16_order(a_i[15:0]);
  end
endmodule
