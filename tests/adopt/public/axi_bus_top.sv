// PULP's style: a bus as an interface with parameters, another as structures whose types are parameters, a wide TCDM.
interface AXI_BUS #(parameter int AXI_ADDR_WIDTH = 32, parameter int AXI_DATA_WIDTH = 64, parameter int AXI_ID_WIDTH = 4,
                    parameter int AXI_USER_WIDTH = 1);
  logic [AXI_ID_WIDTH-1:0] aw_id; logic [AXI_ADDR_WIDTH-1:0] aw_addr; logic [7:0] aw_len; logic [2:0] aw_size;
  logic [1:0] aw_burst; logic aw_lock; logic [3:0] aw_cache; logic [2:0] aw_prot; logic [3:0] aw_qos; logic [3:0] aw_region;
  logic [5:0] aw_atop; logic [AXI_USER_WIDTH-1:0] aw_user; logic aw_valid; logic aw_ready;
  logic [AXI_DATA_WIDTH-1:0] w_data; logic [AXI_DATA_WIDTH/8-1:0] w_strb; logic w_last; logic [AXI_USER_WIDTH-1:0] w_user;
  logic w_valid; logic w_ready;
  logic [AXI_ID_WIDTH-1:0] b_id; logic [1:0] b_resp; logic [AXI_USER_WIDTH-1:0] b_user; logic b_valid; logic b_ready;
  logic [AXI_ID_WIDTH-1:0] ar_id; logic [AXI_ADDR_WIDTH-1:0] ar_addr; logic [7:0] ar_len; logic [2:0] ar_size;
  logic [1:0] ar_burst; logic ar_lock; logic [3:0] ar_cache; logic [2:0] ar_prot; logic [3:0] ar_qos; logic [3:0] ar_region;
  logic [AXI_USER_WIDTH-1:0] ar_user; logic ar_valid; logic ar_ready;
  logic [AXI_ID_WIDTH-1:0] r_id; logic [AXI_DATA_WIDTH-1:0] r_data; logic [1:0] r_resp; logic r_last;
  logic [AXI_USER_WIDTH-1:0] r_user; logic r_valid; logic r_ready;
  modport Master (
    output aw_id, aw_addr, aw_len, aw_size, aw_burst, aw_lock, aw_cache, aw_prot, aw_qos, aw_region, aw_atop, aw_user, aw_valid,
    input aw_ready, output w_data, w_strb, w_last, w_user, w_valid, input w_ready, b_id, b_resp, b_user, b_valid, output b_ready,
    ar_id, ar_addr, ar_len, ar_size, ar_burst, ar_lock, ar_cache, ar_prot, ar_qos, ar_region, ar_user, ar_valid, input ar_ready,
    r_id, r_data, r_resp, r_last, r_user, r_valid, output r_ready);
endinterface
package axi_bus_top_pkg;
  typedef struct packed { logic [31:0] addr; logic write; logic [31:0] wdata; logic [3:0] wstrb; logic valid; } reg_req_t;
  typedef struct packed { logic [31:0] rdata; logic error; logic ready; } reg_rsp_t;
endpackage
module axi_bus_top import axi_bus_top_pkg::*; (
  // expect: clock subordinate
  input logic clk_i,
  // expect: reset subordinate
  input logic rst_ni,
  // expect: test subordinate
  input logic testmode_i,
  // expect: axi4 manager
  AXI_BUS.Master dma_mst,
  // expect: native_memory subordinate
  input  reg_req_t cfg_req_i,
  output reg_rsp_t cfg_rsp_o,
  // expect: hci manager
  output logic [3:0] tcdm_req_o, input logic [3:0] tcdm_gnt_i, output logic [3:0][31:0] tcdm_add_o, output logic [3:0] tcdm_wen_o,
  output logic [3:0][3:0] tcdm_be_o, output logic [3:0][31:0] tcdm_data_o, input logic [3:0][31:0] tcdm_r_data_i,
  input logic [3:0] tcdm_r_valid_i,
  // expect: interrupt manager
  output logic [1:0][1:0] evt_o,
  // expect: done
  output logic busy_o
);
endmodule
