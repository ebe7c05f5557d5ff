#include "mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fleet {

std::string MappedFile::error(const char* what) const { return path_ + ": " + what + ": " + std::strerror(errno); }

std::string MappedFile::map(Access access) {
    if (size_ == 0) return "";  // mmap refuses length 0; an empty file has no bytes to offer
    const int protection = access == Access::Read ? PROT_READ : PROT_READ | PROT_WRITE;
    // Room for the copies is taken page by page: an image of gigabytes of which a few pages are written needs no more than these.
    const int flags = access == Access::Private ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED;
    void* const p = mmap(nullptr, size_, protection, flags, fd_, 0);
    if (p == MAP_FAILED) return error("cannot map the file");
    data_ = static_cast<uint8_t*>(p);
    return "";
}

std::string MappedFile::open(const std::string& path, Access access) {
    close();
    path_ = path;
    fd_ = ::open(path.c_str(), (access == Access::Shared ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (fd_ < 0) return error("cannot open the file");
    struct stat info {};
    if (fstat(fd_, &info) != 0) return error("cannot read the file's size");
    size_ = static_cast<uint64_t>(info.st_size);
    return map(access);
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
    return map(Access::Shared);
}

void MappedFile::close() {
    if (data_ != nullptr) munmap(data_, size_);
    if (fd_ >= 0) ::close(fd_);
    data_ = nullptr;
    fd_ = -1;
    size_ = 0;
}

}  // namespace fleet
