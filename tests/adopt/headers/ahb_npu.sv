// AHB-Lite manager in upper case, APB registers, an asynchronous reset of either kind of name.
module ahb_npu (
  input logic HCLK,
  input logic HRESETn,
  input logic PCLK,
  input logic PRESETn,
  output logic [31:0] HADDR_M0,
  output logic [1:0] HTRANS_M0,
  output logic HWRITE_M0,
  output logic [2:0] HSIZE_M0,
  output logic [2:0] HBURST_M0,
  output logic [3:0] HPROT_M0,
  output logic HMASTLOCK_M0,
  output logic [63:0] HWDATA_M0,
  input logic [63:0] HRDATA_M0,
  input logic HREADY_M0,
  input logic HRESP_M0,
  input logic [11:0] PADDR,
  input logic PSEL,
  input logic PENABLE,
  input logic PWRITE,
  input logic [31:0] PWDATA,
  input logic [3:0] PSTRB,
  output logic [31:0] PRDATA,
  output logic PREADY,
  output logic PSLVERR,
  output logic IRQ
);
endmodule
