// The main of a bench: drives its clocks. A design that waits for times of its own (#delay) is woken between their edges, too.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "Vtop.h"
#include "verilated.h"

namespace {

struct Clock {
    CData* net;
    uint64_t next, half;  // time of its next edge, half a period
};

#include "clocks.h"

constexpr int kNanosecond = -9;

}  // namespace

int main(int argc, char** argv) {
    const auto context = std::make_unique<VerilatedContext>();
#if VM_TRACE
    context->traceEverOn(true);
#endif
    context->commandArgs(argc, argv);
    const auto top = std::make_unique<Vtop>(context.get(), "");
    uint64_t unit = 1;  // time steps of a nanosecond
    for (int n = context->timeprecision(); n < kNanosecond; ++n) unit *= 10;
    std::vector<Clock> clocks = clocks_of(*top);
    for (Clock& clock : clocks) {
        *clock.net = 0;
        clock.next *= unit;
        clock.half *= unit;
    }
    while (!context->gotFinish()) {
        top->eval();
        uint64_t now = clocks[0].next;
        for (const Clock& clock : clocks) now = std::min(now, clock.next);
        if (top->eventsPending()) now = std::min(now, top->nextTimeSlot());
        context->time(now);
        for (Clock& clock : clocks) {
            if (clock.next != now) continue;
            *clock.net ^= 1;
            clock.next += clock.half;
        }
    }
    top->final();
    return 0;
}
