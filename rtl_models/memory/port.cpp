#include "port.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace fleet {
namespace {

constexpr size_t kMaxReads = 64;      // bursts that a slave queues
constexpr size_t kMaxWrites = 16;
constexpr size_t kMaxResponses = 64;
constexpr size_t kLine = 64;          // bytes of a line of the host's caches

std::string hex(uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%" PRIx64, value);
    return text;
}

}  // namespace

std::string Port::load(const std::string& path, bool own) {
    file_.close();
    written_.clear();
    if (path.empty()) return "";
    const std::string error = file_.open(path, own ? MappedFile::Access::Private : MappedFile::Access::Shared);
    if (!error.empty()) return error;
    if (file_.size() == 0 || file_.size() % geometry_.beat_bytes != 0 || file_.size() > geometry_.window) {
        return path + ": an image of " + geometry_.name + " has a positive multiple of " + std::to_string(geometry_.beat_bytes) +
               " bytes up to " + std::to_string(geometry_.window) + ", this one " + std::to_string(file_.size());
    }
    if (own) written_.assign((file_.size() + kPage - 1) / kPage, false);
    return "";
}

bool Port::lay(uint64_t offset, uint64_t size, const uint8_t* bytes) {
    if (written_.empty() || size > file_.size() || offset > file_.size() - size) return false;
    std::memcpy(file_.data() + offset, bytes, size);
    return true;
}

void Port::set_timing(std::unique_ptr<Timing> timing) {
    timing_ = std::move(timing);
    // Drawn once, not in every cycle of a reset: its length must not move a seeded model.
    first_read_ = timing_->accept_read();
    first_write_ = timing_->accept_write();
}

void Port::reset() {
    reads_.clear();
    writes_.clear();
    responses_.clear();
    current_ = -1;
    stalled_read_ = stalled_write_ = stalled_data_ = false;
    rvalid = rlast = rerror = wready = bvalid = berror = false;
    arready = first_read_;
    awready = first_write_;
    count_from_here();
}

void Port::count_from_here() {
    read_bytes = write_bytes = read_beats = write_beats = read_bursts = write_bursts = 0;
    std::fill(std::begin(waits), std::end(waits), 0);
    timing_->counters(rows_before_);
}

bool Port::rows(RowCounters& to) const {
    if (!timing_->counters(to)) return false;
    to.hits -= rows_before_.hits;
    to.closed -= rows_before_.closed;
    to.misses -= rows_before_.misses;
    to.refresh_cycles -= rows_before_.refresh_cycles;
    return true;
}

void Port::refuse(uint64_t cycle, const char* what, uint64_t address) {
    if (!refusal_.empty()) return;
    refusal_ = geometry_.name + " answered the " + what + " at " + hex(address) + " with SLVERR in cycle " + std::to_string(cycle) +
               (file_.is_open() ? ": the memory is at " + hex(geometry_.base) + " to " + hex(geometry_.base + file_.size() - 1)
                                : ": no image is mapped there");
}

bool Port::in_file(uint64_t address) const {
    return address >= geometry_.base && address - geometry_.base < geometry_.window &&
           address - geometry_.base + geometry_.beat_bytes <= file_.size();
}

void Port::take_beat(uint64_t cycle, const PortInput& in) {
    Burst& burst = writes_.front();
    const uint64_t address = burst.address + static_cast<uint64_t>(burst.done) * geometry_.beat_bytes;
    const bool last = ++burst.done == burst.beats;
    ++write_beats;
    timing_->write_beat(address);
    if (in_file(address)) {
        const uint64_t offset = address - geometry_.base;
        uint8_t* const bytes = file_.data() + offset;
        if (!written_.empty()) written_[offset / kPage] = true;
        uint64_t sum = 0;
        uint32_t count = 0;
        for (uint32_t i = 0; i < geometry_.beat_bytes; ++i) {
            if ((in.strobe[i / 8] >> (i % 8) & 1) == 0) continue;
            bytes[i] = in.data[i];
            sum += digest_mix(geometry_.digest_space, offset + i, in.data[i]);
            ++count;
        }
        digest_.add(cycle, sum, count);
        if (log_.is_open()) {
            uint64_t strobe = 0;
            std::memcpy(&strobe, in.strobe, geometry_.beat_bytes / 8);
            log_.add(cycle, static_cast<uint32_t>(geometry_.digest_space), digest_.taken(), offset, in.data, strobe, geometry_.beat_bytes);
        }
        write_bytes += count;
    } else {
        burst.error = true;
        refuse(cycle, "write", address);
    }
    if (last) {
        burst.ready_at = cycle + timing_->write_latency(burst.address, burst.beats);
        responses_.push_back(burst);
        writes_.erase(writes_.begin());
    }
}

