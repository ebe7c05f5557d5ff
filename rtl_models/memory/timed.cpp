#include "timed.h"

#include <algorithm>

namespace fleet {

TimedTiming::TimedTiming(const DramParameters& p, uint32_t beat_bytes, int64_t refresh_phase)
    : p_(p),
      beat_bytes_(beat_bytes),
      dram_(p, refresh_phase),
      freed_(static_cast<size_t>(p.return_beats), 0),
      left_queue_(static_cast<size_t>(p.queue_bursts), 0) {}

void TimedTiming::begin(uint64_t cycle) {
    cycle_ = cycle;
    now_ = clocks(cycle);
    if (!reads_.empty() || !writes_.empty()) serve();
}

uint32_t TimedTiming::read_latency(uint64_t address, uint32_t beats) {
    reads_.push_back({address, beats, now_ + p_.request});
    return 1;  // send_data holds the beats back
}

uint32_t TimedTiming::write_latency(uint64_t, uint32_t) {
    return static_cast<uint32_t>(std::max<uint64_t>(cycle_of(now_ + p_.request), cycle_ + 1) - cycle_);
}

void TimedTiming::write_beat(uint64_t address) { writes_.push_back({address, now_ + p_.request}); }

bool TimedTiming::write_turn(bool read_asks) {
    if (writes_.empty() || writes_.front().known > now_) {
        batch_ = 0;
        return false;
    }
    if (batch_ == 0 && (!read_asks || static_cast<int64_t>(writes_.size()) >= p_.write_batch ||
                        now_ - writes_.front().known >= p_.write_wait)) {
        batch_ = p_.write_batch;
    }
    return batch_ != 0;
}

void TimedTiming::serve() {
    for (;;) {
        const bool read_asks = !reads_.empty() && reads_.front().known <= now_;
        if (write_turn(read_asks)) {
            // A write is not promised a place on the bus long before its time: a read may still come.
            if (dram_.bus_free() > now_ + p_.cl + 2 * p_.burst) return;
            dram_.access(true, writes_.front().address, writes_.front().known, 0);
            writes_.pop_front();
            --batch_;
            continue;
        }
        if (!read_asks || beats_ - sent_ == freed_.size()) return;
        Read& read = reads_.front();
        const int64_t seen = std::max(read.known, left_queue_[bursts_ % left_queue_.size()]);
        const int64_t end = dram_.access(false, read.address, seen, freed_[beats_ % freed_.size()]);
        returned_.push_back(cycle_of(end));
        ++beats_;
        read.address += beat_bytes_;
        if (--read.left == 0) {
            left_queue_[bursts_++ % left_queue_.size()] = end - p_.cl - p_.burst;
            reads_.pop_front();
        }
    }
}

bool TimedTiming::send_data() {
    if (returned_.empty() || returned_.front() > cycle_ + 1) return false;
    returned_.pop_front();
    freed_[sent_++ % freed_.size()] = now_;
    return true;
}

bool TimedTiming::counters(RowCounters& to) const {
    to.hits = dram_.row_hits;
    to.closed = dram_.row_closed;
    to.misses = dram_.row_misses;
    to.refresh_cycles = static_cast<uint64_t>(dram_.refresh_wait) * p_.core_khz / p_.clock_khz;
    return true;
}

}  // namespace fleet
