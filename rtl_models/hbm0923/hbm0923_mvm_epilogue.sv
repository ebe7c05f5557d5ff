// Epilogue of Tout outputs: batch norm, residual, ReLU, conversion to FP16. Owns the rings that hold what it needs.
//
// An output comes here only when its operands have arrived and its result has a place, so nothing ever waits. Its operands leave
// the rings as it comes; what an instruction does not ask for is left out of its way. Simulation's view computes all in one cycle,
// and results wait as long as synthesis' view takes in stages.
module hbm0923_mvm_epilogue
  import hbm0923_mvm_pkg::*;
  import fp_pkg::*;
  import fp_fn_pkg::*;
#(
  parameter int unsigned Tout          = 32,
  parameter int unsigned BnDepth       = 32,  // beats, two a surface of 32 channels
  parameter int unsigned ResDepth      = 64,  // beats
  parameter int unsigned RoundLatency  = 7,   // of hbm0923_mvm_accumulate
  parameter int unsigned ScaleLatency  = 3,   // product by an FP16
  parameter int unsigned AddLatency    = 9,   // conversion, which is done before, and sum
  parameter int unsigned NarrowLatency = 2,   // rounding to FP16
  parameter bit          Stages        = fp_view_pkg::Stages
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               start_i,
  input  mvm_plan_t          plan_i,

  // operands from DDR, in order
  input  logic               bn_valid_i,
  input  logic               res_valid_i,
  input  logic [DdrBits-1:0] rdata_i,
  output logic [1:0]         bn_pop_o,
  output logic [1:0]         res_pop_o,

  // may an output of this block be issued?
  input  logic [19:0]        block_i,
  input  logic               output_i,   // one is
  output logic               ready_o,

  input  logic               valid_i,
  input  logic [31:0]        acc_i [Tout],   // of stages RoundLatency - 1 cycles later

  output logic               valid_o,
  output out_ctrl_t          out_o,
  output logic [Tout*16-1:0] y_o         // channels at or beyond CHout are +0
);
  localparam int unsigned Sub  = PixelLanes / Tout;  // blocks a surface
  localparam int unsigned SubW = $clog2(Sub);
  localparam int unsigned BnAw = $clog2(BnDepth) - 1;
  localparam int unsigned ResAw = $clog2(ResDepth);

  function automatic logic [4:0] lane_of(input logic [19:0] block, input int unsigned column);
    return 5'(32'(block) * Tout + column);
  endfunction

  // ---- rings of operands
  logic [2*DdrBits-1:0] bn_mem  [BnDepth/2];
  logic [DdrBits-1:0]   res_mem [ResDepth];
  logic [DdrBits-1:0]   bn_low_q;
  logic                 bn_odd_q;
  logic [19:0]          bn_surfaces_q;   // that have arrived
  logic [ResAw-1:0]     res_wr_q, res_rd_q;
  logic [ResAw:0]       res_here_q;      // arrived and not yet promised to an output
  logic                 bn_done, res_done;

  assign ready_o = (!plan_i.bn || bn_surfaces_q > (block_i >> SubW)) && (!plan_i.res || res_here_q != '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bn_odd_q      <= 1'b0;
      bn_surfaces_q <= '0;
      res_wr_q      <= '0;
      res_rd_q      <= '0;
      res_here_q    <= '0;
    end else if (start_i) begin
      bn_odd_q      <= 1'b0;
      bn_surfaces_q <= '0;
      res_wr_q      <= '0;
      res_rd_q      <= '0;
      res_here_q    <= '0;
    end else begin
      if (bn_valid_i) begin
        bn_odd_q <= !bn_odd_q;
        if (bn_odd_q) bn_surfaces_q <= bn_surfaces_q + 20'd1;
      end
      if (res_valid_i) res_wr_q <= res_wr_q + ResAw'(1'b1);
      if (res_done) res_rd_q <= res_rd_q + ResAw'(1'b1);
      if (plan_i.res) res_here_q <= res_here_q + (ResAw + 1)'(res_valid_i) - (ResAw + 1)'(output_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (bn_valid_i && !bn_odd_q) bn_low_q <= rdata_i;
    if (bn_valid_i && bn_odd_q) bn_mem[bn_surfaces_q[BnAw-1:0]] <= {rdata_i, bn_low_q};
    if (res_valid_i) res_mem[res_wr_q] <= rdata_i;
  end

  // ---- which output this is: they come in order
  out_ctrl_t out0_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out0_q <= '0;
    end else if (start_i) begin
      out0_q            <= '0;
      out0_q.last_token <= plan_i.tokens == 16'd1;
      out0_q.last_block <= plan_i.blocks == 20'd1;
    end else if (valid_i) begin
      out0_q.token      <= out0_q.last_token ? 16'd0 : out0_q.token + 16'd1;
      out0_q.last_token <= out0_q.last_token ? plan_i.tokens == 16'd1 : out0_q.token + 16'd2 == plan_i.tokens;
      if (out0_q.last_token) begin
        out0_q.block      <= out0_q.block + 20'd1;
        out0_q.last_block <= out0_q.block + 20'd2 == plan_i.blocks;
      end
    end
  end

  // ---- operands of each column
  logic [2*DdrBits-1:0] bn_words;
  logic [DdrBits-1:0]   res_pixel;
  logic [Tout-1:0][15:0] weight, bias, residual;
  logic [Tout-1:0]       keep;     // below CHout
  assign bn_words  = bn_mem[BnAw'(out0_q.block >> SubW)];
  assign res_pixel = res_mem[res_rd_q];
  assign bn_done   = valid_i && plan_i.bn && out0_q.last_token
                     && (lane_of(out0_q.block, Tout - 1) == 5'd31 || out0_q.last_block);
  assign res_done  = valid_i && plan_i.res;
  assign bn_pop_o  = {bn_done, 1'b0};
  assign res_pop_o = {1'b0, res_done};
  always_comb begin
    weight   = '0;
    bias     = '0;
    residual = '0;
    keep     = '0;
    if (valid_i) begin
      for (int unsigned c = 0; c < Tout; c++) begin
        {weight[c], bias[c]} = bn_words[32*32'(lane_of(out0_q.block, c))+:32];
        residual[c]          = res_pixel[16*32'(lane_of(out0_q.block, c))+:16];
        keep[c]              = 32'(out0_q.block) * Tout + c < 32'(plan_i.ch_out);
      end
    end
  end

  // ---- the way of an output: rounding, batch norm, residual, conversion
  localparam int unsigned Waits     = RoundLatency - 1;
  localparam int unsigned BnLatency = ScaleLatency + AddLatency - 1;
  localparam int unsigned ResLatency = (AddLatency - 1 > ScaleLatency) ? AddLatency - 1 : ScaleLatency;
  typedef struct packed {
    out_ctrl_t             out;
    logic [Tout-1:0]       keep;  // of stages
    logic [Tout-1:0][15:0] y;     // of functions
  } output_t;
  output_t    first_d, rounded, scaled, normed, added, last, result;
  logic       first_valid, rounded_valid, scaled_valid, normed_valid, added_valid, last_valid;
  logic [3:0] unused_busy;
  fp_delay #(.data_t(output_t), .Latency(Waits)) u_rounded (
    .clk_i, .rst_ni, .en_i(1'b1), .valid_i(first_valid), .d_i(first_d), .valid_o(rounded_valid), .q_o(rounded),
    .busy_o(unused_busy[0])
  );
  fp_delay #(.data_t(output_t), .Latency(BnLatency)) u_scaled (
    .clk_i, .rst_ni, .en_i(1'b1), .valid_i(rounded_valid && plan_i.bn), .d_i(rounded), .valid_o(scaled_valid), .q_o(scaled),
    .busy_o(unused_busy[1])
  );
  assign normed_valid = plan_i.bn ? scaled_valid : rounded_valid;
  assign normed       = plan_i.bn ? scaled : rounded;
  fp_delay #(.data_t(output_t), .Latency(ResLatency)) u_added (
    .clk_i, .rst_ni, .en_i(1'b1), .valid_i(normed_valid && plan_i.res), .d_i(normed), .valid_o(added_valid), .q_o(added),
    .busy_o(unused_busy[2])
  );
  assign last_valid = plan_i.res ? added_valid : normed_valid;
  assign last       = plan_i.res ? added : normed;

  if (Stages) begin : gen_stages
    assign first_valid = valid_i;
    assign first_d     = '{out: out0_q, keep: keep, y: '0};
    fp_delay #(.data_t(output_t), .Latency(NarrowLatency)) u_result (
      .clk_i, .rst_ni, .en_i(1'b1), .valid_i(last_valid), .d_i(last), .valid_o, .q_o(result), .busy_o(unused_busy[3])
    );
    // An operand waits as an FP16, but for the cycle before it is used.
    localparam int unsigned Wide = (Waits > 0) ? 1 : 0;
    for (genvar c = 0; c < Tout; c++) begin : gen_column
      logic [15:0] w, b, r;
      logic [31:0] wide_w, wide_b, wide_r, product, sum, res_product, res_sum, res, v;
      fp_cut #(.data_t(logic [15:0]), .Latency(Waits - Wide)) u_w (.clk_i, .en_i(1'b1), .d_i(weight[c]), .q_o(w));
      fp_cut #(.data_t(logic [15:0]), .Latency(Waits - Wide + ScaleLatency)) u_b (.clk_i, .en_i(1'b1), .d_i(bias[c]), .q_o(b));
      fp_cut #(.data_t(logic [15:0]), .Latency(Waits - Wide + BnLatency)) u_r (
        .clk_i, .en_i(1'b1), .d_i(residual[c]), .q_o(r)
      );
      fp_cut #(.data_t(logic [31:0]), .Latency(Wide)) u_wide_w (.clk_i, .en_i(1'b1), .d_i(fp16_to_fp32(w)), .q_o(wide_w));
      fp_cut #(.data_t(logic [31:0]), .Latency(Wide)) u_wide_b (.clk_i, .en_i(1'b1), .d_i(fp16_to_fp32(b)), .q_o(wide_b));
      fp_cut #(.data_t(logic [31:0]), .Latency(Wide)) u_wide_r (.clk_i, .en_i(1'b1), .d_i(fp16_to_fp32(r)), .q_o(wide_r));

      fp32_mul_short_pipe #(.Latency(ScaleLatency)) u_product (
        .clk_i, .en_i(1'b1), .a_i(acc_i[c]), .b_i(wide_w), .y_o(product)
      );
      fp32_add_pipe #(.Latency(AddLatency - 1)) u_sum (.clk_i, .en_i(1'b1), .a_i(product), .b_i(wide_b), .y_o(sum));

      logic [31:0] res_a, res_b;   // of the shorter one of both, which waits first
      fp32_mul_short_pipe #(.Latency(ScaleLatency)) u_res_product (
        .clk_i, .en_i(1'b1), .a_i(res_a), .b_i(res_b), .y_o(res_product)
      );
      fp_cut #(.data_t(logic [31:0]), .Latency(ResLatency - ScaleLatency)) u_res_a (.clk_i, .en_i(1'b1), .d_i(sum), .q_o(res_a));
      fp_cut #(.data_t(logic [31:0]), .Latency(ResLatency - ScaleLatency)) u_res_b (.clk_i, .en_i(1'b1), .d_i(wide_r), .q_o(res_b));
      logic [31:0] early_sum;
      fp32_add_pipe #(.Latency(AddLatency - 1)) u_res_sum (.clk_i, .en_i(1'b1), .a_i(sum), .b_i(wide_r), .y_o(early_sum));
      fp_cut #(.data_t(logic [31:0]), .Latency(ResLatency + 1 - AddLatency)) u_early (
        .clk_i, .en_i(1'b1), .d_i(early_sum), .q_o(res_sum)
      );
      assign res = plan_i.res_mul ? res_product : res_sum;
      assign v   = plan_i.res ? res : plan_i.bn ? sum : acc_i[c];

      logic [15:0] y;
      fp32_to_fp16_pipe #(.Latency(NarrowLatency)) u_narrow (.clk_i, .en_i(1'b1), .x_i(v), .y_o(y));
      // ReLU after the rounding: NaN has no sign here, and no -0 is left.
      assign y_o[16*c+:16] = (!result.keep[c] || (plan_i.relu && y[15])) ? 16'd0 : y;
    end
  end else begin : gen_functions
    function automatic logic [31:0] relu(input logic [31:0] x, input logic on);
      return (on && x[31] && x[30:0] <= 31'h7F80_0000) ? 32'd0 : x;
    endfunction

    output_t d_q;
    logic    valid_q;
    assign first_valid = valid_q;
    assign first_d     = d_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q <= 1'b0;
      else valid_q <= valid_i;
    end
    always_ff @(posedge clk_i) begin
      if (valid_i) begin
        d_q.out  <= out0_q;
        d_q.keep <= '0;
        for (int unsigned c = 0; c < Tout; c++) begin
          automatic logic [31:0] v = acc_i[c];
          if (plan_i.bn) v = fp32_add(fp32_mul_short(v, fp16_to_fp32(weight[c])), fp16_to_fp32(bias[c]));
          if (plan_i.res && plan_i.res_mul) v = fp32_mul_short(v, fp16_to_fp32(residual[c]));
          else if (plan_i.res) v = fp32_add(v, fp16_to_fp32(residual[c]));
          d_q.y[c] <= keep[c] ? fp32_to_fp16(relu(v, plan_i.relu)) : 16'd0;
        end
      end
    end
    fp_delay #(.data_t(output_t), .Latency(NarrowLatency - 1)) u_result (
      .clk_i, .rst_ni, .en_i(1'b1), .valid_i(last_valid), .d_i(last), .valid_o, .q_o(result), .busy_o(unused_busy[3])
    );
    assign y_o = (Tout*16)'(result.y);
  end
  assign out_o = result.out;

  if (PixelLanes % Tout != 0) begin : gen_check
    $error("Tout must divide 32");
  end
`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // What the rings hold, counted apart from the credits of the readers: no beat may meet one that is still needed.
  logic [31:0] bn_held_q, res_held_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bn_held_q  <= '0;
      res_held_q <= '0;
    end else if (start_i) begin
      bn_held_q  <= '0;
      res_held_q <= '0;
    end else begin
      if (bn_valid_i || bn_done) bn_held_q <= bn_held_q + 32'(bn_valid_i) - 32'(bn_pop_o);
      if (res_valid_i || res_done) res_held_q <= res_held_q + 32'(res_valid_i) - 32'(res_pop_o);
    end
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    assert (!(output_i && plan_i.res && res_here_q == '0));
    if (bn_valid_i) assert (bn_held_q < 32'(BnDepth));
    if (bn_done) assert (bn_held_q >= 32'd2);
    if (res_valid_i) assert (res_held_q < 32'(ResDepth));
    if (res_done) assert (res_held_q != '0);
  end
`endif
  // Fields of the plan that other modules use, and what one of the views needs.
  logic unused_fields;
  assign unused_fields = ^{plan_i, unused_busy, result};
endmodule
