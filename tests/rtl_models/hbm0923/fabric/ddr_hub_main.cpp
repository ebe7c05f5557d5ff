// The DDR hub among five units that read and write at random in DDR and on chip, before a slave that stalls and reorders.
#include <deque>
#include <map>
#include <vector>

#include "Vhbm0923_ddr_hub.h"
#include "bench.h"
#include "svdpi.h"

namespace {

constexpr uint32_t kUnits = 5, kChipBeats = 32, kMine = 6;  // beats of the on-chip memory that each unit uses
constexpr uint64_t kChip = 1ull << 32, kRegion = 1 << 16;
constexpr uint32_t kFirstId[kUnits] = {0, 4, 8, 12, 15}, kIds[kUnits] = {4, 4, 4, 3, 1};

struct Burst {
    uint64_t address;
    uint32_t beats, id;
};

struct Unit {
    bool writing = true;
    uint32_t left = kMine;   // to issue in this phase
    bool first = true;       // fills its part of the on-chip memory
    bool ar = false, aw = false, w = false;
    Burst read{};
    uint64_t write = 0;
    std::deque<std::pair<uint64_t, std::pair<Beat, uint64_t>>> data;  // address, beat and strobes whose data is to come
    uint32_t answers = 0;    // writes without one
    uint32_t beats = 0;      // reads without one
    uint64_t waited = 0;
};

constexpr unsigned kOnchipSpace = 256;  // SpaceOnchip of hbm0923_pkg
std::map<uint64_t, Beat> memory;  // what must be there: bytes of the beat's address
uint64_t observed = 0, on_chip = 0;
Account account;
uint64_t cycle = 0;

Beat& at(uint64_t address) {
    const auto found = memory.find(address);
    if (found != memory.end()) return found->second;
    Beat beat;
    for (uint32_t i = 0; i < 16; ++i) beat[i] = static_cast<uint32_t>(address * 2654435761u + i);
    return memory.emplace(address, beat).first->second;
}

void store(Beat& beat, const Beat& data, uint64_t strobes) {
    for (uint32_t b = 0; b < 64; ++b) {
        if (strobes >> b & 1) reinterpret_cast<uint8_t*>(beat.data())[b] = reinterpret_cast<const uint8_t*>(data.data())[b];
    }
}

}  // namespace

extern "C" void fleet_observe_write(unsigned space, unsigned long long offset, const svBitVecVal* data, const svBitVecVal* strb) {
    account.expect(space == kOnchipSpace && offset < kChipBeats * 64, cycle, "an observed write is not on chip");
    Beat beat;
    for (uint32_t i = 0; i < 16; ++i) beat[i] = data[i];
    const uint64_t strobes = strb[0] | static_cast<uint64_t>(strb[1]) << 32;
    Beat should = at(kChip + offset), is = should;
    store(is, beat, strobes);
    account.expect(is == should, cycle, "an observed write is none that a unit made");
    observed += static_cast<uint64_t>(__builtin_popcountll(strobes));
}

