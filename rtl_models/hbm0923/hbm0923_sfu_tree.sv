// sum(v): beats of 32 lanes, each added up pairwise, the beats one after the other. A beat a step, six steps to the sum.
module hbm0923_sfu_tree
  import fp_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        step_i,

  input  logic        valid_i,
  input  logic        first_i,   // of a sum
  input  logic        last_i,
  input  logic [31:0] v_i [32],  // absent lanes +0

  output logic        valid_o,   // for one step
  output logic [31:0] sum_o,
  output logic        busy_o
);
  logic [5:0]  valid_q, first_q, last_q;
  logic [31:0] v16_q [16];
  logic [31:0] v8_q [8];
  logic [31:0] v4_q [4];
  logic [31:0] v2_q [2];
  logic [31:0] v1_q, acc_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      first_q <= '0;
      last_q  <= '0;
    end else if (step_i && (valid_i || busy_o)) begin
      valid_q <= {valid_q[4:0], valid_i};
      first_q <= {first_q[4:0], first_i};
      last_q  <= {last_q[4:0], last_i};
    end
  end

  always_ff @(posedge clk_i) begin
    if (step_i && valid_i)    for (int unsigned i = 0; i < 16; i++) v16_q[i] <= fp32_add(v_i[2*i], v_i[2*i+1]);
    if (step_i && valid_q[0]) for (int unsigned i = 0; i < 8; i++) v8_q[i] <= fp32_add(v16_q[2*i], v16_q[2*i+1]);
    if (step_i && valid_q[1]) for (int unsigned i = 0; i < 4; i++) v4_q[i] <= fp32_add(v8_q[2*i], v8_q[2*i+1]);
    if (step_i && valid_q[2]) for (int unsigned i = 0; i < 2; i++) v2_q[i] <= fp32_add(v4_q[2*i], v4_q[2*i+1]);
    if (step_i && valid_q[3]) v1_q  <= fp32_add(v2_q[0], v2_q[1]);
    if (step_i && valid_q[4]) acc_q <= fp32_add(first_q[4] ? 32'd0 : acc_q, v1_q);
  end

  assign busy_o  = |valid_q;
  assign valid_o = valid_q[5] && last_q[5];
  assign sum_o   = acc_q;

  logic unused_first;
  assign unused_first = first_q[5];
endmodule
