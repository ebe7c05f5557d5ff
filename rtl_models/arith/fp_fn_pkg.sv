// Conversions and steps that functions of a real argument are made of; binary32 and FP16 as in fp_pkg.
package fp_fn_pkg;
  import fp_pkg::*;

  localparam logic [31:0] Fp32One = 32'h3F80_0000, Fp32Inf = 32'h7F80_0000;

  // FP16 product as binary32: exact, never subnormal.
  function automatic logic [31:0] fp16_mul(input logic [15:0] a, input logic [15:0] b);
    /*verilator no_inline_task*/
    logic [31:0] ea, eb, zeros;
    logic [63:0] product;
    logic        sign;
    sign = a[15] ^ b[15];
    if (a[14:0] > 15'h7C00 || b[14:0] > 15'h7C00) return Fp32Nan;
    if (a[14:0] == 15'h7C00) return (b[14:0] == 15'd0) ? Fp32Nan : {sign, 31'h7F80_0000};
    if (b[14:0] == 15'h7C00) return (a[14:0] == 15'd0) ? Fp32Nan : {sign, 31'h7F80_0000};
    if (a[14:0] == 15'd0 || b[14:0] == 15'd0) return {sign, 31'd0};
    ea      = (a[14:10] == 5'd0) ? 32'd1 : 32'(a[14:10]);
    eb      = (b[14:10] == 5'd0) ? 32'd1 : 32'(b[14:10]);
    product = 64'({a[14:10] != 5'd0, a[9:0]}) * 64'({b[14:10] != 5'd0, b[9:0]});
    // In units of 2^(ea + eb - 50); the leading one, at bit 63 - zeros, moves to bit 23.
    zeros   = 32'(clz64(product));
    product = product << (zeros[5:0] - 6'd40);
    return {sign, 8'(ea + eb + 32'd140 - zeros), product[22:0]};
  endfunction

  // FP20 (sign, 6 bits of exponent with bias 31, 13 of mantissa; no subnormals, no infinities) as binary32: exact.
  function automatic logic [31:0] fp20_to_fp32(input logic [19:0] x);
    if (x[18:13] == 6'd0) return {x[19], 31'd0};
    return {x[19], 8'(x[18:13]) + 8'd96, x[12:0], 10'd0};
  endfunction

  // binary32, magnitude below 2^15, to the nearest integer, ties to even.
  function automatic logic signed [31:0] fp32_rint(input logic [31:0] x);
    /*verilator no_inline_task*/
    logic [63:0] fixed, kept;
    if (x[30:23] < 8'd126) return 32'sd0;
    // 32 fraction bits.
    fixed = 64'({1'b1, x[22:0], 32'd0}) >> (6'd22 - 6'(x[30:23]));  // 150 - exponent, modulo 64
    kept  = fixed >> 32;
    if (fixed[31:0] > 32'h8000_0000 || (fixed[31:0] == 32'h8000_0000 && kept[0])) kept = kept + 64'd1;
    return x[31] ? -$signed(kept[31:0]) : $signed(kept[31:0]);
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
