// The script of a bench (script.txt): numbers in hexadecimal, an operation a line: code, number, a, b, c, limit.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "svdpi.h"

namespace {

FILE* g_script = nullptr;
std::string g_line;

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// Reads the lowest `words` words of the hexadecimal number at `at` and moves `at` to its end. Returns false if there is no digit.
bool number(size_t& at, uint32_t* to, size_t words) {
    while (at < g_line.size() && g_line[at] == ' ') ++at;
    size_t end = at;
    while (end < g_line.size() && digit(g_line[end]) >= 0) ++end;
    std::memset(to, 0, words * sizeof *to);
    for (size_t n = 0; n < std::min(end - at, words * 8); ++n) to[n / 8] |= static_cast<uint32_t>(digit(g_line[end - 1 - n])) << n % 8 * 4;
    const bool found = end > at;
    at = end;
    return found;
}

/// Reads a line without its end. Returns whether there was one.
bool read_line() {
    g_line.clear();
    char part[4096];
    while (std::fgets(part, sizeof part, g_script) != nullptr) {
        g_line += part;
        if (g_line.back() == '\n') {
            g_line.pop_back();
            return true;
        }
    }
    return !g_line.empty();
}

}  // namespace

/// bits: of `b` and `c`.
extern "C" unsigned fleet_script_next(int bits, int* code, int* k, svBitVecVal* a, svBitVecVal* b, svBitVecVal* c, svBitVecVal* limit) {
    const auto wide = static_cast<size_t>(SV_PACKED_DATA_NELEMS(bits));
    if (g_script == nullptr) g_script = std::fopen("script.txt", "r");
    if (g_script == nullptr || !read_line()) return 0;
    size_t at = 0;
    uint32_t first[2] = {};
    const bool whole = number(at, first, 1) && number(at, first + 1, 1) && number(at, a, 2) && number(at, b, wide) && number(at, c, wide) &&
                       number(at, limit, 2);
    *code = static_cast<int>(first[0]);
    *k = static_cast<int>(first[1]);
    return whole ? 1 : 0;
}
