// All memory ports of the bench, behind the DPI functions of fleet_memory.sv.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "port.h"

namespace fleet {

class Memory {
  public:
    /// Bytes of address space of an HBM port; port p answers at p << 28.
    static constexpr uint64_t kHbmWindow = 1ull << 28;
    static constexpr uint64_t kDdrWindow = 1ull << 33;
    static constexpr uint32_t kPortDdr = 64;  // for fleet_axi_checker.sv

    /// Makes the ports (once; the number of HBM ports is the model's). The last one is DDR.
    void configure(uint32_t hbm_ports);
    /// Maps the images (HBM port number -> path) and sets the timing (`timing`: the job's keys of that name). Returns what is wrong.
    /// own: what is written stays in this process, which remembers the pages.
    std::string load(const std::string& ddr, const std::map<uint32_t, std::string>& hbm, const std::string& model,
                     const std::map<std::string, std::string>& timing, bool own = false);
    void unload();
    /// Every port forgets what is outstanding and shows whether it takes a first request.
    void reset();
    /// What is counted of ports and of the register port begins anew.
    void count_from_here();

    uint32_t hbm_ports() const { return static_cast<uint32_t>(ports_.size()) - 1; }
    Port& port(uint32_t index) { return *ports_[index]; }
    Port& ddr() { return *ports_.back(); }
    DigestSum& digest() { return digest_; }
    WriteLog& log() { return log_; }
    /// First violation of the AXI protocol since reset (fleet_axi_checker.sv); empty when there was none.
    const std::string& problem() const { return problem_; }
    void violation(const std::string& text);
    /// Transfers that waited for ready, by channel; `port` as fleet_axi_checker.sv numbers it.
    uint64_t* waits(uint32_t port);
    const uint64_t* register_waits() const { return register_waits_; }
    /// First access since reset that was answered with an error; empty when there was none.
    const std::string& refusal() const { return refusal_; }
    /// Outstanding transactions of all ports, for a hang's message.
    std::string describe() const;

    /// Writes of all ports that have no response yet; empty when there are none.
    std::string unanswered() const;

    /// The bench's one memory.
    static Memory& instance();

    // Staging between the DPI calls of one edge.
    std::vector<PortInput> inputs;
    std::vector<uint8_t> hbm_data, hbm_strobe;
    uint8_t ddr_data[64] = {}, ddr_strobe[8] = {};
    uint64_t now = 0;  // cycle of the clock edge that is being evaluated

    struct Masks {
        uint64_t arready, rvalid, rlast, rerror, awready, wready, bvalid, berror;
    } masks{};
    uint64_t busy = 0;
    std::vector<const uint8_t*> ahead;  // of each port, side by side

  private:
    std::string joined(std::string (Port::*said)() const) const;

    std::vector<std::unique_ptr<Port>> ports_;
    DigestSum digest_;
    WriteLog log_;
    std::string problem_;
    uint64_t register_waits_[kChannels] = {};
    std::string refusal_;
};

}  // namespace fleet
