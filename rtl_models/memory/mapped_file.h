// A mapped file. Shared: what the simulation writes, other processes see, and it survives a crash. Private: nobody sees it.
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

    enum class Access { Read, Shared, Private };

    /// Maps an existing file. Private: pages that are written are copies of this process, the file stays as it is and is shared
    /// with all that map it. Returns an empty string, or what is wrong (with the path).
    std::string open(const std::string& path, Access access);
    /// Creates an empty file of `size` zero bytes and maps it.
    std::string create(const std::string& path, uint64_t size);
    /// Grows or shrinks the file and its mapping.
    std::string resize(uint64_t size);
    void close();

    uint8_t* data() const { return data_; }
    uint64_t size() const { return size_; }
    bool is_open() const { return fd_ >= 0; }

  private:
    std::string map(Access access);
    std::string error(const char* what) const;

    std::string path_;
    int fd_ = -1;
    uint8_t* data_ = nullptr;
    uint64_t size_ = 0;
};

}  // namespace fleet
