// The dispatcher among five units, two of two slots, that take random times, read and write random ranges and are refused now
// and then; with starts from registers at any time, and binaries.
#include <algorithm>
#include <deque>
#include <vector>

#include "Vhbm0923_dispatch.h"
#include "bench.h"

namespace {

constexpr uint32_t kUnits = 7, kInFlight = 4, kGroups = 4, kRangeBits = 69, kHullBits = 7 * kRangeBits, kCommitBits = 241, kBoundBits = 28;
enum { kHbmWr, kWr0, kWr1, kHbm, kCoef, kData0, kData1 };  // ranges of a hull, from the least significant
constexpr uint64_t kNoBound = (1u << kBoundBits) - 1;
constexpr uint32_t kBusy = 5;
constexpr uint32_t kMvm = 0, kAttention = 2, kMvmNext = 5, kAttentionNext = 6;  // slots; the others have their units' numbers

uint32_t next_slot(uint32_t unit) { return unit == kMvm ? kMvmNext : unit == kAttention ? kAttentionNext : unit; }

struct Range {
    bool valid = false;
    uint64_t lo = 0, hi = 0;
    bool meets(const Range& other) const {
        for (uint64_t i = lo; valid && other.valid && i < hi; ++i) {
            if (i >= other.lo && i < other.hi) return true;
        }
        return false;
    }
};

struct Unit {
    bool busy = false, checked = false, task = false;
    uint32_t check = 0, work = 0, write = 0, error = 0, opcode = 0, needs = 0;
    std::array<uint32_t, 3> free{};  // cycles since a class of reads has met nothing
    Range hulls[7];
    uint32_t settled = 0;             // beat below which wr[0] is settled
    std::array<uint64_t, 2> bound{};  // of its activations: what the next cycle must show
    std::array<uint32_t, 6> cycles{};
    uint32_t result = 0;
    bool has_result = false;
};

struct Start {
    uint32_t group, mode, unit, opcode;
};

// Written from the register map: group (MVM, SFU, elementwise, AUX), value, unit (MVM, SFU, attention, elementwise, AUX), opcode.
constexpr Start kStarts[] = {
    {0, 0x11F, 0, 0x08}, {0, 0x31F, 0, 0x48}, {0, 0xB1F, 0, 0x48}, {0, 0xF1F, 0, 0xC8}, {0, 7, 0, 0},       {1, 1, 2, 2},
    {1, 2, 2, 3},        {1, 4, 1, 4},        {1, 8, 1, 5},        {1, 0x10, 1, 6},     {1, 0x20, 1, 7},    {1, 0x40, 2, 0x30},
    {1, 3, 1, 0},        {2, 1, 3, 1},        {2, 2, 3, 0},        {3, 2, 4, 0x20},     {3, 0, 4, 0},       {3, 1, 4, 0x21},
};
constexpr uint32_t kGroupOf[kUnits] = {0, 1, 1, 2, 3, 0, 1};

}  // namespace

