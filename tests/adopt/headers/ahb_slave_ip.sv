// An AHB-Lite subordinate with HREADY in and HREADYOUT out, and a memory port of its own.
module ahb_slave_ip (
  input logic hclk,
  input logic hreset_n,
  input logic s_hsel,
  input logic [31:0] s_haddr,
  input logic [1:0] s_htrans,
  input logic s_hwrite,
  input logic [2:0] s_hsize,
  input logic [2:0] s_hburst,
  input logic [31:0] s_hwdata,
  input logic s_hready,
  output logic s_hreadyout,
  output logic [31:0] s_hrdata,
  output logic s_hresp,
  output logic buf_cs,
  output logic buf_we,
  output logic [9:0] buf_addr,
  output logic [63:0] buf_wdata,
  input logic [63:0] buf_rdata
);
endmodule
