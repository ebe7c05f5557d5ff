// Gathers the outputs of rows into pixels, clears what is beyond T, and gives pixels their addresses. The rows of a group's
// pairs come in turn, and leave as they come where they complete pixels.
module hbm0923_att_collect
  import hbm0923_att_pkg::*;
#(
  parameter int unsigned Ports   = 32,
  parameter int unsigned Queries = 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                start_i,
  input  att_plan_t           plan_i,

  input  logic                valid_i,   // a row's outputs, of one pair
  input  att_beat_t           beat_i,
  input  logic [3:0]          pair_i,
  input  logic [Ports*16-1:0] y_i,

  output logic                valid_o,   // a pixel, for this cycle
  output logic [32:0]         addr_o,
  output logic [DdrBits-1:0]  data_o
);
  localparam int unsigned Sub = PixelLanes / Ports;
  localparam int unsigned Pw  = (Queries > 1) ? $clog2(Queries) : 1;

  function automatic logic [DdrBits-1:0] place(input logic [DdrBits-1:0] held, input logic [Ports*16-1:0] y,
                                               input logic [5:0] keep, input logic [2:0] sub);
    /*verilator no_inline_task*/
    logic [Ports*16-1:0] kept;
    for (int unsigned p = 0; p < Ports; p++) kept[16*p+:16] = (p < 32'(keep)) ? y[16*p+:16] : 16'd0;
    return ((Sub == 1 || sub == 3'd0) ? '0 : held) | (DdrBits'(kept) << (32'(sub) * Ports * 16));
  endfunction

  logic [2:0]    sub_q;
  logic          done, group_end;
  logic [Pw-1:0] pair;
  assign pair      = pair_i[Pw-1:0];
  assign done      = beat_i.pair_end || 32'(sub_q) == Sub - 1;
  assign group_end = valid_i && beat_i.pair_end && pair_i == '0;

  // ---- addresses: a walk over all pairs, and the next pixel of each pair of the group
  logic [15:0]              token_q;        // tokens left in the walk's head
  logic [32:0]              head_addr_q, token_addr_q;
  logic [Queries-1:0][32:0] next_addr_q;
  logic [19:0]              groups_q;       // left in the K/V head, of the group whose rows come
  logic [3:0]               fill_q, fill_end_q;  // pairs of the group that are still to be given an address
  logic [19:0]              groups_d;
  logic [3:0]               pairs;          // of the next group
  logic                     walk;
  assign groups_d = (groups_q == 20'd1) ? plan_i.groups : groups_q - 20'd1;
  assign pairs    = (groups_d == 20'd1) ? plan_i.tail : 4'(Queries);
  assign walk     = group_end || fill_q != fill_end_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sub_q        <= '0;
      token_q      <= '0;
      head_addr_q  <= '0;
      token_addr_q <= '0;
      next_addr_q  <= '0;
      groups_q     <= '0;
      fill_q       <= '0;
      fill_end_q   <= '0;
    end else if (start_i) begin
      sub_q        <= '0;
      token_q      <= plan_i.tokens;
      head_addr_q  <= plan_i.out_addr;
      token_addr_q <= plan_i.out_addr;
      groups_q     <= plan_i.groups;
      fill_q       <= '0;
      fill_end_q   <= (plan_i.groups == 20'd1) ? plan_i.tail : 4'(Queries);
    end else begin
      if (valid_i && pair_i == beat_i.pairs - 4'd1) sub_q <= done ? '0 : sub_q + 3'd1;
      if (valid_i && done) begin
        next_addr_q[pair] <= next_addr_q[pair] + 33'(plan_i.out_surface);
      end
      if (group_end) begin
        // Each pair's address in the cycle of its last pixel: the next one may be complete as soon as all have come.
        next_addr_q[0] <= token_addr_q;
        fill_q         <= 4'd1;
        fill_end_q     <= pairs;
        groups_q       <= groups_d;
      end else if (walk) begin
        for (int unsigned q = 0; q < Queries; q++) if (32'(fill_q) == q) next_addr_q[q] <= token_addr_q;
        fill_q <= fill_q + 4'd1;
      end
      if (walk) begin
        token_q      <= token_q - 16'd1;
        token_addr_q <= token_addr_q + 33'd64;
        if (token_q == 16'd1) begin
          token_q      <= plan_i.tokens;
          head_addr_q  <= head_addr_q + 33'(plan_i.out_line);
          token_addr_q <= head_addr_q + 33'(plan_i.out_line);
        end
      end
    end
  end

  // ---- pixels: gathered, then complete
  logic [Queries-1:0][DdrBits-1:0] data_q;
  logic [DdrBits-1:0]              out_data_q;
  logic [32:0]                     out_addr_q;
  logic                            complete_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) complete_q <= 1'b0;
    else complete_q <= valid_i && done;
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      logic [DdrBits-1:0] placed;
      placed       = place(data_q[pair], y_i, beat_i.keep, sub_q);
      data_q[pair] <= placed;
      if (done) begin
        out_addr_q <= next_addr_q[pair];
        out_data_q <= placed;
      end
    end
  end

  assign valid_o = complete_q;
  assign addr_o  = out_addr_q;
  assign data_o  = out_data_q;

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q && valid_i && pair_i == '0) assert (fill_q == fill_end_q);
`endif
  logic unused_fields;
  assign unused_fields = ^{plan_i, beat_i, pair_i};
endmodule
