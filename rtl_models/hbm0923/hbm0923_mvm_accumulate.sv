// Groups to outputs in binary32: p = round(sum), acc = acc + p * scale, groups ascending, each step rounded. Of a beat
// with two groups both are done in the same cycles, the additions one behind the other.
module hbm0923_mvm_accumulate
  import hbm0923_mvm_pkg::*;
  import fp_pkg::*;
#(
  parameter int unsigned Tout = 32
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

  output logic                    valid_o,     // stage 6: outputs complete, for this cycle
  output logic [31:0]             acc_o [Tout]
);
  // ---- stage 3: one rounding of the exact sum
  logic            step;
  logic [Tout-1:0] nan, pos, neg;
  typedef logic [31:0] columns_t [Tout];
  columns_t        p_q, second_p_q;  // the latter of a pair; assigned whole, as in hbm0923_mvm_array
  logic            valid4_q, valid5_q, valid6_q;
  logic            first4_q, first5_q, last4_q, last5_q, pair4_q, pair5_q;
  logic [3:0]      lane4_q;

  assign step         = valid_i && ctrl_i.group_end;
  assign scale_read_o = step && ctrl_i.scale_load;

  always_comb begin
    nan = low_nan_i;
    pos = low_pos_i;
    neg = low_neg_i;
    if (!ctrl_i.pair) begin
      nan = low_nan_i | high_nan_i;
      pos = low_pos_i | high_pos_i;
      neg = low_neg_i | high_neg_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (step) begin
      automatic columns_t p = p_q;
      for (int unsigned c = 0; c < Tout; c++) begin
        p[c] = fixed_to_fp32(low_i[c] + (ctrl_i.pair ? 64'sd0 : high_i[c]));
      end
      if (|{nan, pos, neg}) begin
        for (int unsigned c = 0; c < Tout; c++) begin
          if (nan[c] || (pos[c] && neg[c])) p[c] = Fp32Nan;
          else if (pos[c] || neg[c]) p[c] = {neg[c], 31'h7F80_0000};
        end
      end
      p_q <= p;
      if (ctrl_i.pair) begin
        for (int unsigned c = 0; c < Tout; c++) p[c] = fixed_to_fp32(high_i[c]);
        if (|{high_nan_i, high_pos_i, high_neg_i}) begin
          for (int unsigned c = 0; c < Tout; c++) begin
            if (high_nan_i[c] || (high_pos_i[c] && high_neg_i[c])) p[c] = Fp32Nan;
            else if (high_pos_i[c] || high_neg_i[c]) p[c] = {high_neg_i[c], 31'h7F80_0000};
          end
        end
        second_p_q <= p;
      end
      pair4_q  <= ctrl_i.pair;
      first4_q <= ctrl_i.acc_first;
      last4_q  <= ctrl_i.acc_last;
      lane4_q  <= ctrl_i.scale_lane;
    end
  end

  // ---- stage 4: times the scale
  columns_t product_q, second_product_q;
  always_ff @(posedge clk_i) begin
    if (valid4_q) begin
      automatic columns_t product = product_q;
      for (int unsigned c = 0; c < Tout; c++) begin
        product[c] = fp32_mul(p_q[c], fp16_to_fp32(scale_i[HbmBits*c+16*32'(lane4_q)+:16]));
      end
      product_q <= product;
      if (pair4_q) begin
        for (int unsigned c = 0; c < Tout; c++) begin
          product[c] = fp32_mul(second_p_q[c], fp16_to_fp32(scale_i[HbmBits*c+16*32'(lane4_q|4'd1)+:16]));
        end
        second_product_q <= product;
      end
      pair5_q  <= pair4_q;
      first5_q <= first4_q;
      last5_q  <= last4_q;
    end
  end

  // ---- stage 5: accumulate
  columns_t acc_q;
  always_ff @(posedge clk_i) begin
    if (valid5_q) begin
      automatic columns_t acc = acc_q;
      for (int unsigned c = 0; c < Tout; c++) begin
        acc[c] = fp32_add(first5_q ? 32'd0 : acc_q[c], product_q[c]);
      end
      if (pair5_q) begin
        for (int unsigned c = 0; c < Tout; c++) acc[c] = fp32_add(acc[c], second_product_q[c]);
      end
      acc_q <= acc;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid4_q <= 1'b0;
      valid5_q <= 1'b0;
      valid6_q <= 1'b0;
    end else begin
      valid4_q <= step;
      valid5_q <= valid4_q;
      valid6_q <= valid5_q && last5_q;
    end
  end

  // Fields that other modules use.
  logic unused_ctrl;
  assign unused_ctrl = ^ctrl_i;

  assign valid_o = valid6_q;
  assign acc_o   = acc_q;
endmodule
