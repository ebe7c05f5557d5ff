// A coprocessor at the NICE port of an E203 core, with its own way to memory on the ICB bus.
module nice_unit (
  // expect: clock
  input          nice_clk,
  // expect: reset
  input          nice_rst_n,
  // expect: done subordinate
  output         nice_active,
  // expect: -
  output         nice_mem_holdup,
  // expect: stream subordinate
  input          nice_req_valid,
  output         nice_req_ready,
  input  [31:0]  nice_req_inst,
  input  [31:0]  nice_req_rs1,
  input  [31:0]  nice_req_rs2,
  // expect: stream manager
  output         nice_rsp_valid,
  input          nice_rsp_ready,
  output [31:0]  nice_rsp_rdat,
  output         nice_rsp_err,
  // expect: split_memory manager
  output         nice_icb_cmd_valid,
  input          nice_icb_cmd_ready,
  output [31:0]  nice_icb_cmd_addr,
  output         nice_icb_cmd_read,
  output [31:0]  nice_icb_cmd_wdata,
  output [3:0]   nice_icb_cmd_wmask,
  output [1:0]   nice_icb_cmd_size,
  input          nice_icb_rsp_valid,
  output         nice_icb_rsp_ready,
  input  [31:0]  nice_icb_rsp_rdata,
  input          nice_icb_rsp_err
);
endmodule
