// The clock loop of both mains: toggles the clock in C++ until the job is over or the burst's cycles are used up.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "Vtop.h"
#include "bench.h"
#include "memory.h"
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#elif VM_TRACE
#include "verilated_vcd_c.h"
#endif

namespace fleet {

class Loop {
  public:
    static constexpr uint64_t kHalfPeriod = 1000;  // time steps (1 ps): 500 MHz in the waves, whatever the device's clock
    static constexpr int kResetCycles = 8;

    Loop(Vtop& top, VerilatedContext& context) : top_(top), context_(context), parent_(getppid()) {
        // Power-on state is random (--x-initial unique), but nothing outside the design may be: reset from the start.
        top_.clk_i = top_.rst_ni = top_.slow_i = 0;
        top_.s_axil_awvalid = top_.s_axil_wvalid = top_.s_axil_bready = top_.s_axil_arvalid = top_.s_axil_rready = 0;
        top_.s_axil_awaddr = top_.s_axil_araddr = 0;
        top_.s_axil_wdata = top_.s_axil_wstrb = 0;
        top_.job_i = top_.burst_i = top_.burst_state_i = 0;
#if VM_TRACE
        context_.traceEverOn(true);
#endif
    }

    /// Loads the job and resets the design.
    void start(const std::string& job_file) {
        seconds_ = 0;
        top_.slow_i = 0;
        top_.clk_i = 0;
        top_.rst_ni = 1;
        step();
        top_.rst_ni = 0;  // an edge, which asynchronous resets need, and not together with the clock's
        step();
        cycle();  // the first one tells the memories how many ports the design has
        Bench::instance().start(job_file);
        if (Bench::instance().running()) open_waves();
        for (int i = 0; i < kResetCycles; ++i) cycle();
        top_.rst_ni = 1;
        // Between two edges: what depends on them is evaluated at the next one, long before the host's first transfer.
        Bench::instance().set_arrays();
        job_cycle_ = 0;
    }

    /// Runs at most `cycles` cycles. Returns whether the job is still running.
    bool run(uint64_t cycles) {
        Bench& bench = Bench::instance();
        Memory& memory = Memory::instance();
        const auto before = std::chrono::steady_clock::now();
        for (; cycles != 0 && bench.running(); --cycles) {
            memory.now = job_cycle_;
            cycle();
            bench.behind_cycle();
            if ((++job_cycle_ & 0xFFFF) == 0) check();
        }
        if (context_.gotFinish() && bench.running()) bench.fail("the design called $finish in cycle " + std::to_string(job_cycle_));
        bench.at(job_cycle_);
        seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
        if (bench.running()) return true;
        close_waves();
        bench.finish(seconds_);
        return false;
    }

    uint64_t time() const { return time_; }
    void advance_time(uint64_t time) { time_ = time > time_ ? time : time_; }
    double seconds() const { return seconds_; }

  private:
    void cycle() {
        top_.clk_i = 1;
        step();
        top_.clk_i = 0;
        step();
    }

    void step() {
        time_ += kHalfPeriod;
        context_.time(time_);
        top_.eval();
#if VM_TRACE
        if (waves_ && job_cycle_ >= Bench::instance().job().waves_from && job_cycle_ <= Bench::instance().job().waves_to) {
            waves_->dump(time_);
        }
#endif
    }

    /// Things that need no look every cycle: a parent that died must not leave a simulation behind.
    void check() {
        if (getppid() != parent_) _exit(3);
        if (context_.gotFinish()) Bench::instance().fail("the design called $finish by cycle " + std::to_string(job_cycle_));
    }

    void open_waves() {
        const std::string& path = Bench::instance().job().waves;
        if (path.empty()) return;
#if VM_TRACE
        // "level:scope,level:scope"; without any everything is shown.
        const std::string& scopes = Bench::instance().job().wave_scopes;
        // A new writer for every file: one that writes FST keeps the tables of enumerations, and stops at the second file's.
        waves_ = std::make_unique<Waves>();
        top_.trace(waves_.get(), 99);
        waves_->dumpvars(0, "");
        for (size_t at = 0; at < scopes.size();) {
            const size_t end = std::min(scopes.find(',', at), scopes.size()), colon = scopes.find(':', at);
            if (colon < end) waves_->dumpvars(std::atoi(scopes.c_str() + at), scopes.substr(colon + 1, end - colon - 1));
            at = end + 1;
        }
        waves_->open(path.c_str());
        if (!waves_->isOpen()) {
            waves_.reset();
            Bench::instance().fail(path + ": cannot write the waves");
        }
#else
        Bench::instance().fail(path + ": this executable was built without waves");
#endif
    }

    void close_waves() {
#if VM_TRACE
        if (waves_) waves_->close();
        waves_.reset();
#endif
    }

    Vtop& top_;
    VerilatedContext& context_;
    pid_t parent_;
    uint64_t time_ = 0;
    uint64_t job_cycle_ = 0;
    double seconds_ = 0;
#if VM_TRACE_FST
    using Waves = VerilatedFstC;
#elif VM_TRACE
    using Waves = VerilatedVcdC;
#endif
#if VM_TRACE
    std::unique_ptr<Waves> waves_;
#endif
};

}  // namespace fleet
