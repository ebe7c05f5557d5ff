// A column's sum over groups in stages: a group's sum times its scale, of a pair also the second one's, added in a loop; and the
// rounding of the complete sum. The view of synthesis; simulation has the functions of hbm0923_mvm_accumulate.
module hbm0923_mvm_product_stages
  import hbm0923_mvm_pkg::*;
  import fp_pkg::*;
  import fp_fn_pkg::*;
#(
  parameter int unsigned ProductLatency = 6,
  parameter int unsigned RoundLatency   = 7
) (
  input  logic               clk_i,

  input  logic signed [50:0] sum_i    [2],   // of a pair both groups'
  input  fp_odd_t            odd_i    [2],
  input  logic [HbmBits-1:0] scales_i,
  input  logic [3:0]         lane_i,
  input  logic               pair_i,
  // ProductLatency - 1 cycles later
  input  logic               add_i,
  input  logic               first_i,

  output logic [31:0]        y_o             // RoundLatency cycles after the register of the sum
);
  localparam int unsigned Stages = 5;
  localparam int unsigned Cuts   = ProductLatency - 1;
  typedef struct {
    logic signed [63:0] x;
    logic               zero;
    fp_odd_t            odd;
    logic [15:0]        scale;
    fp16_unpacked_t     factor;
  } group_t;
  typedef struct {
    fixed_parts_t parts;
    fp_odd_t      odd;
  } parts_t;
  typedef struct {
    fixed_unplaced_t product;
    fp_odd_t         odd;
  } unplaced_t;
  typedef struct {
    logic signed [63:0] low, high;
    fp_odd_t            odd;
  } placed_t;

  placed_t placed [2];
  for (genvar g = 0; g < 2; g++) begin : gen_group
    // A group that is not there has no sum, and a scale of 0.
    logic [15:0] scale;
    group_t      group_d, group;
    assign scale   = (g == 0 || pair_i) ? scales_i[16*32'(lane_i|4'(g))+:16] : 16'd0;
    assign group_d = '{
      x: 64'(sum_i[g]), zero: sum_i[g] == 51'sd0, odd: (g == 0 || pair_i) ? odd_i[g] : '0, scale: scale, factor: fp16_unpack(scale)
    };
    fp_cut #(.data_t(group_t), .Stage(1), .Stages(Stages), .Latency(Cuts)) u_group (
      .clk_i, .en_i(1'b1), .d_i(group_d), .q_o(group)
    );

    parts_t parts_d, parts;
    assign parts_d = '{
      parts: fixed_parts(group.x, group.factor),
      odd: fixed_odd_product(group.odd, $signed({group.x[63], 62'd0, !group.zero}), group.scale)
    };
    fp_cut #(.data_t(parts_t), .Stage(2), .Stages(Stages), .Latency(Cuts)) u_parts (
      .clk_i, .en_i(1'b1), .d_i(parts_d), .q_o(parts)
    );

    unplaced_t unplaced_d, unplaced;
    assign unplaced_d = '{product: fixed_unplaced(parts.parts), odd: parts.odd};
    fp_cut #(.data_t(unplaced_t), .Stage(3), .Stages(Stages), .Latency(Cuts)) u_unplaced (
      .clk_i, .en_i(1'b1), .d_i(unplaced_d), .q_o(unplaced)
    );

    fixed_product_t place;
    placed_t        placed_d;
    assign place    = fixed_place(unplaced.product);
    assign placed_d = '{low: place.low, high: place.high, odd: unplaced.odd};
    fp_cut #(.data_t(placed_t), .Stage(4), .Stages(Stages), .Latency(Cuts)) u_placed (
      .clk_i, .en_i(1'b1), .d_i(placed_d), .q_o(placed[g])
    );
  end

  placed_t both_d, both, sum_q;
  assign both_d = '{
    low: placed[0].low + placed[1].low, high: placed[0].high + placed[1].high, odd: placed[0].odd | placed[1].odd
  };
  fp_cut #(.data_t(placed_t), .Stage(5), .Stages(Stages), .Latency(Cuts)) u_both (.clk_i, .en_i(1'b1), .d_i(both_d), .q_o(both));

  // The loop over an output's groups.
  always_ff @(posedge clk_i) if (add_i) begin
    sum_q.low  <= (first_i ? 64'sd0 : sum_q.low) + both.low;
    sum_q.high <= (first_i ? 64'sd0 : sum_q.high) + both.high;
    sum_q.odd  <= (first_i ? '0 : sum_q.odd) | both.odd;
  end
  fixed_pair_to_fp32_pipe #(.Latency(RoundLatency), .Split(32'(ProductSplit))) u_round (
    .clk_i, .en_i(1'b1), .low_i(sum_q.low), .high_i(sum_q.high), .special_i(fp_odd_to_fp32(sum_q.odd)), .y_o
  );
endmodule
