// Cores behind arrays of memory ports with tags, configured by a bus that nobody answers.
module gpu_core #(parameter int TAGW = 8, LINE = 512, NP = 2) (
  // expect: clock
  input  wire clk,
  // expect: reset
  input  wire reset,
  // expect: split_memory manager
  output wire mem_req_valid [NP], mem_req_rw [NP],
  output wire [LINE/8-1:0] mem_req_byteen [NP],
  output wire [25:0] mem_req_addr [NP],
  output wire [LINE-1:0] mem_req_data [NP],
  output wire [TAGW-1:0] mem_req_tag [NP],
  input  wire mem_req_ready [NP],
  input  wire mem_rsp_valid [NP],
  input  wire [LINE-1:0] mem_rsp_data [NP],
  input  wire [TAGW-1:0] mem_rsp_tag [NP],
  output wire mem_rsp_ready [NP],
  // expect: stream subordinate
  input  wire dcr_wr_valid,
  input  wire [11:0] dcr_wr_addr,
  input  wire [31:0] dcr_wr_data,
  // expect: done subordinate
  output wire busy
);
endmodule
