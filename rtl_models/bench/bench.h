// What the bench does beside the memories: plays the job's script, records commits, notices hangs. The DPI functions of
// fleet_bench.sv and fleet_host.sv come in here; the clock loop (loop.h) starts jobs and asks whether they are over.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "arrays.h"
#include "job.h"
#include "mapped_file.h"
#include "memory.h"
#include "script.h"
#include "sha256.h"
#include "snapshots.h"

namespace fleet {

class Bench {
  public:
    static Bench& instance();

    /// Loads a job: maps its files, creates results and trace. An error ends the job at once (`over()`).
    void start(const std::string& job_file);
    /// Behind the reset: sets the arrays inside the design that the job gives.
    void set_arrays();
    bool running() const { return state_ == State::Running; }
    /// Whether a job was ever started (in the slow mode there is none).
    bool has_job() const { return state_ != State::Idle; }
    /// Ends the job with an error from outside the model (an assertion, a signal). The first end counts.
    void fail(const std::string& message) { end(State::Error, message); }
    /// Writes the status file and lets go of all files. `seconds`: wall time of the clock loop.
    void finish(double seconds);
    const Job& job() const { return job_; }
    uint64_t cycle() const { return cycle_; }
    bool failed() const { return state_ != State::Done && state_ != State::Diverged; }
    const std::string& message() const { return message_; }

    // Called by the model.
    uint32_t next(uint64_t cycle, uint16_t& address, uint32_t& data);
    void written(uint64_t cycle, uint32_t resp);
    bool read(uint64_t cycle, uint32_t data, uint32_t resp);
    void late(uint64_t cycle);
    /// Cycles by which the host holds its next transfer back (see fleet_host.sv); 0 unless the job's memory stalls.
    uint32_t hold_back();
    void hang(uint64_t cycle, bool quiet);
    void commit(uint64_t cycle, uint32_t opcode, uint32_t error, bool result_valid, uint32_t result, const uint32_t* cycles);
    void at(uint64_t cycle) { cycle_ = cycle; }
    /// Called behind every cycle: what the job counts begins behind the cycle of its last warm commit.
    void behind_cycle() {
        if (!warm_) return;
        warm_ = false;
        Memory::instance().count_from_here();
    }

  private:
    enum class State { Idle, Running, Done, Diverged, Hang, Error };
    enum Op : uint32_t { kEnd = 0, kWrite = 1, kWaitIrq = 2, kRead = 3, kPoll = 4 };
    enum Mask : uint32_t { kStarts = 1, kFetches = 2 };  // of a WRITE: it starts an instruction, a binary

    void end(State state, const std::string& message);
    std::string load(const std::string& job_file);
    std::string script_position() const;
    /// Ends the job where the commit that was just recorded is not the expected one.
    void hold(uint64_t number, uint16_t error, uint64_t digest, uint32_t bytes, uint32_t result);

    State state_ = State::Idle;
    Job job_;
    Script script_;
    Arrays arrays_;
    Snapshots snapshots_;
    MappedFile trace_, expected_;
    int results_ = -1;
    uint64_t position_ = 0;  // records of the script that were fetched
    ScriptRecord current_{};
    std::deque<uint64_t> starts_;  // cycles after which instructions were started and have not committed
    uint64_t commits_ = 0, cycle_ = 0;
    bool writes_ = false;       // the script has come to a write
    bool marked_ = false;       // the job has marked a start write
    bool warm_ = false;         // the last warm commit was in this cycle
    uint64_t fetched_ = 0;      // cycle after which the last binary was started
    uint64_t hold_random_ = 0;  // state of what `hold_back` draws; 0: it does not
    Sha256 records_;            // of all commit records
    std::string message_;
};

}  // namespace fleet