int main(int argc, char** argv) {
    Random random{std::mt19937_64(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1)};
    const uint64_t cycles = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20000;
    VerilatedContext context;
    context.randReset(2);
    Vhbm0923_dispatch top{&context};
    reset(top);
    Account account;
    Unit units[kUnits];
    std::deque<uint32_t> under_way;  // slots, oldest first
    bool done[kGroups] = {};
    uint32_t err_cause = 0, err_instr = 0, commits = 0, tasks_done = 0, result = 0, overlapped = 0, followed = 0, early = 0, ends = 0, both = 0, twice = 0, twice_attention = 0, full = 0;
    std::array<uint32_t, 6> last{};
    // The run of a binary.
    bool run = false, stopped = false, over = false, offered = false;
    uint32_t to_come = 0, run_error = 0, run_cycles = 0, sum_before = 0;
    Start task{};

    for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
        // ---- starts
        const bool pulse = random.often(run ? 3 : 20);
        const Start start = kStarts[random.below(std::size(kStarts))];
        const bool wants_run = start.group == 3 && start.mode == 1;
        const bool unit_busy = units[start.unit].busy || units[next_slot(start.unit)].busy;
        const bool taken = pulse && !run && !unit_busy && (wants_run || under_way.size() < 2);
        const bool refused = pulse && !taken;
        top.pulse_i = pulse ? 1u << start.group : 0;
        for (uint32_t g = 0; g < kGroups; ++g) poke(top.mode_i, 32 * g, 32, g == start.group ? start.mode : random.engine() & 0xFFFF);
        if (run && !over && !stopped && !offered && to_come != 0 && random.often(40)) {
            do task = kStarts[random.below(std::size(kStarts))];
            while (task.group == 3);
            offered = true;
        }
        if (run && !offered && (to_come == 0 || stopped) && random.often(20)) over = true;
        top.task_i = static_cast<uint64_t>(offered && !stopped) << 35 | static_cast<uint64_t>(task.unit) << 32 | task.mode;
        top.run_over_i = over;
        top.run_error_i = static_cast<uint16_t>(run_error);

        // ---- units
        uint32_t busy = 0, checked = 0, valid = 0;
        for (uint32_t u = 0; u < kUnits; ++u) {
            Unit& n = units[u];
            busy |= static_cast<uint32_t>(n.busy) << u;
            checked |= static_cast<uint32_t>(n.checked) << u;
            const bool oldest = !under_way.empty() && under_way.front() == u;
            const bool ends_now = n.busy && n.checked && oldest && (n.error == 1 || (n.needs == 0 && n.work == 0 && n.write == 0));
            valid |= static_cast<uint32_t>(ends_now) << u;
            for (uint32_t r = 0; r < 7; ++r) {
                const uint32_t bit = u * kHullBits + r * kRangeBits;
                poke(top.hulls_i, bit, 34, n.hulls[r].hi);
                poke(top.hulls_i, bit + 34, 34, n.hulls[r].lo);
                poke(top.hulls_i, bit + 68, 1, n.hulls[r].valid);
            }
            poke(top.settled_i, kBoundBits * u, kBoundBits, n.settled);
            poke(top.commit_error_i, 16 * u, 16, n.error);
            for (uint32_t c = 0; c < 6; ++c) poke(top.commit_i, u * kCommitBits + 32 * c, 32, n.cycles[c]);
            poke(top.commit_i, u * kCommitBits + 192, 32, n.result);
            poke(top.commit_i, u * kCommitBits + 224, 1, n.has_result);
            poke(top.commit_i, u * kCommitBits + 225, 16, n.opcode);
        }
        top.busy_i = static_cast<uint8_t>(busy);
        top.checked_i = static_cast<uint8_t>(checked);
        top.commit_valid_i = static_cast<uint8_t>(valid);
        top.eval();

        // ---- what the registers show
        account.expect(top.err_cause_o == err_cause && top.err_instr_o == err_instr, cycle, "error registers");
        account.expect(top.commits_o == commits && top.tasks_o == tasks_done && top.result_o == result, cycle, "counters or result");
        uint32_t sum = 0;
        for (uint32_t c = 0; c < 6; ++c) {
            account.expect(top.class_o.data()[c] == last[c], cycle, "cycles of the last instruction");
            sum += last[c];
        }
        account.expect(top.cycles_o == sum_before, cycle, "cycles do not sum, a cycle later");
        sum_before = sum;
        account.expect(top.run_o == run, cycle, "a run is on");

        // ---- what it decides
        const bool task_taken = offered && !stopped && top.task_ready_o;
        uint32_t expected_start = taken && !wants_run ? 1u << start.unit : 0;
        const uint32_t slot = units[task.unit].busy ? next_slot(task.unit) : task.unit;
        if (task_taken) {
            expected_start = 1u << slot;
            account.expect(under_way.size() < kInFlight && !units[slot].busy, cycle, "a task was taken without a place for it");
            twice += slot == kMvmNext;
            twice_attention += slot == kAttentionNext;
            full += under_way.size() + 1 == kInFlight;
            if (!under_way.empty()) {
                const Unit& before = units[under_way.back()];
                account.expect(before.checked && before.error != 1, cycle, "a task was taken before the one before was found legal");
                early += 1;
            }
        }
        // Nor may one wait that need not.
        bool waits = !under_way.empty() && (under_way.size() == kInFlight || units[slot].busy);
        if (!under_way.empty()) waits |= !units[under_way.back()].checked || units[under_way.back()].error != 0;
        for (const uint32_t other : under_way) waits |= units[other].error != 0;  // its commit may end the run
        if (offered && !stopped && !waits) account.expect(task_taken, cycle, "a task waits for nothing");
        account.expect(top.start_o == expected_start, cycle, "starts");
        if (expected_start) account.expect(top.mode_o == (run ? task.mode : start.mode), cycle, "the start value");
        account.expect(top.run_start_o == (taken && wants_run), cycle, "the start of a run");

        for (uint32_t u = 0; u < kUnits; ++u) {
            Unit& n = units[u];
            const bool oldest = !under_way.empty() && under_way.front() == u;
            size_t place = 0;
            while (place < under_way.size() && under_way[place] != u) ++place;
            const bool young = place != 0 && place < under_way.size();
            account.expect((top.oldest_o >> u & 1) == oldest, cycle, "the oldest");
            const bool go[3] = {static_cast<bool>(top.data_go_o >> u & 1), static_cast<bool>(top.coef_go_o >> u & 1),
                                static_cast<bool>(top.hbm_go_o >> u & 1)};
            if (oldest) account.expect(go[0] && go[1] && go[2], cycle, "the oldest must wait");
            if (!oldest && !young) account.expect(!go[0] && !go[1] && !go[2], cycle, "reads of nobody");
            for (uint32_t r = 0; r < 2; ++r) {
                const uint64_t shown = peek(top.bounds_o, kBoundBits * (2 * u + r), kBoundBits);
                account.expect(shown == n.bound[r], cycle, "how far it may read what is still written");
                followed += shown != 0 && shown != kNoBound;
            }
            n.bound = {};
            if (young) {
                bool meets[3] = {};
                bool known = n.checked;
                for (size_t i = 0; i < place; ++i) {
                    const Unit& old = units[under_way[i]];
                    const Range* const w = old.hulls;
                    for (const int r : {kWr0, kWr1}) {
                        meets[0] |= n.hulls[kData0].meets(w[r]) || n.hulls[kData1].meets(w[r]);
                        meets[1] |= n.hulls[kCoef].meets(w[r]);
                    }
                    meets[2] |= n.hulls[kHbm].meets(w[kHbmWr]);
                    known &= old.checked;
                }
                if (known && !(go[0] && go[1] && go[2])) {
                    n.bound = {kNoBound, kNoBound};
                    for (size_t i = 0; i < place; ++i) {
                        const Unit& old = units[under_way[i]];
                        for (const int r : {0, 1}) {
                            const Range& read = n.hulls[kData0 + r];
                            if (read.meets(old.hulls[kWr0])) n.bound[r] = std::min<uint64_t>(n.bound[r], old.settled);
                            if (read.meets(old.hulls[kWr1])) n.bound[r] = 0;
                        }
                    }
                }
                for (int c = 0; c < 3; ++c) {
                    if (go[c]) account.expect(known && !meets[c], cycle, "reads what an older one writes");
                    n.free[c] = known && !meets[c] ? n.free[c] + 1 : 0;
                    if (n.free[c] > 2) account.expect(go[c], cycle, "waits for what it does not meet");
                    overlapped += go[c];
                }
            }
            // A class that may be read is read.
            for (int c = 0; c < 3; ++c) {
                if (n.checked && go[c]) n.needs &= ~(1u << c);
            }
        }

        // ---- commits
        bool commit = valid != 0;
        const bool run_ends = run && over && under_way.empty();
        const bool run_fails = run_ends && run_error != 0 && !stopped;
        const uint32_t u = commit ? under_way.front() : 0;
        account.expect(top.commit_valid_o == (commit || run_fails), cycle, "a commit");
        account.expect(top.run_end_o == run_ends, cycle, "the end of a run");
        const bool bad = (commit && units[u].error != 0) || run_fails;
        account.expect(top.irq_done_o == ((commit && !units[u].task) || run_ends), cycle, "the done interrupt");
        account.expect(top.irq_error_o == (bad || refused), cycle, "the error interrupt");
        ends += run_ends;
        both += bad && refused;

        bool begun[kGroups] = {}, active[kGroups] = {};
        for (const uint32_t other : under_way) active[kGroupOf[other]] = true;
        active[3] |= run;
        for (uint32_t i = 0; i < kUnits; ++i) {
            if (expected_start >> i & 1) begun[kGroupOf[i]] = true;
        }
        if (taken && wants_run) begun[3] = true;
        for (uint32_t g = 0; g < kGroups; ++g) {
            account.expect((top.status_o >> g & 1) == (done[g] && !active[g] && !begun[g]), cycle, "status");
        }

        // ---- the edge
        if (run) ++run_cycles;
        if (commit || run_fails) {
            ++commits;
            const uint32_t opcode = commit ? units[u].opcode : 0x21, error = commit ? units[u].error : run_error;
            if (commit) {
                last = units[u].cycles;
            } else {
                last = {};
                last[4] = run_cycles;
            }
            account.expect(top.commit_error_o == error && peek(top.commit_o, 225, 16) == opcode, cycle, "what commits");
            for (uint32_t c = 0; c < 6; ++c) account.expect(top.commit_o.data()[c] == last[c], cycle, "its cycles");
            if (error != 0) {
                err_cause = error;
                err_instr = opcode;
            }
            if (commit) {
                Unit& n = units[u];
                account.expect(peek(top.commit_o, 224, 1) == n.has_result && peek(top.commit_o, 192, 32) == n.result, cycle, "its result");
                if (n.has_result) result = n.result;
                if (n.task) ++tasks_done;
                if (n.task && n.error != 0) stopped = true;
                n = Unit{};
                under_way.pop_front();
                done[kGroupOf[u]] = true;
            }
        }
        if (run_ends) {
            run = over = false;
            done[3] = true;
        }
        if (refused) {
            err_cause = kBusy;
            err_instr = start.opcode;
        }
        for (uint32_t g = 0; g < kGroups; ++g) done[g] &= !begun[g];
        if (taken && wants_run) {
            run = true;
            stopped = over = offered = false;
            to_come = static_cast<uint32_t>(random.below(12));
            run_error = random.often(30) ? 8 : 0;
            run_cycles = 2;
            tasks_done = 0;
        }
        for (Unit& n : units) {
            if (!n.busy) continue;
            if (n.checked && random.often(30)) n.settled += static_cast<uint32_t>(random.below(3));
            if (n.check != 0 && --n.check == 0) n.checked = true;
            if (n.checked && n.needs == 0 && n.work != 0) --n.work;
            if (n.checked && n.needs == 0 && n.work == 0 && n.write != 0 && &n == &units[under_way.front()]) --n.write;
        }
        if (expected_start) {
            const uint32_t i = static_cast<uint32_t>(__builtin_ctz(expected_start));
            Unit& n = units[i];
            n = Unit{};
            n.busy = true;
            n.task = run;
            n.opcode = task_taken ? task.opcode : start.opcode;
            n.check = 1 + static_cast<uint32_t>(random.below(12));
            n.work = static_cast<uint32_t>(random.below(30));
            n.write = static_cast<uint32_t>(random.below(20));
            n.needs = static_cast<uint32_t>(random.below(8));
            n.error = random.often(12) ? 1 : random.often(5) ? 6 : 0;  // refused; a bus error at the end
            n.has_result = n.error == 0 && random.often(30);
            n.result = static_cast<uint32_t>(random.engine());
            for (uint32_t& c : n.cycles) c = static_cast<uint32_t>(random.below(1000));
            for (Range& r : n.hulls) {
                r.valid = random.often(70);
                r.lo = random.below(40);
                r.hi = r.lo + 1 + random.below(10);
            }
            under_way.push_back(i);
            if (task_taken) {
                offered = false;
                --to_come;
            }
        }
        if (stopped) offered = false;
        edge(top);
    }
    account.expect(followed > cycles / 400, cycles, "too little was read of what is written");
    account.expect(overlapped > cycles / 50 && early > cycles / 400 && ends > cycles / 2000 && both > 0, cycles, "too little happened");
    account.expect(twice > cycles / 2000 && twice_attention > cycles / 2000 && full > cycles / 2000, cycles, "too few were under way");
    return account.close(20 * cycles);
}
