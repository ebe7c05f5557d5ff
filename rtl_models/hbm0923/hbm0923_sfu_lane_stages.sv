// A lane of the SFU's last pass: its operators in stages. Where an operator has several users, the kind of instruction, which stands
// still, says whose operands it takes.
//
//   norm     d or x --------------- * factor -- * gamma -- + beta --.
//   pos_emb  x -------------------- * cos ---- +- x' * sin ---------+-- to FP16
//   act      x, its segment's line ------------ * slope -- + offset -'
module hbm0923_sfu_lane_stages
  import fp_pkg::*;
  import fp_fn_pkg::*;
  import hbm0923_sfu_norm_pkg::*;
  import hbm0923_sfu_act_pkg::*;
#(
  parameter int unsigned ScaleLatency  = 3,
  parameter int unsigned AddLatency    = 9,
  parameter int unsigned NarrowLatency = 2,
  parameter bit          Negated       = 1'b0   // pos_emb: x' * sin is subtracted
) (
  input  logic        clk_i,
  input  logic        en_i,

  input  logic        norm_i,      // what stands still: the kind, norm's C
  input  logic        layer_i,
  input  logic        act_i,
  input  logic [CountBits-1:0] count_i,

  input  logic [15:0] x_i,
  input  logic [15:0] cos_i,
  input  logic [15:0] sin_i,
  input  logic [15:0] gamma_i,
  input  logic [15:0] beta_i,
  input  keys_t       begins_i,    // act: of all segments; a step later than x
  input  logic [15:0] flats_i,     // these: two steps later
  input  logic [255:0] slopes_i,
  input  logic [255:0] offsets_i,
  input  row_sum_t    sum_i,       // layer norm: DifferenceSteps - 1 steps later
  input  logic [31:0] factor_i,    // norm: beside what it multiplies

  output logic [31:0] wide_o,      // x in binary32, a step later, for the other lane of the pair
  input  logic [31:0] other_i,     // that of the other one
  output logic [15:0] y_o
);
  localparam int unsigned FactorLatency = ScaleLatency + 1;  // product of two binary32

  // ---- act: the segment
  key_t        key_q;
  logic [15:0] begun_q, x_q, x2_q;
  piece_t      piece_q;
  always_ff @(posedge clk_i) if (en_i) begin
    key_q   <= lane_key(x_i);
    x_q     <= x_i;
    begun_q <= begun(begins_i, key_q);
    x2_q    <= x_q;
    piece_q <= piece(begun_q, flats_i, slopes_i, offsets_i, x2_q);
  end

  // ---- layer norm: C * x - sum, rounded
  fp16_unpacked_t     unpacked_q;
  lane_product_t      product_q;
  logic signed [63:0] placed_q, deviation_q;
  logic        [31:0] rounded;
  always_ff @(posedge clk_i) if (en_i) begin
    unpacked_q  <= fp16_unpack(x_i);
    product_q   <= lane_product(unpacked_q, count_i);
    placed_q    <= lane_place(product_q);
    deviation_q <= placed_q - 64'(sum_i);
  end
  word_to_fp32_pipe #(.Latency(DeviationSteps - DifferenceSteps)) u_deviation (.clk_i, .en_i, .x_i(deviation_q), .y_o(rounded));

  // ---- the first product
  logic [31:0] wide_q, cos_q, product;
  always_ff @(posedge clk_i) if (en_i) begin
    wide_q <= fp16_to_fp32(act_i ? piece_q.x : x_i);
    cos_q  <= fp16_to_fp32(cos_i);
  end
  assign wide_o = wide_q;
  fp32_mul_ftz_pipe #(.Latency(FactorLatency)) u_product (
    .clk_i, .en_i, .a_i(layer_i ? rounded : wide_q), .b_i(norm_i ? factor_i : cos_q), .y_o(product)
  );

  // ---- the second one, by an FP16
  logic [15:0] late_gamma, gamma, short_16;
  logic [31:0] short_q, scaled;
  fp_cut #(.data_t(logic [15:0]), .Latency(DeviationSteps - 1)) u_late_gamma (.clk_i, .en_i, .d_i(gamma_i), .q_o(late_gamma));
  fp_cut #(.data_t(logic [15:0]), .Latency(FactorLatency)) u_gamma (
    .clk_i, .en_i, .d_i(layer_i ? late_gamma : gamma_i), .q_o(gamma)
  );
  assign short_16 = norm_i ? gamma : act_i ? piece_q.slope : sin_i;
  always_ff @(posedge clk_i) if (en_i) short_q <= fp16_to_fp32(short_16);
  fp32_mul_short_pipe #(.Latency(ScaleLatency)) u_scaled (
    .clk_i, .en_i, .a_i(norm_i ? product : act_i ? wide_q : other_i), .b_i(short_q), .y_o(scaled)
  );

  // ---- the sum
  logic [15:0] late_beta, beta, summand;
  logic [31:0] summand_q, pair, sum;
  fp_cut #(.data_t(logic [15:0]), .Latency(DeviationSteps - 1)) u_late_beta (.clk_i, .en_i, .d_i(beta_i), .q_o(late_beta));
  fp_cut #(.data_t(logic [15:0]), .Latency(FactorLatency)) u_beta (
    .clk_i, .en_i, .d_i(layer_i ? late_beta : beta_i), .q_o(beta)
  );
  fp_cut #(.data_t(logic [15:0]), .Latency(ScaleLatency)) u_summand (
    .clk_i, .en_i, .d_i(norm_i ? beta : piece_q.offset), .q_o(summand)
  );
  always_ff @(posedge clk_i) if (en_i) summand_q <= fp16_to_fp32(summand);
  fp_cut #(.data_t(logic [31:0]), .Latency(FactorLatency - ScaleLatency)) u_pair (
    .clk_i, .en_i, .d_i({scaled[31] ^ Negated, scaled[30:0]}), .q_o(pair)
  );
  fp32_add_pipe #(.Latency(AddLatency - 1)) u_sum (
    .clk_i, .en_i, .a_i(norm_i || act_i ? scaled : product), .b_i(norm_i || act_i ? summand_q : pair), .y_o(sum)
  );
  fp32_to_fp16_pipe #(.Latency(NarrowLatency)) u_narrow (.clk_i, .en_i, .x_i(sum), .y_o(y_o));
endmodule
