// lowRISC: TL-UL structures, alerts, integrity, interrupts with their names, life-cycle signal.
package lowrisc_dma_pkg;
  typedef struct packed { logic [6:0] cmd_intg; logic [6:0] data_intg; logic [3:0] instr_type; } tl_a_user_t;
  typedef struct packed { logic [6:0] rsp_intg; logic [6:0] data_intg; } tl_d_user_t;
  typedef struct packed { logic a_valid; logic [2:0] a_opcode, a_param; logic [1:0] a_size; logic [7:0] a_source;
    logic [31:0] a_address; logic [3:0] a_mask; logic [31:0] a_data; tl_a_user_t a_user; logic d_ready; } tl_h2d_t;
  typedef struct packed { logic d_valid; logic [2:0] d_opcode, d_param; logic [1:0] d_size; logic [7:0] d_source;
    logic d_sink; logic [31:0] d_data; tl_d_user_t d_user; logic d_error; logic a_ready; } tl_d2h_t;
  typedef struct packed { logic alert_p; logic alert_n; } alert_tx_t;
  typedef struct packed { logic ping_p, ping_n, ack_p, ack_n; } alert_rx_t;
endpackage
module lowrisc_dma import lowrisc_dma_pkg::*; (
  // expect: clock
  input  logic clk_i,
  // expect: reset
  input  logic rst_ni,
  // expect: test
  input  logic scanmode_i,
  // expect: tilelink subordinate
  input  tl_h2d_t regs_tl_i,
  output tl_d2h_t regs_tl_o,
  // expect: tilelink manager
  output tl_h2d_t host_tl_h_o,
  input  tl_d2h_t host_tl_h_i,
  // expect: interrupt
  output logic intr_dma_done_o, intr_dma_error_o,
  // expect: alert
  input  alert_rx_t [1:0] alert_rx_i,
  output alert_tx_t [1:0] alert_tx_o,
  // expect: done
  output logic idle_o
);
endmodule
