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
  localparam int unsigned Waiting = (Queries > 1) ? Queries - 1 : 1;

  // A product, its place in a range of 16 places and that range, a bit set of each. Each range has a word of its own until 16 lanes
  // are added up: a word for all would take a multiplexer of its width in each lane.
  localparam int unsigned Ranges = 4;
  typedef struct packed {
    logic signed [22:0] product;
    logic [15:0]        place;
    logic [Ranges-1:0]  range;
    fp_odd_t            odd;
  } product_t;
  typedef struct packed {
    logic signed [37:0] product;
    logic [Ranges-1:0]  range;
    fp_odd_t            odd;
  } placed_t;
  typedef struct packed {
    logic [Ranges-1:0][41:0] words;  // two's complement
    fp_odd_t                 odd;
  } words_t;

  function automatic product_t product_of(input fp16_unpacked_t a, input fp16_unpacked_t b);
    dot_product_t p;
    logic         unused_bits;
    p           = dot_product(a, b);
    unused_bits = ^{p.exp[31:6], p.product[31:23]};
    return '{product: $signed(p.product[22:0]), place: 16'd1 << p.exp[3:0], range: 4'd1 << p.exp[5:4],
             odd: fp16_odd_product(a, b)};
  endfunction

  // Multiplied by its place: a shift in LUT would be a third of the lane, and DSPs are plenty.
  function automatic placed_t placed_of(input product_t p);
    return '{product: 38'(40'(p.product) * $signed(40'(p.place))), range: p.range, odd: p.odd};
  endfunction

  function automatic words_t add4(input words_t terms [4]);
    words_t found;
    for (int unsigned r = 0; r < Ranges; r++) begin
      found.words[r] = (terms[0].words[r] + terms[1].words[r]) + (terms[2].words[r] + terms[3].words[r]);
    end
    found.odd = (terms[0].odd | terms[1].odd) | (terms[2].odd | terms[3].odd);
    return found;
  endfunction

  // In the word of its range; the others have 0, which the additions' LUTs take in.
  function automatic words_t words_of(input placed_t p);
    words_t found;
    for (int unsigned r = 0; r < Ranges; r++) found.words[r] = p.range[r] ? $unsigned(42'(p.product)) : 42'd0;
    found.odd = p.odd;
    return found;
  endfunction

  function automatic logic signed [63:0] joined(input logic [41:0] low, input logic [41:0] high);
    return 64'($signed(low)) + (64'($signed(high)) <<< 16);
  endfunction

  // ---- 16 products and their sum: unpacked, multiplied, shifted, added up four by four
  att_lanes_t w;
  fp_cut #(.data_t(att_lanes_t), .Stage(1), .Stages(DotStages), .Latency(DotLatency)) u_unpack (
    .clk_i, .en_i, .d_i(unpack_lanes(w_i, mask_i ? lanes_i : '1)), .q_o(w)
  );

  sum_t complete_q [Queries];
  for (genvar q = 0; q < Queries; q++) begin : gen_pair
    words_t placed [BeatLanes];
    for (genvar l = 0; l < BeatLanes; l++) begin : gen_lane
      product_t product;
      placed_t  place;
      fp_cut #(.data_t(product_t), .Stage(2), .Stages(DotStages), .Latency(DotLatency)) u_product (
        .clk_i, .en_i, .d_i(product_of(x_i[q][l], w[l])), .q_o(product)
      );
      fp_cut #(.data_t(placed_t), .Stage(3), .Stages(DotStages), .Latency(DotLatency)) u_place (
        .clk_i, .en_i, .d_i(placed_of(product)), .q_o(place)
      );
      assign placed[l] = words_of(place);
    end
    words_t four [4], dot;
    for (genvar i = 0; i < 4; i++) begin : gen_four
      fp_cut #(.data_t(words_t), .Stage(4), .Stages(DotStages), .Latency(DotLatency)) u_four (
        .clk_i, .en_i, .d_i(add4(placed[4*i+:4])), .q_o(four[i])
      );
    end
    fp_cut #(.data_t(words_t), .Stage(5), .Stages(DotStages), .Latency(DotLatency)) u_sixteen (
      .clk_i, .en_i, .d_i(add4(four)), .q_o(dot)
    );

    // The loop over a row's beats. The two lowest bits of the lower word are always 0.
    logic signed [63:0] low, high;
    assign low  = joined(dot.words[0], dot.words[1]);
    assign high = joined(dot.words[2], dot.words[3]);
    always_ff @(posedge clk_i) if (sum_i[q]) begin
      complete_q[q].low  <= (sum_first_i ? 64'sd0 : complete_q[q].low) + (low >>> 2);
      complete_q[q].high <= (sum_first_i ? 64'sd0 : complete_q[q].high) + high;
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
