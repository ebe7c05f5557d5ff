// The multiplier array: 64 inputs by Tout columns a cycle, exact.
//
// Activations are decoded once for all columns, to signed fixed point in units of 2^-24 (below 2^40); a weight is sign
// and 3-bit magnitude, so that a group of 128 products stays below 2^50. Infinities and NaNs count as 0 in the sums and
// leave flags a column and group. Operands are 64 bits wide and the sign is applied without a choice: what synthesis
// trims to 51 bits, simulation runs three times as fast. Arrays of registers are assigned whole: a simulator may queue
// every element that a loop assigns, and draws what a variable without a value begins with.
//
// A step of sparse weights takes the same multipliers a cycle later, with lanes that each column has chosen for itself.
//
// Simulation's view multiplies and adds in a cycle; synthesis' view, hbm0923_mvm_dot_stages, has its sums ArrayLatency - 1 cycles
// later.
module hbm0923_mvm_array
  import hbm0923_mvm_pkg::*;
  import fp_pkg::*;
#(
  parameter int unsigned Tout         = 32,
  parameter bit          Sparse       = 1'b0,
  parameter int unsigned ArrayLatency = 4,                    // products and their sum, of stages
  parameter bit          Stages       = fp_view_pkg::Stages,
  localparam int unsigned DatLanes = Sparse ? SparseLanes : BeatLanes
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // stage 1: activations read; weights are to be there in stage 2
  input  logic                    valid_i,
  input  beat_ctrl_t              ctrl_i,
  input  logic [63:0]             last_mask_i,
  input  logic [8:0]              last_lanes_i,
  input  logic [DatLanes*16-1:0]  dat_i,
  output logic                    wt_read_o,
  // stage 2
  input  logic [Tout*HbmBits-1:0] wt_i,
  input  logic [Tout*HbmBits-1:0] place_i,

  // stage 3, of sparse weights 4, of stages later: sums of the lower and the upper 32 lanes, over all beats of the group so far
  output logic                    valid_o,
  output beat_ctrl_t              ctrl_o,
  output logic signed [63:0]      low_o      [Tout],
  output logic signed [63:0]      high_o     [Tout],
  output logic [Tout-1:0]         low_nan_o,
  output logic [Tout-1:0]         low_pos_o,   // a positive infinity among the products
  output logic [Tout-1:0]         low_neg_o,
  output logic [Tout-1:0]         high_nan_o,
  output logic [Tout-1:0]         high_pos_o,
  output logic [Tout-1:0]         high_neg_o
);
  localparam int unsigned Half = BeatLanes / 2;

  // ---- stage 1: decode
  typedef logic signed [63:0] lanes_t [Half];
  lanes_t                      fixed_low_q, fixed_high_q;
  logic [BeatLanes*16-1:0]     masked;
  logic [BeatLanes-1:0]        special;
  logic [BeatLanes-1:0]        nan_q, inf_q, neg_q;
  logic                        special_q;
  logic                        valid_q;
  beat_ctrl_t                  ctrl_q;

  function automatic logic [BeatLanes*16-1:0] mask_lanes(input logic [BeatLanes*16-1:0] dat, input logic [63:0] mask);
    logic [BeatLanes*16-1:0] kept;
    for (int unsigned l = 0; l < BeatLanes; l++) kept[16*l+:16] = mask[l] ? dat[16*l+:16] : 16'd0;
    return kept;
  endfunction

  function automatic logic [BeatLanes-1:0] find_special(input logic [BeatLanes*16-1:0] dat);
    logic [BeatLanes-1:0] found;
    for (int unsigned l = 0; l < BeatLanes; l++) found[l] = dat[16*l+10+:5] == 5'd31;
    return found;
  endfunction

  logic [63:0] below, sparse_below;   // lanes of the last beat that are below CHin
  assign below = (Sparse && ctrl_i.kept != Dense) ? sparse_below : last_mask_i;

  always_comb begin
    masked  = dat_i[BeatLanes*16-1:0];
    special = '0;
    if (valid_i) begin
      if (ctrl_i.mask) masked = mask_lanes(dat_i[BeatLanes*16-1:0], below);
      special = find_special(masked);
    end
  end

  assign wt_read_o = valid_i;

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      automatic lanes_t low = fixed_low_q, high = fixed_high_q;
      for (int unsigned l = 0; l < Half; l++) begin
        low[l]  = fp16_to_fixed(masked[16*l+:16]);
        high[l] = fp16_to_fixed(masked[16*(Half+l)+:16]);
      end
      fixed_low_q  <= low;
      fixed_high_q <= high;
      special_q <= |special;
      if (|special) begin
        for (int unsigned l = 0; l < BeatLanes; l++) begin
          nan_q[l] <= special[l] && masked[16*l+:10] != 10'd0;
          inf_q[l] <= special[l] && masked[16*l+:10] == 10'd0;
          neg_q[l] <= masked[16*l+15];
        end
      end
      ctrl_q <= ctrl_i;
    end
  end

  // ---- stage 2: multiply and sum
