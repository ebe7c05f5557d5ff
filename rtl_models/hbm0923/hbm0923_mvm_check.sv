// Derives an instruction's sizes from its operands and finds what is illegal, in seven cycles with one multiplier.
module hbm0923_mvm_check
  import hbm0923_pkg::*;
  import hbm0923_mvm_pkg::*;
  import hbm0923_unit_pkg::*;
#(
  parameter int unsigned Tin          = 128,
  parameter int unsigned Tout         = 32,
  parameter int unsigned TgroupCh     = 2048,
  parameter int unsigned DatDepth     = 8192,
  parameter int unsigned WtDepth      = 1024,
  parameter int unsigned MaxToken     = 2048,
  parameter int unsigned Log2BankStep = 28,
  parameter bit          Sparse       = 1'b0,
  parameter int unsigned OnchipDepth  = 1024,
  parameter int unsigned DdrMegabytes = 4096,
  parameter int unsigned HbmMegabytes = 256
) (
  input  logic          clk_i,
  input  logic          rst_ni,

  input  logic          start_i,     // one cycle; the operands stand still until done_o
  input  logic [31:0]   mode_i,
  input  mvm_operands_t operands_i,

  output logic          done_o,      // one cycle: plan_o and error_o hold
  output logic [15:0]   error_o,
  output mvm_plan_t     plan_o,
  output hulls_t        hulls_o
);
  localparam int unsigned TgW     = $clog2(TgroupCh);
  localparam int unsigned WordBeats = Tin / BeatLanes;
  localparam int unsigned MaxIn   = WtDepth * Tin;
  localparam int unsigned MaxOut  = 1 << 19;
  localparam int unsigned OnchipIn = 0, OnchipOut = 1, OnchipRes = 2;  // bits of register 18
  localparam logic [40:0] DdrEnd  = 41'(DdrMegabytes) << 20;
  localparam logic [40:0] Half    = 41'(OnchipDepth) << 6;
  localparam logic [40:0] HbmEnd  = (HbmMegabytes >> (Log2BankStep - 20)) != 0 ? 41'd1 << Log2BankStep : 41'(HbmMegabytes) << 20;

  logic [3:0]    step_q;
  logic [15:0]   error_q;
  logic [31:0]   a_q, b_q;
  logic [63:0]   product;
  mvm_plan_t     plan_q;
  logic [40:0]   in_end_q, out_end_q;

  assign product = 64'(a_q) * 64'(b_q);

  // ---- what needs no product
  logic [31:0] tgroups, last, ch_in, bad_mode, scale_last, ch_in_padded;
  logic        chin_bad, chin_bad_q;
  logic [15:0] first_error;
  logic [1:0]  group;
  logic [2:0]  chunk;
  kept_e       kept;
  logic        sparse_bad;
  // Beats of codes, those of places, and words on chip, of n inputs.
  logic [15:0] codes_all, codes_last, codes_full, places_all, places_last, places_full, row, steps;
  logic [8:0]  last_lanes;

  function automatic logic [15:0] codes_of(input kept_e kind, input logic [31:0] n);
    case (kind)
      KeptHalf:    return 16'((n + 32'd127) >> 7);
      KeptQuarter: return 16'((n + 32'd255) >> 8);
      KeptEighth:  return 16'((n + 32'd511) >> 9);
      default:     return 16'((n + 32'd63) >> 6);
    endcase
  endfunction
  function automatic logic [15:0] places_of(input kept_e kind, input logic [15:0] codes);
    case (kind)
      Dense:    return 16'd0;
      KeptHalf: return (codes + 16'd1) >> 1;
      default:  return codes - (codes >> 2);
    endcase
  endfunction

  always_comb begin
    kept       = Dense;
    sparse_bad = operands_i.sparse != '0;
    if (Sparse) begin
      case (operands_i.sparse)
        32'd4:   kept = KeptHalf;
        32'd2:   kept = KeptQuarter;
        32'd1:   kept = KeptEighth;
        default: kept = Dense;
      endcase
      sparse_bad = (operands_i.sparse != '0) && (kept == Dense || group != 2'd2);
    end
  end

  always_comb begin
    codes_all   = codes_of(kept, ch_in);
    codes_last  = codes_of(kept, last);
    codes_full  = codes_of(kept, TgroupCh);
    places_all  = places_of(kept, codes_all);
    places_last = places_of(kept, codes_last);
    places_full = places_of(kept, codes_full);
    row         = codes_all;
    steps       = 16'((ch_in + 32'd63) >> 6);
    last_lanes  = '0;
    if (kept == KeptHalf) begin
      steps      = codes_all;
      row        = codes_all << 1;
      last_lanes = 9'({2'd0, 7'(ch_in - 32'd1)}) + 9'd1;
    end else if (kept != Dense) begin
      steps      = codes_of(KeptQuarter, ch_in);
      row        = codes_of(KeptQuarter, ch_in) << 2;
      last_lanes = 9'({1'b0, 8'(ch_in - 32'd1)}) + 9'd1;
    end
  end

  always_comb begin
    tgroups = (operands_i.chin + (TgroupCh - 1)) >> TgW;
    last    = operands_i.chin_last;
    ch_in   = ((tgroups - 32'd1) << TgW) + last;
    ch_in_padded = (ch_in + 32'd31) & ~32'd31;
    case (operands_i.tblk)
      {13'd5, 19'd32}:  group = 2'd0;
      {13'd6, 19'd64}:  group = 2'd1;
      {13'd7, 19'd128}: group = 2'd2;
      default:          group = 2'd3;
    endcase
    // Tokens that are loaded together: no more than 32 beats of the array, but at least four tokens. Bursts of one beat would
    // need more of them under way than memories queue, and a stride that stays in one bank group.
    chunk = 3'd2;
    for (int unsigned i = 3; i <= 5; i++) if (ch_in <= 32'(2048 >> i)) chunk = 3'(i);
    scale_last = (last + (32'd512 << group) - 32'd1) >> (9 + 32'(group));

    bad_mode = 32'd1;
    if ((mode_i & ~StartMvmOptional) == StartMvm) bad_mode = '0;
    if ((mode_i & ~StartMvmBnOptional) == StartMvmBn) bad_mode = '0;
    if ((mode_i & ~StartMvmBnResOptional) == StartMvmBnRes) bad_mode = '0;

    chin_bad = operands_i.chin == '0 || operands_i.chin > MaxIn || last == '0 || last > TgroupCh || ch_in_padded != operands_i.chin;

    first_error = ErrNone;
    // Later lines win.
    if ({operands_i.in_surface[5:0], operands_i.in_line[5:0], operands_i.out_surface[5:0], operands_i.out_line[5:0]} != '0
        || operands_i.in_addr[5:0] != '0 || operands_i.out_addr[5:0] != '0 || operands_i.wt_addr[4:0] != '0
        || (mode_i[MvmStartBnLsb] && operands_i.bn_addr[5:0] != '0)
        || (mode_i[MvmStartResLsb] && operands_i.res_addr[5:0] != '0)
        || (mode_i[MvmStartArgmaxLsb] && operands_i.argmax_addr[5:0] != '0)) first_error = ErrUnaligned;
    if (chin_bad
        || operands_i.win == '0 || operands_i.win > MaxToken || operands_i.wout != operands_i.win
        || operands_i.win_dup != operands_i.win || operands_i.chout_last == '0
        || operands_i.chout_last > operands_i.chout_slice
        || (operands_i.splits_m1 != '0 && operands_i.chout_slice % Tout != '0)) first_error = ErrBadSize;
    if (operands_i.hin != MvmHinValue || operands_i.hout != MvmHoutValue || operands_i.bank_step != Log2BankStep
        || (operands_i.res_mode & MvmResModeZeroMask) != '0 || operands_i.onchip[31:3] != '0
        || (operands_i.onchip[OnchipRes] && !mode_i[MvmStartResLsb])
        || {operands_i.zero20, operands_i.zero21, operands_i.zero25, operands_i.zero28} != '0
        || sparse_bad || operands_i.tgroup != {13'(TgW), 19'(TgroupCh)} || group == 2'd3
        || (operands_i.res_mode[MvmResModeMulLsb] && !mode_i[MvmStartResLsb])
        || (!mode_i[MvmStartArgmaxLsb] && operands_i.argmax_addr != operands_i.splits_m1)) first_error = ErrUnsupported;
    if (bad_mode != '0) first_error = ErrIllegalMode;
  end

  // ---- ends of ranges
  logic [40:0] out_bytes, res_end, bn_end, argmax_end, wt_end, row_bytes;
  logic [33:0] wt_end_q;
  hulls_t      hulls;

  // Beyond its memory, or across the boundary of the on-chip halves.
  function automatic logic leaves(input logic chip, input logic [31:0] lo, input logic [40:0] hi);
    return chip ? hi > 2 * Half || (41'(lo) < Half && hi > Half) : hi > DdrEnd;
  endfunction
  function automatic range_t range(input logic valid, input logic chip, input logic [31:0] lo, input logic [33:0] hi);
    return '{valid: valid, lo: {1'b0, chip, lo}, hi: hi + {1'b0, chip, 32'd0}};
  endfunction
  // Each half of the on-chip memory has one port: an instruction does not read the half that it writes.
  function automatic logic same_half(input logic chip, input logic [31:0] lo);
    return chip && plan_q.out_chip && (41'(lo) < Half) == (41'(plan_q.out_addr) < Half);
  endfunction
  assign row_bytes  = {19'd0, plan_q.tokens, 6'd0};
  assign out_bytes  = out_end_q - 41'(plan_q.out_addr);
  assign res_end    = 41'(plan_q.res_addr) + out_bytes;
  assign bn_end     = 41'(plan_q.bn_addr) + {14'd0, plan_q.surfaces_out, 7'd0};
  assign argmax_end = 41'(plan_q.argmax_addr) + {23'd0, plan_q.tokens, 2'd0};
  assign wt_end     = 41'(plan_q.wt_addr) + {product[35:0], 5'd0};

  logic overlap, beyond;
  always_comb begin
    hulls         = '0;
    hulls.data[0] = range(1'b1, plan_q.in_chip, plan_q.in_addr, 34'(in_end_q));
    hulls.data[1] = range(plan_q.res, plan_q.res_chip, plan_q.res_addr, 34'(res_end));
    hulls.coef    = range(plan_q.bn, 1'b0, plan_q.bn_addr, 34'(bn_end));
    hulls.wr[0]   = range(1'b1, plan_q.out_chip, plan_q.out_addr, 34'(out_end_q));
    hulls.wr[1]   = range(plan_q.argmax, 1'b0, plan_q.argmax_addr, 34'(argmax_end));
    hulls.hbm     = range(1'b1, 1'b0, plan_q.wt_addr, wt_end_q);

    beyond = leaves(plan_q.in_chip, plan_q.in_addr, in_end_q) || leaves(plan_q.out_chip, plan_q.out_addr, out_end_q)
             || (plan_q.res && leaves(plan_q.res_chip, plan_q.res_addr, res_end)) || (plan_q.bn && bn_end > DdrEnd)
             || (plan_q.argmax && argmax_end > DdrEnd)
             || product > (64'd1 << (Log2BankStep - 5)) || wt_end > HbmEnd;
    overlap = same_half(plan_q.in_chip, plan_q.in_addr) || (plan_q.res && same_half(plan_q.res_chip, plan_q.res_addr))
              || meets(hulls.wr[0], hulls.wr[1]);
    for (int unsigned i = 0; i < 2; i++) begin
      overlap = overlap || meets(hulls.wr[i], hulls.data[0]) || meets(hulls.wr[i], hulls.data[1]) || meets(hulls.wr[i], hulls.coef);
    end
  end

  // A wrong size ranks above a wrong address.
  logic may_be_size;
  assign may_be_size = error_q == ErrNone || error_q == ErrUnaligned;

  logic [63:0] ch_out;
  assign ch_out = product + 64'(operands_i.chout_last);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q     <= '0;
      error_q    <= '0;
      a_q        <= '0;
      b_q        <= '0;
      plan_q     <= '0;
      in_end_q   <= '0;
      out_end_q  <= '0;
      wt_end_q   <= '0;
      chin_bad_q <= 1'b0;
    end else begin
      if (start_i) step_q <= 4'd1;
      else if (step_q != 4'd0) step_q <= (step_q == 4'd8) ? 4'd0 : step_q + 4'd1;

      case (step_q)
        4'd1: begin
          error_q            <= first_error;
          plan_q.bn          <= mode_i[MvmStartBnLsb];
          plan_q.res         <= mode_i[MvmStartResLsb];
          plan_q.argmax      <= mode_i[MvmStartArgmaxLsb];
          plan_q.relu        <= operands_i.res_mode[MvmResModeReluLsb];
          plan_q.res_mul     <= operands_i.res_mode[MvmResModeMulLsb];
          plan_q.group       <= group;
          plan_q.tokens      <= operands_i.win[15:0];
          plan_q.kept        <= kept;
          plan_q.beats       <= steps;
          plan_q.row         <= row;
          plan_q.data_beats  <= codes_all;
          plan_q.place_beats <= places_all;
          plan_q.last_lanes  <= last_lanes;
          plan_q.last_mask   <= ~64'd0 >> (6'd0 - ch_in[5:0]);
          plan_q.surfaces_in <= 16'(operands_i.chin >> 5);
          plan_q.chunk       <= chunk;
          plan_q.tgroups     <= 16'(tgroups);
          plan_q.scale_full  <= 8'((TgroupCh / 512) >> group);
          plan_q.scale_last  <= 8'(scale_last);
          plan_q.data_full   <= 8'(codes_full + places_full);
          plan_q.data_last   <= 8'(codes_last + places_last);
          plan_q.in_addr     <= operands_i.in_addr;
          plan_q.in_surface  <= operands_i.in_surface;
          plan_q.wt_addr     <= operands_i.wt_addr;
          plan_q.out_addr    <= operands_i.out_addr;
          plan_q.out_surface <= operands_i.out_surface;
          plan_q.bn_addr     <= operands_i.bn_addr;
          plan_q.res_addr    <= operands_i.res_addr;
          plan_q.argmax_addr <= operands_i.argmax_addr;
          plan_q.in_chip     <= operands_i.onchip[OnchipIn];
          plan_q.out_chip    <= operands_i.onchip[OnchipOut];
          plan_q.res_chip    <= operands_i.onchip[OnchipRes];
          chin_bad_q         <= chin_bad;
          a_q                <= operands_i.chout_slice;
          b_q                <= operands_i.splits_m1;
        end
        4'd2: begin
          plan_q.ch_out <= ch_out[19:0];
          if (may_be_size && (ch_out == '0 || ch_out >= 64'(MaxOut))) error_q <= ErrBadSize;
          a_q <= 32'(plan_q.row);
          b_q <= 32'(plan_q.tokens);
        end
        4'd3: begin
          if (may_be_size && product > 64'(DatDepth * WordBeats)) error_q <= ErrBadSize;
          plan_q.blocks       <= 20'((32'(plan_q.ch_out) + (Tout - 1)) / Tout);
          plan_q.surfaces_out <= 20'((32'(plan_q.ch_out) + 32'd31) >> 5);
          a_q <= 32'(plan_q.surfaces_in) - 32'd1;
          b_q <= plan_q.in_surface;
        end
        4'd4: begin
          in_end_q <= (|product[63:40]) ? '1 : 41'(plan_q.in_addr) + {1'b0, product[39:0]} + row_bytes;
          a_q      <= 32'(plan_q.surfaces_out) - 32'd1;
          b_q      <= plan_q.out_surface;
        end
        4'd5: begin
          out_end_q <= (|product[63:40]) ? '1 : 41'(plan_q.out_addr) + {1'b0, product[39:0]} + row_bytes;
          // Surfaces that overlap would write bytes twice.
          if (may_be_size && ((a_q != '0 && 41'(plan_q.out_surface) < row_bytes)
              || (plan_q.surfaces_in != 16'd1 && 41'(plan_q.in_surface) < row_bytes))) error_q <= ErrBadSize;
          a_q <= 32'(plan_q.tgroups) - 32'd1;
          b_q <= 32'(plan_q.scale_full);
        end
        4'd6: begin
          plan_q.scale_beats <= 16'(product + 64'(plan_q.scale_last));
          a_q                <= 32'(16'(product + 64'(plan_q.scale_last))) + 32'(plan_q.data_beats) + 32'(plan_q.place_beats);
          b_q                <= 32'(plan_q.blocks);
        end
        4'd7: begin
          plan_q.port_beats <= product[31:0];
          wt_end_q          <= 34'(wt_end);
          // What the register must hold is known where the input channels are.
          if (error_q != ErrIllegalMode && !chin_bad_q && operands_i.wt_bits != {a_q[23:0], 8'd0}) error_q <= ErrUnsupported;
          else if (error_q == ErrNone && (beyond || overlap)) error_q <= ErrOutOfRange;
        end
        default: ;
      endcase
    end
  end

  assign done_o     = step_q == 4'd8;
  assign error_o    = error_q;
  assign plan_o     = plan_q;
  assign hulls_o    = hulls;

  if (2 ** TgW != TgroupCh || TgroupCh % 2048 != 0 || TgroupCh % Tin != 0 || Tin % BeatLanes != 0) begin : gen_check
    $error("TgroupCh must be a power of two of at least 2048, Tin a multiple of 64");
  end
  if (MaxIn > 524288 || MaxToken > 32768) begin : gen_size
    $error("buffers beyond what the counters hold");
  end

  logic unused_product;
  assign unused_product = ^{scale_last[31:8], operands_i};
endmodule
