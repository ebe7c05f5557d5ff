// A GPU in the style of Vortex: tagged memory requests, configuration writes, busy.
module gpgpu_core #(parameter TAGW = 8, parameter LINE = 512) (
  // expect: clock
  input  wire             clk,
  // expect: reset
  input  wire             reset,
  // expect: split_memory manager
  output wire             mem_req_valid,
  output wire             mem_req_rw,
  output wire [LINE/8-1:0] mem_req_byteen,
  output wire [25:0]      mem_req_addr,
  output wire [LINE-1:0]  mem_req_data,
  output wire [TAGW-1:0]  mem_req_tag,
  input  wire             mem_req_ready,
  input  wire             mem_rsp_valid,
  input  wire [LINE-1:0]  mem_rsp_data,
  input  wire [TAGW-1:0]  mem_rsp_tag,
  output wire             mem_rsp_ready,
  // expect: stream subordinate
  input  wire             dcr_wr_valid,
  input  wire [11:0]      dcr_wr_addr,
  input  wire [31:0]      dcr_wr_data,
  // expect: done subordinate
  output wire             busy
);
endmodule
