// AHB whose subordinate calls its HREADYOUT HREADY, and Avalon in abbreviations.
module short_words (
  // expect: clock subordinate
  input HCLK,
  // expect: reset subordinate
  input HRESETn,
  // expect: ahb_lite subordinate
  input HSEL_acc_i,
  input [31:0] HADDR_acc_i,
  input [2:0] HSIZE_acc_i,
  input [1:0] HTRANS_acc_i,
  input HWRITE_acc_i,
  input [31:0] HWDATA_acc_i,
  output HREADY_acc_o, HRESP_acc_o,
  output [31:0] HRDATA_acc_o,
  // expect: avalon_mm subordinate
  input  [15:0] csr_addr,
  input  csr_rd, csr_wr,
  input  [3:0] csr_byteena,
  input  [31:0] csr_wrdat,
  output [31:0] csr_rddat,
  output csr_rddatvld, csr_waitreq
);
endmodule
