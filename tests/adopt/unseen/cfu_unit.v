// A custom function unit, as generators of small systems name it.
module cfu_unit (
  // expect: cfu subordinate
  input               cmd_valid,
  output              cmd_ready,
  input      [9:0]    cmd_payload_function_id,
  input      [31:0]   cmd_payload_inputs_0,
  input      [31:0]   cmd_payload_inputs_1,
  output              rsp_valid,
  input               rsp_ready,
  output     [31:0]   rsp_payload_outputs_0,
  // expect: reset
  input               reset,
  // expect: clock
  input               clk
);
endmodule
