// The attention unit with the bench's memories. The on-chip memory stands behind DDR, at 4 GiB, where bit 32 leads.
module att_bench
  import hbm0923_unit_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Ports         = 8,
  parameter int unsigned MaxToken      = 2048,
  parameter int unsigned OnchipDepth   = 2048,
  parameter int unsigned AttInterval   = 1,
  parameter bit          ScaleFp20     = 1'b0,
  parameter int unsigned DdrMegabytes  = 16,
  parameter int unsigned HbmMegabytes  = 1,
  parameter int unsigned PortFifoDepth = 128
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [63:0]       cycle_i,
  input  logic              start_i,
  input  logic [31:0]       mode_i,
  input  logic [14:0][31:0] operands_i,
  input  logic              oldest_i,
  input  logic              data_go_i,
  input  logic              hbm_go_i,
  output logic              busy_o,
  output logic              checked_o,
  output logic [3:0][67:0]  hulls_o,     // lo, hi of input, HBM read, output, HBM written; 0 where there is none
  output logic              commit_valid_o,
  output logic [15:0]       commit_opcode_o,
  output logic [15:0]       commit_error_o,
  output logic [5:0][31:0]  commit_cycles_o,
  output logic              moved_o
);
  hulls_t hulls;
  function automatic logic [67:0] flat(input range_t r);
    return r.valid ? {r.lo, r.hi} : 68'd0;
  endfunction
  assign hulls_o = {flat(hulls.hbm_wr), flat(hulls.wr[0]), flat(hulls.hbm), flat(hulls.data[0])};

  hbm_rd_req_t [Ports-1:0] hbm_rd_req;
  hbm_rd_rsp_t [Ports-1:0] hbm_rd_rsp;
  hbm_wr_req_t [Ports-1:0] hbm_wr_req;
  hbm_wr_rsp_t [Ports-1:0] hbm_wr_rsp;
  logic                    ddr_arvalid, ddr_arready, ddr_rvalid, ddr_rlast;
  logic [3:0]              ddr_arid, ddr_rid, ddr_awid, ddr_bid;
  logic [32:0]             ddr_araddr, ddr_awaddr;
  logic [7:0]              ddr_arlen, ddr_awlen;
  logic [511:0]            ddr_rdata, ddr_wdata;
  logic [63:0]             ddr_wstrb;
  logic [1:0]              ddr_rresp, ddr_bresp;
  logic                    ddr_awvalid, ddr_awready, ddr_wvalid, ddr_wready, ddr_wlast, ddr_bvalid, ddr_bready;
  logic                    result_valid;
  logic [31:0]             result;

  hbm0923_attention #(
    .Tout(Ports),
    .HbmPorts(Ports),
    .MaxToken(MaxToken),
    .OnchipDepth(OnchipDepth),
    .AttInterval(AttInterval),
    .ScaleFp20(ScaleFp20),
    .DdrMegabytes(DdrMegabytes),
    .HbmMegabytes(HbmMegabytes),
    .PortFifoDepth(PortFifoDepth)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .mode_i,
    .operands_i,
    .busy_o,
    .oldest_i,
    .checked_o,
    .hulls_o              (hulls),
    .data_go_i,
    .coef_go_i            (1'b0),
    .hbm_go_i,
    .commit_valid_o,
    .commit_opcode_o,
    .commit_error_o,
    .commit_result_valid_o(result_valid),
    .commit_result_o      (result),
    .commit_cycles_o,
    .ddr_arvalid_o        (ddr_arvalid),
    .ddr_arready_i        (ddr_arready),
    .ddr_arid_o           (ddr_arid),
    .ddr_araddr_o         (ddr_araddr),
    .ddr_arlen_o          (ddr_arlen),
    .ddr_rvalid_i         (ddr_rvalid),
    .ddr_rid_i            (ddr_rid),
    .ddr_rdata_i          (ddr_rdata),
    .ddr_rresp_i          (ddr_rresp),
    .ddr_rlast_i          (ddr_rlast),
    .ddr_awvalid_o        (ddr_awvalid),
    .ddr_awready_i        (ddr_awready),
    .ddr_awid_o           (ddr_awid),
    .ddr_awaddr_o         (ddr_awaddr),
    .ddr_awlen_o          (ddr_awlen),
    .ddr_wvalid_o         (ddr_wvalid),
    .ddr_wready_i         (ddr_wready),
    .ddr_wdata_o          (ddr_wdata),
    .ddr_wstrb_o          (ddr_wstrb),
    .ddr_wlast_o          (ddr_wlast),
    .ddr_bvalid_i         (ddr_bvalid),
    .ddr_bready_o         (ddr_bready),
    .ddr_bresp_i          (ddr_bresp),
    .hbm_rd_req_o         (hbm_rd_req),
    .hbm_rd_rsp_i         (hbm_rd_rsp),
    .hbm_wr_req_o         (hbm_wr_req),
    .hbm_wr_rsp_i         (hbm_wr_rsp)
  );

  hbm_req_t [Ports-1:0] hbm_req;
  hbm_rsp_t [Ports-1:0] hbm_rsp;
  ddr_req_t             ddr_req;
  ddr_rsp_t             ddr_rsp;
  logic [Ports-1:0]     hbm_reads, hbm_writes;
  for (genvar p = 0; p < Ports; p++) begin : gen_hbm
    assign hbm_req[p] = '{
      aw: hbm_wr_req[p].aw, aw_valid: hbm_wr_req[p].aw_valid, w: hbm_wr_req[p].w, w_valid: hbm_wr_req[p].w_valid,
      b_ready: hbm_wr_req[p].b_ready, ar: hbm_rd_req[p].ar, ar_valid: hbm_rd_req[p].ar_valid, r_ready: hbm_rd_req[p].r_ready
    };
    assign hbm_rd_rsp[p] = '{ar_ready: hbm_rsp[p].ar_ready, r_valid: hbm_rsp[p].r_valid, r: hbm_rsp[p].r};
    assign hbm_wr_rsp[p] = '{
      aw_ready: hbm_rsp[p].aw_ready, w_ready: hbm_rsp[p].w_ready, b: hbm_rsp[p].b, b_valid: hbm_rsp[p].b_valid
    };
    assign hbm_reads[p]  = hbm_rd_req[p].ar_valid;
    assign hbm_writes[p] = hbm_wr_req[p].aw_valid || hbm_wr_req[p].w_valid;
  end
  assign ddr_req = '{
    aw: '{id: ddr_awid, addr: ddr_awaddr, len: ddr_awlen}, aw_valid: ddr_awvalid,
    w: '{data: ddr_wdata, strb: ddr_wstrb, last: ddr_wlast}, w_valid: ddr_wvalid, b_ready: ddr_bready,
    ar: '{id: ddr_arid, addr: ddr_araddr, len: ddr_arlen}, ar_valid: ddr_arvalid, r_ready: 1'b1
  };
  assign ddr_arready = ddr_rsp.ar_ready;
  assign ddr_rvalid  = ddr_rsp.r_valid;
  assign ddr_rid     = ddr_rsp.r.id;
  assign ddr_rdata   = ddr_rsp.r.data;
  assign ddr_rresp   = ddr_rsp.r.resp;
  assign ddr_rlast   = ddr_rsp.r.last;
  assign ddr_awready = ddr_rsp.aw_ready;
  assign ddr_wready  = ddr_rsp.w_ready;
  assign ddr_bvalid  = ddr_rsp.b_valid;
  assign ddr_bid     = ddr_rsp.b.id;
  assign ddr_bresp   = ddr_rsp.b.resp;

  fleet_memory #(.HbmPorts(Ports)) u_memory (
    .clk_i,
    .rst_ni,
    .cycle_i,
    .progress_o(moved_o),
    .hbm_req_i (hbm_req),
    .hbm_rsp_o (hbm_rsp),
    .ddr_req_i (ddr_req),
    .ddr_rsp_o (ddr_rsp)
  );

  // The rules of a unit: nothing is read before its class may go, nothing written or committed before it is the oldest.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) ddr_arvalid |-> data_go_i && ddr_arid == IdAtt);
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) hbm_reads != '0 |-> hbm_go_i);
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q)
    ddr_awvalid || ddr_wvalid || hbm_writes != '0 || commit_valid_o |-> oldest_i);
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) !busy_o |->
    !(ddr_arvalid || ddr_awvalid || ddr_wvalid || hbm_reads != '0 || hbm_writes != '0));
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) !result_valid && result == '0);
endmodule
