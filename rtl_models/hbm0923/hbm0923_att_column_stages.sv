// hbm0923_att_column with its arithmetic in stages: the same bits at its output, as many cycles later as its latencies say. The view
// of synthesis; tests run both.
//
// Pipelines move in every cycle; what is no pair's is never added to a sum.
module hbm0923_att_column_stages
  import hbm0923_att_pkg::*;
  import fp_pkg::*;
  import fp_fn_pkg::*;
#(
  parameter int unsigned Queries       = 1,
  parameter int unsigned DotLatency    = 5,
  parameter int unsigned RoundLatency  = 7,
  parameter int unsigned ScaleLatency  = 3,
  parameter int unsigned NarrowLatency = 2
) (
  input  logic                     clk_i,
  input  logic                     en_i,

  input  logic                     mask_i,
  input  logic [15:0]              lanes_i,
  input  logic [HbmBits-1:0]       w_i,
  input  att_lanes_t [Queries-1:0] x_i,             // behind the first of the dot's stages, which all columns share
  input  logic [Queries-1:0]       sum_i,
  input  logic                     sum_first_i,
  input  logic                     narrow_i,
  input  logic                     narrow_first_i,  // sums are complete; else the next of those that wait
  input  logic [31:0]              scale_i,

  output logic [15:0]              y_o
);
  typedef struct packed {
    logic signed [63:0] low, high;
    fp_odd_t            odd;
  } sum_t;
  typedef struct {
    dot_product_t product;
    fp_odd_t      odd;
  } product_t;
  typedef struct {
    dot_place_t place;
    fp_odd_t    odd;
  } place_t;
  localparam int unsigned Waiting = (Queries > 1) ? Queries - 1 : 1;

  function automatic place_t add(input place_t a, input place_t b);
    return '{place: '{low: a.place.low + b.place.low, high: a.place.high + b.place.high}, odd: a.odd | b.odd};
  endfunction
  function automatic place_t add4(input place_t terms [4]);
    return add(add(terms[0], terms[1]), add(terms[2], terms[3]));
  endfunction
  function automatic place_t fit(input place_t p);
    return '{place: dot_fit(p.place), odd: p.odd};
  endfunction

  // ---- 16 products and their sum: unpacked, multiplied, placed, added up four by four
  att_lanes_t w;
  fp_cut #(.data_t(att_lanes_t), .Stage(1), .Stages(DotStages), .Latency(DotLatency)) u_unpack (
    .clk_i, .en_i, .d_i(unpack_lanes(w_i, mask_i ? lanes_i : '1)), .q_o(w)
  );

  sum_t complete_q [Queries];
  for (genvar q = 0; q < Queries; q++) begin : gen_pair
    place_t placed [BeatLanes];
    for (genvar l = 0; l < BeatLanes; l++) begin : gen_lane
      product_t product_d, product;
      assign product_d = '{product: dot_product(x_i[q][l], w[l]), odd: fp16_odd_product(x_i[q][l], w[l])};
      fp_cut #(.data_t(product_t), .Stage(2), .Stages(DotStages), .Latency(DotLatency)) u_product (
        .clk_i, .en_i, .d_i(product_d), .q_o(product)
      );
      place_t place_d;
      assign place_d = '{place: dot_place(product.product), odd: product.odd};
      fp_cut #(.data_t(place_t), .Stage(3), .Stages(DotStages), .Latency(DotLatency)) u_place (
        .clk_i, .en_i, .d_i(place_d), .q_o(placed[l])
      );
    end
    place_t four [4], dot;
    for (genvar i = 0; i < 4; i++) begin : gen_four
      fp_cut #(.data_t(place_t), .Stage(4), .Stages(DotStages), .Latency(DotLatency)) u_four (
        .clk_i, .en_i, .d_i(add4(placed[4*i+:4])), .q_o(four[i])
      );
    end
    fp_cut #(.data_t(place_t), .Stage(5), .Stages(DotStages), .Latency(DotLatency)) u_sixteen (
      .clk_i, .en_i, .d_i(fit(add4(four))), .q_o(dot)
    );

    // The loop over a row's beats.
    always_ff @(posedge clk_i) if (sum_i[q]) begin
      complete_q[q].low  <= (sum_first_i ? 64'sd0 : complete_q[q].low) + dot.place.low;
      complete_q[q].high <= (sum_first_i ? 64'sd0 : complete_q[q].high) + dot.place.high;
      complete_q[q].odd  <= (sum_first_i ? '0 : complete_q[q].odd) | dot.odd;
    end
  end

  // ---- one pair a cycle: rounded, scaled, rounded
  sum_t wait_q [Waiting], sum;
  assign sum = narrow_first_i ? complete_q[0] : wait_q[0];
  always_ff @(posedge clk_i) if (narrow_i) begin
    if (narrow_first_i) begin
      for (int unsigned q = 0; q < Waiting; q++) wait_q[q] <= complete_q[(q+1)%Queries];
    end else begin
      for (int unsigned q = 0; q + 1 < Waiting; q++) wait_q[q] <= wait_q[q+1];
    end
  end

  logic [31:0] rounded, scaled;
  fixed_pair_to_fp32_pipe #(.Latency(RoundLatency)) u_round (
    .clk_i, .en_i, .low_i(sum.low), .high_i(sum.high), .special_i(fp_odd_to_fp32(sum.odd)), .y_o(rounded)
  );
  fp32_mul_short_pipe #(.Latency(ScaleLatency)) u_scale (.clk_i, .en_i, .a_i(rounded), .b_i(scale_i), .y_o(scaled));
  fp32_to_fp16_pipe #(.Latency(NarrowLatency)) u_narrow (.clk_i, .en_i, .x_i(scaled), .y_o);
endmodule
