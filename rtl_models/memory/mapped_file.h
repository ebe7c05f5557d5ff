// A file mapped shared: what the simulation writes, other processes see, and it survives a crash.
#pragma once

#include <cstdint>
#include <string>

namespace fleet {

class MappedFile {
  public:
    MappedFile() = default;
    ~MappedFile() { close(); }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    /// Maps an existing file. Returns an empty string, or what is wrong (with the path).
    std::string open(const std::string& path, bool writable);
    /// Creates an empty file of `size` zero bytes and maps it.
    std::string create(const std::string& path, uint64_t size);
    /// Grows or shrinks the file and its mapping.
    std::string resize(uint64_t size);
    void close();

    uint8_t* data() const { return data_; }
    uint64_t size() const { return size_; }
    bool is_open() const { return fd_ >= 0; }

  private:
    std::string map(bool writable);
    std::string error(const char* what) const;

    std::string path_;
    int fd_ = -1;
    uint8_t* data_ = nullptr;
    uint64_t size_ = 0;
};

}  // namespace fleet
