// Drives views_probe with rows of one to four beats, pauses, and operands of all kinds. Prints, of the array and of the lanes: results,
// cycles in which the views differ, results that came in another cycle than the latencies say.
// Arguments: cycles, seed, pairs at once, cycles from a step to its row's first result, cycles of the lanes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

#include "Vviews_probe.h"

static std::mt19937_64 engine;
static uint32_t draw(uint32_t n) { return uint32_t(engine() >> 16) % n; }

// FP16 values: ordinary ones, any bits, zeros and subnormals, ends of the range, what is not finite.
static uint32_t half(unsigned kind) {
  const uint32_t bits = uint32_t(engine() >> 20) & 0xFFFF;
  if (kind == 0) return (bits & 0x83FF) | ((10 + draw(11)) << 10);
  if (kind == 1 && draw(8) == 0) return bits & 0x83FF;
  if (kind == 2 && draw(4) == 0) return (bits & 0x8000) | (draw(2) ? 0x7BFF : 0x0001);
  if (kind == 3 && draw(40) == 0) return (bits & 0x8000) | 0x7C00;
  return (bits & 0x7C00) == 0x7C00 && draw(30) ? bits & 0xBFFF : bits;
}

static void fill(uint32_t* words, unsigned halves, unsigned kind) {
  for (unsigned i = 0; i < halves / 2; ++i) words[i] = half(kind) | half(kind) << 16;
}

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const uint64_t cycles = std::strtoull(argv[1], nullptr, 10), latency[2] = {std::strtoull(argv[4], nullptr, 10), std::strtoull(argv[5], nullptr, 10)};
  engine.seed(std::strtoull(argv[2], nullptr, 10));
  const unsigned queries = unsigned(std::atoi(argv[3]));
  Vviews_probe dut;
  std::set<uint64_t> due[2];
  uint64_t results[2] = {}, differ[2] = {}, early[2] = {}, ended = 0;
  unsigned left = 0, beats = 0, kind = 0;
  dut.rst_ni = 0;
  for (uint64_t now = 0; now < cycles; ++now) {
    if (now == 4) dut.rst_ni = 1;
    const bool out_of_reset = now >= 8, pause = now / 256 % 4 == 3;
    dut.step_i = 0;
    if (!left) {
      left = beats = 1 + draw(4);
      kind = draw(4);
      dut.pairs_i = 1 + draw(queries);
      dut.keep_i = draw(64);
    }
    const bool last = left == 1;
    if (out_of_reset && !pause && draw(8) && (!last || now >= ended + queries)) {
      dut.step_i = 1;
      dut.high_i = draw(2);
      dut.first_i = left == beats;
      dut.last_i = last;
      dut.mask_i = last && draw(2);
      if (last) {
        ended = now;
        for (unsigned q = 0; q < dut.pairs_i; ++q) due[0].insert(now + latency[0] + q);
      }
      --left;
    }
    for (unsigned q = 0; q < queries; ++q) fill(dut.pixel_i.data() + 16 * q, 32, kind);
    fill(dut.w_i.data(), 32, kind);
    if (!dut.busy_o) {
      dut.lanes_i = draw(0x10000);
      dut.scale_i = ((engine() >> 32) & 0x807FE000) | ((113 + draw(30)) << 23);
    }
    if (!(dut.busy_o & 2)) {
      dut.multiply_i = draw(2);
      dut.subtract_i = !dut.multiply_i && draw(2);
    }
    dut.valid_i = out_of_reset && !pause && draw(4);
    if (dut.valid_i) due[1].insert(now + latency[1]);
    fill(dut.a_i.data(), 32, kind);
    fill(dut.b_i.data(), 32, kind);
    dut.kept_i = draw(3) ? 0xFFFFFFFF : uint32_t(engine());
    dut.clk_i = 0;
    dut.eval();
    for (unsigned part = 0; part < 2 && out_of_reset; ++part) {
      const bool valid = dut.valid_o >> part & 1;
      results[part] += valid;
      differ[part] += dut.differ_o >> part & 1;
      early[part] += valid != (due[part].erase(now) != 0);
    }
    dut.clk_i = 1;
    dut.eval();
  }
  for (unsigned part = 0; part < 2; ++part)
    std::printf("%llu %llu %llu\n", (unsigned long long)results[part], (unsigned long long)differ[part], (unsigned long long)early[part]);
  return 0;
}
