// The clock of a part that has nothing to do stands still, if FLEET_FAST is defined; else it is the clock.
//
// Only edges at which no state behind the gate would change may be left out, so that both are the same design, to the bit and
// the cycle. A simulation is quicker by what the idle parts would have evaluated; Verilator copies whole registers at every
// edge, whatever their enables say. Other tools see a wire: no latch, no second clock.
// After its reason is gone the gate stays open for Linger edges: pulses fall and short pipelines run empty.
module hbm0923_clock_gate #(
  parameter int unsigned Linger = 4
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic enable_i,
  output logic clk_o
);
`ifdef FLEET_FAST
  logic [Linger-1:0] open_q;
  logic              open;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= '1;
    else open_q <= {open_q[Linger-2:0], enable_i};
  end
  always_latch if (!clk_i) open = enable_i || open_q != '0;
  assign clk_o = clk_i && open;
`else
  assign clk_o = clk_i;
  logic unused;
  assign unused = ^{rst_ni, enable_i, Linger};
`endif
endmodule
