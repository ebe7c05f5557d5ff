// A register script: a file that is there as a whole, or a pipe through which a program writes it while it is played.
#pragma once

#include <cstdint>
#include <string>

#include "mapped_file.h"

namespace fleet {

struct ScriptRecord {
    uint32_t op, address, data, mask;
};
static_assert(sizeof(ScriptRecord) == 16, "the format of rtl_models/README.md");

class Script {
  public:
    Script() = default;
    ~Script() { close(); }
    Script(const Script&) = delete;
    Script& operator=(const Script&) = delete;

    /// Opens a file or a named pipe (and waits for the pipe's writer). Returns an empty string, or what is wrong.
    std::string open(const std::string& path);
    /// The next record; of a pipe it is waited for, and time stands still in the simulation. Returns what is wrong.
    std::string next(ScriptRecord& record);
    /// Seconds that `next` waited for the pipe's writer.
    double waited() const { return waited_; }
    void close();

  private:
    std::string fill();

    static constexpr uint64_t kBufferBytes = 4096;

    std::string path_;
    MappedFile file_;
    int pipe_ = -1;
    uint8_t buffer_[kBufferBytes];
    uint64_t begin_ = 0, end_ = 0;  // of what is unread, in the file or in the buffer
    double waited_ = 0;
};

}  // namespace fleet
