// When a memory port accepts and answers: the one difference between the memory models. Never the bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace fleet {

/// What a model with DRAM behind the port counts: beats by what they found in their bank, and cycles by which beats came
/// later because of a refresh.
struct RowCounters {
    uint64_t hits = 0, closed = 0, misses = 0, refresh_cycles = 0;
};

/// One port's timing. The functions are asked once a cycle in which the port is active, in a fixed order, so that a
/// seeded model is a function of the design's behaviour alone.
class Timing {
  public:
    virtual ~Timing() = default;
    /// The clock edge at hand; asked before anything else of this edge.
    virtual void begin(uint64_t) {}
    /// Cycles from the acceptance of a read request to its first beat (at least 1).
    virtual uint32_t read_latency(uint64_t address, uint32_t beats) = 0;
    /// Cycles from the last write beat to its response (at least 1).
    virtual uint32_t write_latency(uint64_t address, uint32_t beats) = 0;
    /// A beat of a write burst was taken.
    virtual void write_beat(uint64_t) {}
    /// Whether the channel may move in the next cycle. `send_data` is asked when a beat is about to be sent, and then it is.
    virtual bool accept_read() { return true; }
    virtual bool accept_write() { return true; }
    virtual bool accept_data() { return true; }
    virtual bool send_data() { return true; }
    virtual bool send_response() { return true; }
    /// Whether write data are taken only once they are offered: a master that waits for wready first hangs.
    virtual bool waits_for_data() const { return false; }
    /// Whether bursts of different IDs may overtake each other; those of one ID never do.
    virtual bool reorders() const { return false; }
    /// Picks one of `count` candidates (only asked when `reorders`).
    virtual uint32_t pick(uint32_t count) { return 0; }
    /// Fills in what was counted; false when the model counts nothing.
    virtual bool counters(RowCounters&) const { return false; }
};

/// `ideal`, `fixed:<cycles>`, `stall:<seed>` or `timed:<seed>`.
class TimingModel {
  public:
    /// timing: values of the job's keys "timing.<key>", which `timed` needs. Returns an empty string, or what is wrong.
    std::string parse(const std::string& text, const std::map<std::string, std::string>& timing);
    /// The timing of a port; `space` is "hbm" or "ddr". `error` gets what is wrong with the job's keys.
    std::unique_ptr<Timing> port(uint32_t index, const std::string& space, uint32_t beat_bytes, std::string& error) const;

  private:
    enum class Kind { Ideal, Fixed, Stall, Timed } kind_ = Kind::Ideal;
    uint64_t value_ = 0;
    std::map<std::string, std::string> values_;
};

}  // namespace fleet
