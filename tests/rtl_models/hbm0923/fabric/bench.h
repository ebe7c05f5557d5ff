// What the benches of single modules share: fields of wide ports, a seeded generator, and the account of mistakes.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "verilated.h"

using Beat = std::array<uint32_t, 16>;  // 64 bytes

inline void poke_bit(uint32_t* words, uint32_t bit, bool value) {
    words[bit / 32] = (words[bit / 32] & ~(1u << bit % 32)) | static_cast<uint32_t>(value) << bit % 32;
}

/// Sets `width` (at most 64) bits from `bit` on of a port of more than 64 bits.
template <class Port>
void poke(Port& port, uint32_t bit, uint32_t width, uint64_t value) {
    for (uint32_t i = 0; i < width; ++i) poke_bit(port.data(), bit + i, value >> i & 1);
}

template <class Port>
uint64_t peek(const Port& port, uint32_t bit, uint32_t width) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < width; ++i) value |= static_cast<uint64_t>(port.data()[(bit + i) / 32] >> (bit + i) % 32 & 1) << i;
    return value;
}

struct Random {
    std::mt19937_64 engine;
    uint64_t below(uint64_t n) { return engine() % n; }
    /// True in `percent` of 100.
    bool often(uint32_t percent) { return below(100) < percent; }
};

class Account {
  public:
    void expect(bool good, uint64_t cycle, const std::string& what) {
        ++compared_;
        if (good) return;
        if (++mistakes_ <= 10) std::printf("cycle %llu: %s\n", static_cast<unsigned long long>(cycle), what.c_str());
    }
    /// Prints the sum; the exit status.
    int close(uint64_t least) {
        std::printf("%llu compared, %llu mistakes\n", static_cast<unsigned long long>(compared_),
                    static_cast<unsigned long long>(mistakes_));
        return mistakes_ != 0 || compared_ < least ? 1 : 0;
    }

  private:
    uint64_t compared_ = 0, mistakes_ = 0;
};

/// Reset as at power-on: it falls before the first edge and lasts some cycles.
template <class Top>
void reset(Top& top) {
    top.clk_i = 0;
    top.rst_ni = 1;
    top.eval();
    top.rst_ni = 0;
    top.eval();
    for (int i = 0; i < 6; ++i) {
        top.clk_i = !top.clk_i;
        top.eval();
    }
    top.clk_i = 0;
    top.rst_ni = 1;
    top.eval();
}

template <class Top>
void edge(Top& top) {
    top.clk_i = 1;
    top.eval();
    top.clk_i = 0;
}
