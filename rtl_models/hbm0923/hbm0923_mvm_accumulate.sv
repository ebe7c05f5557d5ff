// Groups to outputs: the sum of each group times its scale, exact, and one rounding to binary32 when the sum over groups is
// complete (docs/arithmetic.md). Of a beat with two groups both are added in the same cycle.
//
// The sum over groups is an integer of 103 bits in two words that take no carries of each other: one addition of 64 bits in each
// closes the loop, so that what comes before it may take any number of stages.
//
// Simulation's view has functions, a cycle each, whose results wait; synthesis' view is hbm0923_mvm_product_stages.
module hbm0923_mvm_accumulate
  import hbm0923_mvm_pkg::*;
  import fp_pkg::*;
  import fp_fn_pkg::*;
#(
  parameter int unsigned Tout           = 32,
  parameter int unsigned ArrayLatency   = 4,  // of what comes before; in simulation's view it waits here
  parameter int unsigned ProductLatency = 6,  // a group's sum times its scale, added
  parameter int unsigned RoundLatency   = 7,
  parameter bit          Stages         = fp_view_pkg::Stages
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // stage 3: sums of the array
  input  logic                    valid_i,
  input  beat_ctrl_t              ctrl_i,
  input  logic signed [63:0]      low_i      [Tout],
  input  logic signed [63:0]      high_i     [Tout],
  input  logic [Tout-1:0]         low_nan_i,
  input  logic [Tout-1:0]         low_pos_i,
  input  logic [Tout-1:0]         low_neg_i,
  input  logic [Tout-1:0]         high_nan_i,
  input  logic [Tout-1:0]         high_pos_i,
  input  logic [Tout-1:0]         high_neg_i,
  output logic                    scale_read_o,
  // stage 4: 16 scales a column, held until the next are read
  input  logic [Tout*HbmBits-1:0] scale_i,

  output logic                    valid_o,       // a cycle after outputs are complete
  output logic [31:0]             acc_o [Tout]   // of stages RoundLatency - 1 cycles later
);
  typedef logic signed [63:0] sums_t [Tout];     // assigned whole, as in hbm0923_mvm_array
  typedef fp_odd_t [Tout-1:0] odds_t;

  // ---- stage 3: a group's sum, and what of its lanes is not finite; of a pair also the second group's
  logic       step;
  odds_t      low_odd, high_odd;
  sums_t      sum_q, second_q;
  odds_t      odd4_q, second_odd4_q;
  logic       flagged4_q;
  logic       valid4_q, first4_q, last4_q, pair4_q;
  logic [3:0] lane4_q;

  assign step         = valid_i && ctrl_i.group_end;
  assign scale_read_o = step && ctrl_i.scale_load;

  for (genvar c = 0; c < Tout; c++) begin : gen_odd
    assign low_odd[c]  = '{nan: low_nan_i[c], pos: low_pos_i[c], neg: low_neg_i[c]};
    assign high_odd[c] = '{nan: high_nan_i[c], pos: high_pos_i[c], neg: high_neg_i[c]};
  end

  always_ff @(posedge clk_i) begin
    if (step) begin
      automatic sums_t sum = sum_q;
      for (int unsigned c = 0; c < Tout; c++) sum[c] = low_i[c] + (ctrl_i.pair ? 64'sd0 : high_i[c]);
      sum_q <= sum;
      if (ctrl_i.pair) second_q <= high_i;
      flagged4_q <= |{low_odd, high_odd};
      if (|{low_odd, high_odd}) begin
        odd4_q        <= odds_t'(ctrl_i.pair ? low_odd : low_odd | high_odd);
        second_odd4_q <= high_odd;
      end
      pair4_q  <= ctrl_i.pair;
      first4_q <= ctrl_i.acc_first;
      last4_q  <= ctrl_i.acc_last;
      lane4_q  <= ctrl_i.scale_lane;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid4_q <= 1'b0;
    else valid4_q <= step;
  end

  if (Stages) begin : gen_stages
    typedef struct packed {
      logic first, last;
    } add_t;
    add_t added_d, added;
    logic add, complete_q, valid_q;
    assign added_d = '{first: first4_q, last: last4_q};
    fp_cut #(.data_t(add_t), .Latency(ProductLatency - 1)) u_added (.clk_i, .en_i(1'b1), .d_i(added_d), .q_o(added));
    hbm0923_valid_delay #(.Latency(ProductLatency - 1)) u_add (.clk_i, .rst_ni, .valid_i(valid4_q), .valid_o(add));
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        complete_q <= 1'b0;
        valid_q    <= 1'b0;
      end else begin
        complete_q <= add && added.last;
        valid_q    <= complete_q;
      end
    end
    assign valid_o = valid_q;

    for (genvar c = 0; c < Tout; c++) begin : gen_column
      logic signed [50:0] sums [2];
      fp_odd_t            odds [2];
      assign sums[0] = 51'(sum_q[c]);
      assign sums[1] = 51'(second_q[c]);
      assign odds[0] = flagged4_q ? odd4_q[c] : '0;
      assign odds[1] = flagged4_q ? second_odd4_q[c] : '0;
      hbm0923_mvm_product_stages #(.ProductLatency(ProductLatency), .RoundLatency(RoundLatency)) u_product (
        .clk_i, .sum_i(sums), .odd_i(odds), .scales_i(scale_i[HbmBits*c+:HbmBits]), .lane_i(lane4_q), .pair_i(pair4_q),
        .add_i(add), .first_i(added.first), .y_o(acc_o[c])
      );
    end
  end else begin : gen_functions
    logic valid5_q, valid6_q, last5_q;

    // ---- stage 4: times the scale, and added
    sums_t low_q, high_q;
    always_ff @(posedge clk_i) begin
      if (valid4_q) begin
        automatic sums_t low = low_q, high = high_q;
        automatic fixed_product_t product;
        for (int unsigned c = 0; c < Tout; c++) begin
          product = fixed_times_fp16(sum_q[c], scale_i[HbmBits*c+16*32'(lane4_q)+:16]);
          low[c]  = (first4_q ? 64'sd0 : low_q[c]) + product.low;
          high[c] = (first4_q ? 64'sd0 : high_q[c]) + product.high;
        end
        if (pair4_q) begin
          for (int unsigned c = 0; c < Tout; c++) begin
            product = fixed_times_fp16(second_q[c], scale_i[HbmBits*c+16*32'(lane4_q|4'd1)+:16]);
            low[c]  = low[c] + product.low;
            high[c] = high[c] + product.high;
          end
        end
        low_q   <= low;
        high_q  <= high;
        last5_q <= last4_q;
      end
    end

    // What is not finite stays until the first group of the next output. Flags are touched only when there is one to set or to
    // forget.
    function automatic logic scales_odd(input logic [Tout*HbmBits-1:0] scale, input logic [3:0] lane);
      /*verilator no_inline_task*/
      logic odd;
      odd = 1'b0;
      for (int unsigned c = 0; c < Tout; c++) odd = odd | (scale[HbmBits*c+16*32'(lane)+10+:5] == 5'd31);
      return odd;
    endfunction

    function automatic odds_t products_odd(input logic flagged, input odds_t sum_odd, input sums_t sum,
                                           input logic [Tout*HbmBits-1:0] scale, input logic [3:0] lane);
      /*verilator no_inline_task*/
      odds_t odd;
      for (int unsigned c = 0; c < Tout; c++) begin
        odd[c] = fixed_odd_product(flagged ? sum_odd[c] : '0, sum[c], scale[HbmBits*c+16*32'(lane)+:16]);
      end
      return odd;
    endfunction

    odds_t odd_q, added;
    logic  found, found_q;
    always_comb begin
      found = 1'b0;
      if (valid4_q) begin
        found = flagged4_q || scales_odd(scale_i, lane4_q);
        if (pair4_q) found = found || scales_odd(scale_i, lane4_q | 4'd1);
      end
    end
    always_comb begin
      added = '0;
      if (found) begin
        added = products_odd(flagged4_q, odd4_q, sum_q, scale_i, lane4_q);
        if (pair4_q) added = odds_t'(added | products_odd(flagged4_q, second_odd4_q, second_q, scale_i, lane4_q | 4'd1));
      end
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        found_q <= 1'b0;
        odd_q   <= '0;
      end else if (valid4_q && (found || found_q)) begin
        found_q <= found || !first4_q;
        odd_q   <= odds_t'((first4_q ? '0 : odd_q) | added);
      end
    end

    // ---- stage 5: one rounding of the complete sum
    typedef logic [31:0] columns_t [Tout];
    columns_t acc_q;
    always_ff @(posedge clk_i) begin
      if (valid5_q && last5_q) begin
        automatic columns_t acc = acc_q;
        for (int unsigned c = 0; c < Tout; c++) acc[c] = fixed_products_to_fp32(low_q[c], high_q[c]);
        if (odd_q != '0) begin
          for (int unsigned c = 0; c < Tout; c++) if (odd_q[c] != '0) acc[c] = fp_odd_to_fp32(odd_q[c]);
        end
        acc_q <= acc;
      end
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid5_q <= 1'b0;
        valid6_q <= 1'b0;
      end else begin
        valid5_q <= valid4_q;
        valid6_q <= valid5_q && last5_q;
      end
    end

    // ---- as late as the stages are complete
    typedef logic [Tout-1:0][31:0] outputs_t;
    outputs_t complete, waited;
    logic     unused_busy;
    for (genvar c = 0; c < Tout; c++) begin : gen_wait
      assign complete[c] = acc_q[c];
      assign acc_o[c]    = waited[c];
    end
    fp_delay #(.data_t(outputs_t), .Latency(ArrayLatency + ProductLatency - 2)) u_wait (
      .clk_i, .rst_ni, .en_i(1'b1), .valid_i(valid6_q), .d_i(complete), .valid_o, .q_o(waited), .busy_o(unused_busy)
    );
  end

  // Fields that other modules use.
  logic unused_ctrl;
  assign unused_ctrl = ^ctrl_i;
endmodule
