// What an instruction reads from DDR: activations, batch norm, residual, told apart by the ID of their bursts.
//
// Activations come in chunks of tokens, each surface by surface, so that the array starts when the first chunk is there.
// Its outputs wait for batch norm and residual: before the last surface of the first chunk (after it, if it is one token's)
// comes what is needed of these, and later they go first when they run low.
module hbm0923_mvm_reads
  import hbm0923_mvm_pkg::*;
  import hbm0923_unit_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Tout     = 32,
  parameter int unsigned BnDepth  = 32,  // beats that the receiving rings hold
  parameter int unsigned ResDepth = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        load_i,       // one cycle: activations, of an instruction that may be another one than the rest is of
  input  logic        ahead_i,      // from the cycle after, if it is: they do not go first
  input  mvm_plan_t   load_plan_i,
  input  logic        load_go_i,    // they may be asked for
  input  bound_t      load_bound_i, // without: those below this beat may
  input  logic        load_chip_i,  // from the cycle after: they are on chip

  input  logic        start_i,      // one cycle: the rest
  input  mvm_plan_t   plan_i,
  input  logic        data_go_i,    // the residual may be asked for
  input  bound_t      bound_i,      // without: what lies below
  input  logic        coef_go_i,    // batch norm may
  input  logic [1:0]  bn_pop_i,     // beats that left the rings
  input  logic [1:0]  res_pop_i,

  output logic        dat_valid_o,  // whose beat stands on the read data channel
  output logic        bn_valid_o,
  output logic        res_valid_o,

  output ddr_rd_req_t ddr_req_o,
  input  ddr_rd_rsp_t ddr_rsp_i
);
  localparam logic [3:0] IdDat = IdMvm, IdBn = IdMvm + 4'd1, IdRes = IdMvm + 4'd2;

  logic    [2:0] ar_valid, ar_ready;
  ddr_ar_t [2:0] ar;
  ddr_ax_t       taken;
  assign dat_valid_o  = ddr_rsp_i.r_valid && ddr_rsp_i.r.id == IdDat;
  assign bn_valid_o   = ddr_rsp_i.r_valid && ddr_rsp_i.r.id == IdBn;
  assign res_valid_o  = ddr_rsp_i.r_valid && ddr_rsp_i.r.id == IdRes;

  // ---- chunks of tokens
  logic        linear, next_chunk, dat_done, dat_last, dat_urgent, first_q, bn_low, res_low;
  logic [15:0] chunk_tokens, tokens_q, left_tokens;
  logic [31:0] chunk_addr_q, chunk_addr;
  // The surfaces of a single token may follow each other without a gap: one run, which needs few bursts.
  assign linear       = load_plan_i.tokens == 16'd1 && load_plan_i.in_surface == 32'd64;
  assign left_tokens  = load_i ? load_plan_i.tokens : tokens_q;   // with the chunk that starts
  assign chunk_tokens = 16'd1 << chunk_of(left_tokens, load_plan_i.chunk);
  assign chunk_addr   = load_i ? load_plan_i.in_addr : chunk_addr_q;
  assign next_chunk   = dat_done && tokens_q != 16'd0;
  assign dat_urgent   = first_q && !ahead_i && !(dat_last && load_plan_i.tokens != 16'd1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q      <= 1'b0;
      tokens_q     <= '0;
      chunk_addr_q <= '0;
    end else if (load_i || next_chunk) begin
      first_q      <= load_i;
      tokens_q     <= left_tokens - chunk_tokens;
      chunk_addr_q <= chunk_addr + {10'd0, chunk_tokens, 6'd0};
    end else if (dat_done) begin
      first_q <= 1'b0;
    end
  end

  logic       unused_low;
  logic [1:0] unused_done, unused_last;

  hbm0923_ddr_reader #(
    .Depth(256), .MaxBurst(DdrBurst)
  ) u_dat_reader (
    .clk_i,
    .rst_ni,
    .start_i  (load_i || next_chunk),
    .go_i     (load_go_i),
    .bound_i  (load_bound_i),
    .chip_i   (load_chip_i),
    .addr_i   (chunk_addr),
    .stride_i (load_plan_i.in_surface),
    .beats_i  (linear ? 32'(load_plan_i.surfaces_in) : 32'(chunk_tokens)),
    .runs_i   (linear ? 20'd1 : 20'(load_plan_i.surfaces_in)),
    .repeats_i(6'd1),
    .done_o   (dat_done),
    .last_o   (dat_last),
    .low_o    (unused_low),
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
    .go_i     (coef_go_i),
    .bound_i  ('0),
    .chip_i   (1'b0),
    .addr_i   (plan_i.bn_addr),
    .stride_i (32'd0),
    .beats_i  ({11'd0, plan_i.surfaces_out, 1'b0}),
    .runs_i   (20'd1),
    .repeats_i(6'd1),
    .done_o   (unused_done[0]),
    .last_o   (unused_last[0]),
    .low_o    (bn_low),
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
    .go_i     (data_go_i),
    .bound_i  (bound_i),
    .chip_i   (plan_i.res_chip),
    .addr_i   (plan_i.res_addr),
    .stride_i (plan_i.out_surface),
    .beats_i  (32'(plan_i.tokens)),
    .runs_i   (plan_i.blocks),
    .repeats_i(6'(PixelLanes / Tout)),
    .done_o   (unused_done[1]),
    .last_o   (unused_last[1]),
    .low_o    (res_low),
    .valid_o  (ar_valid[2]),
    .ar_o     (ar[2]),
    .ready_i  (ar_ready[2]),
    .pop_i    (res_pop_i)
  );

  hbm0923_ddr_arbiter #(.Requesters(3)) u_arbiter (
    .clk_i,
    .rst_ni,
    .valid_i   (ar_valid),
    .urgent_i  ({res_low && !dat_urgent, bn_low && !dat_urgent, dat_urgent}),
    .ar_i      (ar),
    .ready_o   (ar_ready),
    .ar_valid_o(ddr_req_o.ar_valid),
    .ar_ready_i(ddr_rsp_i.ar_ready),
    .ar_o      (taken)
  );

  // The arbiter numbers its requesters from 0, as IdMvm does.
  logic on_chip;
  assign on_chip           = (taken.id == IdDat && load_chip_i) || (taken.id == IdRes && plan_i.res_chip);
  assign ddr_req_o.ar      = '{id: taken.id, addr: {on_chip, taken.addr[31:0]}, len: taken.len};
  assign ddr_req_o.r_ready = 1'b1;

  // Fields that other modules use.
  logic unused_fields;
  assign unused_fields = ^{plan_i, load_plan_i, taken.addr[32], ddr_rsp_i.r.resp, ddr_rsp_i.r.last, ddr_rsp_i.r.data};
endmodule
