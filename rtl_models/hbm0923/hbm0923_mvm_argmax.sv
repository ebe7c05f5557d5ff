// argmax over the FP16 outputs of every token: the lowest index, the first NaN wins, as numpy.argmax reads.
//
// Keeps the best of each token over the blocks; at the end writes the indices, uint32, 16 a beat.
module hbm0923_mvm_argmax
  import hbm0923_mvm_pkg::*;
  import fp_pkg::*;
#(
  parameter int unsigned Tout     = 32,
  parameter int unsigned MaxToken = 2048
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  mvm_plan_t          plan_i,
  input  logic               valid_i,
  input  out_ctrl_t          out_i,
  input  logic [Tout*16-1:0] y_i,

  input  logic               flush_i,   // one cycle: all outputs have been seen, write the indices
  output logic               busy_o,
  output logic               valid_o,   // a beat to write
  input  logic               ready_i,
  output ddr_write_t         write_o,
  output logic [31:0]        result_o   // the last token's index
);
  localparam int unsigned Tw = $clog2(MaxToken);
  localparam logic signed [16:0] Below = -17'sd32768;

  // ---- best of the block, two of the tree's levels a cycle; ties keep the lower column
  localparam int unsigned Levels = $clog2(Tout);
  localparam int unsigned Cuts   = 1 + (Levels + 1) / 2;   // registers: behind the keys, and behind every second level
  typedef logic [Tout-1:0][21:0] best_t;                   // key and column of what is left at each level's places
  function automatic best_t two_levels(input best_t from, input int unsigned level);
    best_t best;
    best = from;
    for (int unsigned n = level; n < level + 2 && n < Levels; n++) begin
      for (int unsigned c = 0; c + (1 << n) < Tout; c = c + (2 << n)) begin
        if ($signed(best[c+(1<<n)][21:5]) > $signed(best[c][21:5])) best[c] = best[c+(1<<n)];
      end
    end
    return best;
  endfunction

  best_t [Cuts-1:0]   best_q;
  out_ctrl_t          outs_q [Cuts];
  logic [Cuts-1:0]    valid_q;
  logic signed [16:0] block_key;
  logic        [4:0]  block_col;
  out_ctrl_t          out;
  always_ff @(posedge clk_i) begin
    if (valid_i && plan_i.argmax) begin
      for (int unsigned c = 0; c < Tout; c++) begin
        best_q[0][c] <= {32'(out_i.block) * Tout + c < 32'(plan_i.ch_out) ? fp16_order(y_i[16*c+:16]) : Below, 5'(c)};
      end
      outs_q[0] <= out_i;
    end
    for (int unsigned s = 1; s < Cuts; s++) begin
      if (valid_q[s-1]) begin
        best_q[s] <= two_levels(best_q[s-1], 2 * s - 2);
        outs_q[s] <= outs_q[s-1];
      end
    end
  end
  assign {block_key, block_col} = best_q[Cuts-1][0];
  assign out                    = outs_q[Cuts-1];

  // ---- against the best of the token so far
  logic signed [16:0] best_key [MaxToken];
  logic        [19:0] best_idx [MaxToken];
  logic [19:0]        index;
  logic               better;
  assign index  = 20'(32'(out.block) * Tout + 32'(block_col));
  assign better = out.block == 20'd0 || block_key > best_key[out.token[Tw-1:0]];

  always_ff @(posedge clk_i) begin
    if (valid_q[Cuts-1] && better) begin
      best_key[out.token[Tw-1:0]] <= block_key;
      best_idx[out.token[Tw-1:0]] <= index;
    end
  end

  // ---- flush: one token a cycle into a beat
  logic         run_q, full_q;
  logic [15:0]  token_q;
  logic [511:0] data_q;
  logic [63:0]  strb_q;
  logic [31:0]  addr_q, result_q;
  logic         last;
  assign last = token_q == plan_i.tokens - 16'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= '0;
      run_q    <= 1'b0;
      full_q   <= 1'b0;
      token_q  <= '0;
      data_q   <= '0;
      strb_q   <= '0;
      addr_q   <= '0;
      result_q <= '0;
    end else begin
      valid_q <= Cuts'({valid_q, valid_i && plan_i.argmax});
      if (flush_i) begin
        run_q   <= 1'b1;
        token_q <= '0;
        addr_q  <= plan_i.argmax_addr;
      end else if (full_q) begin
        if (ready_i) begin
          full_q <= 1'b0;
          data_q <= '0;
          strb_q <= '0;
          addr_q <= addr_q + 32'd64;
        end
      end else if (run_q && valid_q == '0) begin
        data_q[32*32'(token_q[3:0])+:32] <= 32'(best_idx[token_q[Tw-1:0]]);
        strb_q[4*32'(token_q[3:0])+:4]   <= 4'hF;
        token_q  <= token_q + 16'd1;
        full_q   <= last || token_q[3:0] == 4'd15;
        run_q    <= !last;
        result_q <= 32'(best_idx[token_q[Tw-1:0]]);
      end
    end
  end

  assign busy_o   = run_q || full_q || valid_q != '0;
  assign valid_o  = full_q;
  assign write_o  = '{addr: {1'b0, addr_q}, data: data_q, strb: strb_q};
  assign result_o = result_q;

  // Fields that other modules use.
  logic unused_fields;
  assign unused_fields = ^{plan_i, out};
endmodule
