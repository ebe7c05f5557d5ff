// Memory ports of a compiler of macros, active low, beside a simple start and done.
module edge_mac (
  input logic CLK,
  input logic RSTN,
  input logic start,
  output logic done,
  output logic busy,
  output logic w_mem_ceb,
  output logic w_mem_web,
  output logic [63:0] w_mem_bweb,
  output logic [11:0] w_mem_a,
  output logic [63:0] w_mem_d,
  input logic [63:0] w_mem_q,
  output logic act_cen,
  output logic act_wen,
  output logic [11:0] act_addr,
  output logic [31:0] act_din,
  input logic [31:0] act_dout,
  output logic rom_en,
  output logic [8:0] rom_addr,
  input logic [127:0] rom_rdata
);
endmodule
