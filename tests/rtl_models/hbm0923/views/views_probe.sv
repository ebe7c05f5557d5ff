// Both views of attention's array and of elementwise's lanes side by side: functions whose results wait, and stages.
module views_probe
  import hbm0923_att_pkg::*;
#(
  parameter int unsigned Ports         = 2,
  parameter int unsigned Queries       = 2,
  parameter int unsigned DotLatency    = 5,
  parameter int unsigned RoundLatency  = 7,
  parameter int unsigned ScaleLatency  = 3,
  parameter int unsigned AddLatency    = 9,
  parameter int unsigned NarrowLatency = 2
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,

  input  logic                            step_i,
  input  logic                            high_i,
  input  logic                            first_i,
  input  logic                            last_i,
  input  logic                            mask_i,
  input  logic [3:0]                      pairs_i,
  input  logic [5:0]                      keep_i,
  input  logic [15:0]                     lanes_i,
  input  logic [31:0]                     scale_i,
  input  logic [Queries-1:0][DdrBits-1:0] pixel_i,
  input  logic [Ports-1:0][HbmBits-1:0]   w_i,

  input  logic                            multiply_i,
  input  logic                            subtract_i,
  input  logic                            valid_i,
  input  logic [511:0]                    a_i,
  input  logic [511:0]                    b_i,
  input  logic [31:0]                     kept_i,

  output logic [1:0]                      busy_o,   // array, lanes; of the functions
  output logic [1:0]                      valid_o,
  output logic [1:0]                      differ_o
);
  att_beat_t beat;
  att_plan_t plan;
  assign beat = '{high: high_i, first: first_i, last: last_i, mask: mask_i, pair_end: keep_i[0], pairs: pairs_i, keep: keep_i};
  always_comb begin
    plan       = '0;
    plan.mask  = lanes_i;
    plan.scale = scale_i;
  end

  logic      [1:0]               read, busy, valid, lanes_busy, lanes_valid;
  att_beat_t [1:0]               row_beat;
  logic      [1:0][3:0]          pair;
  logic      [1:0][Ports*16-1:0] y;
  logic      [1:0][511:0]        lanes_y;
  for (genvar v = 0; v < 2; v++) begin : gen_view
    hbm0923_att_array #(
      .Ports(Ports), .Queries(Queries), .DotLatency(DotLatency), .RoundLatency(RoundLatency), .ScaleLatency(ScaleLatency),
      .NarrowLatency(NarrowLatency), .Stages(v == 1)
    ) u_array (
      .clk_i, .rst_ni, .enable_i(1'b1), .plan_i(plan), .step_i, .beat_i(beat), .pixel_i, .read_o(read[v]), .w_i,
      .busy_o(busy[v]), .valid_o(valid[v]), .beat_o(row_beat[v]), .pair_o(pair[v]), .y_o(y[v])
    );
    hbm0923_elementwise_lanes #(.AddLatency(AddLatency), .NarrowLatency(NarrowLatency), .Stages(v == 1)) u_lanes (
      .clk_i, .rst_ni, .multiply_i, .subtract_i, .valid_i, .a_i, .b_i, .mask_i(kept_i), .busy_o(lanes_busy[v]),
      .valid_o(lanes_valid[v]), .y_o(lanes_y[v])
    );
  end

  assign busy_o      = {lanes_busy[0], busy[0]};
  assign valid_o     = {lanes_valid[0], valid[0]};
  assign differ_o[0] = read[0] != read[1] || busy[0] != busy[1] || valid[0] != valid[1]
                       || (valid[0] && (row_beat[0] != row_beat[1] || pair[0] != pair[1] || y[0] != y[1]));
  assign differ_o[1] = lanes_busy[0] != lanes_busy[1] || lanes_valid[0] != lanes_valid[1]
                       || (lanes_valid[0] && lanes_y[0] != lanes_y[1]);
endmodule
