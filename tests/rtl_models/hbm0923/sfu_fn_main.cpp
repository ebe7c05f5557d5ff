// Streams arguments through one pipeline of sfu_fn_probe, with random gaps and random steps, and writes what comes out.
// Arguments: kind (exp, norm, recip, scale, fp16), input file, output file (uint32 each), seed, beats a sum (norm, recip); of norm
// whether it subtracts the mean, its channels, eps.
// Power-on state is random; the reset comes as in the bench of whole designs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "Vsfu_fn_probe.h"
#include "verilated.h"

int main(int argc, char** argv) {
  if (argc != 9) return 2;
  const std::string kind = argv[1];
  std::ifstream in(argv[2], std::ios::binary);
  const std::vector<char> raw((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const uint32_t* words = reinterpret_cast<const uint32_t*>(raw.data());
  const size_t count = raw.size() / 4;
  const unsigned seed = unsigned(std::atoi(argv[4])), beats = unsigned(std::atoi(argv[5]));
  std::mt19937 random(seed);
  Verilated::randReset(2);
  Verilated::randSeed(int(seed) + 1);
  Vsfu_fn_probe dut;
  std::vector<uint32_t> out;
  dut.clk_i = 0;
  dut.step_i = 1;
  dut.exp_valid_i = dut.norm_valid_i = dut.norm_start_i = dut.recip_valid_i = dut.scale_valid_i = 0;
  dut.layer_i = unsigned(std::atoi(argv[6]));
  dut.count_i = unsigned(std::atoi(argv[7]));
  dut.eps_i = uint32_t(std::strtoul(argv[8], nullptr, 10));
  dut.rst_ni = 1;
  dut.eval();
  dut.rst_ni = 0;
  dut.eval();
  auto clock = [&] {
    dut.clk_i = 1;
    dut.eval();
    dut.clk_i = 0;
    dut.eval();
  };
  for (int i = 0; i < 4; ++i) clock();
  dut.rst_ni = 1;
  dut.eval();
  for (int i = 0; i < 8; ++i) {
    dut.norm_start_i = i == 0;
    clock();
  }
  if (kind == "fp16") {
    for (size_t i = 0; i < count; ++i) {
      dut.x_i[0] = words[i];
      clock();
      out.insert(out.end(), {dut.product_o, dut.fp20_o, dut.key_back_o, uint32_t(int32_t(dut.key_o << 15) >> 15)});
    }
  } else {
    const size_t width = kind == "norm" ? 17 : kind == "recip" ? 64 : kind == "scale" ? 34 : 1;
    size_t next = 0, beat = 0;
    uint32_t idle = 0;
    uint64_t tags = 0, rows = 0;
    std::vector<uint64_t> sums;
    std::vector<uint8_t> sent;
    while (idle < 100) {
      dut.step_i = random() % 4 != 0;
      const bool valid = next < count && random() % 4 != 0;
      for (size_t i = 0; i < 64; ++i) dut.x_i[i] = valid && i < width ? words[next + i] : random();
      dut.exp_valid_i = valid && kind == "exp";
      dut.norm_valid_i = valid && kind == "norm";
      dut.recip_valid_i = valid && kind == "recip";
      dut.scale_valid_i = valid && kind == "scale";
      dut.first_i = beat == 0;
      dut.last_i = beat + 1 == beats;
      // Outputs stand until the next step.
      dut.eval();
      if (dut.step_i) {
        if (dut.exp_valid_o) {
          out.insert(out.end(), {dut.exp_o, uint32_t(dut.term_o), uint32_t(dut.term_o >> 32)});
          if (dut.tag_o != sent[tags++]) return 3;
        }
        if (dut.sum_valid_o) sums.push_back(dut.sum_o);
        if (dut.norm_valid_o) {
          const uint64_t sum = sums[rows++];
          out.insert(out.end(), {dut.factor_o, uint32_t(sum), uint32_t(sum >> 32)});
        }
        if (dut.recip_valid_o) out.push_back(dut.recip_o);
        if (dut.scale_valid_o) for (size_t i = 0; i < 16; ++i) out.push_back(dut.scale_o[i]);
        if (valid) {
          sent.push_back(uint8_t(words[next]));
          next += width;
          beat = (beat + 1) % beats;
        }
      }
      clock();
      idle = next >= count && !dut.busy_o ? idle + 1 : 0;
    }
  }
  std::ofstream file(argv[3], std::ios::binary);
  file.write(reinterpret_cast<const char*>(out.data()), std::streamsize(out.size() * 4));
  return file ? 0 : 1;
}
