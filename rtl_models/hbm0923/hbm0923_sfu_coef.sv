// Coefficients: gamma and beta, a table of activation, or rotary tables. What every row needs again stays; a rotary table
// that is too large for that streams through.
module hbm0923_sfu_coef
  import hbm0923_sfu_plan_pkg::*;
#(
  parameter int unsigned Depth = 1024  // beats, a power of two
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         start_i,
  input  sfu_plan_t    plan_i,
  input  logic         valid_i,
  input  logic [511:0] data_i,
  output logic         pop_o,      // a beat is free again

  output logic         ready_o,    // what the next beat needs is there
  input  logic         take_i,
  input  logic         restart_i,  // with take_i: the one after begins anew
  output logic [511:0] low_o,      // the cycle after: the beat, or the first of two
  output logic [511:0] high_o
);
  localparam int unsigned Aw = $clog2(Depth);

  logic [511:0]  low_mem  [Depth/2];  // even beats
  logic [511:0]  high_mem [Depth/2];
  logic [511:0]  low_q, high_q;
  logic [Aw:0]   wr_q, rd_q;          // rd_q: of the beat, in pairs where two are needed
  logic [Aw-2:0] row;
  logic          pairs, stays, odd_q;

  assign pairs   = plan_i.kind != KindPosEmb;
  assign stays   = pairs || plan_i.resident;
  assign ready_o = pairs ? {1'b0, wr_q} > {rd_q, 1'b1} : stays ? wr_q > rd_q : wr_q != rd_q;
  assign row     = pairs ? rd_q[Aw-2:0] : rd_q[Aw-1:1];
  assign pop_o   = take_i && !stays;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q  <= '0;
      rd_q  <= '0;
      odd_q <= 1'b0;
    end else if (start_i) begin
      wr_q  <= '0;
      rd_q  <= '0;
    end else begin
      if (valid_i) wr_q <= wr_q + (Aw + 1)'(1'b1);
      if (take_i) begin
        odd_q <= !pairs && rd_q[0];
        if (plan_i.kind == KindAct || (stays && restart_i)) rd_q <= '0;
        else rd_q <= rd_q + (Aw + 1)'(1'b1);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i && !wr_q[0]) low_mem[wr_q[Aw-1:1]]  <= data_i;
    if (valid_i && wr_q[0])  high_mem[wr_q[Aw-1:1]] <= data_i;
    if (take_i) begin
      low_q  <= low_mem[row];
      high_q <= high_mem[row];
    end
  end

  assign low_o  = odd_q ? high_q : low_q;
  assign high_o = high_q;

  if (2 ** Aw != Depth) begin : gen_check
    $error("Depth must be a power of two");
  end

  logic unused_plan;
  assign unused_plan = ^plan_i;
`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // What stays fits as a whole; what streams through leaves before the ring comes round.
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (valid_i) assert (stays ? wr_q < (Aw + 1)'(Depth) : wr_q - rd_q != (Aw + 1)'(Depth));
    if (take_i) assert (ready_o);
  end
`endif
endmodule
