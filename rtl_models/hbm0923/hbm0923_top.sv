// HBM0923: registers, dispatcher, units and hubs, with the ports of every instruction set's top.
module hbm0923_top
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_fabric_pkg::*;
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
  parameter int unsigned ScaleFp20     = 0,      // 1: register 206 holds FP20
  parameter int unsigned MaxChannels   = 16384,  // of a norm
  parameter int unsigned DdrMegabytes  = 4096,
  parameter int unsigned HbmMegabytes  = 256,
  parameter logic [31:0] DescHash      = 32'd0
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  input  logic                       s_axil_awvalid_i,
  output logic                       s_axil_awready_o,
  input  logic [15:0]                s_axil_awaddr_i,
  input  logic                       s_axil_wvalid_i,
  output logic                       s_axil_wready_o,
  input  logic [31:0]                s_axil_wdata_i,
  input  logic [3:0]                 s_axil_wstrb_i,
  output logic                       s_axil_bvalid_o,
  input  logic                       s_axil_bready_i,
  output logic [1:0]                 s_axil_bresp_o,
  input  logic                       s_axil_arvalid_i,
  output logic                       s_axil_arready_o,
  input  logic [15:0]                s_axil_araddr_i,
  output logic                       s_axil_rvalid_o,
  input  logic                       s_axil_rready_i,
  output logic [31:0]                s_axil_rdata_o,
  output logic [1:0]                 s_axil_rresp_o,

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

  output logic                       ddr_arvalid_o,
  input  logic                       ddr_arready_i,
  output logic [3:0]                 ddr_arid_o,
  output logic [32:0]                ddr_araddr_o,
  output logic [7:0]                 ddr_arlen_o,
  input  logic                       ddr_rvalid_i,
  output logic                       ddr_rready_o,
  input  logic [3:0]                 ddr_rid_i,
  input  logic [511:0]               ddr_rdata_i,
  input  logic [1:0]                 ddr_rresp_i,
  input  logic                       ddr_rlast_i,
  output logic                       ddr_awvalid_o,
  input  logic                       ddr_awready_i,
  output logic [3:0]                 ddr_awid_o,
  output logic [32:0]                ddr_awaddr_o,
  output logic [7:0]                 ddr_awlen_o,
  output logic                       ddr_wvalid_o,
  input  logic                       ddr_wready_i,
  output logic [511:0]               ddr_wdata_o,
  output logic [63:0]                ddr_wstrb_o,
  output logic                       ddr_wlast_o,
  input  logic                       ddr_bvalid_i,
  output logic                       ddr_bready_o,
  input  logic [3:0]                 ddr_bid_i,
  input  logic [1:0]                 ddr_bresp_i,

  output logic                       irq_o,
  output logic                       commit_valid_o,
  output logic [15:0]                commit_opcode_o,
  output logic [15:0]                commit_error_o,
  output logic                       commit_result_valid_o,
  output logic [31:0]                commit_result_o,
  output logic [5:0][31:0]           commit_cycles_o
);
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

  hbm0923_registers #(.DescHash(DescHash)) u_registers (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_awaddr_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_bresp_o,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_araddr_i,
    .s_axil_rvalid_o,
    .s_axil_rready_i,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
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

  // Operands come from the registers, or while a binary runs from its tasks.
  mvm_operands_t         mvm_operands;
  sfu_operands_t         sfu_operands;
  elementwise_operands_t elementwise_operands;
  assign mvm_operands         = run ? task_mvm : reg_mvm;
  assign sfu_operands         = run ? task_sfu : reg_sfu;
  assign elementwise_operands = run ? task_elementwise : reg_elementwise;

  // ---- DDR
  logic [Units-1:0]        arvalid, arready, awvalid, awready, wvalid, wready, bvalid;
  logic [Units-1:0][3:0]   arid;
  logic [Units-1:0][32:0]  araddr, awaddr;
  logic [Units-1:0][7:0]   arlen;
  logic [Units-1:0][511:0] wdata;
  logic [Units-1:0][63:0]  wstrb;
  logic                    rvalid, rlast;
  logic [3:0]              rid;
  logic [511:0]            rdata;
  logic [1:0]              rresp, bresp;

  hbm0923_ddr_hub #(.OnchipDepth(OnchipDepth)) u_ddr_hub (
    .clk_i,
    .rst_ni,
    .arvalid_i(arvalid),
    .arready_o(arready),
    .arid_i   (arid),
    .araddr_i (araddr),
    .arlen_i  (arlen),
    .rvalid_o (rvalid),
    .rid_o    (rid),
    .rdata_o  (rdata),
    .rresp_o  (rresp),
    .rlast_o  (rlast),
    .awvalid_i(awvalid),
    .awready_o(awready),
    .awaddr_i (awaddr),
    .wvalid_i (wvalid),
    .wready_o (wready),
    .wdata_i  (wdata),
    .wstrb_i  (wstrb),
    .bvalid_o (bvalid),
    .bresp_o  (bresp),
    .ddr_arvalid_o,
    .ddr_arready_i,
    .ddr_arid_o,
    .ddr_araddr_o,
    .ddr_arlen_o,
    .ddr_rvalid_i,
    .ddr_rready_o,
    .ddr_rid_i,
    .ddr_rdata_i,
    .ddr_rresp_i,
    .ddr_rlast_i,
    .ddr_awvalid_o,
    .ddr_awready_i,
    .ddr_awid_o,
    .ddr_awaddr_o,
    .ddr_awlen_o,
    .ddr_wvalid_o,
    .ddr_wready_i,
    .ddr_wdata_o,
    .ddr_wstrb_o,
    .ddr_wlast_o,
    .ddr_bvalid_i,
    .ddr_bready_o,
    .ddr_bid_i,
    .ddr_bresp_i
  );

  // ---- HBM
  logic [HbmPorts-1:0]        mvm_hbm_arvalid, mvm_hbm_arready, mvm_hbm_rvalid;
  logic [HbmPorts-1:0][32:0]  mvm_hbm_araddr;
  logic [HbmPorts-1:0][7:0]   mvm_hbm_arlen;
  logic [HbmPorts-1:0]        att_hbm_arvalid, att_hbm_arready, att_hbm_rvalid;
  logic [HbmPorts-1:0][32:0]  att_hbm_araddr, att_hbm_awaddr;
  logic [HbmPorts-1:0][7:0]   att_hbm_arlen, att_hbm_awlen;
  logic [HbmPorts-1:0]        att_hbm_awvalid, att_hbm_awready, att_hbm_wvalid, att_hbm_wready, att_hbm_wlast, att_hbm_bvalid;
  logic [HbmPorts-1:0][255:0] att_hbm_wdata;
  logic [HbmPorts-1:0][31:0]  att_hbm_wstrb;
  logic [HbmPorts-1:0]        aux_hbm_awvalid, aux_hbm_awready, aux_hbm_wvalid, aux_hbm_wready, aux_hbm_bvalid;
  logic [32:0]                aux_hbm_awaddr;
  logic [7:0]                 aux_hbm_awlen;
  logic [255:0]               aux_hbm_wdata;
  logic [31:0]                aux_hbm_wstrb;
  logic                       aux_hbm_wlast;

  hbm0923_hbm_hub #(.Ports(HbmPorts)) u_hbm_hub (
    .clk_i,
    .rst_ni,
    .mvm_ahead_i  (!oldest[IxMvm] && !oldest[IxMvmNext]),
    .mvm_arvalid_i(mvm_hbm_arvalid),
    .mvm_arready_o(mvm_hbm_arready),
    .mvm_araddr_i (mvm_hbm_araddr),
    .mvm_arlen_i  (mvm_hbm_arlen),
    .mvm_rvalid_o (mvm_hbm_rvalid),
    .att_arvalid_i(att_hbm_arvalid),
    .att_arready_o(att_hbm_arready),
    .att_araddr_i (att_hbm_araddr),
    .att_arlen_i  (att_hbm_arlen),
    .att_rvalid_o (att_hbm_rvalid),
    .att_awvalid_i(att_hbm_awvalid),
    .att_awready_o(att_hbm_awready),
    .att_awaddr_i (att_hbm_awaddr),
    .att_awlen_i  (att_hbm_awlen),
    .att_wvalid_i (att_hbm_wvalid),
    .att_wready_o (att_hbm_wready),
    .att_wdata_i  (att_hbm_wdata),
    .att_wstrb_i  (att_hbm_wstrb),
    .att_wlast_i  (att_hbm_wlast),
    .att_bvalid_o (att_hbm_bvalid),
    .aux_awvalid_i(aux_hbm_awvalid),
    .aux_awready_o(aux_hbm_awready),
    .aux_awaddr_i (aux_hbm_awaddr),
    .aux_awlen_i  (aux_hbm_awlen),
    .aux_wvalid_i (aux_hbm_wvalid),
    .aux_wready_o (aux_hbm_wready),
    .aux_wdata_i  (aux_hbm_wdata),
    .aux_wstrb_i  (aux_hbm_wstrb),
    .aux_wlast_i  (aux_hbm_wlast),
    .aux_bvalid_o (aux_hbm_bvalid),
    .hbm_arvalid_o,
    .hbm_arready_i,
    .hbm_araddr_o,
    .hbm_arlen_o,
    .hbm_rvalid_i,
    .hbm_rready_o,
    .hbm_rlast_i,
    .hbm_awvalid_o,
    .hbm_awready_i,
    .hbm_awaddr_o,
    .hbm_awlen_o,
    .hbm_wvalid_o,
    .hbm_wready_i,
    .hbm_wdata_o,
    .hbm_wstrb_o,
    .hbm_wlast_o,
    .hbm_bvalid_i,
    .hbm_bready_o
  );

  // ---- units
  // Writes are single beats, answered at once; the hub gives them the unit's ID.
  logic [3:0] unused_mvm_awid;
  logic [7:0] unused_mvm_awlen;
  logic       unused_mvm_wlast, unused_mvm_bready;

  // Its two slots.
  hulls_t [1:0]          mvm_hulls;
  logic [1:0]            mvm_result_valid;
  logic [1:0][15:0]      mvm_opcode, mvm_error;
  logic [1:0][31:0]      mvm_result;
  logic [1:0][5:0][31:0] mvm_cycles;
  for (genvar s = 0; s < 2; s++) begin : gen_mvm_slot
    localparam int unsigned Ix = (s == 0) ? IxMvm : IxMvmNext;
    assign hulls[Ix]        = mvm_hulls[s];
    assign commit_error[Ix] = mvm_error[s];
    assign unit_commit[Ix]  = '{opcode: mvm_opcode[s], result_valid: mvm_result_valid[s], result: mvm_result[s], cycles: mvm_cycles[s]};
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
    .OnchipDepth(OnchipDepth),
    .DdrMegabytes(DdrMegabytes),
    .HbmMegabytes(HbmMegabytes)
  ) u_mvm (
    .clk_i,
    .rst_ni,
    .start_i              ({start[IxMvmNext], start[IxMvm]}),
    .mode_i               (unit_mode),
    .operands_i           (mvm_operands),
    .busy_o               ({busy[IxMvmNext], busy[IxMvm]}),
    .oldest_i             ({oldest[IxMvmNext], oldest[IxMvm]}),
    .checked_o            ({checked[IxMvmNext], checked[IxMvm]}),
    .hulls_o              (mvm_hulls),
    .data_go_i            ({data_go[IxMvmNext], data_go[IxMvm]}),
    .coef_go_i            ({coef_go[IxMvmNext], coef_go[IxMvm]}),
    .hbm_go_i             ({hbm_go[IxMvmNext], hbm_go[IxMvm]}),
    .hbm_arvalid_o        (mvm_hbm_arvalid),
    .hbm_arready_i        (mvm_hbm_arready),
    .hbm_araddr_o         (mvm_hbm_araddr),
    .hbm_arlen_o          (mvm_hbm_arlen),
    .hbm_rvalid_i         (mvm_hbm_rvalid),
    .hbm_rdata_i,
    .hbm_rresp_i,
    .ddr_arvalid_o        (arvalid[IxMvm]),
    .ddr_arready_i        (arready[IxMvm]),
    .ddr_arid_o           (arid[IxMvm]),
    .ddr_araddr_o         (araddr[IxMvm]),
    .ddr_arlen_o          (arlen[IxMvm]),
    .ddr_rvalid_i         (rvalid),
    .ddr_rid_i            (rid),
    .ddr_rdata_i          (rdata),
    .ddr_rresp_i          (rresp),
    .ddr_awvalid_o        (awvalid[IxMvm]),
    .ddr_awready_i        (awready[IxMvm]),
    .ddr_awid_o           (unused_mvm_awid),
    .ddr_awaddr_o         (awaddr[IxMvm]),
    .ddr_awlen_o          (unused_mvm_awlen),
    .ddr_wvalid_o         (wvalid[IxMvm]),
    .ddr_wready_i         (wready[IxMvm]),
    .ddr_wdata_o          (wdata[IxMvm]),
    .ddr_wstrb_o          (wstrb[IxMvm]),
    .ddr_wlast_o          (unused_mvm_wlast),
    .ddr_bvalid_i         (bvalid[IxMvm]),
    .ddr_bready_o         (unused_mvm_bready),
    .ddr_bresp_i          (bresp),
    .commit_valid_o       ({commit_valid[IxMvmNext], commit_valid[IxMvm]}),
    .commit_opcode_o      (mvm_opcode),
    .commit_error_o       (mvm_error),
    .commit_result_valid_o(mvm_result_valid),
    .commit_result_o      (mvm_result),
    .commit_cycles_o      (mvm_cycles)
  );

  logic [3:0]          unused_sfu_awid, unused_att_awid, unused_elt_awid;
  logic [7:0]          unused_sfu_awlen, unused_att_awlen, unused_elt_awlen;
  logic                unused_sfu_wlast, unused_att_wlast, unused_elt_wlast;
  logic                unused_sfu_bready, unused_att_bready_ddr, unused_elt_bready;
  logic [HbmPorts-1:0] unused_att_rready, unused_att_bready;

  hbm0923_sfu #(
    .MaxToken(MaxToken),
    .MaxChannels(MaxChannels),
    .OnchipDepth(OnchipDepth),
    .SfuInterval(SfuInterval),
    .DdrMegabytes(DdrMegabytes)
  ) u_sfu (
    .clk_i,
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
    .coef_go_i            (coef_go[IxSfu]),
    .commit_valid_o       (commit_valid[IxSfu]),
    .commit_opcode_o      (unit_commit[IxSfu].opcode),
    .commit_error_o       (commit_error[IxSfu]),
    .commit_result_valid_o(unit_commit[IxSfu].result_valid),
    .commit_result_o      (unit_commit[IxSfu].result),
    .commit_cycles_o      (unit_commit[IxSfu].cycles),
    .ddr_arvalid_o        (arvalid[IxSfu]),
    .ddr_arready_i        (arready[IxSfu]),
    .ddr_arid_o           (arid[IxSfu]),
    .ddr_araddr_o         (araddr[IxSfu]),
    .ddr_arlen_o          (arlen[IxSfu]),
    .ddr_rvalid_i         (rvalid),
    .ddr_rid_i            (rid),
    .ddr_rdata_i          (rdata),
    .ddr_rresp_i          (rresp),
    .ddr_rlast_i          (rlast),
    .ddr_awvalid_o        (awvalid[IxSfu]),
    .ddr_awready_i        (awready[IxSfu]),
    .ddr_awid_o           (unused_sfu_awid),
    .ddr_awaddr_o         (awaddr[IxSfu]),
    .ddr_awlen_o          (unused_sfu_awlen),
    .ddr_wvalid_o         (wvalid[IxSfu]),
    .ddr_wready_i         (wready[IxSfu]),
    .ddr_wdata_o          (wdata[IxSfu]),
    .ddr_wstrb_o          (wstrb[IxSfu]),
    .ddr_wlast_o          (unused_sfu_wlast),
    .ddr_bvalid_i         (bvalid[IxSfu]),
    .ddr_bready_o         (unused_sfu_bready),
    .ddr_bresp_i          (bresp)
  );

  hbm0923_attention #(
    .Tout(Tout),
    .HbmPorts(HbmPorts),
    .MaxToken(MaxToken),
    .OnchipDepth(OnchipDepth),
    .AttInterval(AttInterval),
    .ScaleFp20(1'(ScaleFp20)),
    .Log2BankStep(Log2BankStep),
    .DdrMegabytes(DdrMegabytes),
    .HbmMegabytes(HbmMegabytes),
    .PortFifoDepth(PortFifoDepth)
  ) u_attention (
    .clk_i,
    .rst_ni,
    .start_i              (start[IxAtt]),
    .mode_i               (unit_mode),
    .operands_i           (trp_mvm_operands_t'(sfu_operands)),
    .busy_o               (busy[IxAtt]),
    .oldest_i             (oldest[IxAtt]),
    .checked_o            (checked[IxAtt]),
    .hulls_o              (hulls[IxAtt]),
    .data_go_i            (data_go[IxAtt]),
    .coef_go_i            (coef_go[IxAtt]),
    .hbm_go_i             (hbm_go[IxAtt]),
    .commit_valid_o       (commit_valid[IxAtt]),
    .commit_opcode_o      (unit_commit[IxAtt].opcode),
    .commit_error_o       (commit_error[IxAtt]),
    .commit_result_valid_o(unit_commit[IxAtt].result_valid),
    .commit_result_o      (unit_commit[IxAtt].result),
    .commit_cycles_o      (unit_commit[IxAtt].cycles),
    .ddr_arvalid_o        (arvalid[IxAtt]),
    .ddr_arready_i        (arready[IxAtt]),
    .ddr_arid_o           (arid[IxAtt]),
    .ddr_araddr_o         (araddr[IxAtt]),
    .ddr_arlen_o          (arlen[IxAtt]),
    .ddr_rvalid_i         (rvalid),
    .ddr_rid_i            (rid),
    .ddr_rdata_i          (rdata),
    .ddr_rresp_i          (rresp),
    .ddr_rlast_i          (rlast),
    .ddr_awvalid_o        (awvalid[IxAtt]),
    .ddr_awready_i        (awready[IxAtt]),
    .ddr_awid_o           (unused_att_awid),
    .ddr_awaddr_o         (awaddr[IxAtt]),
    .ddr_awlen_o          (unused_att_awlen),
    .ddr_wvalid_o         (wvalid[IxAtt]),
    .ddr_wready_i         (wready[IxAtt]),
    .ddr_wdata_o          (wdata[IxAtt]),
    .ddr_wstrb_o          (wstrb[IxAtt]),
    .ddr_wlast_o          (unused_att_wlast),
    .ddr_bvalid_i         (bvalid[IxAtt]),
    .ddr_bready_o         (unused_att_bready_ddr),
    .ddr_bresp_i          (bresp),
    .hbm_arvalid_o        (att_hbm_arvalid),
    .hbm_arready_i        (att_hbm_arready),
    .hbm_araddr_o         (att_hbm_araddr),
    .hbm_arlen_o          (att_hbm_arlen),
    .hbm_rvalid_i         (att_hbm_rvalid),
    .hbm_rready_o         (unused_att_rready),
    .hbm_rdata_i,
    .hbm_rresp_i,
    .hbm_rlast_i,
    .hbm_awvalid_o        (att_hbm_awvalid),
    .hbm_awready_i        (att_hbm_awready),
    .hbm_awaddr_o         (att_hbm_awaddr),
    .hbm_awlen_o          (att_hbm_awlen),
    .hbm_wvalid_o         (att_hbm_wvalid),
    .hbm_wready_i         (att_hbm_wready),
    .hbm_wdata_o          (att_hbm_wdata),
    .hbm_wstrb_o          (att_hbm_wstrb),
    .hbm_wlast_o          (att_hbm_wlast),
    .hbm_bvalid_i         (att_hbm_bvalid),
    .hbm_bready_o         (unused_att_bready),
    .hbm_bresp_i
  );

  hbm0923_elementwise #(
    .MaxToken(MaxToken),
    .OnchipDepth(OnchipDepth),
    .SfuInterval(SfuInterval),
    .DdrMegabytes(DdrMegabytes)
  ) u_elementwise (
    .clk_i,
    .rst_ni,
    .start_i              (start[IxElt]),
    .mode_i               (unit_mode),
    .operands_i           (elementwise_operands),
    .busy_o               (busy[IxElt]),
    .oldest_i             (oldest[IxElt]),
    .checked_o            (checked[IxElt]),
    .hulls_o              (hulls[IxElt]),
    .data_go_i            (data_go[IxElt]),
    .commit_valid_o       (commit_valid[IxElt]),
    .commit_opcode_o      (unit_commit[IxElt].opcode),
    .commit_error_o       (commit_error[IxElt]),
    .commit_result_valid_o(unit_commit[IxElt].result_valid),
    .commit_result_o      (unit_commit[IxElt].result),
    .commit_cycles_o      (unit_commit[IxElt].cycles),
    .ddr_arvalid_o        (arvalid[IxElt]),
    .ddr_arready_i        (arready[IxElt]),
    .ddr_arid_o           (arid[IxElt]),
    .ddr_araddr_o         (araddr[IxElt]),
    .ddr_arlen_o          (arlen[IxElt]),
    .ddr_rvalid_i         (rvalid),
    .ddr_rid_i            (rid),
    .ddr_rdata_i          (rdata),
    .ddr_rresp_i          (rresp),
    .ddr_rlast_i          (rlast),
    .ddr_awvalid_o        (awvalid[IxElt]),
    .ddr_awready_i        (awready[IxElt]),
    .ddr_awid_o           (unused_elt_awid),
    .ddr_awaddr_o         (awaddr[IxElt]),
    .ddr_awlen_o          (unused_elt_awlen),
    .ddr_wvalid_o         (wvalid[IxElt]),
    .ddr_wready_i         (wready[IxElt]),
    .ddr_wdata_o          (wdata[IxElt]),
    .ddr_wstrb_o          (wstrb[IxElt]),
    .ddr_wlast_o          (unused_elt_wlast),
    .ddr_bvalid_i         (bvalid[IxElt]),
    .ddr_bready_o         (unused_elt_bready),
    .ddr_bresp_i          (bresp)
  );

  if (SfuInterval * AttInterval * MaxChannels == 0 || ScaleFp20 > 1) begin : gen_units
    $error("SfuInterval, AttInterval and MaxChannels are at least 1, ScaleFp20 is 0 or 1");
  end
  logic unused_units;
  assign unused_units = ^{hbm_go[IxSfu], coef_go[IxElt], hbm_go[IxElt], unused_sfu_awid, unused_att_awid, unused_elt_awid,
                          unused_sfu_awlen, unused_att_awlen, unused_elt_awlen, unused_sfu_wlast, unused_att_wlast,
                          unused_elt_wlast, unused_sfu_bready, unused_att_bready_ddr, unused_elt_bready, unused_att_rready,
                          unused_att_bready};

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
    .ddr_arvalid_o        (arvalid[IxAux]),
    .ddr_arready_i        (arready[IxAux]),
    .ddr_arid_o           (arid[IxAux]),
    .ddr_araddr_o         (araddr[IxAux]),
    .ddr_arlen_o          (arlen[IxAux]),
    .ddr_rvalid_i         (rvalid),
    .ddr_rid_i            (rid),
    .ddr_rdata_i          (rdata),
    .ddr_rresp_i          (rresp),
    .hbm_awvalid_o        (aux_hbm_awvalid),
    .hbm_awready_i        (aux_hbm_awready),
    .hbm_awaddr_o         (aux_hbm_awaddr),
    .hbm_awlen_o          (aux_hbm_awlen),
    .hbm_wvalid_o         (aux_hbm_wvalid),
    .hbm_wready_i         (aux_hbm_wready),
    .hbm_wdata_o          (aux_hbm_wdata),
    .hbm_wstrb_o          (aux_hbm_wstrb),
    .hbm_wlast_o          (aux_hbm_wlast),
    .hbm_bvalid_i         (aux_hbm_bvalid),
    .hbm_bresp_i
  );
  assign awvalid[IxAux] = 1'b0;
  assign awaddr[IxAux]  = '0;
  assign wvalid[IxAux]  = 1'b0;
  assign wdata[IxAux]   = '0;
  assign wstrb[IxAux]   = '0;

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
    always_ff @(posedge clk_i) if (out_of_reset_q) begin
      if (awvalid[u] || wvalid[u]) assert (oldest[u] || (u == IxMvm && oldest[IxMvmNext]));
    end
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (att_hbm_awvalid != '0 || att_hbm_wvalid != '0) assert (oldest[IxAtt]);
    if (aux_hbm_awvalid != '0 || aux_hbm_wvalid != '0) assert (oldest[IxAux]);
  end
`endif
  logic unused_signals;
  assign unused_signals = ^{data_go[IxAux], coef_go[IxAux], hbm_go[IxAux], arready[IxAux], awready[IxAux], wready[IxAux],
                            bvalid[IxAux], bvalid, rlast, unused_mvm_awid, unused_mvm_awlen, unused_mvm_wlast, unused_mvm_bready};
endmodule
