// A pipelined unit with tags, flush and two handshakes, and a register file port.
module fpu_lane #(parameter int W = 64) (
  // expect: clock
  input  logic clk_i,
  // expect: reset
  input  logic rst_ni,
  // expect: -
  input  logic flush_i,
  // expect: stream subordinate
  input  logic [2:0][W-1:0] operands_i,
  input  logic [2:0] rnd_mode_i,
  input  logic [3:0] op_i,
  input  logic       op_mod_i,
  input  logic [4:0] tag_i,
  input  logic       in_valid_i,
  output logic       in_ready_o,
  // expect: stream manager
  output logic [W-1:0] result_o,
  output logic [4:0] status_o, tag_o,
  output logic       out_valid_o,
  input  logic       out_ready_i,
  // expect: done
  output logic       busy_o
);
endmodule
