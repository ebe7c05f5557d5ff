// Drives fp_pipe_probe with operands where rounding, cancellation, subnormals and what is not finite live, and with stalls.
// Arguments: cycles, seed. Prints the differences of each operator and exits 1 when there is any.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "Vfp_pipe_probe.h"

int main(int argc, char** argv) {
  const uint64_t cycles = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000;
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  Vfp_pipe_probe dut;
  uint64_t differences[8] = {};
  for (uint64_t i = 0, moved = 0; i < cycles; ++i) {
    const uint64_t r = random(), q = random();
    uint32_t a = uint32_t(r), b = uint32_t(r >> 32);
    if ((q & 3) == 1) b = (b & 0x807FFFFF) | ((a + (((q >> 2) % 60 - 30) << 23)) & 0x7F800000);
    if ((q & 3) == 2) b = (a ^ 0x80000000) + uint32_t((q >> 2) % 64) - 32;
    if ((q & 3) == 3) b = (b & 0x807FFFFF) | (((254 - (a >> 23 & 255) - (q >> 2) % 152) & 255) << 23);
    if ((q >> 8 & 15) == 0) a &= 0x80FFFFFF;  // zeros and subnormals
    if ((q >> 12 & 15) == 0) b |= 0x7F800000;
    if ((q >> 16 & 7) == 0) a &= 0xFFFFFFFFu << (q >> 19 & 31);
    if ((q >> 24 & 7) == 0) b &= 0xFFFFFFFFu << (q >> 27 & 31);
    dut.a_i = a;
    dut.b_i = b;
    dut.low_i = uint64_t(int64_t(random()) >> (q >> 32 & 63));
    dut.high_i = uint64_t(int64_t(random()) >> (q >> 38 & 63)) << 2;
    dut.special_i = (q >> 44 & 31) ? 0 : 0x7F800000u | uint32_t(q >> 32 & 0x80400000u);
    dut.en_i = (q >> 50 & 7) != 0;
    moved += dut.en_i;
    dut.clk_i = 0;
    dut.eval();
    dut.clk_i = 1;
    dut.eval();
    // Registers start at random: the longest pipe is filled first.
    for (int k = 0; k < 8; ++k) differences[k] += moved > 32 && (dut.differ_o >> k & 1);
  }
  uint64_t all = 0;
  for (int k = 0; k < 8; ++k) {
    std::printf("%llu ", (unsigned long long)differences[k]);
    all += differences[k];
  }
  std::printf("differences\n");
  return all ? 1 : 0;
}
