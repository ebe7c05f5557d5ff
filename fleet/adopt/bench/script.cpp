// The script of a bench (script.txt): numbers in hexadecimal, an operation a line: code, number, a, b, c, limit.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "line.h"

namespace {

FILE* g_script = nullptr;
std::string g_line;
std::vector<uint64_t> g_b, g_c;
Lines g_answer;

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// The hexadecimal number at `at`, lowest word first, without words of 0 above; moves `at` to its end. Returns false if there is no digit.
bool number(size_t& at, std::vector<uint64_t>& to) {
    while (at < g_line.size() && g_line[at] == ' ') ++at;
    size_t end = at;
    while (end < g_line.size() && digit(g_line[end]) >= 0) ++end;
    to.assign((end - at + 15) / 16, 0);
    for (size_t n = 0; n < end - at; ++n) to[n / 16] |= static_cast<uint64_t>(digit(g_line[end - 1 - n])) << n % 16 * 4;
    while (!to.empty() && to.back() == 0) to.pop_back();
    const bool found = end > at;
    at = end;
    return found;
}

/// One of 64 bits.
bool number(size_t& at, uint64_t& to) {
    while (at < g_line.size() && g_line[at] == ' ') ++at;
    const size_t begin = at;
    for (to = 0; at < g_line.size() && digit(g_line[at]) >= 0; ++at) to = to << 4 | static_cast<uint64_t>(digit(g_line[at]));
    return at > begin;
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

extern "C" {

unsigned fleet_script_next(int* code, int* k, unsigned long long* a, unsigned long long* limit, int* words) {
    if (g_script == nullptr) g_script = std::fopen("script.txt", "r");
    if (g_script == nullptr || !read_line()) return 0;
    size_t at = 0;
    uint64_t first[4] = {};
    const bool whole = number(at, first[0]) && number(at, first[1]) && number(at, first[2]) && number(at, g_b) && number(at, g_c) &&
                       number(at, first[3]);
    *code = static_cast<int>(first[0]);
    *k = static_cast<int>(first[1]);
    *a = first[2];
    *limit = first[3];
    *words = static_cast<int>(std::max(g_b.size(), g_c.size()));
    return whole ? 1 : 0;
}

unsigned long long fleet_script_word(int of_c, int number) {
    const std::vector<uint64_t>& words = of_c != 0 ? g_c : g_b;
    return static_cast<size_t>(number) < words.size() ? words[static_cast<size_t>(number)] : 0;
}

const char* fleet_script_begun(int at, unsigned long long time) {
    return g_answer.clear().begin('B').decimal(static_cast<uint64_t>(at)).decimal(time).text();
}

const char* fleet_script_answered(
    int at, unsigned long long cycle, unsigned long long value, unsigned long long time, unsigned long long taken) {
    g_answer.clear().begin('R').decimal(static_cast<uint64_t>(at)).decimal(cycle).hexadecimal(value, 1).decimal(time).decimal(taken);
    return g_answer.text();
}
}
