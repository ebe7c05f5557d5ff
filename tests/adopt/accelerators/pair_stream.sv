// Two operands of one stream, each with a letter behind its prefix; results whose fields are named by the prefix alone.
module pair_stream #(parameter R = 4, C = 8, WX = 4) (
  // expect: clock subordinate
  input  logic clk,
  // expect: reset subordinate
  rstn,
  // expect: stream subordinate
  input  logic s_valid, s_last,
  output logic s_ready,
  input  logic [R-1:0][WX-1:0] sx_data,
  input  logic [C-1:0][WX-1:0] sw_data,
  // expect: stream manager
  output logic tile_valid,
  input  logic tile_accept,
  output logic [15:0] tile_row, tile_column,
  output logic [7:0]  tile_red, tile_green,
  output logic sum_valid,
  output logic [31:0] sum0, sum1, sum2,
  // expect: done
  output logic idle
);
endmodule
