// TileLink-UL as two structures for the registers and two for a host port, interrupts and a second clock.
package tlul_pkg;
  typedef struct packed {logic [4:0] rsvd; logic [3:0] instr_type; logic [6:0] cmd_intg;} a_user_t;
  typedef struct packed {logic [6:0] rsp_intg; logic [6:0] data_intg;} d_user_t;
  typedef struct packed {logic a_valid; logic [2:0] a_opcode; logic [2:0] a_param; logic [1:0] a_size; logic [7:0] a_source;
    logic [31:0] a_address; logic [3:0] a_mask; logic [31:0] a_data; a_user_t a_user; logic d_ready;} tl_h2d_t;
  typedef struct packed {logic d_valid; logic [2:0] d_opcode; logic [2:0] d_param; logic [1:0] d_size; logic [7:0] d_source; logic d_sink;
    logic [31:0] d_data; d_user_t d_user; logic d_error; logic a_ready;} tl_d2h_t;
endpackage
module tlul_block (
  input logic clk_i,
  input logic rst_ni,
  input logic clk_edn_i,
  input logic rst_edn_ni,
  input tlul_pkg::tl_h2d_t tl_i,
  output tlul_pkg::tl_d2h_t tl_o,
  output tlul_pkg::tl_h2d_t dma_tl_h2d_o,
  input tlul_pkg::tl_d2h_t dma_tl_d2h_i,
  output logic intr_op_done_o,
  output logic intr_op_error_o,
  output logic idle_o
);
endmodule
