// A block of OpenTitan's style: structures for the register bus and for alerts, lifecycle and entropy beside it.
package ot_engine_pkg;
  typedef struct packed {
    logic a_valid; logic [2:0] a_opcode; logic [2:0] a_param; logic [1:0] a_size; logic [7:0] a_source; logic [31:0] a_address;
    logic [3:0] a_mask; logic [31:0] a_data; logic [22:0] a_user; logic d_ready;
  } tl_h2d_t;
  typedef struct packed {
    logic d_valid; logic [2:0] d_opcode; logic [2:0] d_param; logic [1:0] d_size; logic [7:0] d_source; logic d_sink;
    logic [31:0] d_data; logic [13:0] d_user; logic d_error; logic a_ready;
  } tl_d2h_t;
  typedef struct packed { logic ping_p; logic ping_n; logic ack_p; logic ack_n; } alert_rx_t;
  typedef struct packed { logic alert_p; logic alert_n; } alert_tx_t;
  typedef struct packed { logic edn_req; } edn_req_t;
  typedef struct packed { logic edn_ack; logic edn_fips; logic [31:0] edn_bus; } edn_rsp_t;
endpackage
module ot_engine import ot_engine_pkg::*; (
  // expect: clock subordinate
  input  logic clk_i, clk_edn_i,
  // expect: reset subordinate
  input  logic rst_ni, rst_edn_ni, rst_shadowed_ni,
  // expect: tilelink subordinate
  input  tl_h2d_t tl_i,
  output tl_d2h_t tl_o,
  // expect: alert
  input  alert_rx_t [1:0] alert_rx_i,
  output alert_tx_t [1:0] alert_tx_o,
  // expect: -
  output edn_req_t edn_o,
  input  edn_rsp_t edn_i,
  input  logic [3:0] lc_escalate_en_i,
  // expect: done
  output logic [3:0] idle_o,
  // expect: interrupt manager
  output logic intr_done_o, intr_err_o
);
endmodule
