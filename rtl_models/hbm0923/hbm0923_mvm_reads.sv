// What an instruction reads from DDR: activations, batch norm, residual, told apart by the ID of their bursts.
module hbm0923_mvm_reads
  import hbm0923_mvm_pkg::*;
#(
  parameter int unsigned Tout     = 32,
  parameter int unsigned BnDepth  = 32,  // beats that the receiving rings hold
  parameter int unsigned ResDepth = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        start_i,
  input  mvm_plan_t   plan_i,
  input  logic [31:0] in_beats_i,   // pixels of the input
  input  logic [1:0]  bn_pop_i,     // beats that left the rings
  input  logic [1:0]  res_pop_i,

  output logic        dat_valid_o,  // whose beat stands on the read data channel
  output logic        bn_valid_o,
  output logic        res_valid_o,

  output logic        ddr_arvalid_o,
  input  logic        ddr_arready_i,
  output logic [3:0]  ddr_arid_o,
  output logic [32:0] ddr_araddr_o,
  output logic [7:0]  ddr_arlen_o,
  input  logic        ddr_rvalid_i,
  output logic        ddr_rready_o,
  input  logic [3:0]  ddr_rid_i
);
  localparam logic [3:0] IdDat = 4'd0, IdBn = 4'd1, IdRes = 4'd2;

  logic    [2:0] ar_valid, ar_ready;
  ddr_ar_t [2:0] ar;
  logic          linear;
  assign dat_valid_o  = ddr_rvalid_i && ddr_rid_i == IdDat;
  assign bn_valid_o   = ddr_rvalid_i && ddr_rid_i == IdBn;
  assign res_valid_o  = ddr_rvalid_i && ddr_rid_i == IdRes;
  assign ddr_rready_o = 1'b1;
  // Surfaces that follow each other without a gap are one run: a single token needs few bursts.
  assign linear = plan_i.in_surface == {10'd0, plan_i.tokens, 6'd0};

  hbm0923_ddr_reader #(
    .Depth(256), .MaxBurst(DdrBurst)
  ) u_dat_reader (
    .clk_i,
    .rst_ni,
    .start_i  (start_i),
    .addr_i   (plan_i.in_addr),
    .stride_i (plan_i.in_surface),
    .beats_i  (linear ? in_beats_i : 32'(plan_i.tokens)),
    .runs_i   (linear ? 20'd1 : 20'(plan_i.surfaces_in)),
    .repeats_i(6'd1),
    .valid_o  (ar_valid[0]),
    .ar_o     (ar[0]),
    .ready_i  (ar_ready[0]),
    .pop_i    ({1'b0, dat_valid_o})
  );

  hbm0923_ddr_reader #(
    .Depth(BnDepth), .MaxBurst(16)
  ) u_bn_reader (
    .clk_i,
    .rst_ni,
    .start_i  (start_i && plan_i.bn),
    .addr_i   (plan_i.bn_addr),
    .stride_i (32'd0),
    .beats_i  ({11'd0, plan_i.surfaces_out, 1'b0}),
    .runs_i   (20'd1),
    .repeats_i(6'd1),
    .valid_o  (ar_valid[1]),
    .ar_o     (ar[1]),
    .ready_i  (ar_ready[1]),
    .pop_i    (bn_pop_i)
  );

  hbm0923_ddr_reader #(
    .Depth(ResDepth), .MaxBurst(16)
  ) u_res_reader (
    .clk_i,
    .rst_ni,
    .start_i  (start_i && plan_i.res),
    .addr_i   (plan_i.res_addr),
    .stride_i (plan_i.out_surface),
    .beats_i  (32'(plan_i.tokens)),
    .runs_i   (plan_i.blocks),
    .repeats_i(6'(PixelLanes / Tout)),
    .valid_o  (ar_valid[2]),
    .ar_o     (ar[2]),
    .ready_i  (ar_ready[2]),
    .pop_i    (res_pop_i)
  );

  hbm0923_ddr_arbiter #(.Requesters(3)) u_arbiter (
    .clk_i,
    .rst_ni,
    .valid_i  (ar_valid),
    .ar_i     (ar),
    .ready_o  (ar_ready),
    .arvalid_o(ddr_arvalid_o),
    .arready_i(ddr_arready_i),
    .arid_o   (ddr_arid_o),
    .araddr_o (ddr_araddr_o),
    .arlen_o  (ddr_arlen_o)
  );

  // Fields of the plan that other modules use.
  logic unused_plan;
  assign unused_plan = ^plan_i;
endmodule
