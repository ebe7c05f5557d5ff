#include "memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "svdpi.h"

namespace fleet {

Memory& Memory::instance() {
    static Memory memory;
    return memory;
}

void Memory::configure(uint32_t hbm_ports) {
    if (!ports_.empty()) return;
    for (uint32_t p = 0; p < hbm_ports; ++p) {
        ports_.push_back(std::make_unique<Port>(
            PortGeometry{"hbm port " + std::to_string(p), 32, static_cast<uint64_t>(p) * kHbmWindow, kHbmWindow, kSpaceHbmPort0 + p},
            digest_, log_, refusal_));
    }
    ports_.push_back(std::make_unique<Port>(PortGeometry{"ddr", 64, 0, kDdrWindow, kSpaceDdr}, digest_, log_, refusal_));
    inputs.assign(hbm_ports + 1, PortInput{});
    ahead.assign(hbm_ports + 1, nullptr);
    hbm_data.assign(hbm_ports * 32u, 0);
    hbm_strobe.assign(hbm_ports * 4u, 0);
    for (uint32_t p = 0; p < hbm_ports; ++p) {
        inputs[p].data = hbm_data.data() + p * 32u;
        inputs[p].strobe = hbm_strobe.data() + p * 4u;
    }
    inputs[hbm_ports].data = ddr_data;
    inputs[hbm_ports].strobe = ddr_strobe;
}

std::string Memory::load(const std::string& ddr_path, const std::map<uint32_t, std::string>& hbm, const std::string& model,
                         const std::map<std::string, std::string>& timing, bool own) {
    TimingModel models;
    const TimingModel ideal;
    const auto key = timing.lower_bound("hbm.");
    const bool states_hbm = key != timing.end() && key->first.compare(0, 4, "hbm.") == 0;
    std::string error = models.parse(model, timing);
    if (error.empty() && !hbm.empty() && hbm.rbegin()->first >= hbm_ports()) {
        error = "hbm." + std::to_string(hbm.rbegin()->first) + ": the design has " + std::to_string(hbm_ports()) + " HBM ports";
    }
    for (uint32_t p = 0; p < ports_.size() && error.empty(); ++p) {
        const auto found = hbm.find(p);
        const bool is_ddr = p == hbm_ports();
        const PortGeometry& geometry = ports_[p]->geometry();
        // A device without HBM has the ports, and says nothing of what is behind them.
        const bool nothing = !is_ddr && found == hbm.end() && !states_hbm;
        ports_[p]->set_timing((nothing ? ideal : models).port(p, is_ddr ? "ddr" : "hbm", geometry.beat_bytes, error));
        if (error.empty()) error = ports_[p]->load(is_ddr ? ddr_path : found == hbm.end() ? "" : found->second, own);
    }
    reset();
    return error;
}

void Memory::unload() {
    for (auto& port : ports_) port->unload();
}

void Memory::reset() {
    masks = Masks{};
    busy = 0;
    for (uint32_t p = 0; p < ports_.size(); ++p) {
        ports_[p]->reset();
        masks.arready |= static_cast<uint64_t>(ports_[p]->arready) << p;
        masks.awready |= static_cast<uint64_t>(ports_[p]->awready) << p;
    }
    digest_ = DigestSum();
    problem_.clear();
    std::fill(std::begin(register_waits_), std::end(register_waits_), 0);
    refusal_.clear();
}

void Memory::count_from_here() {
    for (auto& port : ports_) port->count_from_here();
    std::fill(std::begin(register_waits_), std::end(register_waits_), 0);
}

void Memory::violation(const std::string& text) {
    if (problem_.empty()) problem_ = text;
}

uint64_t* Memory::waits(uint32_t port) {
    if (port < hbm_ports()) return this->port(port).waits;
    return port == kPortDdr ? ddr().waits : register_waits_;
}

std::string Memory::joined(std::string (Port::*said)() const) const {
    std::string text;
    for (const auto& port : ports_) {
        const std::string part = ((*port).*said)();
        if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
    }
    return text;
}

std::string Memory::describe() const {
    const std::string text = joined(&Port::describe);
    return text.empty() ? "no memory transaction is outstanding" : text;
}

std::string Memory::unanswered() const { return joined(&Port::unanswered); }

}  // namespace fleet

using fleet::Memory;

namespace {

/// Field `index` of `width` bits (at most 40) of a packed vector.
inline uint64_t field(const svBitVecVal* words, uint32_t index, uint32_t width) {
    const uint32_t bit = index * width, word = bit / 32, shift = bit % 32;
    uint64_t value = words[word] >> shift;
    if (shift + width > 32) value |= static_cast<uint64_t>(words[word + 1]) << (32 - shift);
    return value & ((1ull << width) - 1);
}

}  // namespace

