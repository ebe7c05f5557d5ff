// The same interface as structures of a package.
package xif_struct_pkg;
  typedef struct packed { logic [31:0] instr; logic [3:0] id; logic [2:0][31:0] rs; logic [2:0] rs_valid; } x_issue_req_t;
  typedef struct packed { logic accept; logic writeback; logic [2:0] register_read; } x_issue_resp_t;
  typedef struct packed { logic [3:0] id; logic commit_kill; } x_commit_t;
  typedef struct packed { logic [3:0] id; logic [31:0] data; logic [4:0] rd; logic we; } x_result_t;
endpackage
module xif_struct (
  // expect: clock
  input  logic clk_i,
  // expect: reset
  input  logic rst_ni,
  // expect: cvxif subordinate
  input  logic xif_issue_valid_i,
  output logic xif_issue_ready_o,
  input  xif_struct_pkg::x_issue_req_t  xif_issue_req_i,
  output xif_struct_pkg::x_issue_resp_t xif_issue_resp_o,
  input  logic xif_commit_valid_i,
  input  xif_struct_pkg::x_commit_t     xif_commit_i,
  output logic xif_result_valid_o,
  input  logic xif_result_ready_i,
  output xif_struct_pkg::x_result_t     xif_result_o,
  // expect: done
  output logic busy_o
);
endmodule
