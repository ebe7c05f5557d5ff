// The array: Ports columns of Queries times 16 FP16 x FP16 multipliers with their exact sums, and what all columns share.
//
// Stage 1 unpacks the half pixel of every pair's input. From stage 2 on 16 products are made and added up, then added to the row's
// sum; complete sums are rounded to binary32, scaled, rounded to FP16 and handed over, one pair a cycle, so rows are complete at
// least as many cycles apart as they have pairs. It never stops: room for what comes out has been promised.
//
// In simulation a column takes a cycle for each of these, and what it hands over waits for the rest of the latencies.
module hbm0923_att_array
  import hbm0923_att_pkg::*;
#(
  parameter int unsigned Ports         = 32,
  parameter int unsigned Queries       = 1,
  // Cycles of 16 products and their sum, of rounding, of scaling, of rounding to FP16.
  parameter int unsigned DotLatency    = 5,
  parameter int unsigned RoundLatency  = 7,
  parameter int unsigned ScaleLatency  = 3,
  parameter int unsigned NarrowLatency = 2,
  parameter bit          Stages        = fp_view_pkg::Stages
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
  // Cycles of the columns of this view; the stage that adds to a row's sum, that rounds it, that hands over; what is left to wait.
  localparam int unsigned Dot   = Stages ? DotLatency : 1;
  localparam int unsigned Round = Stages ? RoundLatency : 1;
  localparam int unsigned Scale = Stages ? ScaleLatency + NarrowLatency : 1;
  localparam int unsigned Sum   = 2 + Dot, Narrow = Sum + 1, Hand = Narrow + Round + Scale;
  localparam int unsigned Wait  = (DotLatency - Dot) + (RoundLatency - Round) + (ScaleLatency + NarrowLatency - Scale);

  typedef struct packed {
    att_beat_t  beat;
    logic [3:0] pair;
  } row_t;
  typedef struct packed {
    row_t                row;
    logic [Ports*16-1:0] y;
  } handed_t;
  logic      [Hand:1]        valid_q;
  att_beat_t [Narrow:1]      beat_q;
  row_t      [Hand:Narrow+1] row_q;
  att_lanes_t [Queries-1:0]  x_q;

  // Pairs of a beat, a bit each.
  function automatic logic [Queries-1:0] pairs(input logic valid, input logic [3:0] count);
    logic [Queries-1:0] each;
    for (int unsigned q = 0; q < Queries; q++) each[q] = valid && q < 32'(count);
    return each;
  endfunction

  // Stage Narrow has the pairs of a row in turn.
  logic       narrow_first, narrow;
  logic [3:0] left_q;  // pairs of the row that wait
  row_t       row;
  assign narrow_first = valid_q[Narrow] && beat_q[Narrow].last;
  assign narrow       = narrow_first || left_q != '0;
  assign row          = narrow_first ? '{beat: beat_q[Narrow], pair: 4'd0}
                                     : '{beat: row_q[Narrow+1].beat, pair: row_q[Narrow+1].pair + 4'd1};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      left_q  <= '0;
    end else if (enable_i) begin
      valid_q <= {valid_q[Hand-1:Narrow+1], narrow, valid_q[Narrow-1:1], step_i};
      if (narrow_first) left_q <= beat_q[Narrow].pairs - 4'd1;
      else if (left_q != '0) left_q <= left_q - 4'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      beat_q[1] <= beat_i;
      for (int unsigned i = 2; i <= Narrow; i++) beat_q[i] <= beat_q[i-1];
      row_q[Narrow+1] <= row;
      for (int unsigned i = Narrow + 2; i <= Hand; i++) row_q[i] <= row_q[i-1];
    end
    if (valid_q[1]) begin
      for (int unsigned q = 0; q < Queries; q++) begin
        x_q[q] <= unpack_lanes(beat_q[1].high ? pixel_i[q][HbmBits+:HbmBits] : pixel_i[q][0+:HbmBits],
                               beat_q[1].mask ? plan_i.mask : '1);
      end
    end
  end

  logic [Queries-1:0]  sum;
  logic [Ports*16-1:0] y;
  assign sum = pairs(valid_q[Sum], beat_q[Sum].pairs);

  if (Stages) begin : gen_stages
    att_lanes_t [Queries-1:0] x;
    fp_cut #(.data_t(att_lanes_t [Queries-1:0]), .Stage(1), .Stages(DotStages), .Latency(DotLatency)) u_x (
      .clk_i, .en_i(enable_i), .d_i(x_q), .q_o(x)
    );
    for (genvar p = 0; p < Ports; p++) begin : gen_column
      hbm0923_att_column_stages #(
        .Queries      (Queries),
        .DotLatency   (DotLatency),
        .RoundLatency (RoundLatency),
        .ScaleLatency (ScaleLatency),
        .NarrowLatency(NarrowLatency)
      ) u_column (
        .clk_i,
        .en_i          (enable_i),
        .mask_i        (beat_q[2].mask),
        .lanes_i       (plan_i.mask),
        .w_i           (w_i[p]),
        .x_i           (x),
        .sum_i         (sum),
        .sum_first_i   (beat_q[Sum].first),
        .narrow_i      (narrow),
        .narrow_first_i(narrow_first),
        .scale_i       (plan_i.scale),
        .y_o           (y[16*p+:16])
      );
    end
  end else begin : gen_functions
    logic [Queries-1:0] dot;
    assign dot = pairs(valid_q[2], beat_q[2].pairs);
    for (genvar p = 0; p < Ports; p++) begin : gen_column
      hbm0923_att_column #(.Queries(Queries)) u_column (
        .clk_i,
        .dot_i         (dot),
        .mask_i        (beat_q[2].mask),
        .lanes_i       (plan_i.mask),
        .x_i           (x_q),
        .w_i           (w_i[p]),
        .sum_i         (sum),
        .sum_first_i   (beat_q[Sum].first),
        .narrow_i      (narrow),
        .narrow_first_i(narrow_first),
        .round_i       (valid_q[Narrow+1]),
        .scale_i       (plan_i.scale),
        .y_o           (y[16*p+:16])
      );
    end
  end

  handed_t handed;
  logic    waiting;
  fp_delay #(.data_t(handed_t), .Latency(Wait)) u_wait (
    .clk_i,
    .rst_ni,
    .en_i   (enable_i),
    .valid_i(valid_q[Hand]),
    .d_i    ('{row: row_q[Hand], y: y}),
    .valid_o,
    .q_o    (handed),
    .busy_o (waiting)
  );

  assign read_o = valid_q[1];
  assign busy_o = valid_q != '0 || left_q != '0 || waiting;
  assign beat_o = handed.row.beat;
  assign pair_o = handed.row.pair;
  assign y_o    = handed.y;

  if (DotLatency == 0 || RoundLatency == 0 || ScaleLatency == 0 || NarrowLatency == 0) begin : gen_check
    $error("latencies are at least 1");
  end
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
