// The fetch of binaries against a reader of the whole binary: good ones, cut short, with bad cfg_ids and start values, stopped
// in the middle, and answered with bus errors, from a memory that stalls.
#include <deque>
#include <vector>

#include "Vhbm0923_aux_fetch.h"
#include "bench.h"

namespace {

struct Kind {
    uint32_t cfg_id, unit, beats, words, start;
};
// Written from the layout of the binary form.
constexpr Kind kKinds[] = {
    {0x08, 0, 2, 32, 0x11F}, {0x48, 0, 2, 32, 0x31F}, {0x48, 0, 2, 32, 0xB1F}, {0xC8, 0, 2, 32, 0xF1F}, {0x01, 3, 1, 13, 1},
    {0x02, 2, 1, 16, 1},     {0x03, 2, 1, 16, 2},     {0x04, 1, 1, 16, 4},     {0x05, 1, 1, 16, 8},     {0x06, 1, 1, 16, 0x10},
    {0x07, 1, 1, 16, 0x20},  {0x30, 2, 1, 16, 0x40},
};
constexpr uint32_t kBadSize = 2, kUnaligned = 3, kOutOfRange = 4, kBusError = 6, kBadBinary = 8;

struct Task {
    uint32_t unit, mode;
    std::vector<uint32_t> words;
};

}  // namespace

