// The memory behind all ports of a bench (fleet_store_pkg.sv): pages of bytes, made when they are written first.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "line.h"
#include "svdpi.h"

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kAddresses = (1ull << 56) - 1;  // they have 56 bits
constexpr uint8_t kRubbish = 0xda;  // what a read does not carry

struct Page {
    uint8_t bytes[kPage] = {};
    uint64_t written[kPage / 64] = {};
};

class Store {
  public:
    /// The page of an address; null if nobody wrote there.
    Page* find(uint8_t space, uint64_t address) {
        const uint64_t key = key_of(space, address);
        Recent& recent = recent_[(key ^ key >> 52) % kRecent];
        if (recent.page != nullptr && recent.key == key) return recent.page;
        const auto found = pages_.find(key);
        if (found == pages_.end()) return nullptr;
        recent = {key, found->second.get()};
        return recent.page;
    }
    Page& make(uint8_t space, uint64_t address) {
        if (Page* const page = find(space, address)) return *page;
        return *(pages_[key_of(space, address)] = std::make_unique<Page>());
    }

  private:
    static constexpr uint64_t kRecent = 64;
    struct Recent {
        uint64_t key;
        Page* page;
    };
    static uint64_t key_of(uint8_t space, uint64_t address) { return uint64_t{space} << 52 | (address & kAddresses) / kPage; }

    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
    Recent recent_[kRecent] = {};
};

Store g_store;

uint64_t g_words[16];  // what was read last

constexpr unsigned kWord = 32;  // bytes whose lanes lie in one word of a vector

/// So many bits of a bitmap from `at` on, at most kWord, lowest first.
uint32_t bits(const uint64_t* words, uint64_t at, unsigned count) {
    uint64_t value = words[at / 64] >> at % 64;
    if (at % 64 + count > 64) value |= words[at / 64 + 1] << (64 - at % 64);
    return static_cast<uint32_t>(value & ((1ull << count) - 1));
}

void write(uint8_t space, uint64_t address, uint8_t value) {
    Page& page = g_store.make(space, address);
    const uint64_t at = address % kPage;
    page.bytes[at] = value;
    page.written[at / 64] |= 1ull << at % 64;
}

}  // namespace

extern "C" {

unsigned fleet_store_read(unsigned char space, unsigned long long address, unsigned bytes, const svBitVecVal* lanes) {
    auto* const out = reinterpret_cast<uint8_t*>(g_words);
    unsigned unwritten = 0, count = 0;
    for (unsigned at = 0; at < bytes; at += count) {
        const uint64_t place = (address + at) % kPage;
        count = static_cast<unsigned>(std::min<uint64_t>({kWord - at % kWord, bytes - at, kPage - place}));
        const uint32_t all = static_cast<uint32_t>((1ull << count) - 1), wanted = lanes[at / kWord] >> at % kWord & all;
        const Page* const page = g_store.find(space, address + at);
        if (page == nullptr) {
            std::memset(out + at, 0, count);
            unwritten += static_cast<unsigned>(__builtin_popcount(wanted));
        } else {
            std::memcpy(out + at, page->bytes + place, count);  // what nobody wrote is 0
            unwritten += static_cast<unsigned>(__builtin_popcount(wanted & ~bits(page->written, place, count)));
        }
        for (unsigned i = 0; wanted != all && i < count; ++i) {
            if ((wanted >> i & 1) == 0) out[at + i] = kRubbish;
        }
    }
    return unwritten;
}

unsigned long long fleet_store_word(int number) { return g_words[number]; }

void fleet_store_write(unsigned char space, unsigned long long address, unsigned bytes, const svBitVecVal* lanes, const svBitVecVal* data) {
    const auto* const in = reinterpret_cast<const uint8_t*>(data);
    unsigned count = 0;
    for (unsigned at = 0; at < bytes; at += count) {
        count = std::min(kWord - at % kWord, bytes - at);
        const uint32_t all = static_cast<uint32_t>((1ull << count) - 1), wanted = lanes[at / kWord] >> at % kWord & all;
        const uint64_t place = (address + at) % kPage;
        if (wanted == all && count == kWord && place % kWord == 0) {  // in one page, and in one word of its bitmap
            Page& page = g_store.make(space, address + at);
            std::memcpy(page.bytes + place, in + at, count);
            page.written[place / 64] |= uint64_t{all} << place % 64;
            continue;
        }
        for (unsigned i = 0; i < count; ++i) {
            if ((wanted >> i & 1) != 0) write(space, address + at + i, in[at + i]);
        }
    }
}

const char* fleet_store_written(
    unsigned long long cycle, unsigned long long time, unsigned char space, unsigned long long address, unsigned bytes,
    const svBitVecVal* lanes, const svBitVecVal* data, unsigned burst) {
    static Lines lines;
    lines.clear();
    const auto* const in = reinterpret_cast<const uint8_t*>(data);
    for (unsigned i = 0; i < bytes; ++i) {
        if ((lanes[i / kWord] >> i % kWord & 1) == 0) continue;
        lines.begin('W').decimal(cycle).decimal(time).hexadecimal(space, 2);
        lines.hexadecimal((address + i) & kAddresses, 14).hexadecimal(in[i], 2).decimal(burst);
    }
    return lines.text();
}

void fleet_store_load(const char* file, unsigned char space, unsigned long long address) {
    FILE* const f = std::fopen(file, "rb");
    if (f == nullptr) return;
    for (int c = std::fgetc(f); c != EOF; c = std::fgetc(f)) write(space, address++, static_cast<uint8_t>(c));
    std::fclose(f);
}

void fleet_store_dump(const char* file, unsigned char space, unsigned long long address, unsigned long long bytes) {
    FILE* const f = std::fopen(file, "w");
    if (f == nullptr) return;
    for (; bytes != 0; --bytes, ++address) {
        const Page* const page = g_store.find(space, address);
        const uint64_t at = address % kPage;
        if (page != nullptr && (page->written[at / 64] >> at % 64 & 1) != 0) {
            std::fprintf(f, "%02x\n", page->bytes[at]);
        } else {
            std::fputs("--\n", f);
        }
    }
    std::fclose(f);
}
}
