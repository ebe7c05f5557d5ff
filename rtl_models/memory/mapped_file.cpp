#include "mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fleet {

std::string MappedFile::error(const char* what) const { return path_ + ": " + what + ": " + std::strerror(errno); }

std::string MappedFile::map(bool writable) {
    if (size_ == 0) return "";  // mmap refuses length 0; an empty file has no bytes to offer
    void* const p = mmap(nullptr, size_, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd_, 0);
    if (p == MAP_FAILED) return error("cannot map the file");
    data_ = static_cast<uint8_t*>(p);
    return "";
}

std::string MappedFile::open(const std::string& path, bool writable) {
    close();
    path_ = path;
    fd_ = ::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (fd_ < 0) return error("cannot open the file");
    struct stat info {};
    if (fstat(fd_, &info) != 0) return error("cannot read the file's size");
    size_ = static_cast<uint64_t>(info.st_size);
    return map(writable);
}

std::string MappedFile::create(const std::string& path, uint64_t size) {
    close();
    path_ = path;
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) return error("cannot create the file");
    return resize(size);
}

std::string MappedFile::resize(uint64_t size) {
    if (data_ != nullptr) munmap(data_, size_);
    data_ = nullptr;
    size_ = size;
    // posix_fallocate and not only ftruncate: a full disk is an error here and no SIGBUS at the first store.
    if (ftruncate(fd_, static_cast<off_t>(size)) != 0) return error("cannot resize the file");
    if (size != 0) {
        const int code = posix_fallocate(fd_, 0, static_cast<off_t>(size));
        if (code != 0 && code != EOPNOTSUPP && code != EINVAL) {
            errno = code;
            return error("cannot reserve room for the file");
        }
    }
    return map(true);
}

void MappedFile::close() {
    if (data_ != nullptr) munmap(data_, size_);
    if (fd_ >= 0) ::close(fd_);
    data_ = nullptr;
    fd_ = -1;
    size_ = 0;
}

}  // namespace fleet
