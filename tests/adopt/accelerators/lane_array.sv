// An array without handshakes: a valid each way, operands and results with names of their own; two modes that stand still.
module lane_array #(parameter int N = 4) (
  // expect: clock subordinate
  input  logic clk,
  // expect: reset subordinate
  input  logic rst,
  // expect: -
  input  logic [1:0] mode,
  input  logic       clear,
  // expect: stream subordinate
  input  logic       in_valid,
  input  logic [7:0] p [0:N-1][0:1],
  input  logic [7:0] q [0:1][0:N-1],
  // expect: stream manager
  output logic       out_valid,
  output logic [23:0] sum_rows [0:N-1],
  output logic [N*16-1:0] sum_columns
);
endmodule
