// BaseJump style: `v`, `ready_and`, `yumi`; a memory port that takes a request a cycle.
module bsg_unit #(parameter width_p = 32, parameter els_p = 256) (
  // expect: clock
  input  clk_i,
  // expect: reset
  input  reset_i,
  // expect: -
  input  en_i,
  // expect: stream subordinate
  input  [width_p-1:0] data_i,
  input  v_i,
  output ready_and_o,
  // expect: valid_yumi manager
  output [width_p-1:0] data_o,
  output v_o,
  input  yumi_i,
  // expect: sram manager
  output mem_v_o,
  output mem_w_o,
  output [$clog2(els_p)-1:0] mem_addr_o,
  output [width_p-1:0] mem_data_o,
  output [width_p/8-1:0] mem_w_mask_o,
  input  [width_p-1:0] mem_data_i
);
endmodule
