// Every operator as a function, its result delayed, beside its stages: the two views of a design. A bit an operator, high where
// they differ.
module fp_pipe_probe
  import fp_pkg::*;
  import fp_fn_pkg::*;
#(
  parameter int unsigned Latency = 0  // 0: as many cycles as an operator has stages
) (
  input  logic        clk_i,
  input  logic        en_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  input  logic [63:0] low_i,
  input  logic [63:0] high_i,
  input  logic [31:0] special_i,
  output logic [7:0]  differ_o
);
  localparam int unsigned Operators = 8;
  localparam int unsigned Stages [Operators] = '{8, 3, 3, 2, 5, 7, 4, 7};
  typedef int unsigned cycles_t [Operators];
  localparam cycles_t Cycles = (Latency == 0) ? Stages : '{default: Latency};
  logic [Operators-1:0][31:0] function_y, stages_y;

  always_comb begin
    function_y    = '0;
    function_y[0] = fp32_add(a_i, b_i);
    function_y[1] = fp32_mul_short(a_i, b_i & 32'hFFFF_FC00);
    function_y[2] = fp16_mul(a_i[15:0], b_i[15:0]);
    function_y[3] = 32'(fp32_to_fp16(a_i));
    function_y[4] = word_to_fp32(low_i);
    function_y[5] = fixed_pair_or_special(low_i, 64'($signed(high_i[63:2])), special_i, 6'd30);
    function_y[6] = fp32_mul_ftz(a_i, b_i);
    function_y[7] = fixed_pair_or_special(low_i, 64'($signed(high_i[63:2])), special_i, ProductSplit);
  end

  fp32_add_pipe           #(.Latency(Cycles[0])) u_add   (.clk_i, .en_i, .a_i, .b_i, .y_o(stages_y[0]));
  fp32_mul_short_pipe     #(.Latency(Cycles[1])) u_short (.clk_i, .en_i, .a_i, .b_i(b_i & 32'hFFFF_FC00), .y_o(stages_y[1]));
  fp16_mul_pipe           #(.Latency(Cycles[2])) u_half  (.clk_i, .en_i, .a_i(a_i[15:0]), .b_i(b_i[15:0]), .y_o(stages_y[2]));
  fp32_to_fp16_pipe       #(.Latency(Cycles[3])) u_narrow(.clk_i, .en_i, .x_i(a_i), .y_o(stages_y[3][15:0]));
  word_to_fp32_pipe       #(.Latency(Cycles[4])) u_word  (.clk_i, .en_i, .x_i(low_i), .y_o(stages_y[4]));
  fixed_pair_to_fp32_pipe #(.Latency(Cycles[5])) u_pair (
    .clk_i, .en_i, .low_i, .high_i(64'($signed(high_i[63:2]))), .special_i, .y_o(stages_y[5])
  );
  fp32_mul_ftz_pipe       #(.Latency(Cycles[6])) u_ftz   (.clk_i, .en_i, .a_i, .b_i, .y_o(stages_y[6]));
  fixed_pair_to_fp32_pipe #(.Latency(Cycles[7]), .Split(32'(ProductSplit))) u_products (
    .clk_i, .en_i, .low_i, .high_i(64'($signed(high_i[63:2]))), .special_i, .y_o(stages_y[7])
  );
  assign stages_y[3][31:16] = '0;

  for (genvar i = 0; i < Operators; i++) begin : gen_delay
    logic [31:0] delayed_q [Cycles[i]];
    always_ff @(posedge clk_i) if (en_i) begin
      delayed_q[0] <= function_y[i];
      for (int unsigned k = 1; k < Cycles[i]; k++) delayed_q[k] <= delayed_q[k-1];
    end
    assign differ_o[i] = delayed_q[Cycles[i]-1] != stages_y[i];
  end
  logic unused_bits;
  assign unused_bits = ^{low_i[7:0], high_i[1:0]};
endmodule
