// AXI4 as structures of requests and responses, two of them in an array; a core's request/grant port.
package pulp_pkg;
  typedef struct packed {logic [5:0] id; logic [47:0] addr; logic [7:0] len; logic [2:0] size; logic [1:0] burst; logic lock;
    logic [3:0] cache; logic [2:0] prot; logic [3:0] qos; logic [3:0] region; logic [5:0] atop; logic [1:0] user;} aw_t;
  typedef struct packed {logic [511:0] data; logic [63:0] strb; logic last; logic [1:0] user;} w_t;
  typedef struct packed {logic [5:0] id; logic [1:0] resp; logic [1:0] user;} b_t;
  typedef struct packed {logic [5:0] id; logic [47:0] addr; logic [7:0] len; logic [2:0] size; logic [1:0] burst; logic lock;
    logic [3:0] cache; logic [2:0] prot; logic [3:0] qos; logic [3:0] region; logic [1:0] user;} ar_t;
  typedef struct packed {logic [5:0] id; logic [511:0] data; logic [1:0] resp; logic last; logic [1:0] user;} r_t;
  typedef struct packed {aw_t aw; logic aw_valid; w_t w; logic w_valid; logic b_ready; ar_t ar; logic ar_valid; logic r_ready;} req_t;
  typedef struct packed {logic aw_ready; logic ar_ready; logic w_ready; logic b_valid; b_t b; logic r_valid; r_t r;} rsp_t;
  typedef struct packed {logic [31:0] addr; logic write; logic [31:0] wdata; logic [3:0] wstrb; logic valid;} reg_req_t;
  typedef struct packed {logic [31:0] rdata; logic error; logic ready;} reg_rsp_t;
  typedef struct packed {logic req; logic write; logic [31:0] addr; logic [63:0] data;} lonely_t;
endpackage
module pulp_dma (
  input logic clk_i,
  input logic rst_ni,
  input logic testmode_i,
  output pulp_pkg::req_t [1:0] axi_wide_req_o,
  input pulp_pkg::rsp_t [1:0] axi_wide_rsp_i,
  input pulp_pkg::req_t slv_req_i,
  output pulp_pkg::rsp_t slv_resp_o,
  output logic data_req_o,
  input logic data_gnt_i,
  input logic data_rvalid_i,
  output logic data_we_o,
  output logic [3:0] data_be_o,
  output logic [31:0] data_addr_o,
  output logic [31:0] data_wdata_o,
  input logic [31:0] data_rdata_i,
  input logic data_err_i,
  output logic instr_req_o,
  input logic instr_gnt_i,
  input logic instr_rvalid_i,
  output logic [31:0] instr_addr_o,
  input logic [31:0] instr_rdata_i,
  output logic [3:0] events_o,
  output logic busy_o
);
endmodule
