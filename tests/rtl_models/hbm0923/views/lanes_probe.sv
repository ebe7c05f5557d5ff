// Both views of the SFU's last pass side by side: functions whose results wait, and stages.
module lanes_probe
  import hbm0923_sfu_plan_pkg::*;
#(
  parameter int unsigned ScaleLatency  = 3,
  parameter int unsigned AddLatency    = 9,
  parameter int unsigned NarrowLatency = 2
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         step_i,

  input  logic [1:0]   kind_i,
  input  logic         layer_i,
  input  logic [16:0]  count_i,
  input  logic         valid_i,
  input  logic [5:0]   lanes_i,
  input  logic [56:0]  sum_i,
  input  logic [31:0]  factor_i,
  input  logic [511:0] data_i,
  input  logic [511:0] coef_low_i,
  input  logic [511:0] coef_high_i,

  output logic         busy_o,     // of the functions
  output logic         valid_o,
  output logic         differ_o
);
  sfu_plan_t plan;
  always_comb begin
    plan       = '0;
    plan.kind  = kind_e'(kind_i);
    plan.layer = layer_i;
    plan.lanes = LaneBits'(count_i);
  end

  logic [1:0]        busy, valid;
  logic [1:0][511:0] y;
  for (genvar v = 0; v < 2; v++) begin : gen_view
    hbm0923_sfu_lanes #(
      .ScaleLatency(ScaleLatency), .AddLatency(AddLatency), .NarrowLatency(NarrowLatency), .Stages(v == 1)
    ) u_lanes (
      .clk_i, .rst_ni, .step_i, .plan_i(plan), .valid_i(valid_i && step_i), .lanes_i, .sum_i($signed(sum_i)), .factor_i, .data_i,
      .coef_low_i, .coef_high_i, .valid_o(valid[v]), .data_o(y[v]), .busy_o(busy[v])
    );
  end

  assign busy_o   = busy[0];
  assign valid_o  = valid[0];
  assign differ_o = busy[0] != busy[1] || valid[0] != valid[1] || (valid[0] && y[0] != y[1]);
endmodule
