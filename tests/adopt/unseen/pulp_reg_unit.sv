// PULP: register interface structures, AXI structures of type parameters, a clock enable, straps.
package pulp_reg_unit_pkg;
  typedef struct packed { logic [31:0] addr; logic write; logic [31:0] wdata; logic [3:0] wstrb; logic valid; } reg_req_t;
  typedef struct packed { logic [31:0] rdata; logic error; logic ready; } reg_rsp_t;
  typedef struct packed { logic [63:0] data; logic [7:0] strb; logic [3:0] user; } chan_t;
  typedef struct packed { chan_t q; logic q_valid; logic p_ready; } drv_req_t;
  typedef struct packed { chan_t p; logic p_valid; logic q_ready; } drv_rsp_t;
endpackage
module pulp_reg_unit #(parameter type reg_req_t = pulp_reg_unit_pkg::reg_req_t, parameter type reg_rsp_t = pulp_reg_unit_pkg::reg_rsp_t) (
  // expect: clock
  input  logic      clk_i, clk_ref_i,
  // expect: reset
  input  logic      rst_ni, pwr_on_rst_ni,
  // expect: test
  input  logic      testmode_i, scan_en_i, scan_in_i,
  output logic      scan_out_o,
  // expect: clock_enable
  input  logic      clk_en_i,
  // expect: static
  input  logic [9:0] cluster_id_i,
  input  logic [31:0] boot_addr_i,
  // expect: native_memory subordinate
  input  reg_req_t  reg_req_i,
  output reg_rsp_t  reg_rsp_o,
  // expect: hci manager
  output logic [3:0] tcdm_req_o,
  input  logic [3:0] tcdm_gnt_i,
  output logic [3:0][31:0] tcdm_add_o,
  output logic [3:0] tcdm_wen_o,
  output logic [3:0][3:0] tcdm_be_o,
  output logic [3:0][31:0] tcdm_data_o,
  input  logic [3:0][31:0] tcdm_r_data_i,
  input  logic [3:0] tcdm_r_valid_i,
  // expect: interrupt
  output logic [1:0] evt_o,
  // expect: done
  output logic      busy_o
);
endmodule
