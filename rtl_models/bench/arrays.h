// Arrays and registers inside the design that a job reads or sets: on-chip memories and state registers. Verilator knows them by
// name because a generated .vlt file makes exactly these public.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fleet {

class Arrays {
  public:
    /// Prints every public array below the design's top: name, elements, bits of an element; a line each.
    static void print();

    /// Reads the list of a job (rtl_models/README.md). Returns an empty string, or what is wrong.
    std::string open(const std::string& list);
    /// Sets the arrays that the list marks from a file with the bytes of all of them, in order.
    std::string set(const std::string& path) const;
    /// Writes the bytes of all arrays, in order.
    std::string get(const std::string& path) const;

  private:
    struct Array {
        uint8_t* data;
        size_t step;   // bytes from one element to the next
        size_t bytes;  // of an element that count
        size_t elements;
        uint8_t last;  // bits of an element's last byte that exist
        bool set;
    };
    std::vector<Array> arrays_;
};

}  // namespace fleet
