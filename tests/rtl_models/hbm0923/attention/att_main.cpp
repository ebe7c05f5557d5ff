// Plays instructions on the attention unit, in one process: arguments are the memory model, the DDR image and one image a
// port; each line of the input is mode, 15 operands and three delays (cycles from the check to data_go, to hbm_go and to
// oldest). A line of output an instruction: error, opcode, cycles from the start to the commit, six classes, four hulls.
// Exits 1 with a reason on a protocol violation, a wrong account of cycles or a hang. "idle N" runs N cycles.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "Vtop.h"
#include "memory.h"
#include "verilated.h"

int main(int argc, char** argv) {
    VerilatedContext context;
    context.randReset(2);
    context.randSeed(7);
    Vtop top(&context);
    fleet::Memory& memory = fleet::Memory::instance();
    const uint32_t ports = static_cast<uint32_t>(argc - 3);
    memory.configure(ports);
    std::map<uint32_t, std::string> hbm;
    for (uint32_t p = 0; p < ports; ++p) hbm[p] = argv[3 + p];
    const std::string wrong = memory.load(argv[2], hbm, argv[1], {});
    if (!wrong.empty()) {
        std::fprintf(stderr, "%s\n", wrong.c_str());
        return 1;
    }
    uint64_t cycle = 0, quiet = 0;
    const auto step = [&] {
        top.cycle_i = ++cycle;
        top.clk_i = 1;
        top.eval();
        top.clk_i = 0;
        top.eval();
        quiet = top.moved_o ? 0 : quiet + 1;
    };
    top.clk_i = 0;
    top.rst_ni = 1;
    top.start_i = top.oldest_i = top.data_go_i = top.hbm_go_i = 0;
    top.mode_i = 0;
    top.eval();
    top.rst_ni = 0;
    top.eval();
    for (int i = 0; i < 5; ++i) step();
    top.rst_ni = 1;
    step();

    const auto begin = std::chrono::steady_clock::now();
    const uint64_t first = cycle;
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream in(line);
        std::string word;
        in >> word;
        if (word == "idle") {
            uint64_t n = 0;
            in >> n;
            while (n-- != 0) step();
            continue;
        }
        top.mode_i = static_cast<uint32_t>(std::stoul(word));
        for (int i = 0; i < 15; ++i) {
            uint32_t value = 0;
            in >> value;
            top.operands_i[14 - i] = value;  // the first register is the most significant word
        }
        uint64_t data_delay = 0, hbm_delay = 0, oldest_delay = 0, checked = 0;
        in >> data_delay >> hbm_delay >> oldest_delay;
        top.start_i = 1;
        const uint64_t start = cycle;
        quiet = 0;
        bool running = true;
        while (running) {
            // Inputs of this cycle are set, outputs of it are settled after the falling edge of the last.
            if (top.checked_o && checked == 0) checked = cycle;
            const bool refused = !top.checked_o && top.busy_o;  // an oldest refused instruction must commit, too
            const uint64_t since = checked == 0 ? 0 : cycle - checked + 1;
            top.oldest_i = (since > oldest_delay) || (refused && cycle - start > 40);
            top.data_go_i = since > data_delay || (since != 0 && top.oldest_i);
            top.hbm_go_i = since > hbm_delay || (since != 0 && top.oldest_i);
            top.eval();
            if (top.commit_valid_o) {
                uint64_t sum = 0;
                std::printf("%u %u %llu", top.commit_error_o, top.commit_opcode_o,
                            static_cast<unsigned long long>(cycle - start + 2));
                for (int i = 0; i < 6; ++i) {
                    sum += top.commit_cycles_o[i];
                    std::printf(" %u", top.commit_cycles_o[i]);
                }
                for (int i = 0; i < 4; ++i) {
                    uint64_t lo = 0, hi = 0;
                    for (int b = 0; b < 34; ++b) {
                        const int h = 68 * i + b, l = h + 34;
                        hi |= uint64_t(top.hulls_o[h / 32] >> (h % 32) & 1) << b;
                        lo |= uint64_t(top.hulls_o[l / 32] >> (l % 32) & 1) << b;
                    }
                    std::printf(" %llu %llu", static_cast<unsigned long long>(lo), static_cast<unsigned long long>(hi));
                }
                std::printf("\n");
                if (sum != cycle - start + 2) {
                    std::fprintf(stderr, "classes sum to %llu, the instruction took %llu cycles\n",
                                 static_cast<unsigned long long>(sum), static_cast<unsigned long long>(cycle - start + 2));
                    return 1;
                }
                running = false;
            }
            step();
            top.start_i = 0;
            if (quiet > 20000) {
                std::fprintf(stderr, "hang in cycle %llu: %s\n", static_cast<unsigned long long>(cycle), memory.describe().c_str());
                return 1;
            }
            if (!memory.problem().empty()) {
                std::fprintf(stderr, "%s\n", memory.problem().c_str());
                return 1;
            }
        }
        top.oldest_i = top.data_go_i = top.hbm_go_i = 0;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("cycles %llu seconds %f\n", static_cast<unsigned long long>(cycle - first), seconds);
    top.final();
    return 0;
}
