// The attention unit with the bench's memories. The on-chip memory stands behind DDR, at 4 GiB, where bit 32 leads.
module att_bench
  import hbm0923_unit_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Ports         = 8,
  parameter int unsigned MaxToken      = 2048,
  parameter int unsigned OnchipDepth   = 2048,
  parameter int unsigned AttInterval   = 1,
  parameter int unsigned AttQueries    = 1,
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
  ddr_rd_req_t             ddr_rd_req;
  ddr_rd_rsp_t             ddr_rd_rsp;
  ddr_wr_req_t             ddr_wr_req;
  ddr_wr_rsp_t             ddr_wr_rsp;
  logic [1:0]              result_valid;
  logic [1:0][31:0]        result;
  // The other slot's, which takes no instruction here.
  logic [2:0]              idle;
  hulls_t                  idle_hulls;
  logic [15:0]             idle_opcode, idle_error;
  logic [5:0][31:0]        idle_cycles;

  hbm0923_attention #(
    .Tout(Ports),
    .HbmPorts(Ports),
    .MaxToken(MaxToken),
    .OnchipDepth(OnchipDepth),
    .AttInterval(AttInterval),
    .AttQueries(AttQueries),
    .ScaleFp20(ScaleFp20),
    .DdrMegabytes(DdrMegabytes),
    .HbmMegabytes(HbmMegabytes),
    .PortFifoDepth(PortFifoDepth)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .start_i              ({1'b0, start_i}),
    .mode_i,
    .operands_i,
    .busy_o               ({idle[0], busy_o}),
    .oldest_i             ({1'b0, oldest_i}),
    .checked_o            ({idle[1], checked_o}),
    .hulls_o              ({idle_hulls, hulls}),
    .data_go_i            ({1'b0, data_go_i}),
    .bound_i              ('0),
    .settled_o            (),
    .coef_go_i            ('0),
    .hbm_go_i             ({1'b0, hbm_go_i}),
    .commit_valid_o       ({idle[2], commit_valid_o}),
    .commit_opcode_o      ({idle_opcode, commit_opcode_o}),
    .commit_error_o       ({idle_error, commit_error_o}),
    .commit_result_valid_o(result_valid),
    .commit_result_o      (result),
    .commit_cycles_o      ({idle_cycles, commit_cycles_o}),
    .ddr_rd_req_o         (ddr_rd_req),
    .ddr_rd_rsp_i         (ddr_rd_rsp),
    .ddr_wr_req_o         (ddr_wr_req),
    .ddr_wr_rsp_i         (ddr_wr_rsp),
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
    aw: ddr_wr_req.aw, aw_valid: ddr_wr_req.aw_valid, w: ddr_wr_req.w, w_valid: ddr_wr_req.w_valid, b_ready: ddr_wr_req.b_ready,
    ar: ddr_rd_req.ar, ar_valid: ddr_rd_req.ar_valid, r_ready: ddr_rd_req.r_ready
  };
  assign ddr_rd_rsp = '{ar_ready: ddr_rsp.ar_ready, r_valid: ddr_rsp.r_valid, r: ddr_rsp.r};
  assign ddr_wr_rsp = '{aw_ready: ddr_rsp.aw_ready, w_ready: ddr_rsp.w_ready, b: ddr_rsp.b, b_valid: ddr_rsp.b_valid};

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
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) ddr_rd_req.ar_valid |-> data_go_i && ddr_rd_req.ar.id == IdAtt);
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) hbm_reads != '0 |-> hbm_go_i);
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q)
    ddr_wr_req.aw_valid || ddr_wr_req.w_valid || hbm_writes != '0 || commit_valid_o |-> oldest_i);
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) !busy_o |->
    !(ddr_rd_req.ar_valid || ddr_wr_req.aw_valid || ddr_wr_req.w_valid || hbm_reads != '0 || hbm_writes != '0));
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) result_valid == '0 && result == '0 && idle == '0);
endmodule