int main(int argc, char** argv) {
    Random random{std::mt19937_64(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1)};
    const uint64_t cycles = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20000;
    VerilatedContext context;
    context.randReset(2);
    Vhbm0923_ddr_hub top{&context};
    reset(top);

    Unit units[kUnits];
    std::map<uint32_t, std::deque<std::pair<uint64_t, bool>>> expected;  // ID -> addresses of beats to come, last of its burst
    std::vector<Burst> reads;                                           // at the slave
    int current = -1;
    uint32_t sent = 0;
    std::deque<Burst> writes;
    std::vector<uint32_t> answers;
    bool rvalid = false, bvalid = false;
    uint32_t rid = 0, bid = 0, calm = 50;
    bool rlast = false;

    for (cycle = 0; cycle < cycles; ++cycle) {
        if (cycle % 500 == 0) calm = static_cast<uint32_t>(random.below(3)) * 45 + 5;  // how ready everybody is, 5, 50 or 95 %
        // ---- units
        for (uint32_t u = 0; u < kUnits; ++u) {
            Unit& n = units[u];
            if (n.left == 0 && !n.ar && !n.aw && n.data.empty() && n.answers == 0 && n.beats == 0) {
                n.first = false;
                n.writing = random.often(50);
                n.left = 1 + static_cast<uint32_t>(random.below(12));
            }
            if (n.left != 0 && n.writing && !n.aw && random.often(calm)) {
                n.aw = true;
                const bool chip = n.first || random.often(50);
                n.write = chip ? kChip + (u * kMine + (n.first ? n.left - 1 : random.below(kMine))) * 64
                               : u * kRegion + random.below(64) * 64;
                --n.left;
                Beat beat;
                for (uint32_t& word : beat) word = static_cast<uint32_t>(random.engine());
                const uint64_t strobes = n.first ? ~0ull : random.engine();
                if (n.write >= kChip) on_chip += static_cast<uint64_t>(__builtin_popcountll(strobes));
                n.data.push_back({n.write, {beat, strobes}});
            }
            if (n.left != 0 && !n.writing && !n.ar && random.often(calm)) {
                n.ar = true;
                --n.left;
                n.read.id = kFirstId[u] + static_cast<uint32_t>(random.below(kIds[u]));
                if (random.often(50)) {
                    const uint32_t first = static_cast<uint32_t>(random.below(kMine));
                    n.read.address = kChip + (u * kMine + first) * 64;
                    n.read.beats = 1 + static_cast<uint32_t>(random.below(kMine - first));
                } else {
                    const uint32_t first = static_cast<uint32_t>(random.below(64));
                    n.read.address = u * kRegion + first * 64;
                    n.read.beats = 1 + static_cast<uint32_t>(random.below(64 - first));
                }
            }
            // Data not before its address is offered, as the rules for units have it.
            if (!n.w && !n.data.empty() && random.often(calm)) n.w = true;
        }
        uint32_t arvalid = 0, awvalid = 0, wvalid = 0, arid = 0;
        for (uint32_t u = 0; u < kUnits; ++u) {
            Unit& n = units[u];
            arvalid |= static_cast<uint32_t>(n.ar) << u;
            awvalid |= static_cast<uint32_t>(n.aw) << u;
            wvalid |= static_cast<uint32_t>(n.w) << u;
            arid |= n.read.id << 4 * u;
            poke(top.araddr_i, 33 * u, 33, n.read.address);
            poke(top.awaddr_i, 33 * u, 33, n.write);
            const uint64_t len = n.read.beats - 1;
            top.arlen_i = (top.arlen_i & ~(0xFFull << 8 * u)) | (len & 0xFF) << 8 * u;
            if (n.w) {
                for (uint32_t i = 0; i < 16; ++i) top.wdata_i.data()[16 * u + i] = n.data.front().second.first[i];
                poke(top.wstrb_i, 64 * u, 64, n.data.front().second.second);
            }
        }
        top.arvalid_i = arvalid;
        top.awvalid_i = awvalid;
        top.wvalid_i = wvalid;
        top.arid_i = arid;
        // ---- the slave
        if (!rvalid && random.often(calm)) {
            if (current < 0 && !reads.empty()) {
                std::vector<int> heads;
                uint32_t seen = 0;
                for (size_t i = 0; i < reads.size(); ++i) {
                    if (!(seen >> reads[i].id & 1)) heads.push_back(static_cast<int>(i));
                    seen |= 1u << reads[i].id;
                }
                current = heads[random.below(heads.size())];
                sent = 0;
            }
            if (current >= 0) {
                const Burst& b = reads[static_cast<size_t>(current)];
                const Beat& beat = at(b.address + 64 * sent);
                for (uint32_t i = 0; i < 16; ++i) top.ddr_rdata_i.data()[i] = beat[i];
                rvalid = true;
                rid = b.id;
                rlast = ++sent == b.beats;
                if (rlast) {
                    reads.erase(reads.begin() + current);
                    current = -1;
                }
            }
        }
        if (!bvalid && !answers.empty() && random.often(calm)) {
            const size_t i = random.below(answers.size());
            bid = answers[i];
            answers.erase(answers.begin() + static_cast<long>(i));
            bvalid = true;
        }
        top.ddr_rvalid_i = rvalid;
        top.ddr_rid_i = rid;
        top.ddr_rlast_i = rlast;
        top.ddr_rresp_i = 0;
        top.ddr_bvalid_i = bvalid;
        top.ddr_bid_i = bid;
        top.ddr_bresp_i = 0;
        top.ddr_arready_i = random.often(calm);
        top.ddr_awready_i = random.often(calm);
        top.ddr_wready_i = !writes.empty() && random.often(calm);
        top.eval();

        // ---- what happens at this edge
        for (uint32_t u = 0; u < kUnits; ++u) {
            Unit& n = units[u];
            if (n.ar && (top.arready_o >> u & 1)) {
                for (uint32_t i = 0; i < n.read.beats; ++i) {
                    expected[n.read.id].push_back({n.read.address + 64 * i, i + 1 == n.read.beats});
                }
                n.beats += n.read.beats;
                n.ar = false;
                n.waited = 0;
            } else if (n.ar) {
                account.expect(++n.waited < 20000, cycle, "a read starves");
            }
            if (top.bvalid_o >> u & 1) {
                account.expect(n.answers != 0, cycle, "an answer to a unit that waits for none");
                --n.answers;
            }
            const bool aw = n.aw && (top.awready_o >> u & 1), w = n.w && (top.wready_o >> u & 1);
            if (w) {
                auto& [address, write] = n.data.front();
                store(at(address), write.first, write.second);
                n.data.pop_front();
                n.w = false;
            }
            if (aw) {
                ++n.answers;
                n.aw = false;
            }
        }
        account.expect(top.rvalid_o == 0 || top.rvalid_o == (1u << kUnits) - 1, cycle, "a beat is not shown to all units");
        if (top.rvalid_o) {
            const uint32_t id = top.rid_o & 15;
            uint32_t owner = 0;
            while (id >= kFirstId[owner] + kIds[owner]) ++owner;
            auto& queue = expected[id];
            account.expect(!queue.empty(), cycle, "a beat that nobody asked for");
            if (!queue.empty()) {
                const auto [address, last] = queue.front();
                queue.pop_front();
                Beat beat;
                for (uint32_t i = 0; i < 16; ++i) beat[i] = top.rdata_o.data()[16 * owner + i];
                account.expect(beat == at(address) && last == static_cast<bool>(top.rlast_o >> owner & 1) &&
                                   (top.rresp_o >> 2 * owner & 3) == 0 && (top.rid_o >> 4 * owner & 15) == id,
                               cycle, "a beat differs, ID " + std::to_string(id));
                --units[owner].beats;
            }
        }
        if (rvalid && top.ddr_rready_o) rvalid = false;
        if (bvalid && top.ddr_bready_o) bvalid = false;
        if (top.ddr_wvalid_o && top.ddr_wready_i) {
            const Burst b = writes.front();
            writes.pop_front();
            Beat beat, should = at(b.address);
            for (uint32_t i = 0; i < 16; ++i) beat[i] = top.ddr_wdata_o.data()[i];
            Beat is = should;
            store(is, beat, top.ddr_wstrb_o);
            account.expect(is == should && top.ddr_wlast_o, cycle, "written data is none that the unit sent");
            answers.push_back(b.id);
        }
        if (top.ddr_arvalid_o && top.ddr_arready_i) {
            reads.push_back({top.ddr_araddr_o, top.ddr_arlen_o + 1u, top.ddr_arid_o});
            account.expect(top.ddr_araddr_o < kUnits * kRegion, cycle, "an on-chip address at DDR");
        }
        if (top.ddr_awvalid_o && top.ddr_awready_i) {
            const uint64_t u = top.ddr_awaddr_o / kRegion;
            account.expect(u < kUnits && top.ddr_awid_o == kFirstId[u], cycle, "a write has another unit's ID");
            writes.push_back({top.ddr_awaddr_o, 1, top.ddr_awid_o});
        }
        edge(top);
    }
    uint64_t pending = 0;
    for (const Unit& n : units) {
        for (const auto& [address, write] : n.data) {
            if (address >= kChip) pending += static_cast<uint64_t>(__builtin_popcountll(write.second));
        }
    }
    account.expect(observed == on_chip - pending, cycle, "observed on-chip bytes are not those written");
    return account.close(cycles / 20);
}
