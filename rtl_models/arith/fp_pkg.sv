// Floating-point and fixed-point functions shared by instruction sets.
//
// binary32: IEEE 754 with subnormals, round to nearest even, every NaN is the canonical 0x7FC00000.
// FP16: binary16 with subnormals, every NaN is 0x7E00; conversion overflows to infinity.
// Fixed point: units of 2^-24, the weight of FP16's smallest subnormal, so that every finite FP16 is an integer.
//
// Functions, not modules: called inside clock-enabled always_ff stages, an idle unit evaluates nothing, and each is
// compiled once (no_inline_task) instead of once a lane. 64-bit operands keep simulated arithmetic free of masking.
//
// An operator that is too slow for one stage of hardware is the composition of its stages, functions of their own that hand
// on a structure; the modules NAME_pipe have the same stages with registers between them. Structures are unpacked and of whole words, so
// that they cost a simulation nothing; what no stage reads takes no register.
package fp_pkg;

  localparam logic [31:0] Fp32Nan = 32'h7FC0_0000;
  localparam logic [15:0] Fp16Nan = 16'h7E00;

  // Number of leading zeros of a 64-bit word; 64 for zero. For hardware: of each four bits, then of twice as many.
  function automatic logic [6:0] clz64_tree(input logic [63:0] x);
    logic [15:0]      any4;
    logic [15:0][1:0] zeros4;
    logic [7:0]       any8;
    logic [7:0][2:0]  zeros8;
    logic [3:0]       any16;
    logic [3:0][3:0]  zeros16;
    logic [1:0]       any32;
    logic [1:0][4:0]  zeros32;
    for (int unsigned i = 0; i < 16; i++) begin
      any4[i]   = x[4*i+:4] != '0;
      zeros4[i] = {x[4*i+2+:2] == '0, !x[4*i+3] && (x[4*i+2] || !x[4*i+1])};
    end
    for (int unsigned i = 0; i < 8; i++) begin
      any8[i]   = any4[2*i+:2] != '0;
      zeros8[i] = {!any4[2*i+1], any4[2*i+1] ? zeros4[2*i+1] : zeros4[2*i]};
    end
    for (int unsigned i = 0; i < 4; i++) begin
      any16[i]   = any8[2*i+:2] != '0;
      zeros16[i] = {!any8[2*i+1], any8[2*i+1] ? zeros8[2*i+1] : zeros8[2*i]};
    end
    for (int unsigned i = 0; i < 2; i++) begin
      any32[i]   = any16[2*i+:2] != '0;
      zeros32[i] = {!any16[2*i+1], any16[2*i+1] ? zeros16[2*i+1] : zeros16[2*i]};
    end
    if (any32 == '0) return 7'd64;
    return {1'b0, !any32[1], any32[1] ? zeros32[1] : zeros32[0]};
  endfunction

  // The same, as a processor counts them faster.
  function automatic logic [6:0] clz64(input logic [63:0] x);
    /*verilator no_inline_task*/
`ifdef SYNTHESIS
    return clz64_tree(x);
`else
    // Steps without a choice: what a processor cannot predict costs it more than all of them.
    logic [63:0] v;
    logic [6:0]  n, step;
    v = x;
    step = 7'(v[63:32] == 32'd0) << 5;  n = step;      v = v << step[5:0];
    step = 7'(v[63:48] == 16'd0) << 4;  n = n + step;  v = v << step[5:0];
    step = 7'(v[63:56] == 8'd0) << 3;   n = n + step;  v = v << step[5:0];
    step = 7'(v[63:60] == 4'd0) << 2;   n = n + step;  v = v << step[5:0];
    step = 7'(v[63:62] == 2'd0) << 1;   n = n + step;  v = v << step[5:0];
    n = n + 7'(v[63] == 1'b0);
    return (x == 64'd0) ? 7'd64 : n;
`endif
  endfunction

  // clz64 for arguments that mostly have at most one leading zero: simulation tests for that first.
  function automatic logic [6:0] clz64_few(input logic [63:0] x);
`ifdef SYNTHESIS
    return clz64_tree(x);
`else
    return (x[63:62] == 2'd0) ? clz64(x) : 7'(!x[63]);
`endif
  endfunction

  // Right shift that keeps what falls off as a sticky lowest bit.
  function automatic logic [63:0] shr_sticky(input logic [63:0] x, input logic [31:0] n);
    logic [63:0] shifted, lost;
    if (n >= 32'd64) begin
      shifted = 64'd0;
      lost    = x;
    end else begin
      shifted = x >> n[5:0];
      lost    = x & ~(64'hFFFF_FFFF_FFFF_FFFF << n[5:0]);
    end
    return shifted | 64'(lost != 64'd0);
  endfunction

  // ---- rounding to binary32, the last stage of its operators
  typedef struct {
    logic [31:0] sign;     // in its place
    logic [31:0] special;  // the result, if not 0
    logic [31:0] exp;      // as IEEE stores it less 1, with a hidden bit in `kept`; at most 254
    logic [31:0] kept;
    logic [31:0] half;     // 1: what is lost is half a unit of `kept` or more
    logic [31:0] more;     // 1: more than half, or half and `kept` is odd
  } fp32_round_t;

  function automatic logic [31:0] fp32_round(input fp32_round_t r);
    logic [31:0] magnitude;
    if (r.special != 32'd0) return r.special;
    // A carry out of the mantissa runs into the exponent, which is what rounding up to the next binade means.
    magnitude = (r.exp << 23) + r.kept + (r.half & r.more);
    return r.sign | ((magnitude[30:23] == 8'hFF) ? 32'h7F80_0000 : magnitude);
  endfunction

  // |value| = mag * 2^(exp - 127 - 55), exp 1 or more: bit 55 of mag has the weight of a normal's hidden bit, and is clear only
  // where exp is 1. mag below 2^56.
  typedef struct {
    logic [31:0] sign, special, exp;
    logic [63:0] mag;
  } fp32_exact_t;

  function automatic fp32_round_t fp32_rounding(input fp32_exact_t p);
    return '{
      sign: p.sign, special: p.special, exp: p.exp - 32'd1, kept: 32'(p.mag >> 32) & 32'h00FF_FFFF,
      half: 32'(p.mag[31]), more: 32'(p.mag[32] || p.mag[30:0] != 31'd0)
    };
  endfunction

  // ---- binary32 sum
  typedef struct {
    logic [31:0] x, y;  // x has the larger magnitude
  } fp32_add_order_t;
  typedef struct {
    logic [31:0] sign, zero_sign, special, exp, shift;
    logic [63:0] x, y, negate;  // hidden bits at 56
  } fp32_add_align_t;
  typedef struct {
    logic [31:0] sign, zero_sign, special, exp;
    logic [63:0] sum;
  } fp32_add_sum_t;
  typedef struct {
    logic [31:0] sign, zero_sign, special, exp, zeros;
    logic [63:0] sum;
  } fp32_add_count_t;
  typedef struct {
    logic [31:0] sign, special, exp, shift;
    logic [63:0] sum;
  } fp32_add_limit_t;

  // The larger magnitude first, without a branch. Units with trees spend most of their simulated time in sums: no choice
  // that random operands make unpredictable, but for that of a deep cancellation.
  function automatic fp32_add_order_t fp32_add_order(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] swap;
    swap = (32'd0 - 32'(b[30:0] > a[30:0])) & (a ^ b);
    return '{x: a ^ swap, y: b ^ swap};
  endfunction

  function automatic fp32_add_align_t fp32_add_align(input fp32_add_order_t p);
    fp32_add_align_t r;
    logic [31:0]     ex, ey, hx, hy, shift;
    ex = 32'(p.x[30:23]);
    ey = 32'(p.y[30:23]);
    hx = 32'(ex != 32'd0);
    hy = 32'(ey != 32'd0);
    // A subnormal has the exponent of the smallest normal. 32 places lose nothing, and leave y so small that a larger
    // distance rounds alike.
    ex        = ex | 32'(ex == 32'd0);
    ey        = ey | 32'(ey == 32'd0);
    shift     = ex - ey;
    r.shift   = (shift > 32'd32) ? 32'd32 : shift;
    r.exp     = ex;
    // 1 in the lowest place completes the negation.
    r.negate    = 64'd0 - 64'(p.x[31] ^ p.y[31]);
    r.x         = (64'(p.x[22:0]) << 33) | (64'(hx) << 56) | (r.negate & 64'd1);
    r.y         = (64'(p.y[22:0]) << 33) | (64'(hy) << 56);
    r.sign      = p.x & 32'h8000_0000;
    r.zero_sign = p.x & p.y & 32'h8000_0000;
    r.special = 32'd0;
    if (ex == 32'd255) begin
      r.special = r.sign | 32'h7F80_0000;
      if (p.x[22:0] != 23'd0 || (ey == 32'd255 && p.x[31] != p.y[31])) r.special = Fp32Nan;
    end
    return r;
  endfunction

  function automatic fp32_add_align_t fp32_add_shift(input fp32_add_align_t p);
    fp32_add_align_t r;
    r   = p;
    r.y = p.y >> p.shift[5:0];
    return r;
  endfunction

  function automatic fp32_add_sum_t fp32_add_sum(input fp32_add_align_t p);
    return '{sign: p.sign, zero_sign: p.zero_sign, special: p.special, exp: p.exp, sum: p.x + (p.y ^ p.negate)};
  endfunction

  // How far the leading one is from bit 57: far only where much has cancelled.
  function automatic fp32_add_count_t fp32_add_count(input fp32_add_sum_t p);
    return '{
      sign: p.sign, zero_sign: p.zero_sign, special: p.special, exp: p.exp, zeros: 32'(clz64_few(p.sum << 6)), sum: p.sum
    };
  endfunction

  // It moves there, but no further than the exponent goes.
  function automatic fp32_add_limit_t fp32_add_limit(input fp32_add_count_t p);
    logic [31:0] shift, sign;
    shift = p.zeros;
    sign  = p.sign;
    if (p.zeros > p.exp || p.zeros[6]) begin
      shift = p.exp;
      if (p.zeros[6]) sign = p.zero_sign;
    end
    return '{sign: sign, special: p.special, exp: p.exp - shift, shift: shift, sum: p.sum};
  endfunction

  function automatic fp32_round_t fp32_add_rounding(input fp32_add_limit_t p);
    logic [63:0] sum;
    sum = p.sum << p.shift[5:0];
    return '{
      sign: p.sign, special: p.special, exp: p.exp, kept: 32'(sum >> 34) & 32'h00FF_FFFF,
      half: 32'(sum[33]), more: 32'(sum[34] || sum[32:0] != 33'd0)
    };
  endfunction

  // This one is compiled into its caller: for loops over lanes.
  function automatic logic [31:0] fp32_add_inline(input logic [31:0] a, input logic [31:0] b);
    return fp32_round(fp32_add_rounding(fp32_add_limit(fp32_add_count(fp32_add_sum(fp32_add_shift(fp32_add_align(
      fp32_add_order(a, b))))))));
  endfunction

  function automatic logic [31:0] fp32_add(input logic [31:0] a, input logic [31:0] b);
    /*verilator no_inline_task*/
    return fp32_add_inline(a, b);
  endfunction

  // FP16 to binary32, exact.
  function automatic logic [31:0] fp16_to_fp32(input logic [15:0] x);
    /*verilator no_inline_task*/
    logic [31:0] zeros;
    if (x[14:0] > 15'h7C00) return Fp32Nan;
    if (x[14:0] == 15'h7C00) return {x[15], 31'h7F80_0000};
    if (x[14:0] == 15'd0) return {x[15], 31'd0};
    if (x[14:10] != 5'd0) return {x[15], 8'(x[14:10]) + 8'd112, x[9:0], 13'd0};
    // A subnormal: x * 2^-24, normal in binary32.
    zeros = 32'(clz64(64'(x[9:0])));
    return (32'(x[15]) << 31) | ((32'd166 - zeros) << 23) | 32'((64'(x[9:0]) << (zeros[5:0] - 6'd40)) & 64'h007F_FFFF);
  endfunction

  // An operand of exact products of FP16. Its value is mantissa * 2^(exp - 25); of infinities and NaNs, which are marked,
  // the mantissa tells which it is: 0 for infinity.
  typedef struct packed {
    logic               sign;
    logic               special;
    logic        [13:0] exp;       // FP16's, and 1 for subnormals; at most 31
    logic signed [15:0] mantissa;  // with the sign, below 2^11
  } fp16_unpacked_t;

  function automatic fp16_unpacked_t fp16_unpack(input logic [15:0] x);
    logic        special, normal;
    logic [15:0] magnitude, negate;
    special   = x[14:10] == 5'd31;
    normal    = x[14:10] != 5'd0;
    magnitude = {5'd0, normal && !special, x[9:0]};
    negate    = 16'd0 - 16'(x[15]);
    return '{
      sign: x[15], special: special, exp: normal ? 14'(x[14:10]) : 14'd1,
      mantissa: $signed((magnitude ^ negate) - negate)
    };
  endfunction

  // What a sum of products of FP16 is when a lane is not finite.
  typedef struct packed {
    logic nan;
    logic pos;  // an infinite product
    logic neg;
  } fp_odd_t;

  function automatic fp_odd_t fp16_odd_product(input fp16_unpacked_t x, input fp16_unpacked_t w);
    logic special, nan, unused_exp;
    unused_exp = ^{x.exp, w.exp};
    special    = x.special || w.special;
    // A NaN, or a zero beside what is not finite.
    nan = (x.special == (x.mantissa != 16'sd0)) || (w.special == (w.mantissa != 16'sd0));
    return '{
      nan: special && nan, pos: special && !nan && x.sign == w.sign, neg: special && !nan && x.sign != w.sign
    };
  endfunction

  // ---- binary32 to FP16, one rounding to nearest even
  typedef struct {
    logic [31:0] sign, special, exp;  // special: the magnitude of the result, if not 0
    logic [63:0] mag;
  } fp32_narrow_t;

  // Hidden bit at 55; below FP16's smallest normal the mantissa moves down instead of the exponent.
  function automatic fp32_narrow_t fp32_narrow_shift(input logic [31:0] x);
    fp32_narrow_t r;
    logic [31:0]  exp;
    exp       = 32'(x[30:23]);
    r.sign    = x & 32'h8000_0000;
    r.special = 32'd0;
    if (exp >= 32'd143) begin
      r.special = 32'h7C00;
      if (exp == 32'd255 && x[22:0] != 23'd0) begin
        r.special = 32'(Fp16Nan);
        r.sign    = 32'd0;
      end
    end
    r.mag = {8'd0, 1'b1, x[22:0], 32'd0};
    r.exp = exp - 32'd113;
    if (exp < 32'd113) begin
      r.exp = 32'd0;
      r.mag = (exp < 32'd90) ? 64'd0 : shr_sticky(r.mag, (32'd113 - exp) & 32'd31);
    end
    return r;
  endfunction

  function automatic logic [15:0] fp32_narrow_round(input fp32_narrow_t p);
    logic [31:0] magnitude;
    magnitude = p.special;
    if (p.special == 32'd0) begin
      magnitude = (p.exp << 10) + 32'(p.mag >> 45) + (32'(p.mag[44]) & 32'(p.mag[45] || p.mag[43:0] != 44'd0));
    end
    return 16'(magnitude | (p.sign >> 16));
  endfunction

  function automatic logic [15:0] fp32_to_fp16(input logic [31:0] x);
    /*verilator no_inline_task*/
    return fp32_narrow_round(fp32_narrow_shift(x));
  endfunction

  // FP16 to signed fixed point in units of 2^-24, exact, magnitude below 2^40; infinity and NaN give 0.
  function automatic logic signed [63:0] fp16_to_fixed(input logic [15:0] x);
    /*verilator no_inline_task*/
    logic [63:0] mag, sign;
    logic [31:0] shift;
    if (x[14:10] == 5'd31) return 64'sd0;
    shift = 32'(x[14:10]);
    mag   = 64'(x[9:0]);
    if (shift != 32'd0) begin
      mag   = mag | 64'h400;
      shift = shift - 32'd1;
    end
    mag  = mag << shift[5:0];
    sign = 64'd0 - 64'(x[15]);
    return $signed((mag ^ sign) - sign);
  endfunction

  // ---- sign and magnitude of a word of fixed point
  typedef struct {
    logic [31:0] sign;
    logic [63:0] mag;
  } fixed_magnitude_t;

  function automatic fixed_magnitude_t fixed_magnitude(input logic signed [63:0] x);
    logic [63:0] negate;
    negate = 64'd0 - 64'(x[63]);
    return '{sign: 32'(x[63]) << 31, mag: ($unsigned(x) ^ negate) - negate};
  endfunction

  // A key that orders FP16 values as a search for the maximum sees them: NaN above infinity, both zeros alike.
  // The first strictly greater key wins, hence the first NaN. -32768 is below every key.
  function automatic logic signed [16:0] fp16_order(input logic [15:0] x);
    logic signed [16:0] mag;
    mag = $signed({2'b00, x[14:0]});
    if (x[14:0] > 15'h7C00) return 17'sd32767;
    return x[15] ? -mag : mag;
  endfunction

endpackage
