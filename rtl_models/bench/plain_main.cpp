// A main without cocotb and Python: plays the jobs named on the command line. The reference for speed, and a way to replay a
// job where no Python is.

#include <cstdio>
#include <cstring>
#include <memory>

#include "loop.h"

int main(int argc, char** argv) {
    const auto context = std::make_unique<VerilatedContext>();
    Verilated::threadContextp(context.get());
    context->commandArgs(argc, argv);
    const auto top = std::make_unique<Vtop>(context.get(), "");
    if (argc == 2 && std::strcmp(argv[1], "--arrays") == 0) {
        fleet::Arrays::print();
        return 0;
    }
    fleet::Loop loop(*top, *context);
    int jobs = 0, failed = 0;
    for (int i = 1; i < argc; ++i) {
        if (argv[i][0] == '+') continue;  // +verilator+...
        ++jobs;
        const auto before = std::chrono::steady_clock::now();
        loop.start(argv[i]);
        while (loop.run(1'000'000)) {
        }
        const fleet::Bench& bench = fleet::Bench::instance();
        if (bench.failed()) {
            ++failed;
            std::fprintf(stderr, "%s: %s\n", argv[i], bench.message().c_str());
        } else {
            const double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
            std::printf("%s: %llu cycles in %.6f s, %.6f s with loading\n", argv[i], static_cast<unsigned long long>(bench.cycle()),
                        loop.seconds(), whole);
        }
    }
    if (jobs == 0) std::fprintf(stderr, "usage: %s JOB...\n", argv[0]);
    top->final();
    return jobs == 0 ? 2 : failed == 0 ? 0 : 1;
}
