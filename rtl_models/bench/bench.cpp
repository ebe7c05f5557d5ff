#include "bench.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memory.h"
#include "overlay.h"
#include "svdpi.h"

namespace fleet {
namespace {

constexpr uint64_t kTraceChunk = 64 * 1024;  // bytes by which the trace file grows
constexpr uint64_t kRecordBytes = 64;
constexpr uint64_t kStartSlack = 16;  // cycles that may pass between the bus's write of a start register and the unit's start

struct CommitRecord {
    uint32_t seq;
    uint16_t opcode;
    uint16_t error;
    uint64_t digest;
    uint64_t start;
    uint64_t end;
    uint32_t cycles[6];
    uint32_t bytes_written;
    uint32_t result;
};
static_assert(sizeof(CommitRecord) == kRecordBytes, "the format of rtl_models/README.md");

constexpr uint16_t kResultValid = 0x8000;

/// What a commit must be (key `expected`).
struct ExpectedCommit {
    uint64_t digest;
    uint32_t bytes_written;
    uint32_t result;
    uint16_t error;  // as in a commit record; kAnyCause: refused, whatever the cause
    uint16_t reserved[3];
};
static_assert(sizeof(ExpectedCommit) == 24, "the format of rtl_models/README.md");

constexpr uint16_t kAnyCause = 0x7FFF;

std::string format(const char* pattern, unsigned a, unsigned b = 0) {
    char text[160];
    std::snprintf(text, sizeof text, pattern, a, b);
    return text;
}

/// How many transfers waited for ready, by channel; a channel on which none did has no line.
void print_waits(FILE* f, const std::string& port, const uint64_t* waits) {
    for (uint32_t c = 0; c < kChannels; ++c) {
        if (waits[c] != 0) std::fprintf(f, "%s.%s_waits=%" PRIu64 "\n", port.c_str(), kChannelNames[c], waits[c]);
    }
}

}  // namespace

Bench& Bench::instance() {
    static Bench bench;
    return bench;
}

std::string Bench::load(const std::string& job_file) {
    std::string error = job_.read(job_file);
    if (!error.empty()) return error;
    error = Memory::instance().load(job_.ddr, job_.hbm, job_.memory, job_.timing, !job_.overlay.empty());
    if (error.empty() && !job_.overlay.empty()) error = lay_overlay(Memory::instance(), job_.overlay);
    if (!error.empty()) return error;
    error = script_.open(job_.script);
    if (!error.empty()) return error;
    results_ = ::open(job_.results.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (results_ < 0) return job_.results + ": cannot create the file: " + std::strerror(errno);
    if (!job_.expected.empty()) error = expected_.open(job_.expected, MappedFile::Access::Read);
    if (error.empty() && !job_.writes.empty()) error = Memory::instance().log().open(job_.writes);
    if (error.empty() && !job_.arrays.empty()) error = arrays_.open(job_.arrays);
    if (error.empty() && !job_.snapshots.empty()) error = snapshots_.open(job_.snapshots, job_.snapshots_to);
    if (!error.empty()) return error;
    return trace_.create(job_.trace, kTraceChunk);
}

void Bench::start(const std::string& job_file) {
    job_ = Job();
    position_ = commits_ = cycle_ = fetched_ = 0;
    records_ = Sha256();
    hold_random_ = 0;
    current_ = ScriptRecord{};
    starts_.clear();
    writes_ = marked_ = warm_ = false;
    message_.clear();
    state_ = State::Running;
    const std::string error = load(job_file);
    if (!error.empty()) fail(error);
    if (job_.memory.rfind("stall:", 0) == 0) hold_random_ = std::strtoull(job_.memory.c_str() + 6, nullptr, 10) << 1 | 1;
}

void Bench::set_arrays() {
    if (!running() || job_.arrays_from.empty()) return;
    const std::string error = arrays_.set(job_.arrays_from);
    if (!error.empty()) fail(error);
}

void Bench::end(State state, const std::string& message) {
    if (state_ != State::Running) return;
    state_ = state;
    message_ = message;
}

void Bench::finish(double seconds) {
    if (trace_.is_open()) {
        const std::string error = trace_.resize(commits_ * kRecordBytes);
        if (!error.empty()) {
            state_ = State::Error;
            message_ = error;
        }
    }
    trace_.close();
    expected_.close();
    for (const std::string& error : {Memory::instance().log().close(), snapshots_.close()}) {
        if (error.empty()) continue;
        state_ = State::Error;
        message_ = error;
    }
    if (state_ == State::Done && !job_.arrays_to.empty()) {
        const std::string error = arrays_.get(job_.arrays_to);
        if (!error.empty()) {
            state_ = State::Error;
            message_ = error;
        }
    }
    if (!failed() && !job_.overlay_to.empty()) {
        const std::string error = keep_overlay(Memory::instance(), job_.overlay_to);
        if (!error.empty()) {
            state_ = State::Error;
            message_ = error;
        }
    }
    seconds -= script_.waited();
    script_.close();
    if (results_ >= 0) ::close(results_);
    results_ = -1;
    Memory& memory = Memory::instance();
    if (!job_.status.empty()) {
        const std::string temporary = job_.status + ".tmp";
        FILE* const f = std::fopen(temporary.c_str(), "w");
        if (f != nullptr) {
            std::string text = message_;
            for (char& c : text) {
                if (c == '\n') c = ' ';
            }
            const char* const name = state_ == State::Done       ? "done"
                                     : state_ == State::Diverged ? "diverged"
                                     : state_ == State::Hang     ? "hang"
                                                                 : "error";
            std::fprintf(f, "status=%s\nmessage=%s\nrefusal=%s\nnonce=%s\nrecords=%s\n", name, text.c_str(), memory.refusal().c_str(),
                         job_.nonce.c_str(), records_.hex().c_str());
            std::fprintf(f, "cycles=%" PRIu64 "\ncommits=%" PRIu64 "\nscript=%" PRIu64 "\nseconds=%.9f\n", cycle_, commits_, position_,
                         seconds);
            print_waits(f, "registers", memory.register_waits());
            for (uint32_t p = 0; p <= memory.hbm_ports(); ++p) {
                const Port& port = memory.port(p);
                const std::string key = p == memory.hbm_ports() ? "ddr" : "hbm." + std::to_string(p);
                std::fprintf(f, "%s.read_bytes=%" PRIu64 "\n%s.write_bytes=%" PRIu64 "\n%s.read_bursts=%" PRIu64 "\n%s.write_bursts=%" PRIu64 "\n",
                             key.c_str(), port.read_bytes, key.c_str(), port.write_bytes, key.c_str(), port.read_bursts, key.c_str(),
                             port.write_bursts);
                std::fprintf(f, "%s.read_beats=%" PRIu64 "\n%s.write_beats=%" PRIu64 "\n", key.c_str(), port.read_beats, key.c_str(),
                             port.write_beats);
                print_waits(f, key, port.waits);
                RowCounters rows;
                if (!port.rows(rows)) continue;
                std::fprintf(f, "%s.row_hits=%" PRIu64 "\n%s.row_closed=%" PRIu64 "\n%s.row_misses=%" PRIu64 "\n%s.refresh_cycles=%" PRIu64 "\n",
                             key.c_str(), rows.hits, key.c_str(), rows.closed, key.c_str(), rows.misses, key.c_str(),
                             rows.refresh_cycles);
            }
            const bool written = std::ferror(f) == 0;
            if (std::fclose(f) == 0 && written) std::rename(temporary.c_str(), job_.status.c_str());
        }
    }
    memory.unload();
}

std::string Bench::script_position() const {
    if (position_ == 0) return "before the script's first record";
    const std::string at = "script record " + std::to_string(position_ - 1) + " (";
    switch (current_.op) {
        case kWrite: return at + format("WRITE 0x%x = 0x%x)", current_.address, current_.data);
        case kWaitIrq: return at + "WAIT_IRQ)";
        case kRead: return at + format("READ 0x%x)", current_.address);
        case kPoll: return at + format("POLL 0x%x for 0x%x)", current_.address, current_.data);
        default: return at + "END)";
    }
}

uint32_t Bench::next(uint64_t cycle, uint16_t& address, uint32_t& data) {
    address = data = 0;
    cycle_ = cycle;
    if (state_ != State::Running) return kEnd;
    const std::string error = script_.next(current_);
    if (!error.empty()) {
        fail(error);
        return kEnd;
    }
    ++position_;
    address = static_cast<uint16_t>(current_.address);
    data = current_.data;
    if (current_.op > kPoll || current_.address > 0xFFFF) {
        fail(job_.script + ": " + format("op %u, address 0x%x is no operation of a register script", current_.op, current_.address) +
             " (record " + std::to_string(position_ - 1) + ")");
        return kEnd;
    }
    if (current_.op == kEnd) {
        end(State::Done, "");
        return kEnd;
    }
    if (current_.op == kWrite) writes_ = true;
    return current_.op == kPoll ? static_cast<uint32_t>(kRead) : current_.op;
}

void Bench::written(uint64_t cycle, uint32_t resp) {
    if (resp != 0) {
        fail(format("the register write answered with response %u", resp) + " at " + script_position() + ", cycle " + std::to_string(cycle));
    } else if ((current_.mask & kStarts) != 0) {
        starts_.push_back(cycle + 1);
        marked_ = true;
    } else if ((current_.mask & kFetches) != 0) {
        fetched_ = cycle + 1;
    }
}

bool Bench::read(uint64_t cycle, uint32_t data, uint32_t resp) {
    if (resp != 0) {
        fail(format("the register read answered with response %u", resp) + " at " + script_position() + ", cycle " + std::to_string(cycle));
        return true;
    }
    if (current_.op == kPoll) return (data & current_.mask) == current_.data || state_ != State::Running;
    const ssize_t count = ::write(results_, &data, sizeof data);
    if (count != static_cast<ssize_t>(sizeof data)) fail(job_.results + ": cannot write: " + std::strerror(errno));
    return true;
}

uint32_t Bench::hold_back() {
    if (hold_random_ == 0) return 0;
    hold_random_ = hold_random_ * 6364136223846793005u + 1442695040888963407u;  // Knuth, MMIX
    const auto r = static_cast<uint32_t>(hold_random_ >> 33);
    return (r & 0x3) | (r & 0x30) | (r >> 8 & 0x7) << 8;
}

void Bench::late(uint64_t cycle) {
    cycle_ = cycle;
    end(State::Hang, "no interrupt within " + std::to_string(current_.data) + " cycles at " + script_position() + ", cycle " +
                         std::to_string(cycle) + ", " + std::to_string(commits_) + " commits; " + Memory::instance().describe());
}

void Bench::hang(uint64_t cycle, bool quiet) {
    cycle_ = cycle;
    const std::string why = quiet ? "nothing moved for " + std::to_string(job_.quiet_cycles) + " cycles"
                                  : "the limit of " + std::to_string(job_.max_cycles) + " cycles is reached";
    end(State::Hang, why + " at " + script_position() + ", cycle " + std::to_string(cycle) + ", " + std::to_string(commits_) +
                         " commits; " + Memory::instance().describe());
}

void Bench::commit(uint64_t cycle, uint32_t opcode, uint32_t error, bool result_valid, uint32_t result, const uint32_t* cycles) {
    if (state_ != State::Running) return;
    if (!writes_) {
        fail(format("an instruction committed before the script's first write: opcode 0x%x, error cause %u", opcode, error) + ", cycle " +
             std::to_string(cycle));
        return;
    }
    CommitRecord record{};
    record.seq = static_cast<uint32_t>(commits_);
    record.opcode = static_cast<uint16_t>(opcode);
    record.error = static_cast<uint16_t>((error & 0x7FFF) | (result_valid ? kResultValid : 0));
    record.end = cycle + 1;
    uint64_t counted = 0;
    for (int i = 0; i < 6; ++i) {
        record.cycles[i] = cycles[i];
        counted += cycles[i];
    }
    // The bench's own measure: of the marked start writes, in their order, the first that fits. One that is passed over was refused
    // without a commit; a design that miscounts passes over more than were refused, and a later commit finds none left.
    const auto fits = [&](uint64_t start) { return record.end - start >= counted && record.end - start - counted <= kStartSlack; };
    const auto found = std::find_if(starts_.begin(), starts_.end(), fits);
    if (found != starts_.end()) {
        record.start = *found;
        starts_.erase(starts_.begin(), found + 1);
    } else {  // of a task in a binary, or of a script without marks: what the design counted, since the binary was started
        const bool alone = marked_ && fetched_ == 0;
        const uint64_t measured = record.end - (!alone ? fetched_ : starts_.empty() ? record.end : starts_.front());
        if (alone || counted > measured) {
            fail("the classes of cycles sum to " + std::to_string(counted) + ", from " + (alone ? "start" : "the binary's start") +
                 " to commit the bench measured " + (alone && starts_.empty() ? "nothing: no start write is left" : std::to_string(measured)) +
                 format(" (commit %u, opcode 0x%x)", record.seq, opcode));
            return;
        }
        record.start = record.end - counted;
    }
    // Of a younger instruction writes may be under way: only the last one that was started is held to its own.
    if (marked_ && fetched_ == 0 && starts_.empty() && error == 0) {
        const std::string writes = Memory::instance().unanswered();
        if (!writes.empty()) {
            fail(format("the instruction commits before its writes are answered (commit %u, opcode 0x%x)", record.seq, opcode) + ", cycle " +
                 std::to_string(cycle) + ": no response yet to " + writes);
            return;
        }
    }
    Memory::instance().digest().take(cycle, record.digest, record.bytes_written);
    record.result = result_valid ? result : 0;
    if ((commits_ + 1) * kRecordBytes > trace_.size()) {
        const std::string error_text = trace_.resize(trace_.size() * 2);
        if (!error_text.empty()) {
            fail(error_text);
            return;
        }
    }
    std::memcpy(trace_.data() + commits_ * kRecordBytes, &record, sizeof record);
    records_.add(&record, sizeof record);
    const std::string failed = snapshots_.take(commits_, Memory::instance().ddr().image());
    if (!failed.empty()) fail(failed);
    ++commits_;
    hold(commits_ - 1, record.error, record.digest, record.bytes_written, record.result);
    warm_ = commits_ == job_.warm_commits;
    if (commits_ == job_.last_commit) end(State::Done, "");
}

void Bench::hold(uint64_t number, uint16_t error, uint64_t digest, uint32_t bytes, uint32_t result) {
    if ((number + 1) * sizeof(ExpectedCommit) > expected_.size()) return;
    ExpectedCommit e;
    std::memcpy(&e, expected_.data() + number * sizeof e, sizeof e);
    const bool cause = e.error == kAnyCause ? (error & ~kResultValid) != 0 : e.error == error;
    const bool value = (e.error & kResultValid) == 0 || e.error == kAnyCause || e.result == result;
    if (cause && value && e.digest == digest && e.bytes_written == bytes) return;
    end(State::Diverged, "commit " + std::to_string(number) + " is not the expected one");
}

}  // namespace fleet

using fleet::Bench;

extern "C" {

void fleet_bench_limits(unsigned long long* start_cycle, unsigned long long* max_cycles, unsigned long long* quiet_cycles) {
    *start_cycle = Bench::instance().job().start_cycle;
    *max_cycles = *start_cycle + Bench::instance().job().max_cycles;
    *quiet_cycles = Bench::instance().job().quiet_cycles;
}

void fleet_bench_hang(unsigned long long cycle, unsigned quiet) { Bench::instance().hang(cycle, quiet != 0); }

void fleet_bench_commit(unsigned long long cycle, unsigned opcode, unsigned error, unsigned result_valid, unsigned result,
                        const svBitVecVal* cycles) {
    Bench::instance().commit(cycle, opcode, error, result_valid != 0, result, cycles);
}

unsigned fleet_host_next(unsigned long long cycle, unsigned short* address, unsigned* data) {
    return Bench::instance().next(cycle, *address, *data);
}

void fleet_host_written(unsigned long long cycle, unsigned resp) { Bench::instance().written(cycle, resp); }

unsigned fleet_host_read(unsigned long long cycle, unsigned data, unsigned resp) {
    return Bench::instance().read(cycle, data, resp) ? 1 : 0;
}

unsigned fleet_host_hold() { return Bench::instance().hold_back(); }

void fleet_host_late(unsigned long long cycle) { Bench::instance().late(cycle); }
}
