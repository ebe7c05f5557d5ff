// Pieces of DDR as they are at commits: what stands there may make room for something else before the job is over.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "mapped_file.h"

namespace fleet {

class Snapshots {
  public:
    Snapshots() = default;
    ~Snapshots() { close(); }
    Snapshots(const Snapshots&) = delete;
    Snapshots& operator=(const Snapshots&) = delete;

    /// The list to go by and the file to write. Returns an empty string, or what is wrong.
    std::string open(const std::string& list, const std::string& to) {
        close();
        next_ = 0;
        const std::string error = list_.open(list, MappedFile::Access::Read);
        if (!error.empty()) return error;
        file_ = std::fopen(to.c_str(), "wb");
        return file_ != nullptr ? "" : to + ": cannot create the file: " + std::strerror(errno);
    }

    /// Writes what belongs to the commit of that number. Returns what is wrong.
    std::string take(uint64_t commit, const MappedFile& ddr) {
        for (Piece p; (next_ + 1) * sizeof p <= list_.size(); ++next_) {
            std::memcpy(&p, list_.data() + next_ * sizeof p, sizeof p);
            if (p.commit != commit) break;
            if (p.size > ddr.size() || p.offset > ddr.size() - p.size) {
                return "a snapshot of " + std::to_string(p.size) + " bytes from " + std::to_string(p.offset) + " on leaves DDR";
            }
            if (std::fwrite(ddr.data() + p.offset, 1, p.size, file_) != p.size) return "cannot write the snapshots";
        }
        return "";
    }

    /// Returns what went wrong at the end.
    std::string close() {
        list_.close();
        if (file_ == nullptr) return "";
        const bool bad = std::fclose(file_) != 0;
        file_ = nullptr;
        return bad ? "cannot write the snapshots" : "";
    }

  private:
    struct Piece {
        uint64_t commit, offset, size;
    };
    static_assert(sizeof(Piece) == 24, "the format of rtl_models/README.md");

    MappedFile list_;
    std::FILE* file_ = nullptr;
    uint64_t next_ = 0;
};

}  // namespace fleet
