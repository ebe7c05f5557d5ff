// Drives lanes_probe with beats of all kinds of instructions, pauses and steps left out. Prints results, cycles in which the views
// differ, results that came in another step than the latencies say.
// Arguments: cycles, seed, steps of pos_emb, act, norm, layer norm.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

#include "Vlanes_probe.h"

static std::mt19937_64 engine;
static uint32_t draw(uint32_t n) { return uint32_t(engine() >> 16) % n; }

// FP16 values: ordinary ones, any bits, zeros and subnormals, ends of the range, what is not finite.
static uint32_t half() {
  const uint32_t bits = uint32_t(engine() >> 20) & 0xFFFF;
  switch (draw(8)) {
    case 0: return bits & 0x83FF;
    case 1: return (bits & 0x8000) | (draw(2) ? 0x7BFF : 0x0001);
    case 2: return draw(10) ? bits & 0x8000 : bits | 0x7C00;
    case 3: return bits;
    default: return (bits & 0x83FF) | ((10 + draw(11)) << 10);
  }
}

static void fill(uint32_t* words) {
  for (unsigned i = 0; i < 16; ++i) words[i] = half() | half() << 16;
}

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const uint64_t cycles = std::strtoull(argv[1], nullptr, 10);
  engine.seed(std::strtoull(argv[2], nullptr, 10));
  uint64_t latency[4];
  for (int i = 0; i < 4; ++i) latency[i] = std::strtoull(argv[3 + i], nullptr, 10);
  Vlanes_probe dut;
  std::set<uint64_t> due;
  uint64_t results = 0, differ = 0, early = 0, step = 0;
  unsigned kind = 0;
  bool taken = false;
  dut.rst_ni = 0;
  for (uint64_t now = 0; now < cycles; ++now) {
    if (now == 4) dut.rst_ni = 1;
    const bool out_of_reset = now >= 8, pause = now / 128 % 4 == 3;
    if (!dut.busy_o && pause) {
      kind = draw(4);  // pos_emb, act, norm, layer norm
      dut.kind_i = kind == 0 ? 0 : kind == 1 ? 2 : 3;
      dut.layer_i = kind == 3;
      dut.count_i = draw(4) ? 1 + draw(4096) : 1 + draw(65536);
    }
    dut.step_i = draw(4) != 0;
    dut.valid_i = out_of_reset && !pause && draw(4);
    dut.lanes_i = draw(3) ? 32 : draw(33);
    // A row's sum and factor, at times of numbers that nearly cancel, or no factor.
    dut.sum_i = uint64_t(int64_t(engine()) >> (7 + draw(50))) & ((uint64_t(1) << 57) - 1);
    dut.factor_i = draw(30) ? (uint32_t(engine()) & 0x7FFFFF) | (95 + draw(63)) << 23 : 0x7FC00000;
    if (taken || !dut.busy_o) {  // stand still until the next beat
      fill(dut.data_i.data());
      fill(dut.coef_low_i.data());
      fill(dut.coef_high_i.data());
    }
    if (dut.step_i && dut.valid_i) due.insert(step + latency[kind]);
    dut.clk_i = 0;
    dut.eval();
    if (out_of_reset) {
      results += dut.valid_o;
      differ += dut.differ_o;
      early += dut.step_i && dut.valid_o != (due.erase(step) != 0);
    }
    taken = dut.step_i && dut.valid_i;
    step += dut.step_i;
    dut.clk_i = 1;
    dut.eval();
  }
  std::printf("%llu %llu %llu\n", (unsigned long long)results, (unsigned long long)differ, (unsigned long long)early);
  return 0;
}
