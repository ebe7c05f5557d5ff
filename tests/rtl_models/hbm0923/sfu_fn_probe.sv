// The SFU's pipelines side by side, one lane of exp, for a bench that streams arguments through them.
module sfu_fn_probe
  import fp_pkg::*;
  import fp_fn_pkg::*;
  import hbm0923_sfu_softmax_pkg::*;
  import hbm0923_sfu_norm_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              step_i,
  input  logic              exp_valid_i,
  input  logic              norm_valid_i,
  input  logic              norm_start_i,
  input  logic              layer_i,
  input  logic [31:0]       count_i,
  input  logic [31:0]       eps_i,
  input  logic              recip_valid_i,
  input  logic              scale_valid_i,
  input  logic              first_i,
  input  logic              last_i,
  input  logic [31:0]       x_i [64],
  output logic              exp_valid_o,
  output logic [31:0]       exp_o,         // M, N
  output logic [63:0]       term_o,
  output logic [7:0]        tag_o,
  output logic              sum_valid_o,
  output logic [63:0]       sum_o,
  output logic              norm_valid_o,
  output logic [31:0]       factor_o,
  output logic              recip_valid_o,
  output logic [31:0]       recip_o,
  output logic              scale_valid_o,
  output logic [511:0]      scale_o,
  output logic              busy_o,
  output logic [31:0]       product_o,   // of FP16, one cycle later
  output logic [31:0]       fp20_o,
  output logic [15:0]       key_back_o,
  output logic signed [16:0] key_o
);
  exp_t [0:0]  e;
  logic [36:0] term [1];
  logic        exp_busy, sums_busy, root_busy, recip_busy, scale_busy;
  assign exp_o  = {2'd0, e};
  assign term_o = 64'(term[0]);
  assign busy_o = exp_busy || sums_busy || root_busy || recip_busy || scale_busy;

  // x, then the largest of its row.
  hbm0923_sfu_exp #(.Lanes(1), .TagW(8)) u_exp (
    .clk_i, .rst_ni, .step_i, .valid_i(exp_valid_i), .tag_i(x_i[0][7:0]), .x_i(x_i[0][15:0]), .max_i(x_i[0][31:16]),
    .valid_o(exp_valid_o), .tag_o, .e_o(e), .term_o(term), .busy_o(exp_busy)
  );
  // A beat in words, then the lanes that count.
  logic [511:0] beat;
  squares_t     squares;
  row_sum_t     row_sum;
  logic         odd;
  for (genvar i = 0; i < 16; i++) begin : gen_beat
    assign beat[32*i+:32] = x_i[i];
  end
  hbm0923_sfu_moments u_moments (
    .clk_i, .rst_ni, .step_i, .layer_i, .valid_i(norm_valid_i), .first_i, .last_i, .mask_i(x_i[16]), .data_i(beat),
    .valid_o(sum_valid_o), .squares_o(squares), .sum_o(row_sum), .odd_o(odd), .busy_o(sums_busy)
  );
  assign sum_o = $unsigned(64'(row_sum));
  hbm0923_sfu_root u_root (
    .clk_i, .rst_ni, .step_i, .start_i(norm_start_i), .layer_i, .count_i(count_i[CountBits-1:0]), .eps_i, .valid_i(sum_valid_o),
    .squares_i(squares), .sum_i(row_sum), .odd_i(odd), .valid_o(norm_valid_o), .factor_o, .busy_o(root_busy)
  );
  // Lower words of 32 terms, then what is above; the highest bit there: does not count.
  logic [36:0] terms [32];
  logic [31:0] mask;
  recip_t      recip;
  for (genvar i = 0; i < 32; i++) begin : gen_term
    assign terms[i] = {x_i[32+i][4:0], x_i[i]};
    assign mask[i]  = !x_i[32+i][31];
  end
  hbm0923_sfu_recip u_recip (
    .clk_i, .rst_ni, .step_i, .valid_i(recip_valid_i), .first_i, .last_i, .mask_i(mask), .term_i(terms),
    .valid_o(recip_valid_o), .recip_o(recip), .busy_o(recip_busy)
  );
  assign recip_o = recip;
  // 32 exponentials, which come a cycle later, the reciprocal, and how many count; from 64 on: the row has no results.
  exps_t e_q;
  always_ff @(posedge clk_i) if (scale_valid_i && step_i) for (int unsigned i = 0; i < 32; i++) e_q[i] <= x_i[i][29:0];
  hbm0923_sfu_scale u_scale (
    .clk_i, .rst_ni, .step_i, .valid_i(scale_valid_i && step_i), .lanes_i(x_i[33][5:0]), .odd_i(x_i[33][6]), .recip_i(x_i[32]),
    .e_i(e_q), .valid_o(scale_valid_o), .data_o(scale_o), .busy_o(scale_busy)
  );
  logic unused_bits;
  assign unused_bits = ^count_i[31:CountBits];

  always_ff @(posedge clk_i) begin
    product_o  <= fp16_mul(x_i[0][15:0], x_i[0][31:16]);
    fp20_o     <= fp20_to_fp32(x_i[0][19:0]);
    key_o      <= fp16_order(x_i[0][15:0]);
    key_back_o <= fp16_of_order(fp16_order(x_i[0][15:0]));
  end
endmodule
