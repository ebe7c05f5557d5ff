// Methods of a Bluespec module: an action, an action with a value, a value.
module mkPutGet (
  // expect: clock
  CLK,
  // expect: reset
  RST_N,
  // expect: bluespec_method subordinate
  request_put, EN_request_put, RDY_request_put,
  EN_response_get, response_get, RDY_response_get,
  cfg_write_addr, cfg_write_data, EN_cfg_write, RDY_cfg_write,
  count, RDY_count
);
input CLK, RST_N;
input [95:0] request_put; input EN_request_put; output RDY_request_put;
input EN_response_get; output [63:0] response_get; output RDY_response_get;
input [7:0] cfg_write_addr; input [31:0] cfg_write_data; input EN_cfg_write; output RDY_cfg_write;
output [15:0] count; output RDY_count;
endmodule
