// The main for cocotb. Between bursts it is an event loop for the VPI, as cocotb needs it; when Python has written a number of
// cycles to fleet_tb.burst_i, the clock is toggled here without looking at the VPI at all, which is what makes whole models
// affordable (benchmarks/burst.py).
//
// Mailbox on fleet_tb's ports: job_i (number of a job file <jobs>/job_<number>), burst_i, burst_state_i. <jobs> comes from
// `--jobs FOLDER`.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "loop.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif
#include "verilated_vpi.h"

extern "C" void vlog_startup_routines_bootstrap(void);

namespace {

constexpr uint64_t kNever = ~0ull;

fleet::Loop* g_loop = nullptr;

/// Value-change callbacks may change values again.
void settle_values() {
    while (VerilatedVpi::callValueCbs()) {
    }
}

/// Evaluates the design until nothing that Python wrote at this time is left to be seen.
void settle_time_step(Vtop& top) {
    do {
        do {
            top.eval_step();
            VerilatedVpi::clearEvalNeeded();
            VerilatedVpi::doInertialPuts();
            settle_values();
        } while (VerilatedVpi::evalNeeded());
        VerilatedVpi::callCbs(cbReadWriteSynch);
        VerilatedVpi::doInertialPuts();
        settle_values();
    } while (VerilatedVpi::evalNeeded());
    top.eval_end_step();
    VerilatedVpi::callCbs(cbReadOnlySynch);
}

/// What Python asked for: perhaps a new job, then a burst of it.
void serve_mailbox(Vtop& top, fleet::Loop& loop, const std::string& jobs) {
    if (top.job_i != 0) {
        const std::string job = jobs + "/job_" + std::to_string(top.job_i);
        top.job_i = 0;
        loop.start(job);
    }
    const bool running = loop.run(top.burst_i);
    top.burst_i = 0;
    top.burst_state_i = running ? 1 : 2;
}

/// Next time at which somebody wants to be called; kNever when nobody does.
uint64_t next_event(Vtop& top) {
    const uint64_t design = top.eventsPending() ? top.nextTimeSlot() : kNever;
    return std::min<uint64_t>(VerilatedVpi::cbNextDeadline(), design);
}

}  // namespace

/// Called for $time and by the VPI.
double sc_time_stamp() { return g_loop != nullptr ? static_cast<double>(g_loop->time()) : 0; }

int main(int argc, char** argv) {
    std::string jobs = ".";
    for (int i = 1; i + 1 < argc; ++i) {
        if (std::strcmp(argv[i], "--jobs") == 0) jobs = argv[i + 1];
    }
    VerilatedContext& context = *Verilated::threadContextp();
    context.commandArgs(argc, argv);
    const auto top = std::make_unique<Vtop>(&context, "");
    if (argc == 2 && std::strcmp(argv[1], "--arrays") == 0) {
        fleet::Arrays::print();
        return 0;
    }
    Verilated::fatalOnVpiError(false);  // cocotb asks for objects that need not exist
    fleet::Loop loop(*top, context);
    g_loop = &loop;

    vlog_startup_routines_bootstrap();
    VerilatedVpi::callCbs(cbStartOfSimulation);
    settle_values();
    while (!context.gotFinish()) {
        settle_time_step(*top);
        if (top->burst_i != 0) serve_mailbox(*top, loop, jobs);
        const uint64_t next = next_event(*top);
        if (next == kNever) break;
        loop.advance_time(next);  // a burst may have run past what was planned before it
        context.time(loop.time());
        VerilatedVpi::callCbs(cbNextSimTime);
        settle_values();
        VerilatedVpi::callTimedCbs();
        settle_values();
    }
    top->final();
#if VM_COVERAGE
    context.coveragep()->write((jobs + "/coverage-" + std::to_string(getpid()) + ".dat").c_str());
#endif
    VerilatedVpi::callCbs(cbEndOfSimulation);
    g_loop = nullptr;
    return context.gotError() ? 1 : 0;
}
