// The SFU's pipelines side by side, one lane of exp, for a bench that streams arguments through them.
module sfu_fn_probe
  import fp_fn_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              step_i,
  input  logic              exp_valid_i,
  input  logic              root_valid_i,
  input  logic              root_i,
  input  logic              tree_valid_i,
  input  logic              first_i,
  input  logic              last_i,
  input  logic [31:0]       x_i [32],
  output logic              exp_valid_o,
  output logic [31:0]       exp_o,
  output logic [7:0]        tag_o,
  output logic              root_valid_o,
  output logic [31:0]       root_o,
  output logic              tree_valid_o,
  output logic [31:0]       sum_o,
  output logic              busy_o,
  output logic [31:0]       product_o,   // of FP16, one cycle later
  output logic [31:0]       fp20_o,
  output logic [15:0]       key_back_o,
  output logic signed [16:0] key_o
);
  logic [31:0] e [1];
  logic [31:0] first_lane [1];
  logic        exp_busy, root_busy, tree_busy;
  assign first_lane[0] = x_i[0];
  assign exp_o  = e[0];
  assign busy_o = exp_busy || root_busy || tree_busy;

  hbm0923_sfu_exp #(.Lanes(1), .TagW(8)) u_exp (
    .clk_i, .rst_ni, .step_i, .valid_i(exp_valid_i), .tag_i(x_i[0][7:0]), .x_i(first_lane), .valid_o(exp_valid_o), .tag_o,
    .e_o(e), .busy_o(exp_busy)
  );
  hbm0923_sfu_root u_root (
    .clk_i, .rst_ni, .step_i, .valid_i(root_valid_i), .root_i, .x_i(x_i[0]), .valid_o(root_valid_o), .y_o(root_o),
    .busy_o(root_busy)
  );
  hbm0923_sfu_tree u_tree (
    .clk_i, .rst_ni, .step_i, .valid_i(tree_valid_i), .first_i, .last_i, .v_i(x_i), .valid_o(tree_valid_o), .sum_o,
    .busy_o(tree_busy)
  );

  always_ff @(posedge clk_i) begin
    product_o  <= fp16_mul(x_i[0][15:0], x_i[0][31:16]);
    fp20_o     <= fp20_to_fp32(x_i[0][19:0]);
    key_o      <= fp16_key(x_i[0][15:0]);
    key_back_o <= fp16_of_key(fp16_key(x_i[0][15:0]));
  end
endmodule
