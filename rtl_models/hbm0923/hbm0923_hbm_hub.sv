// The HBM ports for all units: MVM and attention read, attention and wt2hbm write.
//
// The read data and the codes of all answers go to the units as they are; the hub says whose they are. Answers are always
// taken at once.
module hbm0923_hbm_hub #(
  parameter int unsigned Ports    = 32,
  parameter int unsigned MaxReads = 64  // bursts under way in a port
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // MVM: reads, ahead of time where mvm_ahead_i
  input  logic                    mvm_ahead_i,
  input  logic [Ports-1:0]        mvm_arvalid_i,
  output logic [Ports-1:0]        mvm_arready_o,
  input  logic [Ports-1:0][32:0]  mvm_araddr_i,
  input  logic [Ports-1:0][7:0]   mvm_arlen_i,
  output logic [Ports-1:0]        mvm_rvalid_o,

  // attention: reads and writes
  input  logic [Ports-1:0]        att_arvalid_i,
  output logic [Ports-1:0]        att_arready_o,
  input  logic [Ports-1:0][32:0]  att_araddr_i,
  input  logic [Ports-1:0][7:0]   att_arlen_i,
  output logic [Ports-1:0]        att_rvalid_o,
  input  logic [Ports-1:0]        att_awvalid_i,
  output logic [Ports-1:0]        att_awready_o,
  input  logic [Ports-1:0][32:0]  att_awaddr_i,
  input  logic [Ports-1:0][7:0]   att_awlen_i,
  input  logic [Ports-1:0]        att_wvalid_i,
  output logic [Ports-1:0]        att_wready_o,
  input  logic [Ports-1:0][255:0] att_wdata_i,
  input  logic [Ports-1:0][31:0]  att_wstrb_i,
  input  logic [Ports-1:0]        att_wlast_i,
  output logic [Ports-1:0]        att_bvalid_o,

  // wt2hbm: writes, one port at a time
  input  logic [Ports-1:0]        aux_awvalid_i,
  output logic [Ports-1:0]        aux_awready_o,
  input  logic [32:0]             aux_awaddr_i,
  input  logic [7:0]              aux_awlen_i,
  input  logic [Ports-1:0]        aux_wvalid_i,
  output logic [Ports-1:0]        aux_wready_o,
  input  logic [255:0]            aux_wdata_i,
  input  logic [31:0]             aux_wstrb_i,
  input  logic                    aux_wlast_i,
  output logic [Ports-1:0]        aux_bvalid_o,

  output logic [Ports-1:0]        hbm_arvalid_o,
  input  logic [Ports-1:0]        hbm_arready_i,
  output logic [Ports-1:0][32:0]  hbm_araddr_o,
  output logic [Ports-1:0][7:0]   hbm_arlen_o,
  input  logic [Ports-1:0]        hbm_rvalid_i,
  output logic [Ports-1:0]        hbm_rready_o,
  input  logic [Ports-1:0]        hbm_rlast_i,
  output logic [Ports-1:0]        hbm_awvalid_o,
  input  logic [Ports-1:0]        hbm_awready_i,
  output logic [Ports-1:0][32:0]  hbm_awaddr_o,
  output logic [Ports-1:0][7:0]   hbm_awlen_o,
  output logic [Ports-1:0]        hbm_wvalid_o,
  input  logic [Ports-1:0]        hbm_wready_i,
  output logic [Ports-1:0][255:0] hbm_wdata_o,
  output logic [Ports-1:0][31:0]  hbm_wstrb_o,
  output logic [Ports-1:0]        hbm_wlast_o,
  input  logic [Ports-1:0]        hbm_bvalid_i,
  output logic [Ports-1:0]        hbm_bready_o
);
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    hbm0923_hbm_hub_port #(.MaxReads(MaxReads)) u_port (
      .clk_i,
      .rst_ni,
      .second_first_i(mvm_ahead_i),
      .arvalid_i    ({att_arvalid_i[p], mvm_arvalid_i[p]}),
      .arready_o    ({att_arready_o[p], mvm_arready_o[p]}),
      .araddr_i     ({att_araddr_i[p], mvm_araddr_i[p]}),
      .arlen_i      ({att_arlen_i[p], mvm_arlen_i[p]}),
      .rvalid_o     ({att_rvalid_o[p], mvm_rvalid_o[p]}),
      .awvalid_i    ({aux_awvalid_i[p], att_awvalid_i[p]}),
      .awready_o    ({aux_awready_o[p], att_awready_o[p]}),
      .awaddr_i     ({aux_awaddr_i, att_awaddr_i[p]}),
      .awlen_i      ({aux_awlen_i, att_awlen_i[p]}),
      .wvalid_i     ({aux_wvalid_i[p], att_wvalid_i[p]}),
      .wready_o     ({aux_wready_o[p], att_wready_o[p]}),
      .wdata_i      ({aux_wdata_i, att_wdata_i[p]}),
      .wstrb_i      ({aux_wstrb_i, att_wstrb_i[p]}),
      .wlast_i      ({aux_wlast_i, att_wlast_i[p]}),
      .bvalid_o     ({aux_bvalid_o[p], att_bvalid_o[p]}),
      .hbm_arvalid_o(hbm_arvalid_o[p]),
      .hbm_arready_i(hbm_arready_i[p]),
      .hbm_araddr_o (hbm_araddr_o[p]),
      .hbm_arlen_o  (hbm_arlen_o[p]),
      .hbm_rvalid_i (hbm_rvalid_i[p]),
      .hbm_rlast_i  (hbm_rlast_i[p]),
      .hbm_awvalid_o(hbm_awvalid_o[p]),
      .hbm_awready_i(hbm_awready_i[p]),
      .hbm_awaddr_o (hbm_awaddr_o[p]),
      .hbm_awlen_o  (hbm_awlen_o[p]),
      .hbm_wvalid_o (hbm_wvalid_o[p]),
      .hbm_wready_i (hbm_wready_i[p]),
      .hbm_wdata_o  (hbm_wdata_o[p]),
      .hbm_wstrb_o  (hbm_wstrb_o[p]),
      .hbm_wlast_o  (hbm_wlast_o[p]),
      .hbm_bvalid_i (hbm_bvalid_i[p])
    );
  end
  assign hbm_rready_o = '1;
  assign hbm_bready_o = '1;
endmodule
