// Numbers behind valid, ready and data; one output with yumi and a level beside it.
module numbered_lanes #(parameter int width_p = 16) (
  // expect: clock subordinate
  input  clk_i,
  // expect: reset subordinate
  input  reset_i,
  // expect: stream subordinate
  input  [width_p-1:0] data0_i,
  input  valid0_i,
  output ready0_o,
  input  [width_p-1:0] data1_i,
  input  valid1_i,
  output ready1_o,
  // expect: valid_yumi manager
  output [width_p-1:0] data_o,
  output valid_o,
  input  yumi_i,
  // expect: -
  output [4:0] count_o
);
endmodule