int main(int argc, char** argv) {
    Random random{std::mt19937_64(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1)};
    const uint64_t cycles = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20000;
    VerilatedContext context;
    context.randReset(2);
    Vhbm0923_aux_fetch top{&context};
    reset(top);
    Account account;
    uint64_t cycle = 0, runs[9] = {}, stops = 0, ahead = 0;

    while (cycle < cycles) {
        // ---- a binary
        const uint32_t count = static_cast<uint32_t>(random.often(30) ? random.below(80) : random.below(6)) + 1;
        std::vector<uint32_t> image;
        std::vector<Task> tasks;
        for (uint32_t i = 0; i < count; i += 32) {
            uint8_t ids[64] = {};
            std::vector<uint32_t> data;
            for (uint32_t t = i; t < count && t < i + 32; ++t) {
                const Kind kind = kKinds[random.below(std::size(kKinds))];
                ids[t - i] = static_cast<uint8_t>(kind.cfg_id);
                Task task{kind.unit, kind.start, {}};
                for (uint32_t w = 0; w + 1 < kind.words; ++w) task.words.push_back(static_cast<uint32_t>(random.engine()));
                task.words.push_back(kind.start);
                data.insert(data.end(), task.words.begin(), task.words.end());
                data.resize((data.size() + 15) / 16 * 16);
                tasks.push_back(task);
            }
            data.resize(64 * 16);
            const uint32_t* const id_words = reinterpret_cast<const uint32_t*>(ids);
            image.insert(image.end(), id_words, id_words + 16);
            image.insert(image.end(), data.begin(), data.end());
        }
        uint64_t address = random.below(1 << 20) * 64;
        uint32_t beats = static_cast<uint32_t>(image.size() / 16), wanted = count, cause = 0, stop_after = ~0u;
        uint64_t error_beat = ~0ull;
        size_t good = tasks.size();
        // Where a task's data begins, in beats of the image.
        const auto begin_of = [&](uint32_t task) {
            uint32_t beat = task / 32 * 65 + 1;
            for (uint32_t t = task / 32 * 32; t < task; ++t) beat += tasks[t].words.size() == 32 ? 2 : 1;
            return beat;
        };
        const uint32_t victim = static_cast<uint32_t>(random.below(count));
        switch (random.below(10)) {
            case 0:
                reinterpret_cast<uint8_t*>(&image[victim / 32 * 65 * 16])[victim % 32] = random.often(50) ? 0 : 0x11;
                cause = kBadBinary;
                good = victim;
                break;
            case 1:
                beats = begin_of(victim) + (tasks[victim].words.size() == 32 ? static_cast<uint32_t>(random.below(2)) : 0);
                cause = kBadBinary;
                good = victim;
                break;
            case 2:
                wanted = count + 1 + static_cast<uint32_t>(random.below(70));
                cause = kBadBinary;
                break;
            case 3:
                image[begin_of(victim) * 16 + tasks[victim].words.size() - 1] ^= 0x1000;  // the start value
                cause = kBadBinary;
                good = victim;
                break;
            case 4:
                error_beat = begin_of(victim) + tasks[victim].words.size() / 32;
                cause = kBusError;
                good = victim;
                break;
            case 5: stop_after = static_cast<uint32_t>(random.below(count)); break;
            case 6:
                reinterpret_cast<uint8_t*>(&image[victim / 32 * 65 * 16])[32 + random.below(32)] = 8;
                cause = kBadBinary;
                good = victim / 32 * 32;
                break;
            case 7:
                cause = std::array<uint32_t, 3>{kBadSize, kUnaligned, kOutOfRange}[random.below(3)];
                if (cause == kBadSize) wanted = 0;
                if (cause == kUnaligned) address += 4;
                if (cause == kOutOfRange) address = (4ull << 30) - 64 * (beats - 1);
                good = 0;
                break;
            default: break;
        }

        // ---- the run
        top.start_i = 1;
        top.addr_i = static_cast<uint32_t>(address);
        top.beats_i = beats;
        top.tasks_i = wanted;
        top.stop_i = top.end_i = top.ddr_rvalid_i = top.task_ready_i = 0;
        std::deque<uint64_t> flying;  // beats on their way
        size_t taken = 0;
        uint64_t asked = 0, began = cycle, delivered = 0;
        uint32_t patience = 0, calm = static_cast<uint32_t>(random.below(3)) * 45 + 5;
        bool stop = false;
        for (;; ++cycle) {
            if (patience != 0) --patience;
            top.ddr_arready_i = random.often(calm);
            top.ddr_rvalid_i = 0;
            if (!flying.empty() && random.often(calm)) {
                const uint64_t beat = flying.front();
                flying.pop_front();
                ++delivered;
                top.ddr_rvalid_i = 1;
                top.ddr_rresp_i = beat == error_beat ? 2 : 0;
                for (uint32_t i = 0; i < 16; ++i) top.ddr_rdata_i.data()[i] = beat * 16 + i < image.size() ? image[beat * 16 + i] : 0xDEAD;
            }
            top.stop_i = stop;
            top.task_ready_i = 0;
            top.eval();
            const bool valid = top.task_o >> 35 & 1;
            if (valid && patience == 0 && !stop) {
                top.task_ready_i = 1;
                patience = static_cast<uint32_t>(random.below(random.often(20) ? 200 : 4));
                top.eval();
                account.expect(taken < good, cycle, "a task that must not run");
                if (taken < good) {
                    const Task& task = tasks[taken];
                    account.expect((top.task_o & 0xFFFFFFFF) == task.mode && (top.task_o >> 32 & 7) == task.unit, cycle, "unit or start value");
                    bool same = true;
                    for (size_t w = 0; w < task.words.size(); ++w) same &= top.words_o.data()[w] == task.words[w];
                    account.expect(same, cycle, "the registers of a task");
                }
                if (++taken > stop_after) stop = true;
                if (taken < count && asked > begin_of(static_cast<uint32_t>(taken)) + 64) ++ahead;
            }
            if (top.ddr_arvalid_o && top.ddr_arready_i) {
                const uint64_t first = (top.ddr_araddr_o - address) / 64, n = top.ddr_arlen_o + 1u;
                account.expect(top.ddr_araddr_o % 64 == 0 && first == asked && first + n <= beats && top.ddr_arid_o == 15, cycle, "a read");
                account.expect(top.ddr_araddr_o / 4096 == (top.ddr_araddr_o + 64 * n - 1) / 4096, cycle, "a burst leaves its page");
                for (uint64_t i = 0; i < n; ++i) flying.push_back(first + i);
                asked += n;
            }
            const bool over = top.over_o;
            if (over) {
                account.expect(flying.empty() && !top.ddr_arvalid_o, cycle, "over while reads are under way");
                account.expect(stop || (taken == good && top.error_o == cause), cycle, "how the run ended: cause " + std::to_string(top.error_o) + " for " + std::to_string(cause) + ", tasks " + std::to_string(taken) + " of " + std::to_string(good));
                top.end_i = 1;
                top.eval();
            }
            edge(top);
            top.start_i = 0;
            if (over) break;
            if (cycle - began > 200000) {
                account.expect(false, cycle, "the run does not end");
                return account.close(0);
            }
        }
        top.end_i = 0;
        ++runs[stop ? 0 : cause];
        stops += stop;
        for (uint32_t i = random.below(3); i != 0; --i, ++cycle) {
            top.eval();
            account.expect(!(top.task_o >> 35 & 1) && !top.ddr_arvalid_o, cycle, "not silent between runs");
            edge(top);
        }
        top.eval();
        edge(top);
    }
    account.expect(ahead > 5, cycle, "the next block was never read ahead");
    for (const uint32_t cause : {0u, kBadSize, kUnaligned, kOutOfRange, kBusError, kBadBinary}) {
        account.expect(runs[cause] != 0, cycle, "no run ended with cause " + std::to_string(cause));
    }
    account.expect(stops != 0, cycle, "no run was stopped");
    return account.close(cycles / 100);
}
