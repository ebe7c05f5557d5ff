/// The board as a host program sees it, here in simulation: registers of the accelerator, and transfers to and from its memories.
///
/// A program includes this file once, then the headers that the compiler generated, and runs under `fleet host run`. On a board
/// the same program includes the board's own library in its place: the functions below are all that it needs of either.
///
/// Every function either does what it says or ends the program: exit code 2 for wrong use or bad input (a register that does not
/// exist, an address outside memory, a file of another size), 1 when the device failed. One line on stderr says why. One thread
/// of a program may use the device.
///
/// C++17 and POSIX; nothing to link.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// A way to the board: its registers, or its memories (DMA). Small and copyable.
struct HANDLE {
    enum class Kind { kClosed, kRegisters, kDma };
    Kind kind = Kind::kClosed;
};

/// What the functions below are made of; programs do not use it.
namespace fleet_host {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

/// Ends the program with one line on stderr.
[[noreturn]] inline void fail(int code, const std::string& message) {
    std::fflush(stdout);
    std::fprintf(stderr, "fleet_host: %s\n", message.c_str());
    std::exit(code);
}

inline std::string hex(uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%" PRIx64, value);
    return text;
}

/// One memory of the device, a file that the simulation maps too.
struct Image {
    std::string path;
    uint64_t size = 0;
    uint8_t* data = nullptr;
    int fd = -1;

    uint8_t* bytes() {
        if (data != nullptr) return data;
        fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        struct stat info {};
        if (fd < 0 || fstat(fd, &info) != 0) fail(kFailed, path + ": cannot open the memory: " + std::strerror(errno));
        if (static_cast<uint64_t>(info.st_size) != size) fail(kFailed, path + ": the memory has another size than announced");
        void* const p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED) fail(kFailed, path + ": cannot map the memory: " + std::strerror(errno));
        data = static_cast<uint8_t*>(p);
        return data;
    }

    /// Room on the disk for what is about to be written: a full disk is an error here and no crash at the first store.
    void reserve(uint64_t offset, uint64_t count) const {
        if (posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(count)) == ENOSPC) {
            fail(kFailed, path + ": the disk is full; make room for the memory's image");
        }
    }
};

/// The spaces as messages number them.
enum class Space : uint32_t { kDdr = 0, kHbm = 1 };

/// The connection with `fleet host run`: opened by the first use, closed at the end of the program.
///
/// Both directions carry little-endian messages of 24 bytes: uint32 kind, uint32 number, uint64 a, uint64 b. Register writes are
/// collected; whatever needs an answer, and a transfer after a register write, sends them first.
class Connection {
  public:
    static Connection& instance() {
        static Connection connection;
        return connection;
    }

    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void write(uint32_t reg, uint32_t value) {
        post(kWrite, reg, value, 0);
        written_ = true;
    }

    uint32_t read(uint32_t reg) {
        written_ = false;
        return static_cast<uint32_t>(ask(kRead, reg));
    }

    /// The place of a transfer in mapped memory, for writing with room behind it; it comes after all register writes before it.
    uint8_t* transfer(const char* function, Space space, uint64_t address, uint64_t size, uint32_t& bank, uint64_t& offset,
                      bool writes) {
        const bool ddr = space == Space::kDdr;
        const uint64_t base = ddr ? ddr_base_ : hbm_base_;
        const std::string what = std::string(function) + ": " + std::to_string(size) + " bytes at " + hex(address);
        const char* const name = ddr ? "DDR" : "HBM";
        if (address < base) fail(kBadInput, what + " lie before " + name + ", which begins at " + hex(base));
        bank = ddr ? 0 : static_cast<uint32_t>((address - base) / bank_step_);
        offset = ddr ? address - base : (address - base) % bank_step_;
        const auto found = images_.find({static_cast<uint32_t>(space), ddr ? 0 : (address - base) / bank_step_});
        if (found == images_.end()) {
            fail(kBadInput, what + (ddr ? std::string(": the device has no DDR")
                                        : " lie behind the last of " + std::to_string(images_.size() - 1) + " HBM ports"));
        }
        Image& image = found->second;
        if (offset > image.size || size > image.size - offset) {
            fail(kBadInput, what + " leave " + (ddr ? "DDR" : "the bank of HBM port " + std::to_string(bank)) + ", which has " +
                                hex(image.size) + " bytes from " + hex(address - offset));
        }
        if (written_) {
            ask(kSync, 0);
            written_ = false;
        }
        uint8_t* const place = image.bytes() + offset;
        if (writes) image.reserve(offset, size);
        return place;
    }

