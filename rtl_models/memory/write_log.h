// Every write beat of a job in the order of time, for a second look at a few instructions (rtl_models/README.md has the format).
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace fleet {

class WriteLog {
  public:
    WriteLog() = default;
    ~WriteLog() { close(); }
    WriteLog(const WriteLog&) = delete;
    WriteLog& operator=(const WriteLog&) = delete;

    bool is_open() const { return file_ != nullptr; }

    /// Creates the file. Returns an empty string, or what is wrong.
    std::string open(const std::string& path) {
        close();
        file_ = std::fopen(path.c_str(), "wb");
        return file_ != nullptr ? "" : path + ": cannot create the file: " + std::strerror(errno);
    }

    /// One beat: `size` bytes (at most 64) from `offset` on, those whose bit of `strobe` is set. commits: before it.
    void add(uint64_t cycle, uint32_t space, uint32_t commits, uint64_t offset, const uint8_t* data, uint64_t strobe, uint32_t size) {
        Record record{cycle, offset, strobe, space, commits, {}};
        std::memcpy(record.data, data, size);
        failed_ |= std::fwrite(&record, sizeof record, 1, file_) != 1;
    }

    /// Returns what went wrong since `open`.
    std::string close() {
        if (file_ == nullptr) return "";
        const bool bad = std::fclose(file_) != 0 || failed_;
        file_ = nullptr;
        failed_ = false;
        return bad ? "cannot write the log of write beats" : "";
    }

  private:
    struct Record {
        uint64_t cycle, offset, strobe;
        uint32_t space, commits;
        uint8_t data[64];
    };
    static_assert(sizeof(Record) == 96, "the format of rtl_models/README.md");

    std::FILE* file_ = nullptr;
    bool failed_ = false;
};

}  // namespace fleet
