// Drives mvm_probe with instructions of one to six tokens and one to three blocks, outputs of one to five beats with groups of one or
// two beats or two groups a beat, pauses, and operands of all kinds. Prints: outputs, cycles in which the views differ, outputs that
// came in another cycle than the latencies say.
// Arguments: instructions, seed, cycles from the last beat to its output: plain, more with batch norm, more with a residual.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

#include "Vmvm_probe.h"

static std::mt19937_64 engine;
static uint32_t draw(uint32_t n) { return uint32_t(engine() >> 16) % n; }

// FP16 values: ordinary ones, any bits, zeros and subnormals, ends of the range, what is not finite; tiny ones, zeros alone.
static uint32_t half(unsigned kind) {
  const uint32_t bits = uint32_t(engine() >> 20) & 0xFFFF;
  if (kind == 0) return (bits & 0x83FF) | ((10 + draw(11)) << 10);
  if (kind == 1 && draw(8) == 0) return bits & 0x83FF;
  if (kind == 2 && draw(4) == 0) return (bits & 0x8000) | (draw(2) ? 0x7BFF : 0x0001);
  if (kind == 4) return bits & 0x87FF;
  if (kind == 5) return bits & 0x8000;
  if (kind == 3 && draw(400) == 0) return (bits & 0x8000) | 0x7C00;
  return (bits & 0x7C00) == 0x7C00 && draw(300) ? bits & 0xBFFF : bits;
}

template <typename Words>
static void fill(Words& words, unsigned count, unsigned kind) {
  for (unsigned i = 0; i < count; ++i) words[i] = half(kind) | half(kind) << 16;
}

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  engine.seed(std::strtoull(argv[2], nullptr, 10));
  const uint64_t plain = std::strtoull(argv[3], nullptr, 10), bn = std::strtoull(argv[4], nullptr, 10), res = std::strtoull(argv[5], nullptr, 10);
  Vmvm_probe dut;
  std::set<uint64_t> due;
  uint64_t outputs = 0, differ = 0, early = 0, now = 0;
  auto cycle = [&](unsigned kind) {
    for (unsigned i = 0; i < 16; ++i) dut.wt_i[i] = uint32_t(engine() >> 16);
    if (!dut.bn_valid_i && !dut.res_valid_i) fill(dut.rdata_i, 16, kind);
    dut.clk_i = 0;
    dut.eval();
    if (dut.rst_ni) {
      outputs += dut.valid_o;
      differ += dut.differ_o;
      early += dut.valid_o != (due.erase(now) != 0);
    }
    dut.clk_i = 1;
    dut.eval();
    dut.valid_i = dut.start_i = dut.bn_valid_i = dut.res_valid_i = 0;
    ++now;
  };
  dut.rst_ni = 0;
  for (unsigned i = 0; i < 4; ++i) cycle(0);
  dut.rst_ni = 1;
  for (unsigned i = 0; i < 4; ++i) cycle(0);
  for (uint64_t instruction = 0; instruction < std::strtoull(argv[1], nullptr, 10); ++instruction) {
    const unsigned kind = draw(5), tokens = 1 + draw(6), blocks = 1 + draw(3), beats = 1 + draw(5), group = draw(3);
    dut.bn_i = draw(2);
    dut.res_i = dut.bn_i && draw(2);
    dut.res_mul_i = dut.res_i && draw(2);
    dut.relu_i = draw(2);
    dut.tokens_i = tokens;
    dut.blocks_i = blocks;
    dut.ch_out_i = 2 * blocks - draw(2);
    dut.last_mask_i = draw(2) ? ~0ull : engine();
    dut.start_i = 1;
    cycle(kind);
    for (unsigned i = 0; i < 2 && dut.bn_i; ++i) {
      dut.bn_valid_i = 1;
      fill(dut.rdata_i, 16, kind);
      cycle(kind);
    }
    for (unsigned i = 0; i < tokens * blocks && dut.res_i; ++i) {
      dut.res_valid_i = 1;
      fill(dut.rdata_i, 16, kind);
      cycle(kind);
    }
    for (unsigned output = 0; output < tokens * blocks; ++output) {
      unsigned groups = 0;
      for (unsigned beat = 0; beat < beats; ++beat) {
        while (!draw(4)) cycle(kind);
        const bool last = beat + 1 == beats;
        dut.valid_i = 1;
        dut.group_first_i = group != 2 || beat % 2 == 0;
        dut.group_end_i = group != 2 || beat % 2 == 1 || last;
        dut.pair_i = group == 0 && !(last && draw(2));
        dut.acc_first_i = groups == 0;
        dut.acc_last_i = last;
        dut.mask_i = last;
        dut.scale_lane_i = groups;
        if (dut.group_end_i) groups += dut.pair_i ? 2 : 1;
        fill(dut.dat_i, 32, kind == 3 && !draw(3) ? 5 : kind);
        const bool upper_is_zero = kind == 3 && draw(2);
        for (unsigned i = 16; i < 32 && upper_is_zero; ++i) dut.dat_i[i] = 0;
        fill(dut.scale_i, 16, kind == 4 ? 0 : kind);
        if (kind == 3 && !draw(3)) dut.scale_i[8 * draw(2) + dut.scale_lane_i / 2] = draw(2) ? 0x7C00FC00 : 0xFC007C00;
        if (last) due.insert(now + plain + (dut.bn_i ? bn : 0) + (dut.res_i ? res : 0));
        cycle(kind);
      }
    }
    for (unsigned i = 0; i < 120; ++i) cycle(kind);
  }
  std::printf("%llu %llu %llu\n", (unsigned long long)outputs, (unsigned long long)differ, (unsigned long long)early);
  return 0;
}
