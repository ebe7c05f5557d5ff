// The HBM ports for all units: MVM and attention read, attention and wt2hbm write.
//
// The hub says whose the answers are; they are always taken at once.
module hbm0923_hbm_hub
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Ports    = 32,
  parameter int unsigned MaxReads = 64  // bursts under way in a port
) (
  input  logic                    clk_i,
  input  logic                    write_clk_i,  // stands still while neither attention nor wt2hbm is at work
  input  logic                    rst_ni,

  // MVM reads, ahead of time where mvm_ahead_i
  input  logic                    mvm_ahead_i,
  input  hbm_rd_req_t [Ports-1:0] mvm_req_i,
  output hbm_rd_rsp_t [Ports-1:0] mvm_rsp_o,

  // attention reads and writes
  input  hbm_rd_req_t [Ports-1:0] att_rd_req_i,
  output hbm_rd_rsp_t [Ports-1:0] att_rd_rsp_o,
  input  hbm_wr_req_t [Ports-1:0] att_wr_req_i,
  output hbm_wr_rsp_t [Ports-1:0] att_wr_rsp_o,

  // wt2hbm writes, one port at a time
  input  hbm_wr_req_t [Ports-1:0] aux_req_i,
  output hbm_wr_rsp_t [Ports-1:0] aux_rsp_o,

  output hbm_req_t    [Ports-1:0] hbm_req_o,
  input  hbm_rsp_t    [Ports-1:0] hbm_rsp_i
);
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    hbm_rd_rsp_t [1:0] rd_rsp;
    hbm_wr_rsp_t [1:0] wr_rsp;
    assign mvm_rsp_o[p]    = rd_rsp[0];
    assign att_rd_rsp_o[p] = rd_rsp[1];
    assign att_wr_rsp_o[p] = wr_rsp[0];
    assign aux_rsp_o[p]    = wr_rsp[1];

    hbm0923_hbm_hub_port #(.MaxReads(MaxReads)) u_port (
      .clk_i,
      .write_clk_i,
      .rst_ni,
      .second_first_i(mvm_ahead_i),
      .rd_req_i      ({att_rd_req_i[p], mvm_req_i[p]}),
      .rd_rsp_o      (rd_rsp),
      .wr_req_i      ({aux_req_i[p], att_wr_req_i[p]}),
      .wr_rsp_o      (wr_rsp),
      .hbm_req_o     (hbm_req_o[p]),
      .hbm_rsp_i     (hbm_rsp_i[p])
    );
  end
endmodule
