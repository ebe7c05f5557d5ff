// Of an instruction's output: the beat below which everything is written and answered, so that a younger one may read it.
//
// Every beat is written once, none lies below the first one of the walk, and answers come in the order of the writes. So the
// output is settled as far as the answers go while the writes go up beat by beat. Where they take turns (rows of several
// heads), it is settled up to the highest beat whenever those written so far leave no gap below it.
module hbm0923_settled
  import hbm0923_unit_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_ni,

  input  logic   start_i,
  input  bound_t first_i,     // beat of the output, at the start
  input  logic   valid_i,     // a write joins the queue
  input  bound_t beat_i,
  input  logic   answered_i,  // the oldest one without an answer has it

  output bound_t settled_o
);
  bound_t first_q, highest_q, highest;
  bound_t written_q, answered_q;      // how many
  bound_t whole_q, target_q, done_q;  // the last count that left no gap; the one that is waited for; answered and without a gap
  logic   upward_q, answered;
  assign highest   = (written_q == '0 || beat_i > highest_q) ? beat_i : highest_q;
  assign answered  = answered_i && answered_q != written_q;
  assign settled_o = first_q + done_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q    <= '0;
      highest_q  <= '0;
      written_q  <= '0;
      answered_q <= '0;
      whole_q    <= '0;
      target_q   <= '0;
      done_q     <= '0;
      upward_q   <= 1'b0;
    end else if (start_i) begin
      first_q    <= first_i;
      highest_q  <= '0;
      written_q  <= '0;
      answered_q <= '0;
      whole_q    <= '0;
      target_q   <= '0;
      done_q     <= '0;
      upward_q   <= 1'b1;
    end else begin
      if (valid_i) begin
        highest_q <= highest;
        written_q <= written_q + 28'd1;
        if (beat_i != first_q + written_q) upward_q <= 1'b0;
        if (highest == first_q + written_q) whole_q <= written_q + 28'd1;
      end
      if (answered) answered_q <= answered_q + 28'd1;
      if (upward_q) begin
        if (answered) done_q <= answered_q + 28'd1;
      end else if (answered_q >= target_q) begin
        done_q   <= (target_q > done_q) ? target_q : done_q;
        target_q <= whole_q;
      end
    end
  end
endmodule
