// Further operators, conversions and steps that functions of a real argument are made of; binary32 and FP16 as in fp_pkg.
package fp_fn_pkg;
  import fp_pkg::*;

  localparam logic [31:0] Fp32One = 32'h3F80_0000, Fp32Inf = 32'h7F80_0000;

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

  // ---- low * 2^-48 + high * 2^-18 to binary32, one rounding; a zero is +0. |low| below 2^63, |high| below 2^62. A special
  // result, if not 0, is instead of it.
  typedef struct {
    logic [31:0] special;
    logic [63:0] upper, lower;  // one number; the 30 bits of `lower` at the top of their word
  } fixed_pair_sum_t;
  typedef struct {
    logic [31:0] special, sign;
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

  function automatic fixed_pair_sum_t fixed_pair_sum(input logic signed [63:0] low, input logic signed [63:0] high,
                                                     input logic [31:0] special);
    return '{special: special, upper: $unsigned(high + (low >>> 30)), lower: $unsigned(low) << 34};
  endfunction

  function automatic fixed_pair_magnitude_t fixed_pair_magnitude(input fixed_pair_sum_t p);
    logic [63:0] negate;
    negate = 64'd0 - 64'(p.upper[63]);
    return '{
      special: p.special, sign: 32'(p.upper[63]) << 31, lower: (p.lower ^ negate) - negate,
      upper: (p.upper ^ negate) + 64'(p.upper[63] && p.lower == 64'd0)
    };
  endfunction

  function automatic fixed_pair_top_t fixed_pair_top(input fixed_pair_magnitude_t p);
    if (p.upper == 64'd0) return '{special: p.special, sign: p.sign, exp: 32'd108, upper: p.lower, lower: 64'd0};
    return '{special: p.special, sign: p.sign, exp: 32'd172, upper: p.upper, lower: p.lower};
  endfunction

  function automatic fixed_pair_count_t fixed_pair_count(input fixed_pair_top_t p);
    logic [31:0] shift;
    shift = 32'(clz64(p.upper));
    return '{
      special: p.special, sign: p.sign, exp: (shift == 32'd64) ? 32'd1 : p.exp - shift, shift: shift, upper: p.upper,
      lower: p.lower
    };
  endfunction

  // Leading one to bit 55, what is lost as a sticky lowest bit.
  function automatic fp32_exact_t fixed_pair_shift(input fixed_pair_count_t p);
    logic [63:0] top, lost;
    top  = (p.upper << p.shift[5:0]) | ((p.lower >> 1) >> (6'd63 - p.shift[5:0]));
    lost = p.lower << p.shift[5:0];
    return '{
      sign: p.sign, special: p.special, exp: p.exp, mag: (top >> 8) | 64'(top[7:0] != 8'd0 || lost != 64'd0)
    };
  endfunction

  function automatic logic [31:0] fixed_pair_or_special(input logic signed [63:0] low, input logic signed [63:0] high,
                                                        input logic [31:0] special);
    return fp32_round(fp32_rounding(fixed_pair_shift(fixed_pair_count(fixed_pair_top(fixed_pair_magnitude(
      fixed_pair_sum(low, high, special)))))));
  endfunction

  function automatic logic [31:0] fixed_pair_to_fp32(input logic signed [63:0] low, input logic signed [63:0] high);
    /*verilator no_inline_task*/
    return fixed_pair_or_special(low, high, 32'd0);
  endfunction

  // ---- binary32, magnitude below 2^15, to the nearest integer, ties to even; stages as in fp_pkg
  typedef struct {
    logic [31:0] sign, kept, up;
  } fp32_rint_t;

  function automatic fp32_rint_t fp32_rint_shift(input logic [31:0] x);
    logic [63:0] fixed;
    if (x[30:23] < 8'd126) return '{sign: 32'd0, kept: 32'd0, up: 32'd0};
    // 32 fraction bits.
    fixed = 64'({1'b1, x[22:0], 32'd0}) >> (6'd22 - 6'(x[30:23]));  // 150 - exponent, modulo 64
    return '{sign: 32'd0 - 32'(x[31]), kept: 32'(fixed >> 32), up: 32'(fixed[31]) & 32'(fixed[32] || fixed[30:0] != 31'd0)};
  endfunction

  function automatic logic signed [31:0] fp32_rint_round(input fp32_rint_t p);
    return $signed(((p.kept + p.up) ^ p.sign) - p.sign);
  endfunction

  function automatic logic signed [31:0] fp32_rint(input logic [31:0] x);
    /*verilator no_inline_task*/
    return fp32_rint_round(fp32_rint_shift(x));
  endfunction

  // Integer, magnitude below 2^24, as binary32: exact.
  function automatic logic [31:0] int_to_fp32(input logic signed [31:0] x);
    return fixed_to_fp32(64'(x) <<< 24);
  endfunction

  // A normal number times 2^k; the result is normal, or the magnitude of a zero where it would be less, infinity where more.
  function automatic logic [31:0] fp32_scale(input logic [31:0] x, input logic signed [31:0] k);
    logic signed [31:0] exp;
    exp = $signed(32'(x[30:23])) + k;
    if (exp < 32'sd1) return {x[31], 31'd0};
    if (exp > 32'sd254) return {x[31], 31'h7F80_0000};
    return {x[31], exp[7:0], x[22:0]};
  endfunction

  // A key that orders FP16 values as a search for the maximum that does not count NaN: below every number. Both zeros
  // differ, which no sum can see.
  function automatic logic signed [16:0] fp16_key(input logic [15:0] x);
    if (x[14:0] > 15'h7C00) return -17'sd32768;
    return x[15] ? -17'sd1 - $signed({2'b00, x[14:0]}) : $signed({2'b00, x[14:0]});
  endfunction

  // The value of a key; that of NaN alone is minus infinity.
  function automatic logic [15:0] fp16_of_key(input logic signed [16:0] key);
    logic [14:0] magnitude;
    if (key == -17'sd32768) return 16'hFC00;
    magnitude = 15'($unsigned(-17'sd1 - key));
    return key[16] ? {1'b1, magnitude} : key[15:0];
  endfunction

endpackage
