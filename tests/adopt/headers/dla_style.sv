// A register bus of valid, ready and fields with who2whom names; a memory bus whose channels are streams with _pd.
module dla_style (
  input logic core_clk,
  input logic csb_clk,
  input logic rstn,
  input logic csb_rstn,
  input logic csb2dla_valid,
  output logic csb2dla_ready,
  input logic [15:0] csb2dla_addr,
  input logic [31:0] csb2dla_wdat,
  input logic csb2dla_write,
  input logic csb2dla_nposted,
  output logic dla2csb_valid,
  output logic [31:0] dla2csb_data,
  output logic dla2mem_req_valid,
  input logic dla2mem_req_ready,
  output logic [78:0] dla2mem_req_pd,
  input logic mem2dla_rsp_valid,
  output logic mem2dla_rsp_ready,
  input logic [513:0] mem2dla_rsp_pd,
  output logic dla_intr,
  input logic global_clk_ovr_on,
  input logic tmc2slcg_disable_clock_gating
);
endmodule
