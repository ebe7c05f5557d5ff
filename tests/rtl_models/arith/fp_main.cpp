// Drives fp_probe against the host's IEEE arithmetic: FP16 exhaustively, binary32 on special and random pairs.
// Arguments: random pairs, seed. Prints one line a kind of mistake and exits 1 when there is any.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "Vfp_probe.h"

namespace {

uint32_t bits(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}

float real(uint32_t u) {
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}

uint32_t canonical(float f) { return std::isnan(f) ? 0x7FC00000u : bits(f); }

// The value of a binary16 pattern, from its definition.
double half_value(uint16_t h) {
  const int exp = (h >> 10) & 31, frac = h & 1023;
  double magnitude;
  if (exp == 31)
    magnitude = frac ? NAN : INFINITY;
  else
    magnitude = exp ? std::ldexp(1024.0 + frac, exp - 25) : std::ldexp(double(frac), -24);
  return (h & 0x8000) ? -magnitude : magnitude;
}

// The nearest binary16 by search over all of them would be slow: scale by the spacing and let the host round to even.
uint16_t half_of(float f) {
  if (std::isnan(f)) return 0x7E00;
  const uint16_t sign = std::signbit(f) ? 0x8000 : 0;
  const double x = std::fabs(double(f));
  if (std::isinf(x) || x >= 65520.0) return sign | 0x7C00;
  int exp = 0;
  std::frexp(x, &exp);
  if (x == 0 || exp < -13) exp = -13;
  const double steps = std::nearbyint(std::ldexp(x, 11 - exp));  // spacing of the binade, exact scaling
  const double rounded = std::ldexp(steps, exp - 11);
  if (rounded == 0) return sign;
  int e = 0;
  std::frexp(rounded, &e);
  if (e < -13) return sign | uint16_t(std::ldexp(rounded, 24));
  return sign | uint16_t(((e + 14) << 10) + int(std::ldexp(rounded, 11 - e)) - 1024);
}

// The float nearest to an integer in units of 2^-48, ties to even.
float nearest(__int128 v) {
  const bool negative = v < 0;
  unsigned __int128 magnitude = negative ? -(unsigned __int128)v : (unsigned __int128)v;
  int exp = -48;
  bool lost = false, tie = false;
  for (; magnitude >> 24; ++exp) {
    lost |= tie;
    tie = magnitude & 1;
    magnitude >>= 1;
  }
  if (tie && (lost || (magnitude & 1))) ++magnitude;
  const float f = std::ldexp(float(uint32_t(magnitude)), exp);
  return negative ? -f : f;
}

uint64_t mistakes = 0;

void check(const char* what, uint64_t got, uint64_t expected, uint64_t a, uint64_t b) {
  if (got == expected) return;
  if (mistakes++ < 20)
    std::printf("%s(%llx, %llx) = %llx, expected %llx\n", what, (unsigned long long)a, (unsigned long long)b,
                (unsigned long long)got, (unsigned long long)expected);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t pairs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  Vfp_probe dut;
  uint64_t done = 0;
  auto clock = [&] {
    dut.clk_i = 0;
    dut.eval();
    dut.clk_i = 1;
    dut.eval();
    ++done;
  };
  // Pairs of fixed-point numbers of all sizes, half of them about as large as each other, some at ties.
  auto pair = [&](int64_t low, int64_t high) {
    dut.fixed_i = uint64_t(low);
    dut.high_i = uint64_t(high);
    clock();
    check("fixed_pair_to_fp32", dut.pair_o, bits(nearest(__int128(high) * (1 << 30) + low)), uint64_t(low), uint64_t(high));
    check("word_to_fp32", dut.word_o, low ? bits(std::ldexp(float(low), -24)) : 0, uint64_t(low), 0);
    check("fixed_products_to_fp32", dut.products_o, bits(nearest(__int128(high) * (int64_t(1) << 50) + low)), uint64_t(low),
          uint64_t(high));
  };
  // An integer of 51 bits, or what is not finite instead, times an FP16.
  auto times = [&](int64_t x, uint16_t factor, int odd) {
    dut.b_i = factor;
    dut.fixed_i = uint64_t(x);
    dut.high_i = uint64_t(odd);
    clock();
    const double f = half_value(factor);
    const int64_t low = int64_t(dut.times_low_o), high = int64_t(dut.times_high_o);
    if (std::isfinite(f)) {
      const __int128 product = __int128(x) * int64_t(std::ldexp(f, 24));
      const bool fits = low >= 0 && low < int64_t(1) << 50 && std::llabs(high) <= int64_t(1) << 40;
      check("fixed_times_fp16", fits && __int128(high) * (int64_t(1) << 50) + low == product, 1, uint64_t(x), factor);
    }
    const double sum = (odd & 4) || (odd & 3) == 3 ? NAN : odd & 2 ? INFINITY : odd & 1 ? -INFINITY : double(x);
    const double product = sum * f;
    const uint32_t found = std::isnan(product) ? 4 : std::isinf(product) ? 2 >> std::signbit(product) : 0;
    check("fixed_odd_product", dut.times_odd_o, found, uint64_t(x), uint64_t(odd) << 16 | factor);
    check("fp_odd_to_fp32", dut.odd_value_o, std::isfinite(sum) ? 0 : canonical(float(sum)), uint64_t(odd), 0);
  };
  auto step = [&](uint32_t a, uint32_t b, int64_t fixed) {
    dut.a_i = a;
    dut.b_i = b;
    dut.fixed_i = uint64_t(fixed);
    clock();
    check("add", dut.sum_o, canonical(real(a) + real(b)), a, b);
    const float factor = real(b & 0xFFFFFC00u), scaled = real(a) * factor;
    const auto never = [](float f) { return std::fpclassify(f) == FP_SUBNORMAL; };
    const bool over = std::isinf(scaled) && std::isfinite(real(a)) && std::isfinite(factor);
    const bool under = std::fabs(scaled) <= 0x1p-126f && real(a) != 0 && factor != 0;
    if (!never(real(a)) && !never(factor) && !over && !under) check("fp32_mul_short", dut.short_o, canonical(scaled), a, b);
    const float whole = real(a) * real(b);
    const bool beyond = (std::isinf(whole) && std::isfinite(real(a)) && std::isfinite(real(b)))
                        || (std::fabs(whole) <= 0x1p-126f && real(a) != 0 && real(b) != 0);
    if (!never(real(a)) && !never(real(b)) && !beyond) check("fp32_mul_ftz", dut.ftz_o, canonical(whole), a, b);
    const double x = half_value(uint16_t(a)), y = half_value(uint16_t(b));
    if (std::isfinite(x)) {
      const double mantissa = int16_t(dut.unpacked_o & 0xFFFF), exp = dut.unpacked_o >> 16 & 0x3FFF;
      check("fp16_unpack", bits(float(std::ldexp(mantissa, int(exp) - 25))), bits(float(x == 0 ? 0 : x)), a, 0);
    }
    check("fp16_unpack's marks", dut.unpacked_o >> 30, std::signbit(x) << 1 | !std::isfinite(x), a, 0);
    uint32_t odd = 0;
    if (!std::isfinite(x) || !std::isfinite(y)) odd = std::isnan(x * y) ? 4 : std::signbit(x) == std::signbit(y) ? 2 : 1;
    check("fp16_odd_product", dut.odd_o, odd, a, b);
    check("fp32_to_fp16", dut.narrowed_o, half_of(real(a)), a, 0);
    check("word_to_fp32", dut.word_o, fixed ? bits(std::ldexp(float(fixed), -24)) : 0, uint64_t(fixed), 0);
  };
  // FP16, exhaustively; order against the host's comparison of neighbours in a walk over all patterns.
  std::vector<int32_t> key(65536);
  for (uint32_t h = 0; h < 65536; ++h) {
    const double v = half_value(uint16_t(h));
    step(h << 13 | (h & 0x8000) << 16, h, int64_t(h) << 30);
    dut.a_i = h;
    dut.clk_i = 0;
    dut.eval();
    dut.clk_i = 1;
    dut.eval();
    check("fp16_to_fp32", dut.widened_o, canonical(float(v)), h, 0);
    check("fp16_to_fixed", dut.fixed_o, std::isfinite(v) ? uint64_t(int64_t(std::ldexp(v, 24))) : 0, h, 0);
    key[h] = int32_t(dut.order_o << 15) >> 15;
    // Round trip and the neighbourhood of every rounding boundary between two FP16 values.
    if (std::isfinite(v)) {
      const uint32_t w = bits(float(v));
      for (int32_t d : {-1, 0, 1}) step(w + uint32_t(d), w, int64_t(d));
      const double next = half_value(uint16_t(h + 1));
      if (std::isfinite(next))
        for (int32_t d : {-1, 0, 1}) step(bits(float((v + next) / 2)) + uint32_t(d), w, 0);
    }
  }
  std::mt19937_64 random(seed);
  for (int i = 0; i < 1000000; ++i) {
    const uint16_t x = uint16_t(random()), y = uint16_t(random());
    const double vx = half_value(x), vy = half_value(y);
    const bool greater = std::isnan(vx) ? !std::isnan(vy) : vx > vy;
    check("fp16_order", key[x] > key[y], greater, x, y);
  }
  const uint32_t special[] = {0,          1,          2,          0x007FFFFF, 0x00800000, 0x00800001, 0x00FFFFFF, 0x01000000,
                              0x33000000, 0x337FFFFF, 0x33800000, 0x33800001, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FFFFFFF,
                              0x40000000, 0x477FEFFF, 0x477FF000, 0x477FF001, 0x477FFFFF, 0x47800000, 0x4B000000, 0x4B7FFFFF,
                              0x4B800000, 0x5F000000, 0x7E7FFFFF, 0x7F000000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000,
                              0x7FFFFFFF, 0x20000000, 0x1FFFFFFF, 0x00400000, 0x387FC000, 0x38800000, 0x387FFFFF, 0x33FFFFFF};
  for (uint32_t a : special)
    for (uint32_t b : special)
      for (uint32_t s = 0; s < 4; ++s) step(a | (s & 1) << 31, b | (s & 2) << 30, int64_t(a) - int64_t(b));
  for (uint64_t i = 0; i < pairs; ++i) {
    const uint64_t r = random();
    uint32_t a = uint32_t(r), b = uint32_t(r >> 32);
    // Three in four pairs are bent to where rounding, cancellation and subnormals live.
    const uint64_t q = random();
    if ((q & 3) == 1) b = (b & 0x807FFFFF) | ((a + (((q >> 2) % 60 - 30) << 23)) & 0x7F800000);
    if ((q & 3) == 2) b = (b & 0x807FFFFF) | (((254 - (a >> 23 & 255) - (q >> 2) % 152) & 255) << 23);
    if ((q & 3) == 3) b = (a ^ 0x80000000) + uint32_t((q >> 2) % 64) - 32;
    if ((q >> 10 & 7) == 0) a &= 0xFFFFFFFFu << (q >> 13 & 31);
    if ((q >> 20 & 7) == 0) b &= 0xFFFFFFFFu << (q >> 23 & 31);
    const int64_t fixed = int64_t(random()) >> (14 + (q >> 32) % 50);
    step(a, b, fixed);
    times(fixed, uint16_t(random()), (q >> 54 & 3) ? 0 : int(q >> 56 & 7));
    times(q & 64 ? 0 : fixed, uint16_t((q & 128 ? 0x7C00 : 0) | (q >> 58 & 0x8001)), (q >> 54 & 3) ? 0 : int(q >> 56 & 7));
    // fixed points right at ties: a 24-bit number and a half, plus minus one
    const int shift = 1 + int((q >> 40) % 26);
    const int64_t tie = ((int64_t(a & 0xFFFFFF) << 1 | 1) << (shift - 1)) + int64_t((q >> 50) % 3) - 1;
    step(b, a, q >> 63 ? -tie : tie);
    // Two words that overlap by up to 33 bits, either sign; every other time the lower one cancels the upper one's end.
    const int64_t high = int64_t(random()) >> (2 + random() % 62);
    const int64_t low = int64_t(random()) >> (1 + random() % 63);
    pair(low, high);
    pair(-(high % (int64_t(1) << 31)) * (1 << 30) + (low >> 40), high % (int64_t(1) << 31));
    pair(-(high % (int64_t(1) << 12)) * (int64_t(1) << 50) + (low >> 40), high % (int64_t(1) << 12));
    // A number of 24 bits, half a unit and the smallest step beside it, cut into words anywhere.
    const __int128 near = ((__int128(a & 0xFFFFFF) << 1 | 1) << (random() % 64)) + int(random() % 3) - 1;
    const __int128 whole = q & 1 ? -near : near;
    const int64_t below = int64_t(whole % (__int128(1) << 60));
    if (((whole - below) >> 30) < (__int128(1) << 62) && ((whole - below) >> 30) > -(__int128(1) << 62)) {
      pair(below, int64_t((whole - below) >> 30));
    }
    const int64_t rest = int64_t(whole % (__int128(1) << 50));
    pair(rest, int64_t((whole - rest) >> 50));
  }
  std::printf("%llu operand pairs, seed %llu, %llu mistakes\n", (unsigned long long)done, (unsigned long long)seed,
              (unsigned long long)mistakes);
  return mistakes ? 1 : 0;
}
