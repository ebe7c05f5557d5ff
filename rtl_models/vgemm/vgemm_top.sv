// vgemm: load, compute and store modules around scratchpads, with dependency queues between them. docs/vgemm.md.
module vgemm_top
  import vgemm_pkg::*;
  import vgemm_types_pkg::*;
#(
  parameter int unsigned HbmPorts     = 1,
  parameter int unsigned Block        = 4,      // channels of a block: inputs and outputs of a product
  parameter int unsigned UopDepth     = 512,    // elements of the scratchpads, powers of two
  parameter int unsigned InpDepth     = 1024,
  parameter int unsigned WgtDepth     = 1024,
  parameter int unsigned AccDepth     = 1024,
  parameter int unsigned DdrMegabytes = 16,
  parameter logic [31:0] DescHash     = '0
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        s_axil_awvalid_i,
  output logic        s_axil_awready_o,
  input  logic [15:0] s_axil_awaddr_i,
  input  logic        s_axil_wvalid_i,
  output logic        s_axil_wready_o,
  input  logic [31:0] s_axil_wdata_i,
  input  logic [3:0]  s_axil_wstrb_i,
  output logic        s_axil_bvalid_o,
  input  logic        s_axil_bready_i,
  output logic [1:0]  s_axil_bresp_o,
  input  logic        s_axil_arvalid_i,
  output logic        s_axil_arready_o,
  input  logic [15:0] s_axil_araddr_i,
  output logic        s_axil_rvalid_o,
  input  logic        s_axil_rready_i,
  output logic [31:0] s_axil_rdata_o,
  output logic [1:0]  s_axil_rresp_o,

  output logic [HbmPorts-1:0]        hbm_arvalid_o,
  input  logic [HbmPorts-1:0]        hbm_arready_i,
  output logic [HbmPorts-1:0][32:0]  hbm_araddr_o,
  output logic [HbmPorts-1:0][7:0]   hbm_arlen_o,
  input  logic [HbmPorts-1:0]        hbm_rvalid_i,
  output logic [HbmPorts-1:0]        hbm_rready_o,
  input  logic [HbmPorts-1:0][255:0] hbm_rdata_i,
  input  logic [HbmPorts-1:0][1:0]   hbm_rresp_i,
  input  logic [HbmPorts-1:0]        hbm_rlast_i,
  output logic [HbmPorts-1:0]        hbm_awvalid_o,
  input  logic [HbmPorts-1:0]        hbm_awready_i,
  output logic [HbmPorts-1:0][32:0]  hbm_awaddr_o,
  output logic [HbmPorts-1:0][7:0]   hbm_awlen_o,
  output logic [HbmPorts-1:0]        hbm_wvalid_o,
  input  logic [HbmPorts-1:0]        hbm_wready_i,
  output logic [HbmPorts-1:0][255:0] hbm_wdata_o,
  output logic [HbmPorts-1:0][31:0]  hbm_wstrb_o,
  output logic [HbmPorts-1:0]        hbm_wlast_o,
  input  logic [HbmPorts-1:0]        hbm_bvalid_i,
  output logic [HbmPorts-1:0]        hbm_bready_o,
  input  logic [HbmPorts-1:0][1:0]   hbm_bresp_i,

  output logic         ddr_arvalid_o,
  input  logic         ddr_arready_i,
  output logic [3:0]   ddr_arid_o,
  output logic [32:0]  ddr_araddr_o,
  output logic [7:0]   ddr_arlen_o,
  input  logic         ddr_rvalid_i,
  output logic         ddr_rready_o,
  input  logic [3:0]   ddr_rid_i,
  input  logic [511:0] ddr_rdata_i,
  input  logic [1:0]   ddr_rresp_i,
  input  logic         ddr_rlast_i,
  output logic         ddr_awvalid_o,
  input  logic         ddr_awready_i,
  output logic [3:0]   ddr_awid_o,
  output logic [32:0]  ddr_awaddr_o,
  output logic [7:0]   ddr_awlen_o,
  output logic         ddr_wvalid_o,
  input  logic         ddr_wready_i,
  output logic [511:0] ddr_wdata_o,
  output logic [63:0]  ddr_wstrb_o,
  output logic         ddr_wlast_o,
  input  logic         ddr_bvalid_i,
  output logic         ddr_bready_o,
  input  logic [3:0]   ddr_bid_i,
  input  logic [1:0]   ddr_bresp_i,

  output logic             irq_o,
  output logic             commit_valid_o,
  output logic [15:0]      commit_opcode_o,
  output logic [15:0]      commit_error_o,
  output logic             commit_result_valid_o,
  output logic [31:0]      commit_result_o,
  output logic [5:0][31:0] commit_cycles_o
);
  localparam int unsigned Depth = 8;

  word_t       word;
  logic [31:0] mode, binary_mode, binary_address, binary_beats, binary_tasks;
  logic        start, binary_start;

  logic        fetch_start, fetch_stop, fetch_end, fetch_busy, fetch_over, fetch_valid, fetch_ready;
  logic [15:0] fetch_error;
  logic [31:0] fetch_mode;
  word_t       fetch_word;

  logic [2:0]  issue, done_valid, done_pop, observe;
  issue_t      issue_data;
  done_t [2:0] done;
  logic        clear_tokens, store_oldest, idle, run_done;
  logic [15:0] cause_q;

  // ---- DDR reads: 0 load, 1 compute, 2 fetch; a request stands until it is taken
  logic [2:0]       arvalid, arready, rvalid, rready;
  logic [2:0][32:0] araddr;
  logic [2:0][7:0]  arlen;
  logic [1:0]       chosen, chosen_q;
  logic             held_q, rerror;
  always_comb begin
    chosen = arvalid[0] ? 2'd0 : arvalid[1] ? 2'd1 : 2'd2;
    if (held_q) chosen = chosen_q;
    arready         = '0;
    arready[chosen] = ddr_arready_i;
    rvalid          = '0;
    if (ddr_rid_i < 4'd3) rvalid[ddr_rid_i[1:0]] = ddr_rvalid_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q   <= 1'b0;
      chosen_q <= '0;
    end else begin
      held_q   <= ddr_arvalid_o && !ddr_arready_i;
      chosen_q <= chosen;
    end
  end
  assign ddr_arvalid_o = arvalid[chosen];
  assign ddr_arid_o    = {2'd0, chosen};
  assign ddr_araddr_o  = araddr[chosen];
  assign ddr_arlen_o   = arlen[chosen];
  assign ddr_rready_o  = (ddr_rid_i < 4'd3) && rready[ddr_rid_i[1:0]];
  assign rerror        = ddr_rresp_i[1];

  vgemm_fetch #(.DdrMegabytes(DdrMegabytes)) u_fetch (
    .clk_i,
    .rst_ni,
    .start_i  (fetch_start),
    .mode_i   (binary_mode),
    .address_i(binary_address),
    .beats_i  (binary_beats),
    .tasks_i  (binary_tasks),
    .stop_i   (fetch_stop),
    .end_i    (fetch_end),
    .busy_o   (fetch_busy),
    .over_o   (fetch_over),
    .error_o  (fetch_error),
    .valid_o  (fetch_valid),
    .ready_i  (fetch_ready),
    .mode_o   (fetch_mode),
    .word_o   (fetch_word),
    .arvalid_o(arvalid[2]),
    .arready_i(arready[2]),
    .araddr_o (araddr[2]),
    .arlen_o  (arlen[2]),
    .rvalid_i (rvalid[2]),
    .rready_o (rready[2]),
    .rdata_i  (ddr_rdata_i),
    .rerror_i (rerror)
  );

  vgemm_dispatch #(
    .Block(Block),
    .UopDepth(UopDepth),
    .InpDepth(InpDepth),
    .WgtDepth(WgtDepth),
    .AccDepth(AccDepth),
    .DdrMegabytes(DdrMegabytes),
    .Depth(Depth)
  ) u_dispatch (
    .clk_i,
    .rst_ni,
    .start_i       (start),
    .mode_i        (mode),
    .word_i        (word),
    .binary_start_i(binary_start),
    .fetch_busy_i  (fetch_busy),
    .fetch_over_i  (fetch_over),
    .fetch_error_i (fetch_error),
    .fetch_valid_i (fetch_valid),
    .fetch_ready_o (fetch_ready),
    .fetch_mode_i  (fetch_mode),
    .fetch_word_i  (fetch_word),
    .fetch_stop_o  (fetch_stop),
    .fetch_end_o   (fetch_end),
    .fetch_start_o (fetch_start),
    .issue_o       (issue),
    .issue_data_o  (issue_data),
    .clear_tokens_o(clear_tokens),
    .done_valid_i  (done_valid),
    .done_i        (done),
    .done_pop_o    (done_pop),
    .store_oldest_o(store_oldest),
    .observe_o     (observe),
    .idle_o        (idle),
    .run_done_o    (run_done),
    .commit_valid_o,
    .commit_opcode_o,
    .commit_error_o,
    .commit_cycles_o
  );
  assign commit_result_valid_o = 1'b0;
  assign commit_result_o       = '0;

  vgemm_core #(
    .Block(Block),
    .UopDepth(UopDepth),
    .InpDepth(InpDepth),
    .WgtDepth(WgtDepth),
    .AccDepth(AccDepth),
    .Depth(Depth)
  ) u_core (
    .clk_i,
    .rst_ni,
    .issue_i       (issue),
    .issue_data_i  (issue_data),
    .clear_tokens_i(clear_tokens),
    .done_valid_o  (done_valid),
    .done_o        (done),
    .done_pop_i    (done_pop),
    .store_oldest_i(store_oldest),
    .observe_i     (observe),
    .arvalid_o     (arvalid[1:0]),
    .arready_i     (arready[1:0]),
    .araddr_o      (araddr[1:0]),
    .arlen_o       (arlen[1:0]),
    .rvalid_i      (rvalid[1:0]),
    .rready_o      (rready[1:0]),
    .rdata_i       (ddr_rdata_i),
    .rerror_i      (rerror),
    .awvalid_o     (ddr_awvalid_o),
    .awready_i     (ddr_awready_i),
    .awaddr_o      (ddr_awaddr_o),
    .wvalid_o      (ddr_wvalid_o),
    .wready_i      (ddr_wready_i),
    .wdata_o       (ddr_wdata_o),
    .wstrb_o       (ddr_wstrb_o),
    .bvalid_i      (ddr_bvalid_i),
    .bready_o      (ddr_bready_o),
    .berror_i      (ddr_bresp_i[1])
  );
  assign ddr_awid_o  = '0;
  assign ddr_awlen_o = '0;
  assign ddr_wlast_o = 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cause_q <= ErrNone;
    else if (commit_valid_o && commit_error_o != ErrNone) cause_q <= commit_error_o;
  end

  vgemm_csr u_csr (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i,
    .s_axil_awaddr_i,
    .s_axil_wvalid_i,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_bready_i,
    .s_axil_arvalid_i,
    .s_axil_araddr_i,
    .s_axil_rready_i,
    .s_axil_awready_o,
    .s_axil_wready_o,
    .s_axil_bvalid_o,
    .s_axil_bresp_o,
    .s_axil_arready_o,
    .s_axil_rvalid_o,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .cmd_w0_o              (word.w0),
    .cmd_w1_o              (word.w1),
    .cmd_w2_o              (word.w2),
    .cmd_w3_o              (word.w3),
    .cmd_start_o           (mode),
    .cmd_start_pulse_o     (start),
    .cmd_status_i          ({31'd0, idle}),
    .binary_address_o      (binary_address),
    .binary_beats_o        (binary_beats),
    .binary_tasks_o        (binary_tasks),
    .binary_start_o        (binary_mode),
    .binary_start_pulse_o  (binary_start),
    .binary_status_i       ({31'd0, !fetch_busy}),
    .irq_status_done_set_i ((commit_valid_o && commit_error_o == ErrNone && !fetch_busy) || run_done),
    .irq_status_error_set_i(commit_valid_o && commit_error_o != ErrNone),
    .error_cause_i         ({16'd0, cause_q}),
    .desc_hash_i           (DescHash),
    .irq_o
  );

  // No HBM here.
  assign hbm_arvalid_o = '0;
  assign hbm_araddr_o  = '0;
  assign hbm_arlen_o   = '0;
  assign hbm_rready_o  = '0;
  assign hbm_awvalid_o = '0;
  assign hbm_awaddr_o  = '0;
  assign hbm_awlen_o   = '0;
  assign hbm_wvalid_o  = '0;
  assign hbm_wdata_o   = '0;
  assign hbm_wstrb_o   = '0;
  assign hbm_wlast_o   = '0;
  assign hbm_bready_o  = '0;

  logic unused;
  assign unused = ^{hbm_arready_i, hbm_rvalid_i, hbm_rdata_i, hbm_rresp_i, hbm_rlast_i, hbm_awready_i, hbm_wready_i,
                    hbm_bvalid_i, hbm_bresp_i, ddr_rlast_i, ddr_bid_i, ddr_rresp_i[0], ddr_bresp_i[0]};
endmodule
