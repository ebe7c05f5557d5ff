// When a memory port accepts and answers: the one difference between the memory models. Never the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace fleet {

/// One port's timing. The functions are asked once a cycle in which the port is active, in a fixed order, so that a
/// seeded model is a function of the design's behaviour alone.
class Timing {
  public:
    virtual ~Timing() = default;
    /// Cycles from the acceptance of a read request to its first beat (at least 1).
    virtual uint32_t read_latency(uint64_t address, uint32_t beats) = 0;
    /// Cycles from the last write beat to its response (at least 1).
    virtual uint32_t write_latency(uint64_t address, uint32_t beats) = 0;
    /// Whether the channel may move in the next cycle.
    virtual bool accept_read() { return true; }
    virtual bool accept_write() { return true; }
    virtual bool accept_data() { return true; }
    virtual bool send_data() { return true; }
    virtual bool send_response() { return true; }
    /// Whether bursts of different IDs may overtake each other; those of one ID never do.
    virtual bool reorders() const { return false; }
    /// Picks one of `count` candidates (only asked when `reorders`).
    virtual uint32_t pick(uint32_t count) { return 0; }
};

/// `ideal`, `fixed:<cycles>` or `stall:<seed>`.
class TimingModel {
  public:
    /// Returns an empty string, or what is wrong with `text`.
    std::string parse(const std::string& text);
    std::unique_ptr<Timing> port(uint32_t index) const;

  private:
    enum class Kind { Ideal, Fixed, Stall } kind_ = Kind::Ideal;
    uint64_t value_ = 0;
};

}  // namespace fleet
