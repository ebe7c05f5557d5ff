#include "timing.h"

#include <cerrno>
#include <cstdlib>

#include "timed.h"

namespace fleet {
namespace {

/// Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014 (SplitMix64).
class SplitMix {
  public:
    explicit SplitMix(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
    /// 0 to limit - 1.
    uint32_t below(uint32_t limit) { return static_cast<uint32_t>(((next() >> 32) * limit) >> 32); }

  private:
    uint64_t state_;
};

class FixedTiming final : public Timing {
  public:
    explicit FixedTiming(uint32_t latency) : latency_(latency) {}
    uint32_t read_latency(uint64_t, uint32_t) override { return latency_; }
    uint32_t write_latency(uint64_t, uint32_t) override { return latency_; }

  private:
    uint32_t latency_;
};

/// Random back-pressure on every channel: short gaps most of the time, now and then a long stop, which is what finds a
/// FIFO that is one entry too short.
class StallTiming final : public Timing {
  public:
    explicit StallTiming(uint64_t seed) : random_(seed), waits_for_data_((seed & 1) != 0) {}
    uint32_t read_latency(uint64_t, uint32_t) override { return latency(); }
    uint32_t write_latency(uint64_t, uint32_t) override { return latency(); }
    bool accept_read() override { return open(gates_[0], 128); }
    bool accept_write() override { return open(gates_[1], 128); }
    bool accept_data() override { return open(gates_[2], 160); }
    bool send_data() override { return open(gates_[3], 200); }
    bool send_response() override { return open(gates_[4], 128); }
    bool waits_for_data() const override { return waits_for_data_; }
    bool reorders() const override { return true; }
    uint32_t pick(uint32_t count) override { return random_.below(count); }

  private:
    uint32_t latency() { return random_.below(16) == 0 ? 100 + random_.below(200) : 1 + random_.below(48); }
    bool open(uint32_t& stop, uint32_t of_256) {
        if (stop != 0) {
            --stop;
            return false;
        }
        const uint64_t r = random_.next();
        if ((r & 0x3FF) == 0) stop = 20 + ((r >> 16) & 0x7F);
        return ((r >> 32) & 0xFF) < of_256;
    }

    SplitMix random_;
    bool waits_for_data_;
    uint32_t gates_[5] = {};
};

}  // namespace

std::string TimingModel::parse(const std::string& text, const std::map<std::string, std::string>& timing) {
    const std::string expected = "memory=" + text + ": expected ideal, fixed:<cycles 1 to 65535>, stall:<seed> or timed:<seed>";
    values_ = timing;
    if (text == "ideal") {
        kind_ = Kind::Ideal;
        return "";
    }
    const size_t colon = text.find(':');
    if (colon == std::string::npos || colon + 1 == text.size()) return expected;
    const std::string name = text.substr(0, colon), digits = text.substr(colon + 1);
    if (digits.find_first_not_of("0123456789") != std::string::npos) return expected;
    errno = 0;
    value_ = std::strtoull(digits.c_str(), nullptr, 10);
    if (errno != 0) return expected;
    if (name == "fixed") {
        kind_ = Kind::Fixed;
        return value_ >= 1 && value_ <= 65535 ? "" : expected;
    }
    if (name == "stall") {
        kind_ = Kind::Stall;
        return "";
    }
    if (name == "timed") {
        kind_ = Kind::Timed;
        return "";
    }
    return expected;
}

std::unique_ptr<Timing> TimingModel::port(uint32_t index, const std::string& space, uint32_t beat_bytes, std::string& error) const {
    switch (kind_) {
        case Kind::Fixed: return std::make_unique<FixedTiming>(static_cast<uint32_t>(value_));
        case Kind::Stall: {
            SplitMix mixer(value_ + 0x51ED270B * (index + 1ull));  // ports must not stall in step
            return std::make_unique<StallTiming>(mixer.next());
        }
        case Kind::Timed: {
            DramParameters parameters;
            const std::string wrong = parameters.read(values_, space, beat_bytes);
            if (!wrong.empty()) {
                if (error.empty()) error = wrong;
                break;
            }
            SplitMix mixer(value_ + 0x51ED270B * (index + 1ull));
            const uint64_t phase = mixer.next() % static_cast<uint64_t>(parameters.t_refi);  // every port refreshes on its own
            return std::make_unique<TimedTiming>(parameters, beat_bytes, static_cast<int64_t>(phase));
        }
        case Kind::Ideal: break;
    }
    return std::make_unique<FixedTiming>(1);
}

}  // namespace fleet
