// Both views of the MVM unit's arithmetic side by side, from the beats that go to the array to its outputs: functions whose results
// wait, and stages.
module mvm_probe
  import hbm0923_mvm_pkg::*;
#(
  parameter int unsigned Tout           = 2,
  parameter int unsigned ArrayLatency   = 4,
  parameter int unsigned ProductLatency = 6,
  parameter int unsigned RoundLatency   = 7,
  parameter int unsigned ScaleLatency   = 3,
  parameter int unsigned AddLatency     = 9,
  parameter int unsigned NarrowLatency  = 2
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic                    start_i,
  input  logic                    bn_i,
  input  logic                    res_i,
  input  logic                    res_mul_i,
  input  logic                    relu_i,
  input  logic [15:0]             tokens_i,
  input  logic [19:0]             blocks_i,
  input  logic [19:0]             ch_out_i,
  input  logic [63:0]             last_mask_i,

  // operands of the epilogue
  input  logic                    bn_valid_i,
  input  logic                    res_valid_i,
  input  logic [DdrBits-1:0]      rdata_i,

  // beats
  input  logic                    valid_i,
  input  logic                    group_first_i,
  input  logic                    group_end_i,
  input  logic                    pair_i,
  input  logic                    acc_first_i,
  input  logic                    acc_last_i,
  input  logic                    mask_i,
  input  logic [3:0]              scale_lane_i,
  input  logic [BeatLanes*16-1:0] dat_i,
  input  logic [Tout*HbmBits-1:0] wt_i,     // the cycle after
  input  logic [Tout*HbmBits-1:0] scale_i,  // of the group that the beat ends

  output logic [1:0][1:0]         pop_o,    // of batch norm and residual, in functions
  output logic                    valid_o,
  output logic [15:0]             token_o,
  output logic                    differ_o
);
  mvm_plan_t  plan;
  beat_ctrl_t ctrl;
  always_comb begin
    plan           = '0;
    plan.bn        = bn_i;
    plan.res       = res_i;
    plan.res_mul   = res_mul_i;
    plan.relu      = relu_i;
    plan.tokens    = tokens_i;
    plan.blocks    = blocks_i;
    plan.ch_out    = ch_out_i;
    ctrl             = '0;
    ctrl.group_first = group_first_i;
    ctrl.group_end   = group_end_i;
    ctrl.pair        = pair_i;
    ctrl.acc_first   = acc_first_i;
    ctrl.acc_last    = acc_last_i;
    ctrl.scale_load  = group_end_i;
    ctrl.scale_lane  = scale_lane_i;
    ctrl.mask        = mask_i;
  end

  logic [1:0]                   wt_read, scale_read, ready, valid;
  logic [1:0][1:0]              bn_pop, res_pop;
  logic [1:0][Tout*16-1:0]      y;
  out_ctrl_t [1:0]              out;
  // Each view reads the scales when it needs them.
  logic [Tout*HbmBits-1:0] scales [64];
  logic [5:0]              scales_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) scales_q <= '0;
    else if (valid_i && group_end_i) scales_q <= scales_q + 6'd1;
  end
  always_ff @(posedge clk_i) if (valid_i && group_end_i) scales[scales_q] <= scale_i;

  for (genvar v = 0; v < 2; v++) begin : gen_view
    logic [Tout*HbmBits-1:0] scale_q;
    logic [5:0]              read_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) read_q <= '0;
      else if (scale_read[v]) read_q <= read_q + 6'd1;
    end
    always_ff @(posedge clk_i) if (scale_read[v]) scale_q <= scales[read_q];

    beat_ctrl_t         sum_ctrl;
    logic signed [63:0] low [Tout];
    logic signed [63:0] high [Tout];
    logic [Tout-1:0]    low_nan, low_pos, low_neg, high_nan, high_pos, high_neg;
    logic               sum_valid, acc_valid;
    logic [31:0]        acc [Tout];
    hbm0923_mvm_array #(.Tout(Tout), .ArrayLatency(ArrayLatency), .Stages(v == 1)) u_array (
      .clk_i, .rst_ni, .valid_i, .ctrl_i(ctrl), .last_mask_i, .last_lanes_i('0), .dat_i, .wt_read_o(wt_read[v]), .wt_i,
      .place_i('0), .valid_o(sum_valid), .ctrl_o(sum_ctrl), .low_o(low), .high_o(high), .low_nan_o(low_nan),
      .low_pos_o(low_pos), .low_neg_o(low_neg), .high_nan_o(high_nan), .high_pos_o(high_pos), .high_neg_o(high_neg)
    );
    hbm0923_mvm_accumulate #(
      .Tout(Tout), .ArrayLatency(ArrayLatency), .ProductLatency(ProductLatency), .RoundLatency(RoundLatency), .Stages(v == 1)
    ) u_accumulate (
      .clk_i, .rst_ni, .valid_i(sum_valid), .ctrl_i(sum_ctrl), .low_i(low), .high_i(high), .low_nan_i(low_nan),
      .low_pos_i(low_pos), .low_neg_i(low_neg), .high_nan_i(high_nan), .high_pos_i(high_pos), .high_neg_i(high_neg),
      .scale_read_o(scale_read[v]), .scale_i(scale_q), .valid_o(acc_valid), .acc_o(acc)
    );
    hbm0923_mvm_epilogue #(
      .Tout(Tout), .RoundLatency(RoundLatency), .ScaleLatency(ScaleLatency), .AddLatency(AddLatency),
      .NarrowLatency(NarrowLatency), .Stages(v == 1)
    ) u_epilogue (
      .clk_i, .rst_ni, .start_i, .plan_i(plan), .bn_valid_i, .res_valid_i, .rdata_i, .bn_pop_o(bn_pop[v]),
      .res_pop_o(res_pop[v]), .block_i('0), .output_i(acc_valid), .ready_o(ready[v]), .valid_i(acc_valid), .acc_i(acc),
      .valid_o(valid[v]), .out_o(out[v]), .y_o(y[v])
    );
  end

  assign pop_o    = {bn_pop[0], res_pop[0]};
  assign valid_o  = valid[0];
  assign token_o  = out[0].token;
  assign differ_o = valid[0] != valid[1] || wt_read[0] != wt_read[1] || bn_pop[0] != bn_pop[1] || res_pop[0] != res_pop[1] || ready[0] != ready[1]
                    || (valid[0] && (out[0] != out[1] || y[0] != y[1]));
endmodule