int Port::choose(const std::vector<Burst>& queue, uint64_t cycle) {
    if (queue.empty()) return -1;
    const auto due = [&](const Burst& b) { return b.ready_at <= cycle + 1; };
    if (!timing_->reorders()) return due(queue.front()) ? 0 : -1;
    uint32_t seen = 0, count = 0;
    int candidates[16];
    for (size_t i = 0; i < queue.size(); ++i) {
        const uint32_t bit = 1u << (queue[i].id & 15);
        if ((seen & bit) == 0 && due(queue[i])) candidates[count++] = static_cast<int>(i);
        seen |= bit;  // a later burst of the same ID must wait for this one
    }
    if (count == 0) return -1;
    return candidates[count == 1 ? 0 : timing_->pick(count)];
}

void Port::present_beat(uint64_t cycle) {
    if (current_ < 0) current_ = choose(reads_, cycle);
    if (current_ < 0 || !timing_->send_data()) return;
    Burst& burst = reads_[static_cast<size_t>(current_)];
    const uint64_t address = burst.address + static_cast<uint64_t>(burst.done) * geometry_.beat_bytes;
    const bool in_window = address >= geometry_.base && address - geometry_.base < geometry_.window;
    const bool mapped = in_file(address);
    if (mapped) {
        const uint8_t* const bytes = file_.data() + (address - geometry_.base);
        std::memcpy(rdata, bytes, geometry_.beat_bytes);
        ahead = bytes + geometry_.beat_bytes;
        __builtin_prefetch(bytes + kLine, 0, 2);
    } else {
        std::memset(rdata, 0, geometry_.beat_bytes);
    }
    rerror = !mapped && !(in_window && !file_.is_open());  // a port without an image reads as 0
    if (rerror) refuse(cycle, "read", address);
    rid = burst.id;
    rlast = ++burst.done == burst.beats;
    rvalid = true;
    new_data = true;
    if (rlast) {
        reads_.erase(reads_.begin() + current_);
        current_ = -1;
    }
}

void Port::present_response(uint64_t cycle) {
    const int i = choose(responses_, cycle);
    if (i < 0 || !timing_->send_response()) return;
    const Burst& burst = responses_[static_cast<size_t>(i)];
    berror = burst.error;
    bid = burst.id;
    bvalid = true;
    responses_.erase(responses_.begin() + i);
}

bool Port::cycle(uint64_t cycle, const PortInput& in) {
    bool moved = false;
    new_data = false;
    timing_->begin(cycle);
    stalled_read_ = in.arvalid && !arready;
    stalled_write_ = in.awvalid && !awready;
    stalled_data_ = in.wvalid && !wready;
    stalled_read_address_ = in.araddr;
    stalled_write_address_ = in.awaddr;

    if (in.arvalid && arready) {
        reads_.push_back(Burst{in.araddr, in.arlen + 1, 0, in.arid, 0, false});
        reads_.back().ready_at = cycle + timing_->read_latency(in.araddr, in.arlen + 1);
        ++read_bursts;
        moved = true;
    }
    if (in.wvalid && wready) {
        take_beat(cycle, in);
        moved = true;
    }
    if (in.awvalid && awready) {
        writes_.push_back(Burst{in.awaddr, in.awlen + 1, 0, in.awid, 0, false});
        ++write_bursts;
        moved = true;
    }
    if (rvalid && in.rready) {
        rvalid = false;
        read_bytes += geometry_.beat_bytes;
        ++read_beats;
        moved = true;
    }
    if (bvalid && in.bready) {
        bvalid = false;
        moved = true;
    }

    if (!rvalid && !reads_.empty()) present_beat(cycle);
    if (!bvalid && !responses_.empty()) present_response(cycle);
    arready = timing_->accept_read() && reads_.size() < kMaxReads;
    awready = timing_->accept_write() && writes_.size() < kMaxWrites && responses_.size() < kMaxResponses;
    wready = !writes_.empty() && timing_->accept_data() && (in.wvalid || !timing_->waits_for_data());
    return moved;
}

std::string Port::unanswered() const {
    const size_t count = writes_.size() + responses_.size() + (stalled_write_ ? 1 : 0);
    if (count == 0) return "";
    const uint64_t first = !responses_.empty() ? responses_.front().address : !writes_.empty() ? writes_.front().address : stalled_write_address_;
    return std::to_string(count) + " of " + geometry_.name + ", first " + hex(first);
}

std::string Port::describe() const {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (stalled_read_) add("arvalid waits at " + hex(stalled_read_address_));
    if (stalled_write_) add("awvalid waits at " + hex(stalled_write_address_));
    if (stalled_data_) add("wvalid waits for a write address");
    if (!reads_.empty()) add(std::to_string(reads_.size()) + " reads queued, first " + hex(reads_.front().address));
    if (rvalid) add("rvalid waits for rready");
    if (!writes_.empty()) {
        add("write at " + hex(writes_.front().address) + " has " + std::to_string(writes_.front().done) + " of " +
            std::to_string(writes_.front().beats) + " beats");
    }
    if (!responses_.empty()) add(std::to_string(responses_.size()) + " write responses queued");
    if (bvalid) add("bvalid waits for bready");
    return text.empty() ? text : geometry_.name + ": " + text;
}

}  // namespace fleet
