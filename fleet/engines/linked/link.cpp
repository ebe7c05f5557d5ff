// The other simulator of a linked bench: a process that has the design. A line goes to it for each change of the design's inputs, a
// line comes back with all outputs; bits that have no value are 0 or 1 as the bench was told, and counted.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "svdpi.h"

namespace {
constexpr int BROKEN = 70;  // exit code: the other simulator failed, not the bench

struct Unknown {  // of a bit that had no value
  long long first = -1, last = -1;  // cycle
};

FILE* to = nullptr;
FILE* from = nullptr;
char instead = '0';
std::vector<Unknown> unknown;
std::string line, sent, state;

[[noreturn]] void fail(const char* what) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", what);
  std::_Exit(BROKEN);
}

void report() {
  FILE* file = std::fopen("unknown.txt", "w");
  if (file == nullptr) return;
  for (size_t n = 0; n < unknown.size(); n++)
    if (unknown[n].first >= 0) std::fprintf(file, "%zu %lld %lld\n", n, unknown[n].first, unknown[n].last);
  std::fclose(file);
}

// Sends a line and reads the answer, `width` characters and the end of the line.
void exchange(const char* text, int width) {
  if (std::fputs(text, to) < 0 || std::fflush(to) != 0) fail("ended before the test did");
  line.resize(width + 2);
  if (std::fgets(&line[0], width + 2, from) == nullptr) fail("ended before the test did");
  if (line[0] == '!')
    fail("has outputs that change by delays of its own (#), between the events of the bench: run it under Verilator alone");
  if (line[width] != '\n') fail("gave an answer of another length");
}
}  // namespace

extern "C" void fleet_link_open(const char* program, const char* image, const char* options, int outputs, int value) {
  int down[2], up[2];
  if (pipe(down) != 0 || pipe(up) != 0) fail("cannot be started: no pipe");
  const pid_t child = fork();
  if (child < 0) fail("cannot be started: no process");
  if (child == 0) {
    close(down[1]);
    close(up[0]);
    // Where the host looks for them; what the design itself prints goes to a file.
    if (dup2(down[0], 110) < 0 || dup2(up[1], 111) < 0) _exit(127);
    close(down[0]);
    close(up[1]);
    if (std::freopen("design.txt", "w", stdout) == nullptr) _exit(127);
    dup2(1, 2);
    execlp(program, program, image, options[0] ? options : nullptr, nullptr);
    std::fprintf(stderr, "%s: %s\n", program, std::strerror(errno));
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  to = fdopen(down[1], "w");
  from = fdopen(up[0], "r");
  signal(SIGPIPE, SIG_IGN);
  unknown.resize(outputs);
  instead = value ? '1' : '0';
  std::atexit(report);
}

// cycle: of the reference clock; below 0: bits without a value are not counted.
extern "C" void fleet_link_step(long long now, long long cycle, const svBitVecVal* in, int inputs, svBitVecVal* out, int outputs) {
  static const char digits[] = "0123456789abcdef";
  sent = "0 " + std::to_string(now) + " ";
  for (int n = (inputs + 3) / 4 - 1; n >= 0; n--) sent += digits[in[n / 8] >> (n % 8 * 4) & 15];
  sent += '\n';
  exchange(sent.c_str(), outputs);
  for (int n = 0; n < (outputs + 31) / 32; n++) out[n] = 0;
  for (int n = 0; n < outputs; n++) {
    char bit = line[outputs - 1 - n];
    if (bit != '0' && bit != '1') {
      if (cycle >= 0) {
        if (unknown[n].first < 0) unknown[n].first = cycle;
        unknown[n].last = cycle;
      }
      bit = instead;
    }
    if (bit == '1') out[n / 32] |= 1u << n % 32;
  }
}

// All states, of which fleet_link_bits gives bits until the next call.
extern "C" void fleet_link_look(long long now, int bits) {
  sent = "1 " + std::to_string(now) + " 0\n";
  exchange(sent.c_str(), bits);
  state.assign(line, 0, bits);
}

extern "C" void fleet_link_bits(int low, int bits, svBitVecVal* found) {
  for (int n = 0; n < (bits + 31) / 32; n++) found[n] = 0;
  for (int n = 0; n < bits; n++) {
    const char bit = state[state.size() - 1 - low - n];
    if (bit == '1' || (bit != '0' && instead == '1')) found[n / 32] |= 1u << n % 32;
  }
}