`ifdef FLEET_FAST
  // The same sum with one product a lane: half of the host's instructions, and no circuit that anybody would build.
  localparam logic [63:0] Codes [16] = '{
    64'd0, 64'd1, 64'd2, 64'd3, 64'd4, 64'd5, 64'd6, 64'd7,
    64'd0, -64'd1, -64'd2, -64'd3, -64'd4, -64'd5, -64'd6, -64'd7
  };
  function automatic logic signed [63:0] dot(input lanes_t fixed, input logic [HbmBits/2-1:0] w);
    /*verilator no_inline_task*/
    logic [63:0] sum;
    sum = 64'd0;
    for (int unsigned l = 0; l < Half; l++) sum = sum + $unsigned(fixed[l]) * Codes[w[4*l+:4]];
    return $signed(sum);
  endfunction
`else
  function automatic logic signed [63:0] dot(input lanes_t fixed, input logic [HbmBits/2-1:0] w);
    /*verilator no_inline_task*/
    logic [63:0] sum, sign;
    sum = 64'd0;
    for (int unsigned l = 0; l < Half; l++) begin
      sign = 64'd0 - 64'(w[4*l+3]);
      sum  = sum + ((($unsigned(fixed[l]) * 64'(w[4*l+:3])) ^ sign) - sign);
    end
    return $signed(sum);
  endfunction
`endif

  // {NaN, +infinity, -infinity} among the products of 32 lanes.
  function automatic logic [2:0] flags(input logic [HbmBits/2-1:0] w, input logic [Half-1:0] nan,
                                       input logic [Half-1:0] inf, input logic [Half-1:0] neg);
    /*verilator no_inline_task*/
    logic [2:0] found;
    found = {|nan, 2'b00};
    for (int unsigned l = 0; l < Half; l++) begin
      if (inf[l]) begin
        if (w[4*l+:3] == 3'd0)         found[2] = 1'b1;
        else if (neg[l] ^ w[4*l+3])    found[0] = 1'b1;
        else                           found[1] = 1'b1;
      end
    end
    return found;
  endfunction

  // The lanes are the column's own or the same for all.
  function automatic logic signed [63:0] chosen_dot(input logic own, input logic [Half*64-1:0] chosen,
                                                    input lanes_t fixed, input logic [HbmBits/2-1:0] w);
    /*verilator no_inline_task*/
    logic [63:0] sum, minus, x;
    sum = 64'd0;
    for (int unsigned l = 0; l < Half; l++) begin
      minus = 64'd0 - 64'(w[4*l+3]);
      x     = own ? chosen[64*l+:64] : $unsigned(fixed[l]);
      sum   = sum + (((x * 64'(w[4*l+:3])) ^ minus) - minus);
    end
    return $signed(sum);
  endfunction

  logic               mul_valid;   // what is multiplied in this cycle
  beat_ctrl_t         mul_ctrl;
  logic               mul_special;
  typedef logic signed [63:0] sums_t [Tout];
  logic [Tout-1:0]    low_nan_q, low_pos_q, low_neg_q, high_nan_q, high_pos_q, high_neg_q;
  logic               flagged_q;
  logic               valid2_q;
  beat_ctrl_t         ctrl2_q;

  logic [2:0] low_flags [Tout];
  logic [2:0] high_flags [Tout];
  always_comb begin
    for (int unsigned c = 0; c < Tout; c++) begin
      low_flags[c]  = 3'd0;
      high_flags[c] = 3'd0;
    end
    if (valid_q && special_q) begin
      for (int unsigned c = 0; c < Tout; c++) begin
        low_flags[c]  = flags(wt_i[HbmBits*c+:HbmBits/2], nan_q[Half-1:0], inf_q[Half-1:0], neg_q[Half-1:0]);
        high_flags[c] = flags(wt_i[HbmBits*c+HbmBits/2+:HbmBits/2], nan_q[BeatLanes-1:Half], inf_q[BeatLanes-1:Half],
                              neg_q[BeatLanes-1:Half]);
      end
    end
  end

  logic [2:0]              low_found [Tout];
  logic [2:0]              high_found [Tout];
  logic [Tout*HbmBits-1:0] codes;   // of what is multiplied in this cycle
  if (Sparse) begin : gen_sparse
    logic                    own, own_special;
    beat_ctrl_t              own_ctrl;
    logic [Half*64-1:0]      own_low  [Tout];
    logic [Half*64-1:0]      own_high [Tout];
    logic [Tout*HbmBits-1:0] own_wt;
    logic [2:0]              own_low_found [Tout];
    logic [2:0]              own_high_found [Tout];

    hbm0923_mvm_select #(.Tout(Tout)) u_select (
      .clk_i,
      .rst_ni,
      .valid_i     (valid_i && ctrl_i.kept != Dense),
      .ctrl_i,
      .last_lanes_i,
      .dat_i       (dat_i[DatLanes*16-1:BeatLanes*16]),
      .mask_o      (sparse_below),
      .low_i       (fixed_low_q),
      .high_i      (fixed_high_q),
      .special_i   (special_q),
      .nan_i       (special_q ? nan_q : '0),
      .inf_i       (special_q ? inf_q : '0),
      .neg_i       (neg_q),
      .wt_i,
      .place_i,
      .valid_o     (own),
      .ctrl_o      (own_ctrl),
      .low_o       (own_low),
      .high_o      (own_high),
      .wt_o        (own_wt),
      .special_o   (own_special),
      .low_found_o (own_low_found),
      .high_found_o(own_high_found)
    );

    assign mul_valid   = own || (valid_q && ctrl_q.kept == Dense);
    assign mul_ctrl    = own ? own_ctrl : ctrl_q;
    assign mul_special = own ? own_special : special_q;
    always_comb begin
      for (int unsigned c = 0; c < Tout; c++) begin
        low_found[c]  = own ? own_low_found[c] : low_flags[c];
        high_found[c] = own ? own_high_found[c] : high_flags[c];
      end
    end

    assign codes = own ? own_wt : wt_i;
  end else begin : gen_dense
    assign sparse_below = '0;
    assign mul_valid    = valid_q;
    assign mul_ctrl     = ctrl_q;
    assign mul_special  = special_q;
    assign low_found    = low_flags;
    assign high_found   = high_flags;
    assign codes        = wt_i;
    logic unused_sparse;
    assign unused_sparse = ^{last_lanes_i, place_i};
  end

  logic       sum_valid, sum_special;   // what is added in this cycle to the sums of its group
  beat_ctrl_t sum_ctrl;
  logic [2:0] low_sum_found [Tout];
  logic [2:0] high_sum_found [Tout];
  if (Stages) begin : gen_stages
    localparam int unsigned Wait = ArrayLatency - 1;
    typedef struct packed {
      logic                 special;
      beat_ctrl_t           ctrl;
      logic [Tout-1:0][2:0] low, high;
    } found_t;
    found_t found_d, found;
    always_comb begin
      found_d.special = mul_special;
      found_d.ctrl    = mul_ctrl;
      for (int unsigned c = 0; c < Tout; c++) begin
        found_d.low[c]    = low_found[c];
        found_d.high[c]   = high_found[c];
        low_sum_found[c]  = found.low[c];
        high_sum_found[c] = found.high[c];
      end
    end
    fp_cut #(.data_t(found_t), .Latency(Wait)) u_found (.clk_i, .en_i(1'b1), .d_i(found_d), .q_o(found));
    hbm0923_valid_delay #(.Latency(Wait)) u_valid (.clk_i, .rst_ni, .valid_i(mul_valid), .valid_o(sum_valid));
    assign sum_special = found.special;
    assign sum_ctrl    = found.ctrl;

    for (genvar c = 0; c < Tout; c++) begin : gen_column
      logic signed [40:0] x [BeatLanes];
      for (genvar l = 0; l < Half; l++) begin : gen_lane
        if (Sparse) begin : gen_own
          assign x[l]      = $signed(gen_sparse.own ? gen_sparse.own_low[c][64*l+:41] : fixed_low_q[l][40:0]);
          assign x[Half+l] = $signed(gen_sparse.own ? gen_sparse.own_high[c][64*l+:41] : fixed_high_q[l][40:0]);
        end else begin : gen_shared
          assign x[l]      = 41'(fixed_low_q[l]);
          assign x[Half+l] = 41'(fixed_high_q[l]);
        end
      end
      hbm0923_mvm_dot_stages #(.ArrayLatency(ArrayLatency)) u_dot (
        .clk_i, .x_i(x), .w_i(codes[HbmBits*c+:HbmBits]), .sum_i(sum_valid), .first_i(sum_ctrl.group_first), .low_o(low_o[c]),
        .high_o(high_o[c])
      );
    end
  end else begin : gen_functions
    sums_t low_q, high_q;
    assign sum_valid      = mul_valid;
    assign sum_special    = mul_special;
    assign sum_ctrl       = mul_ctrl;
    assign low_sum_found  = low_found;
    assign high_sum_found = high_found;
    if (Sparse) begin : gen_own
      always_ff @(posedge clk_i) if (mul_valid) begin
        automatic sums_t low = low_q, high = high_q;
        for (int unsigned c = 0; c < Tout; c++) begin
          low[c]  = (mul_ctrl.group_first ? 64'sd0 : low_q[c])
                    + chosen_dot(gen_sparse.own, gen_sparse.own_low[c], fixed_low_q, codes[HbmBits*c+:HbmBits/2]);
          high[c] = (mul_ctrl.group_first ? 64'sd0 : high_q[c])
                    + chosen_dot(gen_sparse.own, gen_sparse.own_high[c], fixed_high_q, codes[HbmBits*c+HbmBits/2+:HbmBits/2]);
        end
        low_q  <= low;
        high_q <= high;
      end
    end else begin : gen_shared
      always_ff @(posedge clk_i) if (mul_valid) begin
        automatic sums_t low = low_q, high = high_q;
        for (int unsigned c = 0; c < Tout; c++) begin
          low[c]  = (mul_ctrl.group_first ? 64'sd0 : low_q[c]) + dot(fixed_low_q, codes[HbmBits*c+:HbmBits/2]);
          high[c] = (mul_ctrl.group_first ? 64'sd0 : high_q[c])
                    + dot(fixed_high_q, codes[HbmBits*c+HbmBits/2+:HbmBits/2]);
        end
        low_q  <= low;
        high_q <= high;
      end
    end
    assign low_o  = low_q;
    assign high_o = high_q;
  end
  always_ff @(posedge clk_i) if (sum_valid) ctrl2_q <= sum_ctrl;

  // Flags are touched only when there is one to set or one to forget.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      flagged_q  <= 1'b0;
      low_nan_q  <= '0;
      low_pos_q  <= '0;
      low_neg_q  <= '0;
      high_nan_q <= '0;
      high_pos_q <= '0;
      high_neg_q <= '0;
    end else if (sum_valid && (sum_special || flagged_q)) begin
      flagged_q <= sum_special || !sum_ctrl.group_first;
      for (int unsigned c = 0; c < Tout; c++) begin
        low_nan_q[c]  <= low_sum_found[c][2] || (!sum_ctrl.group_first && low_nan_q[c]);
        low_pos_q[c]  <= low_sum_found[c][1] || (!sum_ctrl.group_first && low_pos_q[c]);
        low_neg_q[c]  <= low_sum_found[c][0] || (!sum_ctrl.group_first && low_neg_q[c]);
        high_nan_q[c] <= high_sum_found[c][2] || (!sum_ctrl.group_first && high_nan_q[c]);
        high_pos_q[c] <= high_sum_found[c][1] || (!sum_ctrl.group_first && high_pos_q[c]);
        high_neg_q[c] <= high_sum_found[c][0] || (!sum_ctrl.group_first && high_neg_q[c]);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      valid2_q <= 1'b0;
    end else begin
      valid_q  <= valid_i;
      valid2_q <= sum_valid;
    end
  end

  assign valid_o    = valid2_q;
  assign ctrl_o     = ctrl2_q;
  assign low_nan_o  = low_nan_q;
  assign low_pos_o  = low_pos_q;
  assign low_neg_o  = low_neg_q;
  assign high_nan_o = high_nan_q;
  assign high_pos_o = high_pos_q;
  assign high_neg_o = high_neg_q;
endmodule
