#include "overlay.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "memory.h"

namespace fleet {
namespace {

struct Header {
    uint64_t space, offset, size;
};
static_assert(sizeof(Header) == 24, "the format of rtl_models/README.md");

Port* port_of(Memory& memory, uint64_t space) {
    for (uint32_t p = 0; p <= memory.hbm_ports(); ++p) {
        if (memory.port(p).geometry().digest_space == space) return &memory.port(p);
    }
    return nullptr;
}

}  // namespace

std::string lay_overlay(Memory& memory, const std::string& path) {
    MappedFile file;
    const std::string error = file.open(path, MappedFile::Access::Read);
    if (!error.empty()) return error;
    for (uint64_t at = 0; at < file.size();) {
        Header h;
        if (file.size() - at < sizeof h) return path + ": the overlay ends inside a header";
        std::memcpy(&h, file.data() + at, sizeof h);
        at += sizeof h;
        if (h.size > file.size() - at) return path + ": the overlay ends inside its bytes";
        Port* const port = port_of(memory, h.space);
        if (port == nullptr || !port->lay(h.offset, h.size, file.data() + at)) {
            return path + ": " + std::to_string(h.size) + " bytes from " + std::to_string(h.offset) + " of space " +
                   std::to_string(h.space) + " leave its image";
        }
        at += h.size;
    }
    return "";
}

std::string keep_overlay(Memory& memory, const std::string& path) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return path + ": cannot create the file: " + std::strerror(errno);
    bool good = true;
    for (uint32_t p = 0; p <= memory.hbm_ports(); ++p) {
        const Port& port = memory.port(p);
        const std::vector<bool>& written = port.written();
        for (size_t first = 0; first < written.size(); ++first) {
            if (!written[first]) continue;
            size_t last = first;
            while (last + 1 < written.size() && written[last + 1]) ++last;
            const uint64_t offset = first * Port::kPage, end = std::min<uint64_t>((last + 1) * Port::kPage, port.image().size());
            const Header h{port.geometry().digest_space, offset, end - offset};
            good = good && std::fwrite(&h, sizeof h, 1, file) == 1 && std::fwrite(port.image().data() + offset, 1, h.size, file) == h.size;
            first = last;
        }
    }
    good = std::fclose(file) == 0 && good;
    return good ? "" : path + ": cannot write the bytes that the design wrote";
}

}  // namespace fleet
