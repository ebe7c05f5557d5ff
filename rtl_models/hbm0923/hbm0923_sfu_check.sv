// Reads the operands of the SFU's instructions, has them checked, and makes the plan.
module hbm0923_sfu_check
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_feature_pkg::*;
  import hbm0923_sfu_plan_pkg::*;
  import fp_fn_pkg::*;
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
  norm_operands_t    norm;
  pos_emb_operands_t pos;
  softmax_operands_t smax;
  act_operands_t     act;
  assign norm = norm_operands_t'(operands_i);
  assign pos  = pos_emb_operands_t'(operands_i);
  assign smax = softmax_operands_t'(operands_i);
  assign act  = act_operands_t'(operands_i);

  logic        bad_mode, unsupported, bad_size, unaligned, pixels_valid;
  logic [15:0] error;
  sfu_plan_t   plan;
  side_e       side;

  function automatic logic outside(input logic [31:0] value, input logic [31:0] max);
    return value == '0 || value > max;
  endfunction

  always_comb begin
    bad_mode     = 1'b0;
    unsupported  = norm.onchip[31:2] != '0;  // the same register in all of them, as are the addresses and most strides
    bad_size     = 1'b0;
    unaligned    = {norm.in_addr[5:0], norm.in_surface[5:0], norm.in_line[5:0],
                    norm.out_addr[5:0], norm.out_surface[5:0], norm.out_line[5:0]} != '0;
    pixels_valid = 1'b0;
    opcode_o     = 16'd0;
    side         = SideNone;
    plan         = '0;
    plan.sizes   = '{surfaces: norm.surfaces[15:0], lines: norm.hin[7:0], tokens: norm.win[15:0]};
    plan.src     = '{onchip: norm.onchip[0], addr: norm.in_addr, surface: norm.in_surface, line: norm.in_line};
    plan.dst     = '{onchip: norm.onchip[1], addr: norm.out_addr, surface: norm.out_surface, line: norm.out_line};
    plan.side    = '{onchip: 1'b0, addr: norm.wt_addr, surface: '0, line: '0};
    plan.eps     = eps_i;

    case (mode_i)
      StartNorm: begin
        opcode_o        = OpNorm;
        plan.kind       = KindNorm;
        plan.layer      = norm.layer[0];
        plan.lanes      = (LaneBits'(norm.surfaces[15:0]) << 5) - LaneBits'(6'd32 - {norm.surfaces[20:16] == '0, norm.surfaces[20:16]});
        plan.inv        = fp20_to_fp32(norm.recip_channels[19:0]);
        plan.side_beats = norm.surfaces[15:0] << 1;
        side            = SideFlat;
        pixels_valid    = 1'b1;
        unsupported     = unsupported || norm.layer > 32'd1 || norm.recip_channels[31:20] != '0;
        bad_size        = outside(32'(norm.surfaces[15:0]), MaxChannels / 32) || norm.surfaces[31:21] != '0
                          || (norm.layer[0] && norm.surfaces[31:16] != '0)
                          || outside(norm.hin, 32'd255) || outside(norm.win, MaxToken)
                          || norm.burst_m1 != 32'(norm.surfaces[15:0]) - 32'd1;
        unaligned       = unaligned || norm.wt_addr[5:0] != '0;
      end
      StartPosEmb: begin
        opcode_o        = OpPosEmb;
        plan.kind       = KindPosEmb;
        plan.lanes      = LaneBits'(pos.surfaces[15:0]) << 5;
        plan.sizes      = '{surfaces: pos.surfaces[15:0], lines: pos.heads[7:0], tokens: pos.tokens[15:0]};
        plan.src        = '{onchip: pos.onchip[0], addr: pos.in_addr, surface: pos.in_surface, line: pos.in_head};
        plan.dst        = '{onchip: pos.onchip[1], addr: pos.out_addr, surface: pos.out_surface, line: pos.out_head};
        plan.side       = '{onchip: 1'b0, addr: pos.table_addr, surface: pos.table_surface, line: pos.table_head};
        plan.resident   = pos.table_head == '0 && (32'(pos.tokens[15:0]) << (pos.surfaces[2] ? 2 : 1)) <= CoefDepth;
        side            = SideTable;
        unsupported     = unsupported || pos.zero207 != '0;
        bad_size        = (pos.surfaces != 32'd2 && pos.surfaces != 32'd4) || outside(pos.tokens, MaxToken)
                          || outside(pos.heads, 32'd255);
        unaligned       = unaligned || {pos.table_addr[5:0], pos.table_head[5:0], pos.table_surface[5:0]} != '0;
      end
      StartSoftmax: begin
        opcode_o        = OpSoftmax;
        plan.kind       = KindSoftmax;
        plan.causal     = smax.mask[0];
        plan.lanes      = smax.mask[0] ? LaneBits'(smax.last) + LaneBits'(1'b1) : LaneBits'(smax.chin);
        plan.sizes      = '{surfaces: smax.surfaces[15:0], lines: smax.heads[7:0], tokens: smax.tokens[15:0]};
        unsupported     = unsupported || smax.mask > 32'd1 || smax.zero207 != '0;
        bad_size        = outside(smax.chin, MaxToken) || outside(smax.tokens, MaxToken) || outside(smax.heads, 32'd255)
                          || smax.win != smax.tokens || {2'b00, smax.tokens} + {2'b00, smax.last} != {2'b00, smax.chin}
                          || 34'(smax.surfaces) != (34'(smax.chin) + 34'd31) >> 5;
      end
      StartAct: begin
        opcode_o        = OpAct;
        plan.kind       = KindAct;
        plan.lanes      = LaneBits'(act.chout);
        plan.side_beats = 16'd2;
        side            = SideFlat;
        pixels_valid    = 1'b1;
        unsupported     = unsupported || act.zero207 != '0;
        bad_size        = act.chout == '0 || 34'(act.surfaces) != (34'(act.chout) + 34'd31) >> 5 || act.surfaces_dup != act.surfaces
                          || act.surfaces[31:16] != '0 || outside(act.hin, 32'd255) || outside(act.win, MaxToken);
        unaligned       = unaligned || act.table_addr[5:0] != '0;
      end
      default: bad_mode = 1'b1;
    endcase

    error = ErrNone;
    if (unaligned) error = ErrUnaligned;
    if (bad_size) error = ErrBadSize;
    if (unsupported) error = ErrUnsupported;
    if (bad_mode) error = ErrIllegalMode;
  end

  hbm0923_feature_check #(
    .OnchipDepth  (OnchipDepth),
    .DdrMegabytes (DdrMegabytes)
  ) u_check (
    .clk_i, .rst_ni, .start_i,
    .error_i        (error),
    .sizes_i        (plan.sizes),
    .in_i           (plan.src),
    .out_i          (plan.dst),
    .side_i         (side),
    .side_feature_i (plan.side),
    .side_bytes_i   ({2'd0, plan.side_beats, 6'd0}),
    .pixels_valid_i (pixels_valid),
    .pixels_i       (norm.pixels),
    .done_o, .error_o, .hulls_o
  );

  assign plan_o = plan;

  logic unused_operands;
  assign unused_operands = ^{pos, smax, act};
endmodule
