// vgemm: load, compute and store modules around scratchpads, with dependency queues between them. docs/vgemm.md.
module vgemm_top
  import vgemm_pkg::*;
  import vgemm_types_pkg::*;
  import fleet_axi_pkg::*;
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

  input  axil_req_t               s_axil_req_i,
  output axil_rsp_t               s_axil_rsp_o,
  output hbm_req_t [HbmPorts-1:0] hbm_req_o,
  input  hbm_rsp_t [HbmPorts-1:0] hbm_rsp_i,
  output ddr_req_t                ddr_req_o,
  input  ddr_rsp_t                ddr_rsp_i,

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
  ddr_rd_req_t [2:0] rd_req;
  ddr_rd_rsp_t [2:0] rd_rsp;
  ddr_wr_req_t       wr_req;
  ddr_wr_rsp_t       wr_rsp;
  logic [1:0]        chosen, chosen_q, answered;
  logic              held_q;
  assign answered = ddr_rsp_i.r.id[1:0];
  always_comb begin
    chosen = rd_req[0].ar_valid ? 2'd0 : rd_req[1].ar_valid ? 2'd1 : 2'd2;
    if (held_q) chosen = chosen_q;
  end
  for (genvar m = 0; m < 3; m++) begin : gen_rd_rsp
    assign rd_rsp[m].ar_ready = ddr_rsp_i.ar_ready && chosen == 2'(m);
    assign rd_rsp[m].r_valid  = ddr_rsp_i.r_valid && ddr_rsp_i.r.id == 4'(m);
    assign rd_rsp[m].r        = ddr_rsp_i.r;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q   <= 1'b0;
      chosen_q <= '0;
    end else begin
      held_q   <= ddr_req_o.ar_valid && !ddr_rsp_i.ar_ready;
      chosen_q <= chosen;
    end
  end
  assign ddr_req_o.ar_valid = rd_req[chosen].ar_valid;
  assign ddr_req_o.ar.id    = {2'd0, chosen};
  assign ddr_req_o.ar.addr  = rd_req[chosen].ar.addr;
  assign ddr_req_o.ar.len   = rd_req[chosen].ar.len;
  assign ddr_req_o.r_ready  = (ddr_rsp_i.r.id < 4'd3) && rd_req[answered].r_ready;

  // ---- DDR writes: the storer alone
  assign ddr_req_o.aw       = wr_req.aw;
  assign ddr_req_o.aw_valid = wr_req.aw_valid;
  assign ddr_req_o.w        = wr_req.w;
  assign ddr_req_o.w_valid  = wr_req.w_valid;
  assign ddr_req_o.b_ready  = wr_req.b_ready;
  assign wr_rsp             = '{
    aw_ready: ddr_rsp_i.aw_ready, w_ready: ddr_rsp_i.w_ready, b: ddr_rsp_i.b, b_valid: ddr_rsp_i.b_valid
  };

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
    .ddr_req_o(rd_req[2]),
    .ddr_rsp_i(rd_rsp[2])
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
    .rd_req_o      (rd_req[1:0]),
    .rd_rsp_i      (rd_rsp[1:0]),
    .wr_req_o      (wr_req),
    .wr_rsp_i      (wr_rsp)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cause_q <= ErrNone;
    else if (commit_valid_o && commit_error_o != ErrNone) cause_q <= commit_error_o;
  end

  vgemm_csr u_csr (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i      (s_axil_req_i.aw_valid),
    .s_axil_awaddr_i       (s_axil_req_i.aw.addr),
    .s_axil_wvalid_i       (s_axil_req_i.w_valid),
    .s_axil_wdata_i        (s_axil_req_i.w.data),
    .s_axil_wstrb_i        (s_axil_req_i.w.strb),
    .s_axil_bready_i       (s_axil_req_i.b_ready),
    .s_axil_arvalid_i      (s_axil_req_i.ar_valid),
    .s_axil_araddr_i       (s_axil_req_i.ar.addr),
    .s_axil_rready_i       (s_axil_req_i.r_ready),
    .s_axil_awready_o      (s_axil_rsp_o.aw_ready),
    .s_axil_wready_o       (s_axil_rsp_o.w_ready),
    .s_axil_bvalid_o       (s_axil_rsp_o.b_valid),
    .s_axil_bresp_o        (s_axil_rsp_o.b.resp),
    .s_axil_arready_o      (s_axil_rsp_o.ar_ready),
    .s_axil_rvalid_o       (s_axil_rsp_o.r_valid),
    .s_axil_rdata_o        (s_axil_rsp_o.r.data),
    .s_axil_rresp_o        (s_axil_rsp_o.r.resp),
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
  assign hbm_req_o = '0;

  logic unused;
  assign unused = ^{hbm_rsp_i, rd_req[0].ar.id, rd_req[1].ar.id, rd_req[2].ar.id};
endmodule
