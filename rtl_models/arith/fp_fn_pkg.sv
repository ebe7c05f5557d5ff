// Further operators, conversions and steps that functions of a real argument are made of; binary32 and FP16 as in fp_pkg.
package fp_fn_pkg;
  import fp_pkg::*;

  localparam logic [31:0] Fp32Inf = 32'h7F80_0000;

  // ---- FP16 product as binary32: exact, never subnormal; stages as in fp_pkg
  typedef struct {
    logic [31:0] sign, special, exp;
    logic [63:0] product;
  } fp16_mul_product_t;
  typedef struct {
    logic [31:0] sign, special, exp, zeros;
    logic [63:0] product;
  } fp16_mul_count_t;

  function automatic fp16_mul_product_t fp16_mul_product(input logic [15:0] a, input logic [15:0] b);
    fp16_mul_product_t r;
    r.sign    = 32'(a[15] ^ b[15]) << 31;
    r.exp     = 32'(a[14:10]) + 32'(a[14:10] == 5'd0) + 32'(b[14:10]) + 32'(b[14:10] == 5'd0);
    r.product = 64'({a[14:10] != 5'd0, a[9:0]}) * 64'({b[14:10] != 5'd0, b[9:0]});
    r.special = 32'd0;
    if (a[14:10] == 5'd31 || b[14:10] == 5'd31) begin
      r.special = r.sign | Fp32Inf;
      if (a[14:0] > 15'h7C00 || b[14:0] > 15'h7C00 || a[14:0] == 15'd0 || b[14:0] == 15'd0) r.special = Fp32Nan;
    end
    return r;
  endfunction

  function automatic fp16_mul_count_t fp16_mul_count(input fp16_mul_product_t p);
    logic [31:0] zeros;
    zeros = 32'(clz64(p.product));
    // In units of 2^(ea + eb - 50).
    return '{
      sign: p.sign, special: p.special, exp: (zeros == 32'd64) ? 32'd0 : p.exp + 32'd140 - zeros, zeros: zeros, product: p.product
    };
  endfunction

  // The leading one, at bit 63 - zeros, moves to bit 23.
  function automatic logic [31:0] fp16_mul_shift(input fp16_mul_count_t p);
    if (p.special != 32'd0) return p.special;
    return p.sign | (p.exp << 23) | 32'((p.product << (p.zeros[5:0] - 6'd40)) & 64'h007F_FFFF);
  endfunction

  function automatic logic [31:0] fp16_mul(input logic [15:0] a, input logic [15:0] b);
    /*verilator no_inline_task*/
    return fp16_mul_shift(fp16_mul_count(fp16_mul_product(a, b)));
  endfunction

  // FP20 (sign, 6 bits of exponent with bias 31, 13 of mantissa; no subnormals, no infinities) as binary32: exact.
  function automatic logic [31:0] fp20_to_fp32(input logic [19:0] x);
    if (x[18:13] == 6'd0) return {x[19], 31'd0};
    return {x[19], 8'(x[18:13]) + 8'd96, x[12:0], 10'd0};
  endfunction

  // ---- binary32 product by a factor of at most 14 significant bits, for operands and products that are no subnormals (which
  // count as zeros) and products that do not overflow: one narrow multiplier and no search for the leading one.
  typedef struct {
    logic [31:0] sign, special, exp, zero;
    logic [63:0] product;
  } fp32_mul_short_t;

  function automatic fp32_mul_short_t fp32_mul_short_product(input logic [31:0] a, input logic [31:0] b);
    fp32_mul_short_t r;
    logic            unused_bits;
    unused_bits = ^b[9:0];
    r.sign      = (a ^ b) & 32'h8000_0000;
    r.zero      = 32'(a[30:23] == 8'd0 || b[30:23] == 8'd0);
    r.exp       = 32'(a[30:23]) + 32'(b[30:23]) - 32'd127;
    r.product   = 64'({1'b1, a[22:0]}) * 64'({1'b1, b[22:10]});
    r.special   = 32'd0;
    if (a[30:23] == 8'hFF || b[30:23] == 8'hFF) begin
      // NaN, infinity times zero, infinity.
      r.special = r.sign | 32'h7F80_0000;
      if ((a[30:23] == 8'hFF && a[22:0] != 23'd0) || (b[30:23] == 8'hFF && b[22:10] != 13'd0) || r.zero[0]) r.special = Fp32Nan;
    end
    return r;
  endfunction

  function automatic fp32_round_t fp32_mul_short_shift(input fp32_mul_short_t p);
    logic [31:0] carry;
    logic [63:0] product;
    carry   = 32'(p.product[37]);
    product = (p.zero != 32'd0) ? 64'd0 : p.product << (6'd19 - carry[5:0]);
    return fp32_rounding('{
      sign: p.sign, special: p.special, exp: (p.zero != 32'd0) ? 32'd1 : p.exp + carry, mag: product
    });
  endfunction

  function automatic logic [31:0] fp32_mul_short(input logic [31:0] a, input logic [31:0] b);
    /*verilator no_inline_task*/
    return fp32_round(fp32_mul_short_shift(fp32_mul_short_product(a, b)));
  endfunction

  // ---- binary32 product under the same conditions, of factors of any digits
  typedef struct {
    logic [31:0] sign, special, exp, zero;
    logic [63:0] low, high;  // a DSP multiplies by 17 bits
  } fp32_mul_ftz_t;

  function automatic fp32_mul_ftz_t fp32_mul_ftz_parts(input logic [31:0] a, input logic [31:0] b);
    fp32_mul_ftz_t r;
    r.sign    = (a ^ b) & 32'h8000_0000;
    r.zero    = 32'(a[30:23] == 8'd0 || b[30:23] == 8'd0);
    r.exp     = 32'(a[30:23]) + 32'(b[30:23]) - 32'd127;
    r.low     = 64'({1'b1, a[22:0]}) * 64'(b[16:0]);
    r.high    = 64'({1'b1, a[22:0]}) * 64'({1'b1, b[22:17]});
    r.special = 32'd0;
    if (a[30:23] == 8'hFF || b[30:23] == 8'hFF) begin
      r.special = r.sign | 32'h7F80_0000;
      if (a[30:0] > 31'h7F80_0000 || b[30:0] > 31'h7F80_0000 || r.zero[0]) r.special = Fp32Nan;
    end
    return r;
  endfunction

  function automatic fp32_mul_short_t fp32_mul_ftz_product(input fp32_mul_ftz_t p);
    return '{sign: p.sign, special: p.special, exp: p.exp, zero: p.zero, product: p.low + (p.high << 17)};
  endfunction

  function automatic fp32_round_t fp32_mul_ftz_shift(input fp32_mul_short_t p);
    logic [31:0] carry;
    logic [63:0] product;
    carry   = 32'(p.product[47]);
    product = (p.zero != 32'd0) ? 64'd0 : p.product << (6'd9 - carry[5:0]);
    return fp32_rounding('{
      sign: p.sign, special: p.special, exp: (p.zero != 32'd0) ? 32'd1 : p.exp + carry, mag: product
    });
  endfunction

  function automatic logic [31:0] fp32_mul_ftz(input logic [31:0] a, input logic [31:0] b);
    /*verilator no_inline_task*/
    return fp32_round(fp32_mul_ftz_shift(fp32_mul_ftz_product(fp32_mul_ftz_parts(a, b))));
  endfunction

  // ---- low * 2^-48 + high * 2^(split-48) to binary32, one rounding; a zero is +0. |low| below 2^63, |high| below 2^62; split 1 to
  // 63, a constant. A special result, if not 0, is instead of it.
  typedef struct {
    logic [31:0] special, exp;  // exp: of bit 63 of `upper`
    logic [63:0] upper, lower;  // one number; the bits of `lower`, as many as `split`, at the top of their word
  } fixed_pair_sum_t;
  typedef struct {
    logic [31:0] special, sign, exp;
    logic [63:0] upper, lower;
  } fixed_pair_magnitude_t;
  typedef struct {
    logic [31:0] special, sign, exp;  // of bit 63 of `upper`
    logic [63:0] upper, lower;
  } fixed_pair_top_t;
  typedef struct {
    logic [31:0] special, sign, exp, shift;
    logic [63:0] upper, lower;
  } fixed_pair_count_t;
  typedef struct {
    logic [31:0] special, sign, exp;
    logic [63:0] top, lost;
  } fixed_pair_shift_t;

  function automatic fixed_pair_sum_t fixed_pair_sum(input logic signed [63:0] low, input logic signed [63:0] high,
                                                     input logic [31:0] special, input logic [5:0] split);
    return '{
      special: special, exp: 32'd142 + 32'(split), upper: $unsigned(high + (low >>> split)),
      lower: $unsigned(low) << (7'd64 - 7'(split))
    };
  endfunction

  function automatic fixed_pair_magnitude_t fixed_pair_magnitude(input fixed_pair_sum_t p);
    logic [63:0] negate;
    negate = 64'd0 - 64'(p.upper[63]);
    return '{
      special: p.special, sign: 32'(p.upper[63]) << 31, exp: p.exp, lower: (p.lower ^ negate) - negate,
      upper: (p.upper ^ negate) + 64'(p.upper[63] && p.lower == 64'd0)
    };
  endfunction

  function automatic fixed_pair_top_t fixed_pair_top(input fixed_pair_magnitude_t p);
    if (p.upper == 64'd0) return '{special: p.special, sign: p.sign, exp: p.exp - 32'd64, upper: p.lower, lower: 64'd0};
    return '{special: p.special, sign: p.sign, exp: p.exp, upper: p.upper, lower: p.lower};
  endfunction

  function automatic fixed_pair_count_t fixed_pair_count(input fixed_pair_top_t p);
    logic [31:0] shift;
    shift = 32'(clz64(p.upper));
    return '{
      special: p.special, sign: p.sign, exp: (shift == 32'd64) ? 32'd1 : p.exp - shift, shift: shift, upper: p.upper,
      lower: p.lower
    };
  endfunction

  // Leading one to bit 63, and what lies below bit 0.
  function automatic fixed_pair_shift_t fixed_pair_shift(input fixed_pair_count_t p);
    return '{
      special: p.special, sign: p.sign, exp: p.exp,
      top: (p.upper << p.shift[5:0]) | ((p.lower >> 1) >> (6'd63 - p.shift[5:0])), lost: p.lower << p.shift[5:0]
    };
  endfunction

  // It is to be at bit 55; what is lost is a sticky lowest bit.
  function automatic fp32_exact_t fixed_pair_exact(input fixed_pair_shift_t p);
    return '{
      sign: p.sign, special: p.special, exp: p.exp, mag: (p.top >> 8) | 64'(p.top[7:0] != 8'd0 || p.lost != 64'd0)
    };
  endfunction

  function automatic logic [31:0] fixed_pair_or_special(input logic signed [63:0] low, input logic signed [63:0] high,
                                                        input logic [31:0] special, input logic [5:0] split);
    return fp32_round(fp32_rounding(fixed_pair_exact(fixed_pair_shift(fixed_pair_count(fixed_pair_top(fixed_pair_magnitude(
      fixed_pair_sum(low, high, special, split))))))));
  endfunction

  // Words that are 30 bits apart, for sums of products of FP16.
  function automatic logic [31:0] fixed_pair_to_fp32(input logic signed [63:0] low, input logic signed [63:0] high);
    /*verilator no_inline_task*/
    return fixed_pair_or_special(low, high, 32'd0, 6'd30);
  endfunction

  // ---- a whole word in units of 2^-24 to binary32, one rounding; a zero is +0
  typedef struct {
    logic [31:0] sign, zeros;
    logic [63:0] mag;
  } word_count_t;

  function automatic word_count_t word_count(input fixed_magnitude_t p);
    return '{sign: p.sign, zeros: 32'(clz64(p.mag)), mag: p.mag};
  endfunction

  function automatic fixed_pair_shift_t word_shift(input word_count_t p);
    return '{
      special: 32'd0, sign: p.sign, exp: (p.zeros == 32'd64) ? 32'd1 : 32'd166 - p.zeros, top: p.mag << p.zeros[5:0], lost: 64'd0
    };
  endfunction

  function automatic logic [31:0] word_to_fp32(input logic signed [63:0] x);
    /*verilator no_inline_task*/
    return fp32_round(fp32_rounding(fixed_pair_exact(word_shift(word_count(fixed_magnitude(x))))));
  endfunction

  // ---- an integer in units of 2^-24, magnitude below 2^50, times an FP16, exactly: in words that are `ProductSplit` bits apart,
  // the lower one below 2^50, the upper one's magnitude below 2^40. What FP16's infinities and NaN give means nothing.
  localparam logic [5:0] ProductSplit = 6'd50;
  typedef struct {
    logic signed [63:0] low, high;
  } fixed_product_t;
  typedef struct {
    logic signed [63:0] low, high;  // products of the lower 26 bits and of those above them, which a DSP takes each
    logic        [5:0]  shift;
  } fixed_parts_t;
  typedef struct {
    logic signed [63:0] product;
    logic        [5:0]  shift, back;  // at most 30 together
  } fixed_unplaced_t;

  function automatic fixed_parts_t fixed_parts(input logic signed [63:0] x, input fp16_unpacked_t factor);
    logic unused_bits;
    unused_bits = ^{factor, x[63:51]};
    return '{
      low: 64'($signed({1'b0, x[25:0]})) * 64'(factor.mantissa), high: 64'($signed(x[50:26])) * 64'(factor.mantissa),
      shift: 6'(factor.exp) - 6'd1
    };
  endfunction

  function automatic fixed_unplaced_t fixed_unplaced(input fixed_parts_t p);
    return '{product: (p.high <<< 26) + p.low, shift: p.shift, back: 6'd30 - p.shift};
  endfunction

  function automatic fixed_product_t fixed_place(input fixed_unplaced_t p);
    return '{
      low: $signed(($unsigned(p.product) << p.shift[4:0]) & ~(64'hFFFF_FFFF_FFFF_FFFF << ProductSplit)),
      high: (p.product >>> (ProductSplit - 6'd30)) >>> p.back[4:0]
    };
  endfunction

  function automatic fixed_product_t fixed_times_fp16(input logic signed [63:0] x, input logic [15:0] factor);
    return fixed_place(fixed_unplaced(fixed_parts(x, fp16_unpack(factor))));
  endfunction

  // Whether such a product is NaN, +infinity or -infinity. odd: the same of x, whose value then does not count.
  function automatic fp_odd_t fixed_odd_product(input fp_odd_t odd, input logic signed [63:0] x, input logic [15:0] factor);
    logic infinite, nan, special, negative;
    infinite = odd.pos || odd.neg;
    nan      = odd.nan || (odd.pos && odd.neg) || factor[14:0] > 15'h7C00
               || (infinite ? factor[14:0] == 15'd0 : factor[14:0] == 15'h7C00 && x == 64'sd0);
    special  = !nan && (infinite || factor[14:0] == 15'h7C00);
    negative = (infinite ? odd.neg : x[63]) ^ factor[15];
    return '{nan: nan, pos: special && !negative, neg: special && negative};
  endfunction

  // NaN or infinity in binary32; 0 for a finite sum.
  function automatic logic [31:0] fp_odd_to_fp32(input fp_odd_t odd);
    if (odd.nan || (odd.pos && odd.neg)) return Fp32Nan;
    return (odd.pos || odd.neg) ? {odd.neg, 31'h7F80_0000} : 32'd0;
  endfunction

  // Rounds an exact sum of these products to binary32.
  function automatic logic [31:0] fixed_products_to_fp32(input logic signed [63:0] low, input logic signed [63:0] high);
    /*verilator no_inline_task*/
    return fixed_pair_or_special(low, high, 32'd0, ProductSplit);
  endfunction

  // A value that has this key of fp16_order: a zero is +0, and so is no NaN, which all have one.
  function automatic logic [15:0] fp16_of_order(input logic signed [16:0] key);
    logic unused_bit;
    unused_bit = key[15];
    return {key[16], key[16] ? 15'd0 - key[14:0] : key[14:0]};
  endfunction

endpackage
