// Epilogue of Tout outputs: batch norm, residual, ReLU, conversion to FP16. Owns the rings that hold what it needs.
//
// An output comes here only when its operands have arrived and its result has a place, so no stage ever waits.
module hbm0923_mvm_epilogue
  import hbm0923_mvm_pkg::*;
  import fp_pkg::*;
#(
  parameter int unsigned Tout     = 32,
  parameter int unsigned BnDepth  = 32,  // beats, two a surface of 32 channels
  parameter int unsigned ResDepth = 64   // beats
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
  input  logic [31:0]        acc_i [Tout],

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
  out_ctrl_t out0_q, out1_q, out2_q, out3_q, out4_q;
  logic      valid1_q, valid2_q, valid3_q, valid4_q;

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

  // ---- stage 0: times the batch norm's weight
  logic [2*DdrBits-1:0] bn_words;
  logic [31:0]          v1_q [Tout];
  logic [15:0]          bias_q [Tout];
  assign bn_words   = bn_mem[BnAw'(out0_q.block >> SubW)];
  assign bn_done    = valid_i && plan_i.bn && out0_q.last_token
                      && (lane_of(out0_q.block, Tout - 1) == 5'd31 || out0_q.last_block);
  assign bn_pop_o   = {bn_done, 1'b0};

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      out1_q <= out0_q;
      if (plan_i.bn) begin
        for (int unsigned c = 0; c < Tout; c++) begin
          v1_q[c]   <= fp32_mul(acc_i[c], fp16_to_fp32(bn_words[32*32'(lane_of(out0_q.block, c))+16+:16]));
          bias_q[c] <= bn_words[32*32'(lane_of(out0_q.block, c))+:16];
        end
      end else begin
        for (int unsigned c = 0; c < Tout; c++) v1_q[c] <= acc_i[c];
      end
    end
  end

  // ---- stage 1: plus its bias
  logic [31:0] v2_q [Tout];
  always_ff @(posedge clk_i) begin
    if (valid1_q) begin
      out2_q <= out1_q;
      if (plan_i.bn) begin
        for (int unsigned c = 0; c < Tout; c++) v2_q[c] <= fp32_add(v1_q[c], fp16_to_fp32(bias_q[c]));
      end else begin
        for (int unsigned c = 0; c < Tout; c++) v2_q[c] <= v1_q[c];
      end
    end
  end

  // ---- stage 2: plus or times the residual
  logic [DdrBits-1:0] res_pixel;
  logic [31:0]        v3_q [Tout];
  assign res_pixel = res_mem[res_rd_q];
  assign res_done  = valid2_q && plan_i.res;
  assign res_pop_o = {1'b0, res_done};

  always_ff @(posedge clk_i) begin
    if (valid2_q) begin
      out3_q <= out2_q;
      if (plan_i.res && plan_i.res_mul) begin
        for (int unsigned c = 0; c < Tout; c++)
          v3_q[c] <= fp32_mul(v2_q[c], fp16_to_fp32(res_pixel[16*32'(lane_of(out2_q.block, c))+:16]));
      end else if (plan_i.res) begin
        for (int unsigned c = 0; c < Tout; c++)
          v3_q[c] <= fp32_add(v2_q[c], fp16_to_fp32(res_pixel[16*32'(lane_of(out2_q.block, c))+:16]));
      end else begin
        for (int unsigned c = 0; c < Tout; c++) v3_q[c] <= v2_q[c];
      end
    end
  end

  // ---- stage 3: ReLU (NaN stays, -0 becomes +0), conversion, pad lanes
  logic [Tout*16-1:0] y_q;
  function automatic logic [31:0] relu(input logic [31:0] x, input logic on);
    return (on && x[31] && x[30:0] <= 31'h7F80_0000) ? 32'd0 : x;
  endfunction

  always_ff @(posedge clk_i) begin
    if (valid3_q) begin
      out4_q <= out3_q;
      for (int unsigned c = 0; c < Tout; c++) begin
        y_q[16*c+:16] <= (32'(out3_q.block) * Tout + c < 32'(plan_i.ch_out)) ? fp32_to_fp16(relu(v3_q[c], plan_i.relu)) : 16'd0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
      valid4_q <= 1'b0;
    end else begin
      valid1_q <= valid_i;
      valid2_q <= valid1_q;
      valid3_q <= valid2_q;
      valid4_q <= valid3_q;
    end
  end

  assign valid_o = valid4_q;
  assign out_o   = out4_q;
  assign y_o     = y_q;

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
  // Fields of the plan that other modules use.
  logic unused_plan;
  assign unused_plan = ^plan_i;
endmodule
