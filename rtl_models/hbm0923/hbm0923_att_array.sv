// The array: Ports columns of Queries times 16 FP16 x FP16 multipliers with their exact sums, and the stages that all
// columns share.
//
// Stage 1 unpacks the half pixel of every pair's input, 2 multiplies and adds 16 products, 3 adds to the row's sum, 4
// rounds it to binary32, 5 scales and rounds, 6 hands over. It never stops: room for what comes out has been promised.
module hbm0923_att_array
  import hbm0923_att_pkg::*;
#(
  parameter int unsigned Ports   = 32,
  parameter int unsigned Queries = 1
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             enable_i,
  input  att_plan_t                        plan_i,

  input  logic                             step_i,
  input  att_beat_t                        beat_i,
  // stage 1, the cycle after the step
  input  logic [Queries-1:0][DdrBits-1:0]  pixel_i,
  output logic                             read_o,   // the ports' beats are to be there in stage 2
  input  logic [Ports-1:0][HbmBits-1:0]    w_i,

  output logic                             busy_o,
  output logic                             valid_o,
  output att_beat_t                        beat_o,
  output logic [Queries-1:0][Ports*16-1:0] y_o
);
  typedef att_beat_t [6:1] stages_t;
  logic [6:1]               valid_q;
  stages_t                  beat_q;
  att_lanes_t [Queries-1:0] x_q;

  // Pairs of a beat, a bit each.
  function automatic logic [Queries-1:0] pairs(input logic valid, input logic [3:0] count);
    logic [Queries-1:0] each;
    for (int unsigned q = 0; q < Queries; q++) each[q] = valid && q < 32'(count);
    return each;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (enable_i) valid_q <= {valid_q[5] && beat_q[5].last, valid_q[4:1], step_i};
  end

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      beat_q[1] <= beat_i;
      for (int unsigned i = 2; i <= 6; i++) beat_q[i] <= beat_q[i-1];
    end
    if (valid_q[1]) begin
      for (int unsigned q = 0; q < Queries; q++) begin
        x_q[q] <= unpack_lanes(beat_q[1].high ? pixel_i[q][HbmBits+:HbmBits] : pixel_i[q][0+:HbmBits],
                               beat_q[1].mask ? plan_i.mask : '1);
      end
    end
  end

  logic [Queries-1:0] dot, sum, narrow, round;
  assign dot    = pairs(valid_q[2], beat_q[2].pairs);
  assign sum    = pairs(valid_q[3], beat_q[3].pairs);
  assign narrow = pairs(valid_q[4] && beat_q[4].last, beat_q[4].pairs);
  assign round  = pairs(valid_q[5] && beat_q[5].last, beat_q[5].pairs);

  for (genvar p = 0; p < Ports; p++) begin : gen_column
    logic [Queries-1:0][15:0] y;
    hbm0923_att_column #(.Queries(Queries)) u_column (
      .clk_i,
      .dot_i      (dot),
      .mask_i     (beat_q[2].mask),
      .lanes_i    (plan_i.mask),
      .x_i        (x_q),
      .w_i        (w_i[p]),
      .sum_i      (sum),
      .sum_first_i(beat_q[3].first),
      .narrow_i   (narrow),
      .round_i    (round),
      .scale_i    (plan_i.scale),
      .y_o        (y)
    );
    for (genvar q = 0; q < Queries; q++) begin : gen_pair
      assign y_o[q][16*p+:16] = y[q];
    end
  end

  assign read_o  = valid_q[1];
  assign busy_o  = valid_q != '0;
  assign valid_o = valid_q[6];
  assign beat_o  = beat_q[6];

  logic unused_plan;
  assign unused_plan = ^plan_i;
endmodule
