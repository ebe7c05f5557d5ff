// The last pass: 32 lanes of add, multiply, multiply, add and one rounding to FP16, which every instruction of the SFU is
// made of. Six steps.
//
//             step 1                    step 2         step 3           step 4
//   norm      d = x - mean              u = d * r      t = u * gamma    z = t + beta
//   softmax   e                         u = e * R                       z = u
//   pos_emb   x                         u = x * cos    t = x' * sin     z = u -+ t       x': the other lane of the pair
//   act       x, its segment's k and b  u = x * k                       z = u + b
module hbm0923_sfu_lanes
  import fp_pkg::*;
  import hbm0923_sfu_plan_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         step_i,
  input  sfu_plan_t    plan_i,      // stands still

  input  logic         valid_i,     // a beat is taken
  input  logic [5:0]   lanes_i,     // that count
  input  logic [31:0]  mean_i,
  input  logic [31:0]  root_i,
  input  logic [511:0] data_i,      // the cycle after, as are the next three
  input  logic [1023:0] e_i,
  input  logic [511:0] coef_low_i,
  input  logic [511:0] coef_high_i,

  output logic         valid_o,     // for one cycle
  output logic [511:0] data_o,
  output logic         busy_o
);
  logic norm, softmax, pos, act;
  assign norm    = plan_i.kind == KindNorm;
  assign softmax = plan_i.kind == KindSoftmax;
  assign pos     = plan_i.kind == KindPosEmb;
  assign act     = plan_i.kind == KindAct;

  logic [5:0] valid_q;
  logic [5:0] lanes_q [5];
  logic [31:0] mean_q;
  logic [31:0] root_q [2];
  assign busy_o = |valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (step_i) valid_q <= {valid_q[4:0], valid_i};
  end

  function automatic logic not_above(input logic [15:0] a, input logic [15:0] b);
    if (a[14:0] > 15'h7C00 || b[14:0] > 15'h7C00) return 1'b0;
    if (a[14:0] == 15'd0 && b[14:0] == 15'd0) return 1'b1;
    if (a[15] != b[15]) return a[15];
    return a[15] ? a[14:0] >= b[14:0] : a[14:0] <= b[14:0];
  endfunction
  function automatic logic [15:0] at16(input logic [255:0] x, input logic [3:0] i);
    return x[{i, 4'd0}+:16];
  endfunction
  // The last segment that begins at or below v: whether it is flat (b is the result), its k and its b.
  function automatic logic [32:0] piece(input logic [511:0] begins_k, input logic [255:0] bs, input logic [15:0] v);
    /*verilator no_inline_task*/
    logic [3:0]  j;
    logic [15:0] k;
    j = 4'd0;
    for (int unsigned i = 0; i < 16; i++) if (not_above(begins_k[16*i+:16], v)) j = 4'(i);
    k = at16(begins_k[511:256], j);
    return {k[14:0] == 15'd0 && v[14:0] <= 15'h7C00, k, at16(bs, j)};
  endfunction

  logic [31:0] a1_q [32];  // step 1
  logic [15:0] f1_q [32];  // first factor, FP16
  logic [15:0] g1_q [32];  // second
  logic [15:0] b1_q [32];  // summand
  logic [31:0] flat1_q, flat2_q, flat3_q;  // act: k is zero and v a number, the result is b
  logic [31:0] u2_q [32];
  logic [31:0] a2_q [32];
  logic [15:0] g2_q [32];
  logic [15:0] b2_q [32];
  logic [31:0] u3_q [32];
  logic [31:0] t3_q [32];
  logic [15:0] b3_q [32];
  logic [31:0] z4_q [32];
  logic [511:0] y_q;
  logic [31:0] flat4_q, mask;
  logic [15:0] b4_q [32];

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      lanes_q[0] <= lanes_i;
      mean_q     <= mean_i;
      root_q[0]  <= root_i;
    end
    for (int unsigned s = 1; s < 5; s++) if (step_i && valid_q[s-1]) lanes_q[s] <= lanes_q[s-1];
  end

  always_ff @(posedge clk_i) begin
    if (step_i && valid_q[0]) begin
      root_q[1] <= root_q[0];
      if (norm) begin
        for (int unsigned i = 0; i < 32; i++) begin
          a1_q[i] <= plan_i.layer ? fp32_add(fp16_to_fp32(data_i[16*i+:16]), {!mean_q[31], mean_q[30:0]}) : fp16_to_fp32(data_i[16*i+:16]);
        end
        for (int unsigned i = 0; i < 16; i++) begin
          g1_q[i]    <= coef_low_i[32*i+16+:16];
          b1_q[i]    <= coef_low_i[32*i+:16];
          g1_q[i+16] <= coef_high_i[32*i+16+:16];
          b1_q[i+16] <= coef_high_i[32*i+:16];
        end
      end
      if (softmax) for (int unsigned i = 0; i < 32; i++) a1_q[i] <= e_i[32*i+:32];
      if (pos) begin
        for (int unsigned i = 0; i < 32; i++) begin
          a1_q[i] <= fp16_to_fp32(data_i[16*i+:16]);
          f1_q[i] <= coef_low_i[32*(i/2)+:16];
          g1_q[i] <= coef_low_i[32*(i/2)+16+:16];
        end
      end
      if (act) begin
        for (int unsigned i = 0; i < 32; i++) begin
          a1_q[i] <= fp16_to_fp32(data_i[16*i+:16]);
          {flat1_q[i], f1_q[i], b1_q[i]} <= piece(coef_low_i, coef_high_i[255:0], data_i[16*i+:16]);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (step_i && valid_q[1]) begin
      flat2_q <= flat1_q;
      // Lane by lane: of a whole array, a simulator may keep a shadow that it copies in every cycle.
      for (int unsigned i = 0; i < 32; i++) begin
        g2_q[i] <= g1_q[i];
        b2_q[i] <= b1_q[i];
        a2_q[i] <= a1_q[i];
        u2_q[i] <= fp32_mul(a1_q[i], (norm || softmax) ? root_q[1] : fp16_to_fp32(f1_q[i]));
      end
    end
    if (step_i && valid_q[2]) begin
      flat3_q <= flat2_q;
      for (int unsigned i = 0; i < 32; i++) begin
        b3_q[i] <= b2_q[i];
        u3_q[i] <= u2_q[i];
        if (norm || pos) t3_q[i] <= fp32_mul(norm ? u2_q[i] : a2_q[i^1], fp16_to_fp32(g2_q[i]));
      end
    end
    if (step_i && valid_q[3]) begin
      flat4_q <= flat3_q;
      for (int unsigned i = 0; i < 32; i++) begin
        b4_q[i] <= b3_q[i];
        if (softmax) z4_q[i] <= u3_q[i];
        else if (pos) z4_q[i] <= fp32_add(u3_q[i], {t3_q[i][31] ^ !i[0], t3_q[i][30:0]});
        else z4_q[i] <= fp32_add(norm ? t3_q[i] : u3_q[i], fp16_to_fp32(b3_q[i]));
      end
    end
  end

  assign mask = ~(32'hFFFF_FFFF << lanes_q[4]);
  always_ff @(posedge clk_i) begin
    if (step_i && valid_q[4]) begin
      for (int unsigned i = 0; i < 32; i++) begin
        if (!mask[i])                y_q[16*i+:16] <= 16'd0;
        else if (act && flat4_q[i])  y_q[16*i+:16] <= (b4_q[i][14:0] > 15'h7C00) ? Fp16Nan : b4_q[i];
        else                         y_q[16*i+:16] <= fp32_to_fp16(z4_q[i]);
      end
    end
  end

  assign valid_o = step_i && valid_q[5];
  assign data_o  = y_q;

  logic unused_plan;
  assign unused_plan = ^plan_i;
endmodule
