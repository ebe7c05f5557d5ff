// A memory port with DRAM behind it: the controller's queues around the banks of dram.h.
//
// A request reaches the banks `request` clocks after the port took it. Reads are served in order, up to queue_bursts bursts
// are seen ahead (their rows open early), their beats wait in a return buffer of return_beats for the core's one beat a
// cycle; with the buffer full the banks stop. Writes are answered by the controller (`request` clocks after the last beat, the
// way there and back without the DRAM), wait in a queue of write_beats beats, and go to the banks when no read asks, when
// write_batch of them wait, or when the oldest has waited write_wait clocks; then up to write_batch in a row, so that the bus
// turns seldom. What is read is what was written before: data do not pass through here.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "dram.h"
#include "timing.h"

namespace fleet {

class TimedTiming final : public Timing {
  public:
    TimedTiming(const DramParameters& p, uint32_t beat_bytes, int64_t refresh_phase);

    void begin(uint64_t cycle) override;
    uint32_t read_latency(uint64_t address, uint32_t beats) override;
    uint32_t write_latency(uint64_t address, uint32_t beats) override;
    void write_beat(uint64_t address) override;
    bool accept_data() override { return static_cast<int64_t>(writes_.size()) < p_.write_beats; }
    bool send_data() override;
    bool counters(RowCounters& to) const override;

  private:
    struct Read {
        uint64_t address;
        uint32_t left;
        int64_t known;
    };
    struct Write {
        uint64_t address;
        int64_t known;
    };

    int64_t clocks(uint64_t cycle) const { return static_cast<int64_t>(cycle * p_.clock_khz / p_.core_khz); }
    /// First cycle that begins at or after the clock.
    uint64_t cycle_of(int64_t clock) const {
        return (static_cast<uint64_t>(clock) * p_.core_khz + p_.clock_khz - 1) / p_.clock_khz;
    }
    void serve();
    bool write_turn(bool read_asks);

    DramParameters p_;
    uint32_t beat_bytes_;
    Dram dram_;
    uint64_t cycle_ = 0;
    int64_t now_ = 0;
    std::deque<Read> reads_;
    std::deque<Write> writes_;
    std::deque<uint64_t> returned_;     // cycles from which the beats of the return buffer may leave it
    std::vector<int64_t> freed_;        // ring: when the place of a beat became free
    std::vector<int64_t> left_queue_;   // ring: when a burst left the controller's queue
    uint64_t beats_ = 0, sent_ = 0, bursts_ = 0;
    int64_t batch_ = 0;                 // writes of the batch at hand that may still go
};

}  // namespace fleet
