#include "script.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace fleet {

std::string Script::open(const std::string& path) {
    close();
    path_ = path;
    begin_ = end_ = 0;
    waited_ = 0;
    struct stat info {};
    if (stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode)) {
        pipe_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        return pipe_ < 0 ? path + ": cannot open the pipe: " + std::strerror(errno) : "";
    }
    const std::string error = file_.open(path, MappedFile::Access::Read);
    if (!error.empty()) return error;
    end_ = file_.size();
    if (end_ == 0 || end_ % sizeof(ScriptRecord) != 0) {
        return path + ": a register script is a positive multiple of 16 bytes, this one " + std::to_string(end_);
    }
    return "";
}

std::string Script::fill() {
    const auto before = std::chrono::steady_clock::now();
    std::memmove(buffer_, buffer_ + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    while (end_ < sizeof(ScriptRecord)) {
        const ssize_t n = ::read(pipe_, buffer_ + end_, kBufferBytes - end_);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return path_ + ": cannot read the pipe: " + std::strerror(errno);
        if (n == 0) return path_ + ": the script's writer has gone without an END record";
        end_ += static_cast<uint64_t>(n);
    }
    waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    return "";
}

std::string Script::next(ScriptRecord& record) {
    if (begin_ + sizeof record > end_) {
        if (pipe_ < 0) return path_ + ": the script ends without an END record";
        const std::string error = fill();
        if (!error.empty()) return error;
    }
    std::memcpy(&record, (pipe_ < 0 ? file_.data() : buffer_) + begin_, sizeof record);
    begin_ += sizeof record;
    return "";
}

void Script::close() {
    file_.close();
    if (pipe_ >= 0) ::close(pipe_);
    pipe_ = -1;
}

}  // namespace fleet
