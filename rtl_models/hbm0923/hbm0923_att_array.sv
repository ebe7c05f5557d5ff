// The array: Ports columns of Queries times 16 FP16 x FP16 multipliers with their exact sums, and the stages that all
// columns share.
//
// Stage 1 unpacks the half pixel of every pair's input, 2 multiplies and adds 16 products, 3 adds to the row's sum, 4
// rounds it to binary32, 5 scales and rounds, 6 hands over. The last three take one pair a cycle, so rows are complete at
// least as many cycles apart as they have pairs. It never stops: room for what comes out has been promised.
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
  output logic                             valid_o,  // a row of one pair
  output att_beat_t                        beat_o,
  output logic [3:0]                       pair_o,
  output logic [Ports*16-1:0]              y_o
);
  typedef att_beat_t [6:1] stages_t;
  logic [6:1]               valid_q;
  stages_t                  beat_q;
  logic [3:0]               pair5_q, pair6_q;  // of the row in stages 5 and 6
  att_lanes_t [Queries-1:0] x_q;

  // Pairs of a beat, a bit each.
  function automatic logic [Queries-1:0] pairs(input logic valid, input logic [3:0] count);
    logic [Queries-1:0] each;
    for (int unsigned q = 0; q < Queries; q++) each[q] = valid && q < 32'(count);
    return each;
  endfunction

  // Stage 4 has the pairs of a row in turn.
  logic       narrow_first, narrow;
  logic [3:0] pair, left_q;  // pairs of the row that wait
  assign narrow_first = valid_q[4] && beat_q[4].last;
  assign narrow       = narrow_first || left_q != '0;
  assign pair         = narrow_first ? 4'd0 : pair5_q + 4'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      left_q  <= '0;
    end else if (enable_i) begin
      valid_q <= {valid_q[5], narrow, valid_q[3:1], step_i};
      if (narrow_first) left_q <= beat_q[4].pairs - 4'd1;
      else if (left_q != '0) left_q <= left_q - 4'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      beat_q[1] <= beat_i;
      for (int unsigned i = 2; i <= 4; i++) beat_q[i] <= beat_q[i-1];
      if (narrow_first) beat_q[5] <= beat_q[4];
      beat_q[6] <= beat_q[5];
      pair5_q   <= pair;
      pair6_q   <= pair5_q;
    end
    if (valid_q[1]) begin
      for (int unsigned q = 0; q < Queries; q++) begin
        x_q[q] <= unpack_lanes(beat_q[1].high ? pixel_i[q][HbmBits+:HbmBits] : pixel_i[q][0+:HbmBits],
                               beat_q[1].mask ? plan_i.mask : '1);
      end
    end
  end

  logic [Queries-1:0] dot, sum;
  assign dot = pairs(valid_q[2], beat_q[2].pairs);
  assign sum = pairs(valid_q[3], beat_q[3].pairs);

  for (genvar p = 0; p < Ports; p++) begin : gen_column
    hbm0923_att_column #(.Queries(Queries)) u_column (
      .clk_i,
      .dot_i         (dot),
      .mask_i        (beat_q[2].mask),
      .lanes_i       (plan_i.mask),
      .x_i           (x_q),
      .w_i           (w_i[p]),
      .sum_i         (sum),
      .sum_first_i   (beat_q[3].first),
      .narrow_i      (narrow),
      .narrow_first_i(narrow_first),
      .round_i       (valid_q[5]),
      .scale_i       (plan_i.scale),
      .y_o           (y_o[16*p+:16])
    );
  end

  assign read_o  = valid_q[1];
  assign busy_o  = valid_q != '0 || left_q != '0;
  assign valid_o = valid_q[6];
  assign beat_o  = beat_q[6];
  assign pair_o  = pair6_q;

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q && narrow_first) assert (left_q == '0);
`endif
  logic unused_plan;
  assign unused_plan = ^plan_i;
endmodule
