package snitch_cc_pkg;
  typedef struct packed { logic [31:0] addr; logic write; logic [3:0] amo; logic [63:0] data; logic [7:0] strb; logic [1:0] size; } q_t;
  typedef struct packed { logic [63:0] data; logic error; } p_t;
  typedef struct packed { q_t q; logic q_valid; logic p_ready; } dreq_t;
  typedef struct packed { p_t p; logic p_valid; logic q_ready; } drsp_t;
  typedef struct packed { logic [31:0] addr; logic [4:0] id; logic [31:0] data_op; logic [63:0] data_arga, data_argb; } acc_req_t;
  typedef struct packed { logic [4:0] id; logic error; logic [63:0] data; } acc_resp_t;
endpackage
module snitch_cc import snitch_cc_pkg::*; (
  // expect: clock
  input  logic clk_i,
  // expect: reset
  input  logic rst_i,
  // expect: static
  input  logic [31:0] hart_id_i,
  // expect: split_memory manager
  output dreq_t data_req_o,
  input  drsp_t data_rsp_i,
  // expect: stream manager
  output acc_req_t acc_qreq_o,
  output logic     acc_qvalid_o,
  input  logic     acc_qready_i,
  // expect: stream subordinate
  input  acc_resp_t acc_prsp_i,
  input  logic      acc_pvalid_i,
  output logic      acc_pready_o,
  // expect: interrupt
  input  logic [2:0] irq_i,
  // expect: -
  output logic [31:0] core_events_o
);
endmodule
