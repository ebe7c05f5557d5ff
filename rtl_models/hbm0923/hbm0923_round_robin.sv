// Chooses one of several requesters in turn. A choice that was not taken stands, so that what it drives stays stable.
module hbm0923_round_robin #(
  parameter int unsigned Requesters = 5
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic [Requesters-1:0] valid_i,
  input  logic                  take_i,   // the chosen one is served
  output logic [Requesters-1:0] grant_o   // one-hot, zero when nobody asks
);
  logic [Requesters-1:0] held_q, after_q, first, pool;

  // Those after the last one served go first; of them the lowest.
  assign pool  = ((valid_i & after_q) != '0) ? valid_i & after_q : valid_i;
  assign first = pool & (~pool + Requesters'(1'b1));

  assign grant_o = (held_q != '0) ? held_q : first;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q  <= '0;
      after_q <= '0;
    end else if (take_i) begin
      held_q  <= '0;
      after_q <= ~(grant_o | (grant_o - Requesters'(1'b1)));
    end else begin
      held_q <= grant_o;
    end
  end

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    assert ($onehot0(grant_o));
    assert ((grant_o & ~valid_i) == '0);
    if (take_i) assert (grant_o != '0);
  end
`endif
endmodule
