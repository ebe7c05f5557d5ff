// A port of the HBM hub: two readers and two writers at random, before a slave that stalls and answers in order. For a while the
// second reader goes first.
#include <deque>

#include "Vhbm0923_hbm_hub_port.h"
#include "bench.h"

namespace {

struct Burst {
    uint64_t address;
    uint32_t beats, owner;
};

struct Master {
    bool ar = false, aw = false, w = false;
    Burst read{}, write{};
    std::deque<std::pair<uint32_t, bool>> data;  // tag of a beat, last of its burst
    uint32_t reads = 0, writes = 0;              // without an answer
    uint64_t waited = 0;
};

}  // namespace

int main(int argc, char** argv) {
    Random random{std::mt19937_64(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1)};
    const uint64_t cycles = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20000;
    VerilatedContext context;
    context.randReset(2);
    Vhbm0923_hbm_hub_port top{&context};
    reset(top);
    Account account;
    Master masters[2];
    std::deque<Burst> reads, writes, answers;
    uint32_t sent = 0, calm = 50, served[2] = {}, tag = 0;
    bool rvalid = false, bvalid = false, second_first = false, offered = false;
    uint32_t ahead = 0;
    // Tags of the beats of each master, in the order of its bursts.
    std::deque<uint32_t> tags[2];

    for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
        if (cycle % 400 == 0) calm = static_cast<uint32_t>(random.below(3)) * 45 + 5;
        if (cycle % 50 == 0) second_first = random.often(20);
        top.second_first_i = second_first;
        for (uint32_t m = 0; m < 2; ++m) {
            Master& n = masters[m];
            const auto burst = [&] {
                const uint32_t first = static_cast<uint32_t>(random.below(16));
                return Burst{(static_cast<uint64_t>(m) << 20) + random.below(64) * 512 + first * 32,
                             1 + static_cast<uint32_t>(random.below(16 - first)), m};
            };
            if (!n.ar && random.often(calm)) {
                n.ar = true;
                n.read = burst();
            }
            if (!n.aw && n.data.size() < 20 && random.often(calm / 2)) {
                n.aw = true;
                n.write = burst();
                for (uint32_t i = 0; i < n.write.beats; ++i) {
                    n.data.push_back({++tag, i + 1 == n.write.beats});
                    tags[m].push_back(tag);
                }
            }
            if (!n.w && !n.data.empty() && random.often(calm)) n.w = true;
            poke(top.araddr_i, 33 * m, 33, n.read.address);
            poke(top.awaddr_i, 33 * m, 33, n.write.address);
            top.arlen_i = static_cast<uint16_t>((top.arlen_i & ~(0xFF << 8 * m)) | (n.read.beats - 1 & 0xFF) << 8 * m);
            top.awlen_i = static_cast<uint16_t>((top.awlen_i & ~(0xFF << 8 * m)) | (n.write.beats - 1 & 0xFF) << 8 * m);
            if (n.w) poke(top.wdata_i, 256 * m, 32, n.data.front().first);
        }
        top.arvalid_i = static_cast<uint8_t>(masters[0].ar | masters[1].ar << 1);
        top.awvalid_i = static_cast<uint8_t>(masters[0].aw | masters[1].aw << 1);
        top.wvalid_i = static_cast<uint8_t>(masters[0].w | masters[1].w << 1);
        top.wlast_i = static_cast<uint8_t>((masters[0].w && masters[0].data.front().second) |
                                           (masters[1].w && masters[1].data.front().second) << 1);
        top.wstrb_i = 0x7777777733333333ull;  // writer 1's and 0's
        rvalid = rvalid || (!reads.empty() && random.often(calm));
        bvalid = bvalid || (!answers.empty() && random.often(calm));
        top.hbm_rvalid_i = rvalid;
        top.hbm_rlast_i = rvalid && sent + 1 == reads.front().beats;
        top.hbm_bvalid_i = bvalid;
        top.hbm_arready_i = random.often(calm);
        top.hbm_awready_i = random.often(calm);
        top.hbm_wready_i = !writes.empty() && random.often(calm);
        top.eval();

        account.expect(top.rvalid_o == (rvalid ? 1u << reads.front().owner : 0u), cycle, "read data for the wrong reader");
        account.expect(top.bvalid_o == (bvalid ? 1u << answers.front().owner : 0u), cycle, "an answer for the wrong writer");
        const size_t queued = reads.size();
        if (rvalid) {
            rvalid = false;
            if (++sent == reads.front().beats) {
                reads.pop_front();
                sent = 0;
            }
        }
        if (bvalid) {
            bvalid = false;
            answers.pop_front();
        }
        if (top.hbm_wvalid_o && top.hbm_wready_i) {
            Burst& b = writes.front();
            const uint32_t m = b.owner;
            account.expect(!tags[m].empty() && top.hbm_wdata_o.data()[0] == tags[m].front() &&
                               top.hbm_wstrb_o == (m ? 0x77777777u : 0x33333333u) && top.hbm_wlast_o == (b.beats == 1),
                           cycle, "a beat is none that belongs here");
            if (!tags[m].empty()) tags[m].pop_front();
            account.expect(top.wready_o == 1u << m, cycle, "data was taken from the wrong writer");
            if (--b.beats == 0) {
                answers.push_back(b);
                writes.pop_front();
            }
        }
        // A burst that was offered is not exchanged for another one.
        bool behind = masters[1].ar;  // the first reader's burst would come before one of the second's
        for (const Burst& b : reads) behind |= b.owner == 1;
        if (second_first && behind && !offered && masters[0].ar) {
            account.expect(!(top.arready_o & 1), cycle, "the first reader does not stand back");
            ++ahead;
        }
        if (masters[1].ar && !offered && second_first && queued < 4) {
            account.expect(top.hbm_arvalid_o && top.hbm_araddr_o == masters[1].read.address, cycle, "the second reader waits");
        }
        offered = top.hbm_arvalid_o && !top.hbm_arready_i;
        for (uint32_t m = 0; m < 2; ++m) {
            Master& n = masters[m];
            if (n.ar && (top.arready_o >> m & 1)) {
                account.expect(top.hbm_arvalid_o && top.hbm_arready_i && top.hbm_araddr_o == n.read.address &&
                                   top.hbm_arlen_o + 1u == n.read.beats,
                               cycle, "another read at the port");
                reads.push_back(n.read);
                n.ar = false;
                ++served[m];
                n.waited = 0;
            } else if (n.ar) {
                account.expect(++n.waited < 20000, cycle, "a read starves");
            }
            if (n.aw && (top.awready_o >> m & 1)) {
                account.expect(top.hbm_awvalid_o && top.hbm_awready_i && top.hbm_awaddr_o == n.write.address &&
                                   top.hbm_awlen_o + 1u == n.write.beats,
                               cycle, "another write at the port");
                writes.push_back(n.write);
                n.aw = false;
            }
            if (n.w && (top.wready_o >> m & 1)) {
                n.data.pop_front();
                n.w = false;
            }
        }
        account.expect(reads.size() <= 4, cycle, "more reads under way than the queue holds");
        edge(top);
    }
    account.expect(served[0] > served[1] / 2 && served[1] > served[0] / 2, cycles, "one reader gets most of the port");
    account.expect(ahead > cycles / 100, cycles, "the second reader had no choice to win");
    return account.close(cycles);
}
