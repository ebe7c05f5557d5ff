// One AXI4 slave: a queue of read bursts, a queue of write bursts, a queue of write responses, on one mapped file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "digest.h"
#include "mapped_file.h"
#include "timing.h"
#include "write_log.h"

namespace fleet {

/// Channels of an AXI port, in the order of fleet_axi_wait.
constexpr uint32_t kChannels = 5;
constexpr const char* kChannelNames[kChannels] = {"ar", "r", "aw", "w", "b"};

/// What a port is: its name in messages, its width, and the addresses that it answers.
struct PortGeometry {
    std::string name;
    uint32_t beat_bytes;
    uint64_t base;    // first address
    uint64_t window;  // bytes of address space
    uint64_t digest_space;
};

/// Master's signals of one port, sampled at a clock edge. `data` and `strobe` are valid with `wvalid`.
struct PortInput {
    bool arvalid, rready, awvalid, wvalid, bready;
    uint64_t araddr, awaddr;
    uint32_t arlen, awlen, arid, awid;
    const uint8_t* data;
    const uint8_t* strobe;
};

class Port {
  public:
    /// `refusal` gets the first access that was answered with an error.
    Port(PortGeometry geometry, DigestSum& digest, WriteLog& log, std::string& refusal)
        : geometry_(std::move(geometry)), digest_(digest), log_(log), refusal_(refusal) {}

    static constexpr uint64_t kPage = 4096;

    /// Maps `path` (empty: nothing is mapped, reads give 0 and writes are errors). Returns what is wrong.
    /// own: the file stays as it is; what is written here is seen here alone, and the pages are marked.
    std::string load(const std::string& path, bool own);
    /// Bytes put over the image before the first cycle. Returns whether they are inside.
    bool lay(uint64_t offset, uint64_t size, const uint8_t* bytes);
    /// Of an image of its own: which pages the design wrote.
    const std::vector<bool>& written() const { return written_; }
    void unload() { file_.close(); }
    /// When the port accepts and answers from now on. Asks it what a silent port shows: the first request is like any other.
    void set_timing(std::unique_ptr<Timing> timing);
    /// Forgets everything outstanding (hardware reset); counters too.
    void reset();
    /// What is counted begins anew.
    void count_from_here();
    /// What the model with DRAM behind the port counted; false when there is none.
    bool rows(RowCounters& to) const;
    /// One clock edge. Returns whether a handshake took place.
    bool cycle(uint64_t cycle, const PortInput& in);
    /// Whether it must be called in the next cycle even if the master stays silent.
    bool busy() const {
        return rvalid || bvalid || !reads_.empty() || !writes_.empty() || !responses_.empty() || stalled_read_ || stalled_write_ ||
               stalled_data_;
    }
    /// What is outstanding, for a hang's message; empty when nothing is.
    std::string describe() const;
    /// Writes that were offered and have no response yet, not even one that waits for bready; empty when there are none.
    std::string unanswered() const;
    const PortGeometry& geometry() const { return geometry_; }
    const MappedFile& image() const { return file_; }

    // Slave's signals after the edge.
    bool arready = true, rvalid = false, rlast = false, rerror = false, awready = true, wready = false, bvalid = false,
         berror = false;
    uint32_t rid = 0, bid = 0;
    bool new_data = false;  // rdata changed at this edge
    uint8_t rdata[64] = {};
    const uint8_t* ahead = nullptr;  // where the next beat of a read would stand; only to be prefetched

    uint64_t read_bytes = 0, write_bytes = 0, read_beats = 0, write_beats = 0, read_bursts = 0, write_bursts = 0;
    uint64_t waits[kChannels] = {};  // transfers that waited for ready, by channel

  private:
    static std::unique_ptr<Timing> ideal() {
        std::string none;
        return TimingModel().port(0, "", 1, none);
    }
    struct Burst {
        uint64_t address;
        uint32_t beats;
        uint32_t done;
        uint32_t id;
        uint64_t ready_at;
        bool error;
    };

    bool in_file(uint64_t address) const;
    void take_beat(uint64_t cycle, const PortInput& in);
    void present_beat(uint64_t cycle);
    void present_response(uint64_t cycle);
    int choose(const std::vector<Burst>& queue, uint64_t cycle);
    void refuse(uint64_t cycle, const char* what, uint64_t address);

    PortGeometry geometry_;
    DigestSum& digest_;
    WriteLog& log_;
    std::string& refusal_;
    MappedFile file_;
    std::vector<bool> written_;
    RowCounters rows_before_;
    std::unique_ptr<Timing> timing_ = ideal();
    bool first_read_ = true, first_write_ = true;  // whether the request channels are open before anything was asked
    std::vector<Burst> reads_, writes_, responses_;
    int current_ = -1;  // index in reads_ of the burst whose beats are being sent
    bool stalled_read_ = false, stalled_write_ = false, stalled_data_ = false;  // valid was high without ready at the last edge
    uint64_t stalled_read_address_ = 0, stalled_write_address_ = 0;
};

}  // namespace fleet
