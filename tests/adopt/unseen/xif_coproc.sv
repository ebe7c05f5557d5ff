// A co-processor on the extension interface, flattened, with a data port of its own.
module xif_coproc #(parameter int XLEN = 32, parameter int IDW = 4) (
  // expect: clock
  input  logic            clk_i,
  // expect: reset
  input  logic            rst_ni,
  // expect: static
  input  logic [31:0]     hart_id_i,
  // expect: cvxif subordinate
  input  logic            x_compressed_valid_i,
  output logic            x_compressed_ready_o,
  input  logic [15:0]     x_compressed_req_instr_i,
  output logic            x_compressed_resp_accept_o,
  output logic [31:0]     x_compressed_resp_instr_o,
  input  logic            x_issue_valid_i,
  output logic            x_issue_ready_o,
  input  logic [31:0]     x_issue_req_instr_i,
  input  logic [IDW-1:0]  x_issue_req_id_i,
  input  logic [1:0][XLEN-1:0] x_issue_req_rs_i,
  input  logic [1:0]      x_issue_req_rs_valid_i,
  output logic            x_issue_resp_accept_o, x_issue_resp_writeback_o, x_issue_resp_loadstore_o,
  input  logic            x_commit_valid_i,
  input  logic [IDW-1:0]  x_commit_id_i,
  input  logic            x_commit_kill_i,
  output logic            x_result_valid_o,
  input  logic            x_result_ready_i,
  output logic [IDW-1:0]  x_result_id_o,
  output logic [XLEN-1:0] x_result_data_o,
  output logic [4:0]      x_result_rd_o,
  output logic            x_result_we_o,
  // expect: obi manager
  output logic            lsu_req_o,
  input  logic            lsu_gnt_i,
  output logic [31:0]     lsu_addr_o,
  output logic            lsu_we_o,
  output logic [3:0]      lsu_be_o,
  output logic [31:0]     lsu_wdata_o,
  input  logic            lsu_rvalid_i,
  input  logic [31:0]     lsu_rdata_i,
  input  logic            lsu_err_i
);
endmodule
