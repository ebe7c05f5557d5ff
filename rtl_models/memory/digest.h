// The digest of a commit; fleet/isa/digest.py holds the definition, tests/engines/rtl holds the two together.
#pragma once

#include <cstdint>

namespace fleet {

constexpr uint64_t kSpaceDdr = 0;  // 1: on chip, named by the design that observes it
constexpr uint64_t kSpaceHbmPort0 = 16;

/// The mix of one byte: (space, offset within the space, value).
inline uint64_t digest_mix(uint64_t space, uint64_t offset, uint8_t value) {
    uint64_t x = (space << 48) ^ (offset << 8) ^ value;
    x *= 0x9E3779B97F4A7C15ull;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ull;
    x ^= x >> 32;
    return x;
}

/// Sum of the bytes written since the last commit, whatever the order in which the bench asks within one clock edge:
/// bytes accepted on the very edge of a commit belong to the next one.
class DigestSum {
  public:
    void add(uint64_t cycle, uint64_t digest, uint32_t bytes) {
        if (cycle != edge_) {
            edge_ = cycle;
            digest_before_ = digest_;
            bytes_before_ = bytes_;
        }
        digest_ += digest;
        bytes_ += bytes;
    }

    /// Bytes that the design itself saw being written, at an edge on which nothing commits.
    void observe(uint64_t digest, uint32_t bytes) {
        digest_ += digest;
        bytes_ += bytes;
    }

    /// What belongs to the commit at `cycle`; the rest stays for the next.
    void take(uint64_t cycle, uint64_t& digest, uint32_t& bytes) {
        const bool same_edge = cycle == edge_;
        digest = same_edge ? digest_before_ : digest_;
        bytes = same_edge ? bytes_before_ : bytes_;
        digest_ -= digest;
        bytes_ -= bytes;
        digest_before_ = 0;
        bytes_before_ = 0;
        ++taken_;
    }

    /// Commits since reset.
    uint32_t taken() const { return taken_; }

  private:
    uint64_t digest_ = 0, digest_before_ = 0;
    uint32_t bytes_ = 0, bytes_before_ = 0;
    uint64_t edge_ = ~0ull;
    uint32_t taken_ = 0;
};

}  // namespace fleet
