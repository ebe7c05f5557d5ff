// A design that yosys wrote as C++ (write_cxxrtl), at the other end of a link: link.cpp says what travels. names.h has the tables.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "design.cpp"

struct Named {
  const char* path;
  int low, bits, count, first;
};

#include "names.h"

namespace {
using cxxrtl::chunk_t;
using cxxrtl::debug_item;

struct Place {
  std::vector<debug_item> parts;
  Named named;
};

cxxrtl::debug_items items;
constexpr int CHUNK = 8 * sizeof(chunk_t);

// The names of all variables. Yosys changed the call between 0.23 and 0.40.
template <typename Top>
auto collect(Top& top, int) -> decltype(top.debug_info(items, ""), void()) {
  top.debug_info(items, "");
}
template <typename Top>
void collect(Top& top, long) {
  top.debug_info(&items, nullptr, "");
}

// Where a variable lies. Levels of the hierarchy are divided by blanks, those of generate blocks by points.
Place find(const Named& named) {
  for (const auto& [name, parts] : items.table) {
    std::string path = name;
    for (char& c : path)
      if (c == ' ') c = '.';
    if (path == named.path) return {parts, named};
  }
  std::fprintf(stdout, "%s is not in what yosys wrote: it has optimised it away or names it otherwise\n", named.path);
  std::fflush(stdout);
  std::_Exit(1);
}

void set(const Place& place, const std::string& digits) {
  for (const debug_item& item : place.parts)
    for (size_t n = 0; n < item.width; n++) {
      const size_t at = place.named.low + item.lsb_at + n;
      const char c = at / 4 < digits.size() ? digits[digits.size() - 1 - at / 4] : '0';
      const unsigned digit = c <= '9' ? c - '0' : c - 'a' + 10;
      const chunk_t bit = chunk_t{1} << n % CHUNK;
      chunk_t& chunk = (item.next != nullptr ? item.next : item.curr)[n / CHUNK];
      chunk = digit >> at % 4 & 1 ? chunk | bit : chunk & ~bit;
    }
}

// Into a text whose last character is the lowest bit.
void get(const Place& place, std::string& text) {
  for (const debug_item& item : place.parts) {
    if (item.outline != nullptr) item.outline->eval();
    const size_t chunks = (item.width + CHUNK - 1) / CHUNK;
    for (int k = 0; k < (place.named.count ? place.named.count : 1); k++) {
      const size_t element = place.named.count ? k + place.named.first - item.zero_at : 0;
      for (size_t n = 0; n < item.width && n + item.lsb_at < size_t(place.named.bits); n++) {
        const bool bit = item.curr[element * chunks + n / CHUNK] >> n % CHUNK & 1;
        text[text.size() - 1 - (place.named.low + k * place.named.bits + item.lsb_at + n)] = bit ? '1' : '0';
      }
    }
  }
}

std::vector<Place> all(const std::vector<Named>& names) {
  std::vector<Place> found;
  for (const Named& named : names) found.push_back(find(named));
  return found;
}
}  // namespace

int main() {
  cxxrtl_design::p_fleet__shell top;
  collect(top, 0);
  const std::vector<Place> inputs = all(INPUTS), outputs = all(OUTPUTS), states = all(STATES);
  std::FILE* from_bench = fdopen(110, "r");
  std::FILE* to_bench = fdopen(111, "w");
  if (from_bench == nullptr || to_bench == nullptr) return 1;
  std::string line, text;
  for (int c = std::fgetc(from_bench); c != EOF; c = std::fgetc(from_bench)) {
    if (c != '\n') {
      line += char(c);
      continue;
    }
    if (line[0] == '0') {
      const std::string digits = line.substr(line.rfind(' ') + 1);
      for (const Place& place : inputs) set(place, digits);
      top.step();
      text.assign(BITS_OUT, '0');
      for (const Place& place : outputs) get(place, text);
    } else {
      text.assign(BITS_STATE, '0');
      for (const Place& place : states) get(place, text);
    }
    std::fprintf(to_bench, "%s\n", text.c_str());
    std::fflush(to_bench);
    line.clear();
  }
}