extern "C" {

void fleet_memory_reset(unsigned hbm_ports, unsigned long long* arready, unsigned long long* awready) {
    Memory& m = Memory::instance();
    m.configure(hbm_ports);
    m.reset();
    *arready = m.masks.arready;
    *awready = m.masks.awready;
}

void fleet_memory_hbm_requests(const svBitVecVal* araddr, const svBitVecVal* arlen, const svBitVecVal* awaddr,
                               const svBitVecVal* awlen) {
    Memory& m = Memory::instance();
    for (uint32_t p = 0; p < m.hbm_ports(); ++p) {
        fleet::PortInput& in = m.inputs[p];
        in.araddr = field(araddr, p, 33);
        in.arlen = static_cast<uint32_t>(field(arlen, p, 8));
        in.awaddr = field(awaddr, p, 33);
        in.awlen = static_cast<uint32_t>(field(awlen, p, 8));
    }
}

void fleet_memory_ddr_requests(unsigned long long araddr, unsigned arlen, unsigned arid, unsigned long long awaddr, unsigned awlen,
                               unsigned awid) {
    fleet::PortInput& in = Memory::instance().inputs.back();
    in.araddr = araddr;
    in.arlen = arlen;
    in.arid = arid;
    in.awaddr = awaddr;
    in.awlen = awlen;
    in.awid = awid;
}

void fleet_memory_hbm_wdata(const svBitVecVal* data, const svBitVecVal* strobe) {
    Memory& m = Memory::instance();
    std::memcpy(m.hbm_data.data(), data, m.hbm_data.size());
    std::memcpy(m.hbm_strobe.data(), strobe, m.hbm_strobe.size());
}

void fleet_memory_ddr_wdata(const svBitVecVal* data, const svBitVecVal* strobe) {
    Memory& m = Memory::instance();
    std::memcpy(m.ddr_data, data, sizeof m.ddr_data);
    std::memcpy(m.ddr_strobe, strobe, sizeof m.ddr_strobe);
}

unsigned fleet_memory_cycle(unsigned long long cycle, unsigned long long arvalid, unsigned long long rready,
                            unsigned long long awvalid, unsigned long long wvalid, unsigned long long bready, unsigned long long* arready, unsigned long long* rvalid,
                            unsigned long long* rlast, unsigned long long* rerror, unsigned long long* awready,
                            unsigned long long* wready, unsigned long long* bvalid, unsigned long long* berror,
                            unsigned* ddr_ids) {
    Memory& m = Memory::instance();
    m.now = cycle;
    const uint32_t ddr = m.hbm_ports();
    bool moved = false, hbm_data = false;
    m.ddr().new_data = false;
    // A port that is silent on both sides keeps its outputs and costs nothing.
    const uint64_t moving = arvalid | awvalid | wvalid | m.busy;
    Memory::Masks now{};  // of the ports that move
    uint64_t busy = 0;
    // More streams than a processor prefetches by itself: each would wait for memory in turn.
    for (uint64_t active = moving; active != 0; active &= active - 1) __builtin_prefetch(m.ahead[__builtin_ctzll(active)]);
    for (uint64_t active = moving; active != 0; active &= active - 1) {
        const uint32_t p = static_cast<uint32_t>(__builtin_ctzll(active));
        fleet::Port& port = m.port(p);
        fleet::PortInput& in = m.inputs[p];
        in.arvalid = arvalid >> p & 1;
        in.rready = rready >> p & 1;
        in.awvalid = awvalid >> p & 1;
        in.wvalid = wvalid >> p & 1;
        in.bready = bready >> p & 1;
        moved |= port.cycle(cycle, in);
        hbm_data |= port.new_data && p != ddr;
        m.ahead[p] = port.ahead;
        now.arready |= static_cast<uint64_t>(port.arready) << p;
        now.rvalid |= static_cast<uint64_t>(port.rvalid) << p;
        now.rlast |= static_cast<uint64_t>(port.rlast) << p;
        now.rerror |= static_cast<uint64_t>(port.rerror) << p;
        now.awready |= static_cast<uint64_t>(port.awready) << p;
        now.wready |= static_cast<uint64_t>(port.wready) << p;
        now.bvalid |= static_cast<uint64_t>(port.bvalid) << p;
        now.berror |= static_cast<uint64_t>(port.berror) << p;
        busy |= static_cast<uint64_t>(port.busy()) << p;
    }
    const auto put = [moving](uint64_t& mask, uint64_t bits) { mask = (mask & ~moving) | bits; };
    put(m.masks.arready, now.arready);
    put(m.masks.rvalid, now.rvalid);
    put(m.masks.rlast, now.rlast);
    put(m.masks.rerror, now.rerror);
    put(m.masks.awready, now.awready);
    put(m.masks.wready, now.wready);
    put(m.masks.bvalid, now.bvalid);
    put(m.masks.berror, now.berror);
    put(m.busy, busy);
    *arready = m.masks.arready;
    *rvalid = m.masks.rvalid;
    *rlast = m.masks.rlast;
    *rerror = m.masks.rerror;
    *awready = m.masks.awready;
    *wready = m.masks.wready;
    *bvalid = m.masks.bvalid;
    *berror = m.masks.berror;
    *ddr_ids = m.ddr().rid | m.ddr().bid << 8;
    return (m.busy != 0 ? 1u : 0u) | (hbm_data ? 2u : 0u) | (m.ddr().new_data ? 4u : 0u) | (moved ? 8u : 0u);
}

void fleet_observe_write(unsigned space, unsigned long long offset, const svBitVecVal* data, const svBitVecVal* strobe) {
    const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(data);
    const uint64_t mask = strobe[0] | static_cast<uint64_t>(strobe[1]) << 32;
    uint64_t sum = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < 64; ++i) {
        if ((mask >> i & 1) == 0) continue;
        sum += fleet::digest_mix(space, offset + i, bytes[i]);
        ++count;
    }
    Memory& m = Memory::instance();
    m.digest().observe(sum, count);
    if (m.log().is_open() && mask != 0) m.log().add(m.now, space, m.digest().taken(), offset, bytes, mask, 64);
}

void fleet_axi_violation(const char* text) { Memory::instance().violation(text); }

void fleet_axi_wait(unsigned port, unsigned channel) { ++Memory::instance().waits(port)[channel]; }

void fleet_memory_hbm_rdata(svBitVecVal* data) {
    Memory& m = Memory::instance();
    uint8_t* const out = reinterpret_cast<uint8_t*>(data);
    for (uint32_t p = 0; p < m.hbm_ports(); ++p) std::memcpy(out + p * 32u, m.port(p).rdata, 32);
}

void fleet_memory_ddr_rdata(svBitVecVal* data) { std::memcpy(data, Memory::instance().ddr().rdata, 64); }
}