    /// Tells that a transfer wrote device memory.
    void wrote(Space space, uint32_t bank, uint64_t offset, uint64_t size) {
        post(kWrote, (bank << 8) | static_cast<uint32_t>(space), offset, size);
    }

  private:
    enum Kind : uint32_t { kHello = 1, kWrite = 2, kRead = 3, kSync = 4, kWrote = 5, kBye = 6, kAnswer = 16, kError = 17 };
    struct Message {
        uint32_t kind, number;
        uint64_t a, b;
    };
    static_assert(sizeof(Message) == 24, "the message's form");

    static constexpr uint64_t kVersion = 1;
    static constexpr size_t kCollect = 4096;  // messages

    Connection() {
        const char* const path = std::getenv("FLEET_HOST");
        if (path == nullptr || *path == 0) fail(kBadInput, "FLEET_HOST is not set; start the program with `fleet host run`");
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (std::strlen(path) >= sizeof address.sun_path) fail(kBadInput, std::string(path) + ": the path is too long for a socket");
        std::strcpy(address.sun_path, path);
        socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (socket_ < 0 || ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
            fail(kFailed, std::string(path) + ": cannot reach the device: " + std::strerror(errno) + "; is `fleet host run` still there?");
        }
        post(kHello, 0, kVersion, 0);
        configure(answer_text());
    }

    ~Connection() {
        ask(kBye, 0);
        ::close(socket_);
    }

    /// Ends the program at once: also from within the end of the program, where `exit` may not be called again.
    [[noreturn]] static void end(int code) {
        std::fflush(nullptr);
        ::_exit(code);
    }

    [[noreturn]] static void gone() {
        std::fflush(stdout);
        std::fprintf(stderr, "fleet_host: the device has gone (`fleet host run` ended)\n");
        end(kFailed);
    }

    void post(Kind kind, uint32_t number, uint64_t a, uint64_t b) {
        queue_.push_back(Message{kind, number, a, b});
        if (queue_.size() >= kCollect) flush();
    }

    void flush() {
        const auto* data = reinterpret_cast<const char*>(queue_.data());
        size_t left = queue_.size() * sizeof(Message);
        while (left != 0) {
            const ssize_t n = ::send(socket_, data, left, MSG_NOSIGNAL);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) gone();
            data += n;
            left -= static_cast<size_t>(n);
        }
        queue_.clear();
    }

    void receive(void* to, size_t size) {
        auto* data = static_cast<char*>(to);
        while (size != 0) {
            const ssize_t n = ::recv(socket_, data, size, 0);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) gone();
            data += n;
            size -= static_cast<size_t>(n);
        }
    }

    /// Waits for the answer to what was posted last. An error ends the program; `fleet host run` has its text and says it.
    Message answer() {
        flush();
        Message message{};
        receive(&message, sizeof message);
        if (message.kind == kError) end(static_cast<int>(message.number));
        return message;
    }

    uint64_t ask(Kind kind, uint32_t number) {
        post(kind, number, 0, 0);
        return answer().a;
    }

    std::string answer_text() {
        std::string text(answer().a, '\0');
        receive(text.data(), text.size());
        return text;
    }

    /// Lines of `key value`, see fleet/engines/host_port/protocol.py.
    void configure(const std::string& text) {
        size_t begin = 0;
        while (begin < text.size()) {
            const size_t end_of_line = text.find('\n', begin);
            const std::string line = text.substr(begin, end_of_line - begin);
            begin = end_of_line == std::string::npos ? text.size() : end_of_line + 1;
            const size_t blank = line.find(' ');
            if (blank == std::string::npos) continue;
            const std::string key = line.substr(0, blank), value = line.substr(blank + 1);
            if (key == "ddr_base") {
                ddr_base_ = std::strtoull(value.c_str(), nullptr, 10);
            } else if (key == "hbm_base") {
                hbm_base_ = std::strtoull(value.c_str(), nullptr, 10);
            } else if (key == "bank_step") {
                bank_step_ = std::strtoull(value.c_str(), nullptr, 10);
            } else if (key == "image") {  // space, bank, bytes, path to the end of the line
                char* at = nullptr;
                const auto space = static_cast<uint32_t>(std::strtoul(value.c_str(), &at, 10));
                const uint64_t bank = std::strtoull(at, &at, 10);
                Image image;
                image.size = std::strtoull(at, &at, 10);
                image.path = at + 1;
                images_.emplace(std::make_pair(space, bank), image);
            }
        }
    }

    int socket_ = -1;
    bool written_ = false;  // a register, since something was last answered
    uint64_t ddr_base_ = 0, hbm_base_ = 0, bank_step_ = uint64_t{1} << 28;
    std::vector<Message> queue_;
    std::map<std::pair<uint32_t, uint64_t>, Image> images_;
};

