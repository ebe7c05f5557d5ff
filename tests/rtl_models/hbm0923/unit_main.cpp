// Plays instructions on one unit (SFU, or ELEMENTWISE) through its ports, with a memory that answers at once or at random.
// Arguments: DDR image, on-chip image (both written back), job file, seed, stall (0 or 1).
// Job: a line an instruction: mode, eps, then the operands in register order, hexadecimal. A line of output a commit:
// opcode, error, cycles, the six classes, beats read, beats written.
// What a unit must not do ends the run with a line on standard error: reads or writes beyond its hulls, before it may, a
// byte written twice, cycles that do not add up, an output called settled that is not.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "Vunit.h"
#include "verilated.h"

namespace {

#ifdef SFU
constexpr int kOperands = 15, kId = 4;
#else
constexpr int kOperands = 12, kId = 12;
#endif

[[noreturn]] void fail(const char* what, uint64_t a = 0, uint64_t b = 0) {
  std::fprintf(stderr, "%s (%llx, %llx)\n", what, (unsigned long long)a, (unsigned long long)b);
  std::exit(1);
}

std::vector<uint8_t> load(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void store(const char* path, const std::vector<uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

struct Burst {
  int id;
  uint64_t addr;
  int left;
  int wait;
};

struct Range {
  bool valid;
  uint64_t lo, hi;
  bool holds(uint64_t addr) const { return valid && lo <= addr && addr + 64 <= hi; }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  std::vector<uint8_t> space[2] = {load(argv[1]), load(argv[2])};
  std::ifstream job(argv[3]);
  const int seed = std::atoi(argv[4]);
  const bool stall = std::atoi(argv[5]) != 0;
  std::mt19937 random{unsigned(seed)};
  Verilated::randReset(2);
  Verilated::randSeed(seed + 1);
  Verilated::assertOn(true);
  Vunit dut;
  auto beat = [&](uint64_t addr) -> uint8_t* {
    std::vector<uint8_t>& s = space[addr >> 32 & 1];
    const uint64_t offset = addr & 0xFFFFFFFFu;
    if (offset % 64 || offset + 64 > s.size()) return nullptr;
    return s.data() + offset;
  };
  auto often = [&] { return !stall || random() % 3 != 0; };

  // Every input from the start; reset as a falling edge before the first clock edge.
  dut.clk_i = 0;
  dut.rst_ni = 1;
  dut.start_i = dut.oldest_i = dut.data_go_i = 0;
#ifdef SFU
  dut.coef_go_i = 0;
  dut.bound_i = 0;
  dut.eps_i = random();
#else
  dut.bounds_i = 0;
#endif
  dut.ddr_arready_i = dut.ddr_rvalid_i = dut.ddr_awready_i = dut.ddr_wready_i = dut.ddr_bvalid_i = 0;
  dut.ddr_rid_i = dut.ddr_rresp_i = dut.ddr_bresp_i = dut.ddr_rlast_i = 0;
  dut.eval();
  dut.rst_ni = 0;
  dut.eval();
  for (int i = 0; i < 10; ++i) {
    dut.clk_i = !dut.clk_i;
    dut.eval();
  }
  dut.clk_i = 0;
  dut.rst_ni = 1;
  dut.eval();

  std::deque<Burst> reads[2];
  std::deque<uint64_t> addresses;
  std::deque<std::pair<int, int>> answers;  // cycles to wait, response
  std::deque<uint64_t> unanswered;          // their addresses
  std::set<uint64_t> written, answered;
  uint64_t bounds[2] = {}, settled = 0, leading = 0;  // beats: below which data may be read; the most said; answered from the first on
  bool in_order = true;
  uint64_t beats_read = 0, now = 0, started = 0;
  Range data[2], coef, wr[2];
  bool checked = false, busy_before = false;

  auto range_at = [&](int index) {  // ranges of hulls_t, the last member lowest
    auto bits = [&](int first, int count) {
      uint64_t v = 0;
      for (int i = 0; i < count; ++i) v |= uint64_t(dut.hulls_o[(first + i) / 32] >> ((first + i) % 32) & 1) << i;
      return v;
    };
    const int base = 69 * index;
    return Range{bits(base + 68, 1) != 0, bits(base + 34, 34), bits(base, 34)};
  };

  std::string line;
  while (std::getline(job, line)) {
    std::istringstream words(line);
    uint32_t value = 0, operands[kOperands], mode = 0, eps = 0;
    words >> std::hex >> mode >> eps;
    for (uint32_t& o : operands) {
      words >> value;
      o = value;
    }
    if (!words) fail("job line too short");
    dut.start_i = 1;
    dut.mode_i = mode;
#ifdef SFU
    dut.eps_i = eps;
#endif
    for (int i = 0; i < kOperands; ++i) dut.operands_i[kOperands - 1 - i] = operands[i];
    written.clear();
    answered.clear();
    bounds[0] = bounds[1] = settled = leading = 0;
    in_order = true;
    beats_read = 0;
    started = now;
    checked = false;
    const uint64_t oldest_at = now + (stall ? random() % 400 : 0), data_at = now + (stall ? random() % 400 : 0),
                   coef_at = now + (stall ? random() % 400 : 0);
    for (bool done = false; !done; ++now) {
      if (now - started > 3000000) fail("no commit");
      dut.oldest_i = now >= oldest_at;
      dut.data_go_i = now >= data_at || dut.oldest_i;
      // An earlier instruction settles what this one reads.
      for (int r = 0; r < 2 && stall && checked; ++r)
        bounds[r] = bounds[r] == 0 ? data[r].lo / 64 : bounds[r] + (random() % 8 == 0 ? random() % 4 : 0);
#ifdef SFU
      dut.coef_go_i = now >= coef_at || dut.oldest_i;
      dut.bound_i = bounds[0];
#else
      dut.bounds_i = bounds[0] | bounds[1] << 28;
#endif
      // ---- what memory offers
      dut.ddr_arready_i = often();
      dut.ddr_awready_i = often();
      dut.ddr_wready_i = !addresses.empty() && often();
      int turn = reads[0].empty() ? 1 : reads[1].empty() ? 0 : stall ? int(random() % 2) : reads[0].front().wait > reads[1].front().wait;
      const bool answer = !reads[turn].empty() && reads[turn].front().wait <= 0 && often();
      dut.ddr_rvalid_i = answer;
      dut.ddr_rid_i = answer ? kId + turn : random() % 16;
      dut.ddr_rresp_i = 0;
      dut.ddr_rlast_i = 0;
      for (int i = 0; i < 16; ++i) dut.ddr_rdata_i[i] = random();
      if (!answer && stall && random() % 2) {  // of another unit
        dut.ddr_rvalid_i = 1;
        dut.ddr_rid_i = (kId + 2 + random() % 14) % 16;
      }
      if (answer) {
        const Burst& b = reads[turn].front();
        if (const uint8_t* p = beat(b.addr)) std::memcpy(&dut.ddr_rdata_i[0], p, 64);
        else dut.ddr_rresp_i = 2;
        dut.ddr_rlast_i = b.left == 1;
      }
      dut.ddr_bvalid_i = !answers.empty() && answers.front().first <= 0;
      dut.ddr_bresp_i = dut.ddr_bvalid_i ? answers.front().second : 0;
      dut.eval();
      // ---- what is taken
      if (dut.checked_o && !checked) {
        checked = true;
        wr[1] = range_at(2);
        wr[0] = range_at(1);
        coef = range_at(4);
        data[1] = range_at(6);
        data[0] = range_at(5);
        if (range_at(0).valid || range_at(3).valid) fail("an HBM range");
      }
      if (dut.start_i && busy_before) fail("busy at a start");
      if (dut.settled_o != 0) {
        if (dut.settled_o < settled || dut.settled_o < wr[0].lo / 64) fail("what is settled goes back", dut.settled_o, settled);
        if (dut.settled_o > wr[0].lo / 64 + leading) fail("settled before it is answered", dut.settled_o, leading);
        settled = dut.settled_o;
      }
      if (dut.ddr_bvalid_i) {
        answers.pop_front();
        answered.insert(unanswered.front());
        unanswered.pop_front();
        while (answered.count(wr[0].lo + 64 * leading)) ++leading;
      }
      if (answer) {
        Burst& b = reads[turn].front();
        b.addr += 64;
        if (--b.left == 0) reads[turn].pop_front();
      }
      if (dut.ddr_arvalid_o && dut.ddr_arready_i) {
        const int id = int(dut.ddr_arid_o) - kId;
        const uint64_t addr = dut.ddr_araddr_o;
        if (id < 0 || id > 1) fail("a read with another unit's ID", id);
        if ((addr & 4095) + 64 * (dut.ddr_arlen_o + 1u) > 4096) fail("a burst crosses 4 KiB", addr, dut.ddr_arlen_o);
        for (unsigned i = 0; i <= dut.ddr_arlen_o; ++i) {
          const uint64_t a = addr + 64 * i;
          const bool is_coef = kId == 4 && id == 1;
          if (is_coef ? !coef.holds(a) : !data[kId == 4 ? 0 : id].holds(a)) fail("a read beyond the hull", a, id);
        }
        const uint64_t bound = 64 * bounds[kId == 4 ? 0 : id];
        if (now < data_at && now < oldest_at && !(kId == 4 && id == 1) && addr + 64 * (dut.ddr_arlen_o + 1u) > bound)
          fail("data read too early", addr, bound);
        if (now < coef_at && now < oldest_at && kId == 4 && id == 1) fail("coefficients read too early", addr);
        beats_read += dut.ddr_arlen_o + 1u;
        reads[id].push_back({id, addr, int(dut.ddr_arlen_o) + 1, stall ? int(random() % 60) : 1});
      }
      if (dut.ddr_wvalid_o && dut.ddr_wready_i) {
        uint8_t* p = beat(addresses.front());
        if (p)
          for (int i = 0; i < 64; ++i)
            if (dut.ddr_wstrb_o >> i & 1) p[i] = uint8_t(dut.ddr_wdata_o[i / 4] >> (8 * (i % 4)));
        if (!dut.ddr_wlast_o) fail("no wlast");
        answers.push_back({stall ? int(random() % 40) : 1, p ? 0 : 2});
        unanswered.push_back(addresses.front());
        addresses.pop_front();
      }
      if (dut.ddr_awvalid_o && dut.ddr_awready_i) {
        if (now < oldest_at) fail("a write before its time", dut.ddr_awaddr_o);
        if (dut.ddr_awlen_o) fail("a long write burst");
        if (!wr[0].holds(dut.ddr_awaddr_o)) fail("a write beyond the hull", dut.ddr_awaddr_o, wr[0].lo);
        in_order = in_order && dut.ddr_awaddr_o == wr[0].lo + 64 * written.size();
        if (!written.insert(dut.ddr_awaddr_o).second) fail("written twice", dut.ddr_awaddr_o);
        addresses.push_back(dut.ddr_awaddr_o);
      }
      for (auto& queue : reads)
        for (Burst& b : queue) --b.wait;
      for (auto& a : answers) --a.first;
      if (dut.commit_valid_o) {
        if (now < oldest_at) fail("a commit before its time");
        uint64_t sum = 0;
        std::printf("%x %x %llu", dut.commit_opcode_o, dut.commit_error_o, (unsigned long long)(now - started + 2));
        for (int i = 0; i < 6; ++i) {
          sum += dut.commit_cycles_o[i];
          std::printf(" %u", dut.commit_cycles_o[i]);
        }
        std::printf(" %llu %zu\n", (unsigned long long)beats_read, written.size());
        if (sum != now - started + 2) fail("classes do not add up", sum, now - started + 2);  // one cycle before start_i
        if (in_order && !written.empty() && settled != wr[0].lo / 64 + written.size()) fail("written and not settled", settled);
        if (dut.commit_result_valid_o) fail("a result");
        if (!reads[0].empty() || !reads[1].empty() || !addresses.empty() || !answers.empty()) fail("a commit with traffic");
        done = true;
      }
      busy_before = dut.busy_o && !dut.commit_valid_o;
      dut.clk_i = 1;
      dut.eval();
      dut.start_i = 0;
      // Operands were latched.
      dut.mode_i = random();
      for (int i = 0; i < kOperands; ++i) dut.operands_i[i] = random();
      dut.clk_i = 0;
      dut.eval();
    }
    if (dut.busy_o) fail("busy after the commit");
    const int pause = stall ? int(random() % 4) : 0;
    for (int i = 0; i < pause; ++i, ++now) {
      dut.clk_i = 1;
      dut.eval();
      dut.clk_i = 0;
      dut.eval();
    }
  }
  store(argv[1], space[0]);
  store(argv[2], space[1]);
  return 0;
}
