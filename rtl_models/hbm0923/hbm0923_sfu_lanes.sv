// The last pass of norm, pos_emb and act, 32 lanes: products, a sum and one rounding to FP16.
//
//   norm     y = d * factor * gamma + beta      d: x, or C * x less the row's sum, rounded
//   pos_emb  y = x * cos -+ x' * sin            x': the other lane of the pair
//   act      y = x * slope + offset             of the segment that x lies in
//
// What an instruction does not ask for is left out of its way. Simulation's view computes all in one step, and results wait as long as
// synthesis' view takes in stages.
module hbm0923_sfu_lanes
  import fp_pkg::*;
  import fp_fn_pkg::*;
  import hbm0923_sfu_plan_pkg::*;
  import hbm0923_sfu_norm_pkg::*;
  import hbm0923_sfu_act_pkg::*;
#(
  parameter int unsigned ScaleLatency  = 3,  // product by an FP16; by a binary32 a step more
  parameter int unsigned AddLatency    = 9,  // conversion, which is done before, and sum
  parameter int unsigned NarrowLatency = 2,  // rounding to FP16
  parameter bit          Stages        = fp_view_pkg::Stages
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         step_i,
  input  sfu_plan_t    plan_i,      // stands still

  input  logic         valid_i,     // a beat is taken
  input  logic [5:0]   lanes_i,     // that count
  input  row_sum_t     sum_i,
  input  logic [31:0]  factor_i,
  input  logic [511:0] data_i,      // the cycle after, as are the next two
  input  logic [511:0] coef_low_i,
  input  logic [511:0] coef_high_i,

  output logic         valid_o,     // for one cycle
  output logic [511:0] data_o,
  output logic         busy_o
);
  logic                 norm, layer, pos, act;
  logic [CountBits-1:0] count;
  assign norm  = plan_i.kind == KindNorm;
  assign layer = norm && plan_i.layer;
  assign pos   = plan_i.kind == KindPosEmb;
  assign act   = plan_i.kind == KindAct;
  assign count = plan_i.lanes[CountBits-1:0];

  // ---- a beat, and what its row has
  logic        taken_q;
  logic [5:0]  lanes_q;
  row_sum_t    sum_q;
  logic [31:0] factor_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) taken_q <= 1'b0;
    else if (step_i) taken_q <= valid_i;
  end
  always_ff @(posedge clk_i) if (valid_i) begin
    lanes_q  <= lanes_i;
    factor_q <= factor_i;
    if (layer) sum_q <= sum_i;
  end

  logic [31:0][15:0] gamma, beta;
  for (genvar i = 0; i < 16; i++) begin : gen_words
    assign {gamma[i], beta[i]}       = coef_low_i[32*i+:32];
    assign {gamma[i+16], beta[i+16]} = coef_high_i[32*i+:32];
  end

  // ---- the way of a beat: one step for all, then what its kind asks for, sum and rounding
  typedef struct packed {
    logic [5:0]   lanes;  // of stages
    logic [511:0] y;      // of functions
  } result_t;
  result_t    first, pieces, deviations, factors, scaled, d_piece, d_deviation, d_factor, d_scaled, result;
  logic       first_valid, pieces_valid, deviations_valid, factors_valid, scaled_valid, result_valid;
  logic       v_piece, v_deviation, v_factor, v_scaled;
  logic [4:0] busy;
  fp_delay #(.data_t(result_t), .Latency(PieceSteps)) u_pieces (
    .clk_i, .rst_ni, .en_i(step_i), .valid_i(first_valid && act), .d_i(first), .valid_o(pieces_valid), .q_o(pieces), .busy_o(busy[0])
  );
  assign {v_piece, d_piece} = act ? {pieces_valid, pieces} : {first_valid, first};
  fp_delay #(.data_t(result_t), .Latency(DeviationSteps - 1)) u_deviations (
    .clk_i, .rst_ni, .en_i(step_i), .valid_i(v_piece && layer), .d_i(d_piece), .valid_o(deviations_valid), .q_o(deviations),
    .busy_o(busy[1])
  );
  assign {v_deviation, d_deviation} = layer ? {deviations_valid, deviations} : {v_piece, d_piece};
  fp_delay #(.data_t(result_t), .Latency(ScaleLatency + 1)) u_factors (
    .clk_i, .rst_ni, .en_i(step_i), .valid_i(v_deviation && !act), .d_i(d_deviation), .valid_o(factors_valid), .q_o(factors),
    .busy_o(busy[2])
  );
  assign {v_factor, d_factor} = !act ? {factors_valid, factors} : {v_deviation, d_deviation};
  fp_delay #(.data_t(result_t), .Latency(ScaleLatency)) u_scaled (
    .clk_i, .rst_ni, .en_i(step_i), .valid_i(v_factor && !pos), .d_i(d_factor), .valid_o(scaled_valid), .q_o(scaled), .busy_o(busy[3])
  );
  assign {v_scaled, d_scaled} = !pos ? {scaled_valid, scaled} : {v_factor, d_factor};
  fp_delay #(.data_t(result_t), .Latency(AddLatency - 1 + NarrowLatency)) u_result (
    .clk_i, .rst_ni, .en_i(step_i), .valid_i(v_scaled), .d_i(d_scaled), .valid_o(result_valid), .q_o(result), .busy_o(busy[4])
  );
  assign valid_o = step_i && result_valid;

  logic first_valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) first_valid_q <= 1'b0;
    else if (step_i) first_valid_q <= taken_q;
  end
  assign first_valid = first_valid_q;
  assign busy_o      = taken_q || first_valid_q || busy != '0;

  if (Stages) begin : gen_stages
    logic [5:0] first_lanes_q;
    always_ff @(posedge clk_i) if (step_i && taken_q) first_lanes_q <= lanes_q;
    assign first = '{lanes: first_lanes_q, y: '0};

    // What waits for all lanes: the table of an activation, the row's factor and its sum.
    keys_t        begins_q;
    logic [15:0]  flats_q;
    logic [255:0] slopes_q [2];
    logic [255:0] offsets;
    row_sum_t     sum;
    logic [31:0]  soon_factor, late_factor;
    always_ff @(posedge clk_i) if (step_i && act) begin
      begins_q    <= table_keys(coef_low_i[255:0]);
      slopes_q[0] <= coef_low_i[511:256];
      slopes_q[1] <= slopes_q[0];
      flats_q     <= flat(slopes_q[0]);
    end
    fp_cut #(.data_t(logic [255:0]), .Latency(2)) u_offsets (.clk_i, .en_i(step_i), .d_i(coef_high_i[255:0]), .q_o(offsets));
    fp_cut #(.data_t(row_sum_t), .Latency(DifferenceSteps - 1)) u_sum (.clk_i, .en_i(step_i), .d_i(sum_q), .q_o(sum));
    fp_cut #(.data_t(logic [31:0])) u_soon_factor (.clk_i, .en_i(step_i), .d_i(factor_q), .q_o(soon_factor));
    fp_cut #(.data_t(logic [31:0]), .Latency(DeviationSteps - 1)) u_late_factor (
      .clk_i, .en_i(step_i), .d_i(soon_factor), .q_o(late_factor)
    );

    logic [31:0] wide [32];
    for (genvar i = 0; i < 32; i++) begin : gen_lane
      logic [15:0] y;
      hbm0923_sfu_lane_stages #(
        .ScaleLatency(ScaleLatency), .AddLatency(AddLatency), .NarrowLatency(NarrowLatency), .Negated(i % 2 == 0)
      ) u_lane (
        .clk_i, .en_i(step_i), .norm_i(norm), .layer_i(layer), .act_i(act), .count_i(count), .x_i(data_i[16*i+:16]),
        .cos_i(coef_low_i[32*(i/2)+:16]), .sin_i(coef_low_i[32*(i/2)+16+:16]), .gamma_i(gamma[i]), .beta_i(beta[i]),
        .begins_i(begins_q), .flats_i(flats_q), .slopes_i(slopes_q[1]), .offsets_i(offsets), .sum_i(sum),
        .factor_i(layer ? late_factor : soon_factor), .wide_o(wide[i]), .other_i(wide[i^1]), .y_o(y)
      );
      assign data_o[16*i+:16] = (6'(i) < result.lanes) ? y : 16'd0;
    end
  end else begin : gen_functions
    function automatic logic [15:0] normed(input logic [31:0] d, input logic [31:0] factor, input logic [15:0] scale,
                                           input logic [15:0] offset);
      return fp32_to_fp16(fp32_add(fp32_mul_short(fp32_mul_ftz(d, factor), fp16_to_fp32(scale)), fp16_to_fp32(offset)));
    endfunction
    function automatic logic [15:0] rotated(input logic [15:0] x, input logic [15:0] cos, input logic [15:0] other,
                                            input logic [15:0] sin, input logic negated);
      logic [31:0] product;
      product = fp32_mul_short(fp16_to_fp32(other), fp16_to_fp32(sin));
      return fp32_to_fp16(fp32_add(fp32_mul_short(fp16_to_fp32(x), fp16_to_fp32(cos)), {product[31] ^ negated, product[30:0]}));
    endfunction
    function automatic logic [15:0] activated(input keys_t begins, input logic [255:0] slopes, input logic [255:0] offsets,
                                              input logic [15:0] x);
      /*verilator no_inline_task*/
      piece_t p;
      p = piece(begun(begins, lane_key(x)), flat(slopes), slopes, offsets, x);
      return fp32_to_fp16(fp32_add(fp32_mul_short(fp16_to_fp32(p.x), fp16_to_fp32(p.slope)), fp16_to_fp32(p.offset)));
    endfunction

    logic [511:0] y_q;
    always_ff @(posedge clk_i) if (step_i && taken_q) begin
      automatic keys_t begins = '0;
      if (act) begins = table_keys(coef_low_i[255:0]);
      // Lane by lane: of a whole array, a simulator may keep a shadow that it copies in every cycle.
      for (int unsigned i = 0; i < 32; i++) begin
        automatic logic [15:0] x = data_i[16*i+:16];
        if (6'(i) >= lanes_q) y_q[16*i+:16] <= 16'd0;
        else if (act) y_q[16*i+:16] <= activated(begins, coef_low_i[511:256], coef_high_i[255:0], x);
        else if (pos) begin
          y_q[16*i+:16] <= rotated(
            x, coef_low_i[32*(i/2)+:16], data_i[16*(i^1)+:16], coef_low_i[32*(i/2)+16+:16], i % 2 == 0
          );
        end else begin
          y_q[16*i+:16] <= normed(layer ? word_to_fp32(deviation(x, count, sum_q)) : fp16_to_fp32(x), factor_q, gamma[i], beta[i]);
        end
      end
    end
    assign first  = '{lanes: '0, y: y_q};
    assign data_o = result.y;
  end

  if (ScaleLatency == 0 || AddLatency == 0 || NarrowLatency == 0) begin : gen_check
    $error("latencies are at least 1");
  end
  logic unused_fields;
  assign unused_fields = ^{plan_i, result};
endmodule
