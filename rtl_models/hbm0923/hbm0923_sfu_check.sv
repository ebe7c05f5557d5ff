// Reads the operands of the SFU's instructions, has them checked, and makes the plan.
module hbm0923_sfu_check
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_feature_pkg::*;
  import hbm0923_sfu_plan_pkg::*;
#(
  parameter int unsigned MaxToken     = 2048,
  parameter int unsigned MaxChannels  = 16384,
  parameter int unsigned CoefDepth    = 1024,
  parameter int unsigned OnchipDepth  = 8192,
  parameter int unsigned DdrMegabytes = 1024
) (
  input  logic          clk_i,
  input  logic          rst_ni,

  input  logic          start_i,      // one cycle; what follows stands still until the commit
  input  logic [31:0]   mode_i,
  input  sfu_operands_t operands_i,
  input  logic [31:0]   eps_i,

  output logic          done_o,       // one cycle: error_o holds; the others hold until the next start
  output logic [15:0]   error_o,
  output hulls_t        hulls_o,
  output logic [15:0]   opcode_o,
  output sfu_plan_t     plan_o
);
  // What the operands say, found once: in simulation an idle unit evaluates none of this.
  typedef struct packed {
    logic [15:0] opcode;
    logic [15:0] error;
    logic        pixels_valid;
    logic [19:0] reciprocal;  // of norm's channels, FP20
    side_e       side;
    sfu_plan_t   plan;
  } decoded_t;

  function automatic logic outside(input logic [31:0] value, input logic [31:0] max);
    return value == '0 || value > max;
  endfunction

  // Whole structs go in; not every field counts.
  // verilator lint_off UNUSEDSIGNAL
  function automatic decoded_t decode(input logic [31:0] mode, input sfu_operands_t operands, input logic [31:0] eps);
    /*verilator no_inline_task*/
    norm_operands_t    norm;
    pos_emb_operands_t pos;
    softmax_operands_t smax;
    act_operands_t     act;
    decoded_t          d;
    logic              bad_mode, unsupported, bad_size, unaligned;
    norm = norm_operands_t'(operands);
    pos  = pos_emb_operands_t'(operands);
    smax = softmax_operands_t'(operands);
    act  = act_operands_t'(operands);

    bad_mode     = 1'b0;
    unsupported  = norm.onchip[31:2] != '0;  // the same register in all of them, as are the addresses and most strides
    bad_size     = 1'b0;
    unaligned    = {norm.in_addr[5:0], norm.in_surface[5:0], norm.in_line[5:0],
                    norm.out_addr[5:0], norm.out_surface[5:0], norm.out_line[5:0]} != '0;
    d.pixels_valid = 1'b0;
    d.reciprocal   = '0;
    d.opcode     = 16'd0;
    d.side         = SideNone;
    d.plan         = '0;
    d.plan.sizes   = '{surfaces: norm.surfaces[15:0], lines: norm.hin[7:0], tokens: norm.win[15:0]};
    d.plan.src     = '{onchip: norm.onchip[0], addr: norm.in_addr, surface: norm.in_surface, line: norm.in_line};
    d.plan.dst     = '{onchip: norm.onchip[1], addr: norm.out_addr, surface: norm.out_surface, line: norm.out_line};
    d.plan.side    = '{onchip: 1'b0, addr: norm.wt_addr, surface: '0, line: '0};
    d.plan.eps     = eps;
    d.plan.pixels  = norm.pixels;

    case (mode)
      StartNorm: begin
        d.opcode        = OpNorm;
        d.plan.kind       = KindNorm;
        d.plan.layer      = norm.layer[0];
        d.plan.lanes      = (LaneBits'(norm.surfaces[15:0]) << 5) - LaneBits'(6'd32 - {norm.surfaces[20:16] == '0, norm.surfaces[20:16]});
        d.reciprocal      = norm.recip_channels[19:0];
        d.plan.side_beats = norm.surfaces[15:0] << 1;
        d.side            = SideFlat;
        d.pixels_valid    = 1'b1;
        unsupported     = unsupported || norm.layer > 32'd1 || norm.recip_channels[31:20] != '0;
        bad_size        = outside(32'(norm.surfaces[15:0]), MaxChannels / 32) || norm.surfaces[31:21] != '0
                          || outside(norm.hin, 32'd255) || outside(norm.win, MaxToken)
                          || norm.burst_m1 != 32'(norm.surfaces[15:0]) - 32'd1;
        unaligned       = unaligned || norm.wt_addr[5:0] != '0;
      end
      StartPosEmb: begin
        d.opcode        = OpPosEmb;
        d.plan.kind       = KindPosEmb;
        d.plan.lanes      = LaneBits'(pos.surfaces[15:0]) << 5;
        d.plan.sizes      = '{surfaces: pos.surfaces[15:0], lines: pos.heads[7:0], tokens: pos.tokens[15:0]};
        d.plan.src        = '{onchip: pos.onchip[0], addr: pos.in_addr, surface: pos.in_surface, line: pos.in_head};
        d.plan.dst        = '{onchip: pos.onchip[1], addr: pos.out_addr, surface: pos.out_surface, line: pos.out_head};
        d.plan.side       = '{onchip: 1'b0, addr: pos.table_addr, surface: pos.table_surface, line: pos.table_head};
        d.plan.resident   = pos.table_head == '0 && (32'(pos.tokens[15:0]) << (pos.surfaces[2] ? 2 : 1)) <= CoefDepth;
        d.side            = SideTable;
        unsupported     = unsupported || pos.zero207 != '0;
        bad_size        = (pos.surfaces != 32'd2 && pos.surfaces != 32'd4) || outside(pos.tokens, MaxToken)
                          || outside(pos.heads, 32'd255);
        unaligned       = unaligned || {pos.table_addr[5:0], pos.table_head[5:0], pos.table_surface[5:0]} != '0;
      end
      StartSoftmax: begin
        d.opcode        = OpSoftmax;
        d.plan.kind       = KindSoftmax;
        d.plan.causal     = smax.mask[0];
        d.plan.lanes      = smax.mask[0] ? LaneBits'(smax.last) + LaneBits'(1'b1) : LaneBits'(smax.chin);
        d.plan.sizes      = '{surfaces: smax.surfaces[15:0], lines: smax.heads[7:0], tokens: smax.tokens[15:0]};
        unsupported     = unsupported || smax.mask > 32'd1 || smax.zero207 != '0;
        bad_size        = outside(smax.chin, MaxToken) || outside(smax.tokens, MaxToken) || outside(smax.heads, 32'd255)
                          || smax.win != smax.tokens || {2'b00, smax.tokens} + {2'b00, smax.last} != {2'b00, smax.chin}
                          || 34'(smax.surfaces) != (34'(smax.chin) + 34'd31) >> 5;
      end
      StartAct: begin
        d.opcode        = OpAct;
        d.plan.kind       = KindAct;
        d.plan.lanes      = LaneBits'(act.chout);
        d.plan.side_beats = 16'd2;
        d.side            = SideFlat;
        d.pixels_valid    = 1'b1;
        unsupported     = unsupported || act.zero207 != '0;
        bad_size        = act.chout == '0 || 34'(act.surfaces) != (34'(act.chout) + 34'd31) >> 5 || act.surfaces_dup != act.surfaces
                          || act.surfaces[31:16] != '0 || outside(act.hin, 32'd255) || outside(act.win, MaxToken);
        unaligned       = unaligned || act.table_addr[5:0] != '0;
      end
      default: bad_mode = 1'b1;
    endcase

    d.error = ErrNone;
    if (unaligned) d.error = ErrUnaligned;
    if (bad_size) d.error = ErrBadSize;
    if (unsupported) d.error = ErrUnsupported;
    if (bad_mode) d.error = ErrIllegalMode;
    return d;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  decoded_t    d_q;
  logic        check_q;
  logic [15:0] feature_error;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      d_q     <= '0;
      check_q <= 1'b0;
    end else begin
      check_q <= start_i;
      if (start_i) d_q <= decode(mode_i, operands_i, eps_i);
    end
  end

  hbm0923_feature_check #(
    .OnchipDepth  (OnchipDepth),
    .DdrMegabytes (DdrMegabytes)
  ) u_check (
    .clk_i, .rst_ni,
    .start_i        (check_q),
    .error_i        (d_q.error),
    .sizes_i        (d_q.plan.sizes),
    .in_i           (d_q.plan.src),
    .out_i          (d_q.plan.dst),
    .side_i         (d_q.side),
    .side_feature_i (d_q.plan.side),
    .side_bytes_i   ({2'd0, d_q.plan.side_beats, 6'd0}),
    .pixels_valid_i (d_q.pixels_valid),
    .pixels_i       (d_q.plan.pixels),
    .done_o, .error_o (feature_error), .hulls_o
  );

  // ---- norm: the reciprocal of its channels is at most one step of FP20 beside the true one. Found before the ranges are.
  logic [1:0]         found_q;
  logic [31:0]        product_q;   // channels times mantissa
  logic signed [32:0] beside_q;    // less what it should be
  logic               bad_reciprocal_q;
  logic [6:0]         exponent;    // and the sign
  assign exponent = d_q.reciprocal[19:13];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      found_q          <= '0;
      bad_reciprocal_q <= 1'b0;
    end else begin
      found_q <= {found_q[0], check_q};
      if (found_q[1]) begin
        bad_reciprocal_q <= d_q.plan.kind == KindNorm && (exponent < 7'd13 || exponent > 7'd31
                            || beside_q > $signed(33'(d_q.plan.lanes)) || beside_q < -$signed(33'(d_q.plan.lanes)));
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (check_q) product_q <= 32'(d_q.plan.lanes[16:0]) * 32'({1'b1, d_q.reciprocal[12:0]});
    if (found_q[0]) beside_q <= $signed({1'b0, product_q} - (33'd1 << (6'd44 - exponent[5:0])));
  end
  assign error_o = (bad_reciprocal_q && (feature_error == ErrNone || feature_error == ErrUnaligned || feature_error == ErrOutOfRange))
                   ? ErrBadSize : feature_error;

  assign plan_o   = d_q.plan;
  assign opcode_o = d_q.opcode;
endmodule
