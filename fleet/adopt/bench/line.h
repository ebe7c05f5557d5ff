// Text of results.txt, which is made a few times sooner here than by $fdisplay.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

/// Lines of fields between bars, the first one a letter.
class Lines {
  public:
    Lines& clear() {
        text_.clear();
        return *this;
    }
    Lines& begin(char kind) {
        if (!text_.empty()) text_ += '\n';
        text_ += kind;
        return *this;
    }
    Lines& decimal(uint64_t value) { return add(value, 10, 0); }
    /// digits: at least so many.
    Lines& hexadecimal(uint64_t value, size_t digits) { return add(value, 16, digits); }
    const char* text() const { return text_.c_str(); }

  private:
    Lines& add(uint64_t value, int base, size_t digits) {
        char found[32];
        const auto length = static_cast<size_t>(std::to_chars(found, found + sizeof found, value, base).ptr - found);
        text_ += '|';
        if (length < digits) text_.append(digits - length, '0');
        text_.append(found, length);
        return *this;
    }

    std::string text_;
};
