// HBM0923: registers, dispatcher, units and hubs, with the ports of every instruction set's top.
module hbm0923_top
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_fabric_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Tin           = 128,
  parameter int unsigned Tout          = 32,
  parameter int unsigned HbmPorts      = 32,
  parameter int unsigned Tblk          = 128,
  parameter int unsigned TgroupCh      = 2048,
  parameter int unsigned DatDepth      = 8192,
  parameter int unsigned WtDepth       = 1024,
  parameter int unsigned PortFifoDepth = 128,
  parameter int unsigned MaxToken      = 2048,
  parameter int unsigned Log2BankStep  = 28,
  parameter int unsigned OnchipDepth   = 1024,   // beats of each half
  parameter int unsigned SfuInterval   = 2,      // cycles a step of a unit
  parameter int unsigned AttInterval   = 2,
  parameter int unsigned AttQueries    = 1,      // pairs of query head and token that attention reads K and V for at once
  // Latencies of operators: README.md.
  parameter int unsigned ArrayLatency   = 4,
  parameter int unsigned ProductLatency = 6,
  parameter int unsigned DotLatency    = 5,
  parameter int unsigned RoundLatency  = 7,
  parameter int unsigned ScaleLatency  = 3,
  parameter int unsigned AddLatency    = 9,
  parameter int unsigned NarrowLatency = 2,
  parameter int unsigned ScaleFp20     = 0,      // 1: register 206 holds FP20
  parameter int unsigned Sparse        = 0,      // 1: products may have sparse weights
  parameter int unsigned MaxChannels   = 16384,  // of a norm
  parameter int unsigned DdrMegabytes  = 4096,
  parameter int unsigned HbmMegabytes  = 256,
  parameter logic [31:0] DescHash      = 32'd0
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  axil_req_t               s_axil_req_i,
  output axil_rsp_t               s_axil_rsp_o,
  output hbm_req_t [HbmPorts-1:0] hbm_req_o,
  input  hbm_rsp_t [HbmPorts-1:0] hbm_rsp_i,
  output ddr_req_t                ddr_req_o,
  input  ddr_rsp_t                ddr_rsp_i,

  output logic                    irq_o,
  output logic                    commit_valid_o,
  output logic [15:0]             commit_opcode_o,
  output logic [15:0]             commit_error_o,
  output logic                    commit_result_valid_o,
  output logic [31:0]             commit_result_o,
  output logic [5:0][31:0]        commit_cycles_o
);
  // ---- clocks, which stand still where nothing happens
  logic registers_clk, ddr_clk, hbm_write_clk, mvm_clk, sfu_clk, attention_clk, elementwise_clk;

  // ---- registers
  logic [Groups-1:0]       pulse, status;
  logic [Groups-1:0][31:0] mode;
  mvm_operands_t           reg_mvm, task_mvm;
  sfu_operands_t           reg_sfu, task_sfu;
  elementwise_operands_t   reg_elementwise, task_elementwise;
  aux_operands_t           reg_aux;
  logic [31:0]             eps, result, cycles, commits, tasks;
  logic                    irq_done, irq_error;
  logic [15:0]             err_cause, err_instr;
  logic [5:0][31:0]        classes;

  // An access is under way from its first valid to its response; the linger is longer than anything between two of them.
  hbm0923_clock_gate #(.Linger(8)) u_registers_gate (
    .clk_i,
    .rst_ni,
    .enable_i(s_axil_req_i.aw_valid || s_axil_req_i.w_valid || s_axil_req_i.ar_valid || s_axil_rsp_o.b_valid
              || s_axil_rsp_o.r_valid || irq_done || irq_error || pulse != '0),
    .clk_o   (registers_clk)
  );

  hbm0923_registers #(.DescHash(DescHash)) u_registers (
    .clk_i        (registers_clk),
    .rst_ni,
    .s_axil_req_i,
    .s_axil_rsp_o,
    .pulse_o      (pulse),
    .mode_o       (mode),
    .mvm_o        (reg_mvm),
    .sfu_o        (reg_sfu),
    .elementwise_o(reg_elementwise),
    .aux_o        (reg_aux),
    .eps_o        (eps),
    .status_i     (status),
    .irq_done_i   (irq_done),
    .irq_error_i  (irq_error),
    .err_cause_i  (err_cause),
    .err_instr_i  (err_instr),
    .result_i     (result),
    .cycles_i     (cycles),
    .class_i      (classes),
    .commits_i    (commits),
    .tasks_i      (tasks),
    .irq_o
  );

  // ---- dispatcher
  logic               run_start, run, run_stop, run_end, run_over, task_ready;
  logic [15:0]        run_error;
  start_t             task_start;
  logic [Slots-1:0]   start, busy, checked, oldest, data_go, coef_go, hbm_go;
  logic [31:0]        unit_mode;
  hulls_t [Slots-1:0] hulls;
  bound_t [Slots-1:0] settled;
  bound_t [Slots-1:0][1:0] bounds;
  commit_t [Slots-1:0] unit_commit;
  logic [Slots-1:0]   commit_valid;
  logic [Slots-1:0][15:0] commit_error;
  commit_t            commit;

  hbm0923_dispatch u_dispatch (
    .clk_i,
    .rst_ni,
    .pulse_i     (pulse),
    .mode_i      (mode),
    .task_i      (task_start),
    .task_ready_o(task_ready),
    .run_start_o (run_start),
    .run_o       (run),
    .run_stop_o  (run_stop),
    .run_end_o   (run_end),
    .run_over_i  (run_over),
    .run_error_i (run_error),
    .start_o     (start),
    .mode_o      (unit_mode),
    .busy_i      (busy),
    .checked_i   (checked),
    .hulls_i     (hulls),
    .oldest_o    (oldest),
    .data_go_o   (data_go),
    .coef_go_o   (coef_go),
    .hbm_go_o    (hbm_go),
    .settled_i   (settled),
    .bounds_o    (bounds),
    .commit_valid_i(commit_valid),
    .commit_error_i(commit_error),
    .commit_i    (unit_commit),
    .commit_valid_o,
    .commit_error_o,
    .commit_o    (commit),
    .status_o    (status),
    .irq_done_o  (irq_done),
    .irq_error_o (irq_error),
    .err_cause_o (err_cause),
    .err_instr_o (err_instr),
    .result_o    (result),
    .cycles_o    (cycles),
    .class_o     (classes),
    .commits_o   (commits),
    .tasks_o     (tasks)
  );
  assign commit_opcode_o       = commit.opcode;
  assign commit_result_valid_o = commit.result_valid;
  assign commit_result_o       = commit.result;
  assign commit_cycles_o       = commit.cycles;

  // A unit works from its start to its commit; responses come to no other one.
  hbm0923_clock_gate u_mvm_gate (
    .clk_i,
    .rst_ni,
    .enable_i(start[IxMvm] || start[IxMvmNext] || busy[IxMvm] || busy[IxMvmNext]),
    .clk_o   (mvm_clk)
  );
  hbm0923_clock_gate u_sfu_gate (.clk_i, .rst_ni, .enable_i(start[IxSfu] || busy[IxSfu]), .clk_o(sfu_clk));
  logic attention_works;  // in one of its slots
  assign attention_works = start[IxAtt] || start[IxAttNext] || busy[IxAtt] || busy[IxAttNext];
  hbm0923_clock_gate u_attention_gate (.clk_i, .rst_ni, .enable_i(attention_works), .clk_o(attention_clk));
  hbm0923_clock_gate u_elementwise_gate (.clk_i, .rst_ni, .enable_i(start[IxElt] || busy[IxElt]), .clk_o(elementwise_clk));

  // Operands come from the registers, or while a binary runs from its tasks.
  mvm_operands_t         mvm_operands;
  sfu_operands_t         sfu_operands;
  elementwise_operands_t elementwise_operands;
  assign mvm_operands         = run ? task_mvm : reg_mvm;
  assign sfu_operands         = run ? task_sfu : reg_sfu;
  assign elementwise_operands = run ? task_elementwise : reg_elementwise;

  // ---- DDR
  ddr_rd_req_t [Units-1:0] ddr_rd_req;
  ddr_rd_rsp_t [Units-1:0] ddr_rd_rsp;
  ddr_wr_req_t [Units-1:0] ddr_wr_req;
  ddr_wr_rsp_t [Units-1:0] ddr_wr_rsp;

  logic             ddr_active;
  logic [Units-1:0] ddr_asked;
  for (genvar u = 0; u < Units; u++) begin : gen_ddr_asked
    assign ddr_asked[u] = ddr_rd_req[u].ar_valid || ddr_wr_req[u].aw_valid || ddr_wr_req[u].w_valid;
  end
  hbm0923_clock_gate u_ddr_gate (
    .clk_i,
    .rst_ni,
    .enable_i(ddr_asked != '0 || ddr_active || ddr_rsp_i.r_valid || ddr_rsp_i.b_valid),
    .clk_o   (ddr_clk)
  );

  hbm0923_ddr_hub #(.OnchipDepth(OnchipDepth)) u_ddr_hub (
    .clk_i    (ddr_clk),
    .rst_ni,
    .active_o (ddr_active),
    .rd_req_i(ddr_rd_req),
    .rd_rsp_o(ddr_rd_rsp),
    .wr_req_i(ddr_wr_req),
    .wr_rsp_o(ddr_wr_rsp),
    .ddr_req_o,
    .ddr_rsp_i
  );

  // ---- HBM
  hbm_rd_req_t [HbmPorts-1:0] mvm_hbm_req, att_hbm_rd_req;
  hbm_rd_rsp_t [HbmPorts-1:0] mvm_hbm_rsp, att_hbm_rd_rsp;
  hbm_wr_req_t [HbmPorts-1:0] aux_hbm_req, att_hbm_wr_req;
  hbm_wr_rsp_t [HbmPorts-1:0] aux_hbm_rsp, att_hbm_wr_rsp;

  // Attention and wt2hbm have an answer to every write before they commit.
  hbm0923_clock_gate u_hbm_write_gate (.clk_i, .rst_ni, .enable_i(attention_works || busy[IxAux]), .clk_o(hbm_write_clk));

  hbm0923_hbm_hub #(.Ports(HbmPorts)) u_hbm_hub (
    .clk_i,
    .write_clk_i (hbm_write_clk),
    .rst_ni,
    .mvm_ahead_i (!oldest[IxMvm] && !oldest[IxMvmNext]),
    .mvm_req_i   (mvm_hbm_req),
    .mvm_rsp_o   (mvm_hbm_rsp),
    .att_rd_req_i(att_hbm_rd_req),
    .att_rd_rsp_o(att_hbm_rd_rsp),
    .att_wr_req_i(att_hbm_wr_req),
    .att_wr_rsp_o(att_hbm_wr_rsp),
    .aux_req_i   (aux_hbm_req),
    .aux_rsp_o   (aux_hbm_rsp),
    .hbm_req_o,
    .hbm_rsp_i
  );

  // ---- units
  assign settled[IxAux] = '0;
  // Two slots of MVM, two of attention.
  hulls_t [1:0]          mvm_hulls, att_hulls;
  bound_t [1:0]          mvm_settled, att_settled;
  logic [1:0]            mvm_result_valid, att_result_valid;
  logic [1:0][15:0]      mvm_opcode, mvm_error, att_opcode, att_error;
  logic [1:0][31:0]      mvm_result, att_result;
  logic [1:0][5:0][31:0] mvm_cycles, att_cycles;
  for (genvar s = 0; s < 2; s++) begin : gen_slot
    localparam int unsigned Mvm = (s == 0) ? IxMvm : IxMvmNext, Att = (s == 0) ? IxAtt : IxAttNext;
    assign hulls[Mvm]        = mvm_hulls[s];
    assign settled[Mvm]      = mvm_settled[s];
    assign commit_error[Mvm] = mvm_error[s];
    assign unit_commit[Mvm]  = '{opcode: mvm_opcode[s], result_valid: mvm_result_valid[s], result: mvm_result[s], cycles: mvm_cycles[s]};
    assign hulls[Att]        = att_hulls[s];
    assign settled[Att]      = att_settled[s];
    assign commit_error[Att] = att_error[s];
    assign unit_commit[Att]  = '{opcode: att_opcode[s], result_valid: att_result_valid[s], result: att_result[s], cycles: att_cycles[s]};
  end

  hbm0923_mvm #(
    .Tin(Tin),
    .Tout(Tout),
    .TgroupCh(TgroupCh),
    .DatDepth(DatDepth),
    .WtDepth(WtDepth),
    .PortFifoDepth(PortFifoDepth),
    .MaxToken(MaxToken),
    .Log2BankStep(Log2BankStep),
    .Sparse(1'(Sparse)),
    .OnchipDepth(OnchipDepth),
    .DdrMegabytes(DdrMegabytes),
    .HbmMegabytes(HbmMegabytes),
    .ArrayLatency(ArrayLatency), .ProductLatency(ProductLatency), .RoundLatency(RoundLatency),
    .ScaleLatency(ScaleLatency), .AddLatency(AddLatency), .NarrowLatency(NarrowLatency)
  ) u_mvm (
    .clk_i                (mvm_clk),
    .rst_ni,
    .start_i              ({start[IxMvmNext], start[IxMvm]}),
    .mode_i               (unit_mode),
    .operands_i           (mvm_operands),
    .busy_o               ({busy[IxMvmNext], busy[IxMvm]}),
    .oldest_i             ({oldest[IxMvmNext], oldest[IxMvm]}),
    .checked_o            ({checked[IxMvmNext], checked[IxMvm]}),
    .hulls_o              (mvm_hulls),
    .data_go_i            ({data_go[IxMvmNext], data_go[IxMvm]}),
    .bounds_i             ({bounds[IxMvmNext], bounds[IxMvm]}),
    .settled_o            (mvm_settled),
    .coef_go_i            ({coef_go[IxMvmNext], coef_go[IxMvm]}),
    .hbm_go_i             ({hbm_go[IxMvmNext], hbm_go[IxMvm]}),
    .hbm_req_o            (mvm_hbm_req),
    .hbm_rsp_i            (mvm_hbm_rsp),
    .ddr_rd_req_o         (ddr_rd_req[IxMvm]),
    .ddr_rd_rsp_i         (ddr_rd_rsp[IxMvm]),
    .ddr_wr_req_o         (ddr_wr_req[IxMvm]),
    .ddr_wr_rsp_i         (ddr_wr_rsp[IxMvm]),
    .commit_valid_o       ({commit_valid[IxMvmNext], commit_valid[IxMvm]}),
    .commit_opcode_o      (mvm_opcode),
    .commit_error_o       (mvm_error),
    .commit_result_valid_o(mvm_result_valid),
    .commit_result_o      (mvm_result),
    .commit_cycles_o      (mvm_cycles)
  );

  hbm0923_sfu #(
    .MaxToken(MaxToken),
    .MaxChannels(MaxChannels),
    .OnchipDepth(OnchipDepth),
    .SfuInterval(SfuInterval),
    .ScaleLatency(ScaleLatency), .AddLatency(AddLatency), .NarrowLatency(NarrowLatency), .DdrMegabytes(DdrMegabytes)
  ) u_sfu (
    .clk_i                (sfu_clk),
    .rst_ni,
    .start_i              (start[IxSfu]),
    .mode_i               (unit_mode),
    .operands_i           (sfu_operands),
    .eps_i                (eps),
    .busy_o               (busy[IxSfu]),
    .oldest_i             (oldest[IxSfu]),
    .checked_o            (checked[IxSfu]),
    .hulls_o              (hulls[IxSfu]),
    .data_go_i            (data_go[IxSfu]),
    .bound_i              (bounds[IxSfu][0]),
    .settled_o            (settled[IxSfu]),
    .coef_go_i            (coef_go[IxSfu]),
    .commit_valid_o       (commit_valid[IxSfu]),
    .commit_opcode_o      (unit_commit[IxSfu].opcode),
    .commit_error_o       (commit_error[IxSfu]),
    .commit_result_valid_o(unit_commit[IxSfu].result_valid),
    .commit_result_o      (unit_commit[IxSfu].result),
    .commit_cycles_o      (unit_commit[IxSfu].cycles),
    .ddr_rd_req_o         (ddr_rd_req[IxSfu]),
    .ddr_rd_rsp_i         (ddr_rd_rsp[IxSfu]),
    .ddr_wr_req_o         (ddr_wr_req[IxSfu]),
    .ddr_wr_rsp_i         (ddr_wr_rsp[IxSfu])
  );

  hbm0923_attention #(
    .Tout(Tout),
    .HbmPorts(HbmPorts),
    .MaxToken(MaxToken),
    .OnchipDepth(OnchipDepth),
    .AttInterval(AttInterval),
    .AttQueries(AttQueries),
    .ScaleFp20(1'(ScaleFp20)),
    .Log2BankStep(Log2BankStep),
    .DdrMegabytes(DdrMegabytes),
    .HbmMegabytes(HbmMegabytes),
    .PortFifoDepth(PortFifoDepth),
    .DotLatency(DotLatency),
    .RoundLatency(RoundLatency),
    .ScaleLatency(ScaleLatency),
    .NarrowLatency(NarrowLatency)
  ) u_attention (
    .clk_i                (attention_clk),
    .rst_ni,
    .start_i              ({start[IxAttNext], start[IxAtt]}),
    .mode_i               (unit_mode),
    .operands_i           (trp_mvm_operands_t'(sfu_operands)),
    .busy_o               ({busy[IxAttNext], busy[IxAtt]}),
    .oldest_i             ({oldest[IxAttNext], oldest[IxAtt]}),
    .checked_o            ({checked[IxAttNext], checked[IxAtt]}),
    .hulls_o              (att_hulls),
    .data_go_i            ({data_go[IxAttNext], data_go[IxAtt]}),
    .bound_i              ({bounds[IxAttNext][0], bounds[IxAtt][0]}),
    .settled_o            (att_settled),
    .coef_go_i            ({coef_go[IxAttNext], coef_go[IxAtt]}),
    .hbm_go_i             ({hbm_go[IxAttNext], hbm_go[IxAtt]}),
    .commit_valid_o       ({commit_valid[IxAttNext], commit_valid[IxAtt]}),
    .commit_opcode_o      (att_opcode),
    .commit_error_o       (att_error),
    .commit_result_valid_o(att_result_valid),
    .commit_result_o      (att_result),
    .commit_cycles_o      (att_cycles),
    .ddr_rd_req_o         (ddr_rd_req[IxAtt]),
    .ddr_rd_rsp_i         (ddr_rd_rsp[IxAtt]),
    .ddr_wr_req_o         (ddr_wr_req[IxAtt]),
    .ddr_wr_rsp_i         (ddr_wr_rsp[IxAtt]),
    .hbm_rd_req_o         (att_hbm_rd_req),
    .hbm_rd_rsp_i         (att_hbm_rd_rsp),
    .hbm_wr_req_o         (att_hbm_wr_req),
    .hbm_wr_rsp_i         (att_hbm_wr_rsp)
  );

  hbm0923_elementwise #(
    .MaxToken(MaxToken),
    .OnchipDepth(OnchipDepth),
    .SfuInterval(SfuInterval),
    .AddLatency(AddLatency),
    .NarrowLatency(NarrowLatency),
    .DdrMegabytes(DdrMegabytes)
  ) u_elementwise (
    .clk_i                (elementwise_clk),
    .rst_ni,
    .start_i              (start[IxElt]),
    .mode_i               (unit_mode),
    .operands_i           (elementwise_operands),
    .busy_o               (busy[IxElt]),
    .oldest_i             (oldest[IxElt]),
    .checked_o            (checked[IxElt]),
    .hulls_o              (hulls[IxElt]),
    .data_go_i            (data_go[IxElt]),
    .bounds_i             (bounds[IxElt]),
    .settled_o            (settled[IxElt]),
    .commit_valid_o       (commit_valid[IxElt]),
    .commit_opcode_o      (unit_commit[IxElt].opcode),
    .commit_error_o       (commit_error[IxElt]),
    .commit_result_valid_o(unit_commit[IxElt].result_valid),
    .commit_result_o      (unit_commit[IxElt].result),
    .commit_cycles_o      (unit_commit[IxElt].cycles),
    .ddr_rd_req_o         (ddr_rd_req[IxElt]),
    .ddr_rd_rsp_i         (ddr_rd_rsp[IxElt]),
    .ddr_wr_req_o         (ddr_wr_req[IxElt]),
    .ddr_wr_rsp_i         (ddr_wr_rsp[IxElt])
  );

  if (SfuInterval * AttInterval * MaxChannels == 0 || ScaleFp20 > 1 || Sparse > 1) begin : gen_units
    $error("SfuInterval, AttInterval and MaxChannels are at least 1, ScaleFp20 and Sparse are 0 or 1");
  end
  logic unused_units;
  assign unused_units = ^{hbm_go[IxSfu], coef_go[IxElt], hbm_go[IxElt], bounds[IxSfu][1], bounds[IxAtt][1], bounds[IxAttNext][1]};

  hbm0923_aux #(
    .Ports(HbmPorts),
    .Log2BankStep(Log2BankStep),
    .DdrMegabytes(DdrMegabytes),
    .HbmMegabytes(HbmMegabytes)
  ) u_aux (
    .clk_i,
    .rst_ni,
    .run_start_i          (run_start),
    .run_stop_i           (run_stop),
    .run_end_i            (run_end),
    .run_over_o           (run_over),
    .run_error_o          (run_error),
    .task_o               (task_start),
    .task_ready_i         (task_ready),
    .task_mvm_o           (task_mvm),
    .task_sfu_o           (task_sfu),
    .task_elementwise_o   (task_elementwise),
    .start_i              (start[IxAux]),
    .mode_i               (unit_mode),
    .operands_i           (reg_aux),
    .busy_o               (busy[IxAux]),
    .oldest_i             (oldest[IxAux]),
    .checked_o            (checked[IxAux]),
    .hulls_o              (hulls[IxAux]),
    .data_go_i            (data_go[IxAux]),
    .commit_valid_o       (commit_valid[IxAux]),
    .commit_opcode_o      (unit_commit[IxAux].opcode),
    .commit_error_o       (commit_error[IxAux]),
    .commit_result_valid_o(unit_commit[IxAux].result_valid),
    .commit_result_o      (unit_commit[IxAux].result),
    .commit_cycles_o      (unit_commit[IxAux].cycles),
    .ddr_req_o            (ddr_rd_req[IxAux]),
    .ddr_rsp_i            (ddr_rd_rsp[IxAux]),
    .hbm_req_o            (aux_hbm_req),
    .hbm_rsp_i            (aux_hbm_rsp)
  );
  assign ddr_wr_req[IxAux] = '0;

  if (HbmPorts != Tout) begin : gen_ports
    $error("every HBM port feeds one output channel: HbmPorts must equal Tout");
  end
  if (Tblk != 32 && Tblk != 64 && Tblk != 128) begin : gen_group
    $error("Tblk must be 32, 64 or 128");
  end

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // Only the oldest instruction writes; the bench takes the bytes before a commit for the committing instruction's.
  for (genvar u = 0; u < Units; u++) begin : gen_unit_rules
    logic writes;
    assign writes = ddr_wr_req[u].aw_valid || ddr_wr_req[u].w_valid;
    always_ff @(posedge clk_i) if (out_of_reset_q) begin
      if (writes) assert (oldest[u] || oldest[other_slot(3'(u))]);
    end
  end
  logic [HbmPorts-1:0] att_writes, aux_writes;
  for (genvar p = 0; p < HbmPorts; p++) begin : gen_port_writes
    assign att_writes[p] = att_hbm_wr_req[p].aw_valid || att_hbm_wr_req[p].w_valid;
    assign aux_writes[p] = aux_hbm_req[p].aw_valid || aux_hbm_req[p].w_valid;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (att_writes != '0) assert (oldest[IxAtt] || oldest[IxAttNext]);
    if (aux_writes != '0) assert (oldest[IxAux]);
  end
`endif
  logic unused_signals;
  assign unused_signals = ^{bounds[IxAux], data_go[IxAux], coef_go[IxAux], hbm_go[IxAux], ddr_wr_rsp[IxAux]};
endmodule
