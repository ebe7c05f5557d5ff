// What a row's deviations are multiplied by, from its sums: the root of W and, without a mean, C. A row a step; 14 steps, with a
// mean 17.
module hbm0923_sfu_root
  import fp_pkg::*;
  import hbm0923_sfu_softmax_pkg::*;
  import hbm0923_sfu_norm_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        step_i,

  input  logic        start_i,     // of an instruction; what follows stands still until the next one
  input  logic        layer_i,     // subtract the mean
  input  logic [CountBits-1:0] count_i,
  input  logic [31:0] eps_i,

  input  logic        valid_i,
  input  squares_t    squares_i,
  input  row_sum_t    sum_i,
  input  logic        odd_i,       // of this row there is no result

  output logic        valid_o,     // for one step
  output logic [31:0] factor_o,
  output logic        busy_o
);
  // ---- E: complete long before the first row
  logic [4:0]         start_q;
  count_t             count_q;
  logic [32:0]        count_square_q;
  eps_parts_t         eps_parts_q;
  logic [56:0]        eps_product_q;
  logic [EpsBits-1:0] eps_coarse_q, eps_q;
  logic [7:0]         eps_places;  // to the right; 0 for the largest exponent, 142
  logic               eps_odd_q;
  assign eps_places = 8'd142 - eps_i[30:23];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) start_q <= '0;
    else start_q <= {start_q[3:0], start_i};
  end
  always_ff @(posedge clk_i) begin
    if (start_q[0]) begin
      count_q        <= layer_i ? '{digits: CountBits'(1) << 16, places: '0} : count_of(count_i);
      count_square_q <= 33'(count_i) * 33'(count_i);
      eps_odd_q      <= eps_i[30:23] > 8'd142 || (eps_i[31] && eps_i[30:0] != '0);
    end
    if (start_q[1]) eps_parts_q <= eps_parts(count_square_q, eps_i[22:0]);
    if (start_q[2]) eps_product_q <= 57'(eps_parts_q.low) + {eps_parts_q.high[39:0], 17'd0};
    if (start_q[3]) eps_coarse_q <= eps_coarse(eps_product_q, eps_places[7:4]);
    if (start_q[4]) eps_q <= eps_coarse_q >> eps_places[3:0];
  end

  // ---- steps: index s behind the step of that name; 1, 2 and 5 only with a mean
  localparam int unsigned Last = 16;
  logic [Last:0]   valid_q, valid_d, en;
  logic [Last-2:0] odd_q;
  weight_count_t   count8_q;
  assign valid_d = {
    valid_q[Last-1:6], layer_i ? valid_q[5] : valid_q[4], valid_q[4] && layer_i, valid_q[3], layer_i ? valid_q[2] : valid_q[0],
    valid_q[1], valid_q[0] && layer_i, valid_i
  };
  assign en     = valid_d & {(Last + 1){step_i}};
  assign busy_o = |valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (step_i && (valid_i || busy_o)) valid_q <= valid_d;
  end
  always_ff @(posedge clk_i) begin
    if (step_i && (valid_i || busy_o)) begin
      odd_q <= {
        odd_q[Last-3:9], odd_q[8] || count8_q.zeros[7], odd_q[7:6], layer_i ? odd_q[5] : odd_q[4], odd_q[4:3],
        layer_i ? odd_q[2] : odd_q[0], odd_q[1:0], odd_i || eps_odd_q
      };
    end
  end

  // ---- C times the sum of squares less the square of the sum
  logic [SquareBits-1:0] square0_q, square1_q, square2_q;
  logic [WordBits-1:0]   sum0_q;
  sum_parts_t            parts1_q;
  sum_rows_t             rows2_q;
  sum_halves_t           halves3_q;
  scaled_parts_t         scaled3_q;
  logic [ScaledBits-1:0] scaled4_q, sum_square4_q, less5_q;
  always_ff @(posedge clk_i) begin
    if (en[0]) begin
      square0_q <= square_sum(squares_i);
      if (layer_i) sum0_q <= sum_magnitude(sum_i);
    end
    if (en[1]) begin
      square1_q <= square0_q;
      parts1_q  <= sum_parts(sum0_q);
    end
    if (en[2]) begin
      square2_q <= square1_q;
      rows2_q   <= sum_rows(parts1_q);
    end
    if (en[3]) begin
      scaled3_q <= scaled_parts(layer_i ? square2_q : square0_q, count_i);
      if (layer_i) halves3_q <= sum_halves(rows2_q);
    end
    if (en[4]) begin
      scaled4_q <= scaled_sum(scaled3_q);
      if (layer_i) sum_square4_q <= sum_square(halves3_q);
    end
    if (en[5]) less5_q <= scaled4_q - sum_square4_q;
  end

  // ---- W and its root
  logic [WeightBits-1:0] weight6_q;
  weight_top_t           top7_q;
  logic [27:0]           digits9_q;
  parabola_t             parabola10_q;
  parabola_terms_t       terms11_q;
  logic [28:0]           root12_q;
  factor_parts_t         parts13_q;
  logic [45:0]           product14_q;
  fp32_round_t           rounding15_q;
  logic [31:0]           factor16_q;
  logic [7:0]            exp_q [9:14];
  always_ff @(posedge clk_i) begin
    if (en[6]) weight6_q <= {layer_i ? less5_q : scaled4_q, 12'd0} + WeightBits'(eps_q);
    if (en[7]) top7_q <= weight_top(weight6_q);
    if (en[8]) count8_q <= weight_count(top7_q);
    if (en[9]) begin
      digits9_q <= weight_digits(count8_q);
      exp_q[9]  <= 8'd93 + 8'(count_q.places) + 8'(count8_q.zeros[6:1]);
    end
    if (en[10]) parabola10_q <= rsqrt_parabola(digits9_q);
    if (en[11]) terms11_q <= parabola_terms(parabola10_q);
    if (en[12]) root12_q <= 29'(parabola_sum(terms11_q) >> 3);
    if (en[13]) parts13_q <= factor_parts(root12_q, count_q.digits);
    if (en[14]) product14_q <= factor_sum(parts13_q);
    if (en[15]) rounding15_q <= factor_rounding(product14_q, exp_q[14], odd_q[14]);
    if (en[16]) factor16_q <= fp32_round(rounding15_q);
    for (int unsigned s = 10; s < 15; s++) if (en[s]) exp_q[s] <= exp_q[s-1];
  end

  assign valid_o  = valid_q[Last];
  assign factor_o = factor16_q;
endmodule