inline void need(const HANDLE& handle, HANDLE::Kind kind, const char* function) {
    if (handle.kind == kind) return;
    const bool registers = kind == HANDLE::Kind::kRegisters;
    fail(kBadInput, std::string(function) + (handle.kind == HANDLE::Kind::kClosed ? ": the handle is not open" : ": not this kind of handle") +
                        "; it takes one of " + (registers ? "open_device()" : "open_h2cx()"));
}

inline void put(const char* function, HANDLE& handle, Space space, const void* data, uint64_t address, uint64_t size) {
    need(handle, HANDLE::Kind::kDma, function);
    if (size == 0) return;
    uint32_t bank = 0;
    uint64_t offset = 0;
    Connection& connection = Connection::instance();
    uint8_t* const to = connection.transfer(function, space, address, size, bank, offset, true);
    std::memcpy(to, data, size);
    connection.wrote(space, bank, offset, size);
}

inline void get(const char* function, HANDLE& handle, Space space, void* data, uint64_t address, uint64_t size) {
    need(handle, HANDLE::Kind::kDma, function);
    if (size == 0) return;
    uint32_t bank = 0;
    uint64_t offset = 0;
    std::memcpy(data, Connection::instance().transfer(function, space, address, size, bank, offset, false), size);
}

inline void put_file(const char* function, HANDLE& handle, Space space, const char* file, uint64_t address, uint64_t size) {
    need(handle, HANDLE::Kind::kDma, function);
    const std::string name = file == nullptr ? "(no name)" : file;
    const int fd = file == nullptr ? -1 : ::open(file, O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (fd < 0 || fstat(fd, &info) != 0) {
        fail(kBadInput, name + ": cannot open the file: " + std::strerror(file == nullptr ? EINVAL : errno));
    }
    if (!S_ISREG(info.st_mode)) fail(kBadInput, name + ": is not a file");
    if (static_cast<uint64_t>(info.st_size) != size) {
        fail(kBadInput, name + ": has " + std::to_string(info.st_size) + " bytes, expected " + std::to_string(size));
    }
    if (size == 0) {
        ::close(fd);
        return;
    }
    uint32_t bank = 0;
    uint64_t offset = 0;
    Connection& connection = Connection::instance();
    uint8_t* const to = connection.transfer(function, space, address, size, bank, offset, true);
    for (uint64_t done = 0; done < size;) {
        const ssize_t n = ::read(fd, to + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail(kBadInput, name + ": cannot read the file" + (n < 0 ? std::string(": ") + std::strerror(errno) : std::string()));
        done += static_cast<uint64_t>(n);
    }
    ::close(fd);
    connection.wrote(space, bank, offset, size);
}

inline HANDLE opened(HANDLE::Kind kind) {
    Connection::instance();
    HANDLE handle;
    handle.kind = kind;
    return handle;
}

}  // namespace fleet_host

// ---- handles

/// The registers of the accelerator.
inline HANDLE open_device() { return fleet_host::opened(HANDLE::Kind::kRegisters); }

/// Transfers from the host to the card. In simulation it also reads.
inline HANDLE open_h2cx() { return fleet_host::opened(HANDLE::Kind::kDma); }

/// Transfers from the card to the host, for programs that keep a handle of its own for them.
inline HANDLE open_c2hx() { return fleet_host::opened(HANDLE::Kind::kDma); }

/// Closes a handle; a later use of it ends the program. The connection itself lasts until the program ends.
inline void close_device(HANDLE& handle) { handle.kind = HANDLE::Kind::kClosed; }

// ---- registers

/// Writes a register, by its number. The write of a unit's start register starts it.
inline void CSB_Write(HANDLE& device, uint32_t reg, uint32_t value) {
    fleet_host::need(device, HANDLE::Kind::kRegisters, "CSB_Write");
    fleet_host::Connection::instance().write(reg, value);
}

/// Reads a register, by its number. The status of a unit under way, and the interrupt status, are read when it is done: a loop
/// such as `while (CSB_Read(device, 1) != 1) {}` goes round once, and what it costs is simulated time only.
inline uint32_t CSB_Read(HANDLE& device, uint32_t reg) {
    fleet_host::need(device, HANDLE::Kind::kRegisters, "CSB_Read");
    return fleet_host::Connection::instance().read(reg);
}

// ---- memories: absolute addresses, sizes in bytes

/// Writes DDR. `address`: ddr_base + offset.
inline void DDR_Write(HANDLE& h2cx, const void* data, uint64_t address, uint64_t size) {
    fleet_host::put("DDR_Write", h2cx, fleet_host::Space::kDdr, data, address, size);
}

/// Reads DDR. `address`: ddr_base + offset.
inline void DDR_Read(HANDLE& h2cx, void* data, uint64_t address, uint64_t size) {
    fleet_host::get("DDR_Read", h2cx, fleet_host::Space::kDdr, data, address, size);
}

/// Writes one 32-bit word of DDR, little-endian: how a generated header patches a binary.
inline void DDR_Update(HANDLE& h2cx, uint64_t address, uint32_t data) {
    const uint8_t bytes[4] = {static_cast<uint8_t>(data), static_cast<uint8_t>(data >> 8), static_cast<uint8_t>(data >> 16),
                              static_cast<uint8_t>(data >> 24)};
    fleet_host::put("DDR_Update", h2cx, fleet_host::Space::kDdr, bytes, address, sizeof bytes);
}

/// Writes a whole file to DDR; it must have exactly `size` bytes.
inline void DDR_Write_bin(HANDLE& h2cx, const char* file, uint64_t address, uint64_t size) {
    fleet_host::put_file("DDR_Write_bin", h2cx, fleet_host::Space::kDdr, file, address, size);
}

/// Writes HBM, within one bank. `address`: hbm_base + (port << 28) + offset.
inline void HBM_Write(HANDLE& h2cx, const void* data, uint64_t address, uint64_t size) {
    fleet_host::put("HBM_Write", h2cx, fleet_host::Space::kHbm, data, address, size);
}

/// Reads HBM, within one bank. `address`: hbm_base + (port << 28) + offset.
inline void HBM_Read(HANDLE& h2cx, void* data, uint64_t address, uint64_t size) {
    fleet_host::get("HBM_Read", h2cx, fleet_host::Space::kHbm, data, address, size);
}

/// Writes a whole file to HBM, within one bank; it must have exactly `size` bytes.
inline void HBM_Write_bin(HANDLE& h2cx, const char* file, uint64_t address, uint64_t size) {
    fleet_host::put_file("HBM_Write_bin", h2cx, fleet_host::Space::kHbm, file, address, size);
}
