// Which view of the slow datapaths a design has: synthesis reads the stages of their operators with registers between them,
// simulation the functions, whose results wait as long. FLEET_STAGES: simulation has the stages too.
package fp_view_pkg;

`ifdef SYNTHESIS
  localparam bit Stages = 1'b1;
`elsif FLEET_STAGES
  localparam bit Stages = 1'b1;
`else
  localparam bit Stages = 1'b0;
`endif

endpackage
