// AXI channels as structures, for everything between a design's modules, its top and the memories: requests flow from the master,
// responses from the slave, fields are named as in PULP's axi. A port has the signals of rtl_models/README.md and no others.
// The widest field stands last, so that it begins at bit 0: a simulator then moves whole words.
package fleet_axi_pkg;

  // ---- registers: AXI4-Lite, byte addresses
  typedef struct packed {
    logic [15:0] addr;
  } axil_ax_t;
  typedef struct packed {
    logic [3:0]  strb;
    logic [31:0] data;
  } axil_w_t;
  typedef struct packed {
    logic [1:0] resp;
  } axil_b_t;
  typedef struct packed {
    logic [1:0]  resp;
    logic [31:0] data;
  } axil_r_t;

  typedef struct packed {
    axil_ax_t aw;
    logic     aw_valid;
    logic     w_valid;
    logic     b_ready;
    axil_ax_t ar;
    logic     ar_valid;
    logic     r_ready;
    axil_w_t  w;
  } axil_req_t;
  typedef struct packed {
    logic    aw_ready;
    logic    w_ready;
    axil_b_t b;
    logic    b_valid;
    logic    ar_ready;
    logic    r_valid;
    axil_r_t r;
  } axil_rsp_t;

  // ---- DDR: AXI4, beats of 64 bytes
  typedef struct packed {
    logic [3:0]  id;
    logic [32:0] addr;
    logic [7:0]  len;
  } ddr_ax_t;
  typedef struct packed {
    logic         last;
    logic [63:0]  strb;
    logic [511:0] data;
  } ddr_w_t;
  typedef struct packed {
    logic [3:0] id;
    logic [1:0] resp;
  } ddr_b_t;
  typedef struct packed {
    logic [3:0]   id;
    logic [1:0]   resp;
    logic         last;
    logic [511:0] data;
  } ddr_r_t;

  typedef struct packed {
    ddr_ax_t aw;
    logic    aw_valid;
    logic    w_valid;
    logic    b_ready;
    ddr_ax_t ar;
    logic    ar_valid;
    logic    r_ready;
    ddr_w_t  w;
  } ddr_req_t;
  typedef struct packed {
    logic   aw_ready;
    logic   w_ready;
    ddr_b_t b;
    logic   b_valid;
    logic   ar_ready;
    logic   r_valid;
    ddr_r_t r;
  } ddr_rsp_t;

  // One direction of it, for modules that only read or only write.
  typedef struct packed {
    ddr_ax_t ar;
    logic    ar_valid;
    logic    r_ready;
  } ddr_rd_req_t;
  typedef struct packed {
    logic   ar_ready;
    logic   r_valid;
    ddr_r_t r;
  } ddr_rd_rsp_t;
  typedef struct packed {
    ddr_ax_t aw;
    logic    aw_valid;
    logic    w_valid;
    logic    b_ready;
    ddr_w_t  w;
  } ddr_wr_req_t;
  typedef struct packed {
    logic   aw_ready;
    logic   w_ready;
    ddr_b_t b;
    logic   b_valid;
  } ddr_wr_rsp_t;

  // ---- a port of HBM: AXI4 without IDs, beats of 32 bytes
  typedef struct packed {
    logic [32:0] addr;
    logic [7:0]  len;
  } hbm_ax_t;
  typedef struct packed {
    logic         last;
    logic [31:0]  strb;
    logic [255:0] data;
  } hbm_w_t;
  typedef struct packed {
    logic [1:0] resp;
  } hbm_b_t;
  typedef struct packed {
    logic [1:0]   resp;
    logic         last;
    logic [255:0] data;
  } hbm_r_t;

  typedef struct packed {
    hbm_ax_t aw;
    logic    aw_valid;
    logic    w_valid;
    logic    b_ready;
    hbm_ax_t ar;
    logic    ar_valid;
    logic    r_ready;
    hbm_w_t  w;
  } hbm_req_t;
  typedef struct packed {
    logic   aw_ready;
    logic   w_ready;
    hbm_b_t b;
    logic   b_valid;
    logic   ar_ready;
    logic   r_valid;
    hbm_r_t r;
  } hbm_rsp_t;

  // One direction of it.
  typedef struct packed {
    hbm_ax_t ar;
    logic    ar_valid;
    logic    r_ready;
  } hbm_rd_req_t;
  typedef struct packed {
    logic   ar_ready;
    logic   r_valid;
    hbm_r_t r;
  } hbm_rd_rsp_t;
  typedef struct packed {
    hbm_ax_t aw;
    logic    aw_valid;
    logic    w_valid;
    logic    b_ready;
    hbm_w_t  w;
  } hbm_wr_req_t;
  typedef struct packed {
    logic   aw_ready;
    logic   w_ready;
    hbm_b_t b;
    logic   b_valid;
  } hbm_wr_rsp_t;

endpackage
