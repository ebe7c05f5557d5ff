// Signals that change nothing and do not fit: PROT of four bits, one OPC and an ECC without bits beside nine lanes.
module odd_widths #(parameter int MP = 9, parameter int EW = 0) (
  // expect: clock subordinate
  input  logic clk_i,
  // expect: reset subordinate
  input  logic rst_ni,
  // expect: axi4_lite manager
  output logic        cfg_awvalid,
  input  logic        cfg_awready,
  output logic [31:0] cfg_awaddr,
  // expect: -
  output logic [3:0]  cfg_awprot,
  // expect: axi4_lite manager
  output logic        cfg_wvalid,
  input  logic        cfg_wready,
  output logic [31:0] cfg_wdata,
  output logic [3:0]  cfg_wstrb,
  input  logic        cfg_bvalid,
  output logic        cfg_bready,
  input  logic [1:0]  cfg_bresp,
  output logic        cfg_arvalid,
  input  logic        cfg_arready,
  output logic [31:0] cfg_araddr,
  // expect: -
  output logic [3:0]  cfg_arprot,
  // expect: axi4_lite manager
  input  logic        cfg_rvalid,
  output logic        cfg_rready,
  input  logic [31:0] cfg_rdata,
  input  logic [1:0]  cfg_rresp,
  // expect: hci manager
  output logic [MP-1:0]       tcdm_req_o,
  input  logic [MP-1:0]       tcdm_gnt_i,
  output logic [MP-1:0][31:0] tcdm_add_o,
  output logic [MP-1:0]       tcdm_wen_o,
  output logic [MP-1:0][3:0]  tcdm_be_o,
  output logic [MP-1:0][31:0] tcdm_data_o,
  input  logic [MP-1:0][31:0] tcdm_r_data_i,
  input  logic [MP-1:0]       tcdm_r_valid_i,
  // expect: -
  input  logic                tcdm_r_opc_i,
  output logic [EW-1:0]       tcdm_ecc_o
);
endmodule
