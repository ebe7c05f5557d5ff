// A FIFO's beats with and without errors, written and read at random, against a queue; now and then a reset, with beats in it.
#include <deque>

#include "Vhbm0923_beat_errors.h"
#include "bench.h"

int main(int argc, char** argv) {
    Random random{std::mt19937_64(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1)};
    const uint64_t cycles = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20000;
    constexpr uint32_t depth = 16;
    VerilatedContext context;
    context.randReset(2);
    Vhbm0923_beat_errors top{&context};
    Account account;
    std::deque<bool> fifo;
    uint32_t wr = 0, rd = 0, errors = 0, fill = 50, said = 0;
    for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
        if (cycle % 200 == 0) {
            errors = static_cast<uint32_t>(random.below(3)) * 15 + 1;
            fill = static_cast<uint32_t>(random.below(3)) * 20 + 30;
        }
        if (cycle % 2000 == 0) {
            top.write_i = top.read_i = 0;
            reset(top);
            fifo.clear();
            wr = rd = 0;
        }
        top.write_i = fifo.size() < depth && random.often(fill);
        top.write_at_i = static_cast<uint8_t>(wr);
        top.error_i = random.often(cycle % 2000 < 100 ? 0 : errors);
        top.read_i = !fifo.empty() && random.often(100 - fill);
        top.read_at_i = static_cast<uint8_t>(rd);
        top.eval();
        account.expect(top.error_o == (top.read_i && fifo.front()), cycle, "an error of another beat");
        said += top.error_o;
        if (top.read_i) {
            fifo.pop_front();
            rd = (rd + 1) % depth;
        }
        if (top.write_i) {
            fifo.push_back(top.error_i);
            wr = (wr + 1) % depth;
        }
        edge(top);
    }
    account.expect(said > cycles / 200, cycles, "hardly any error");
    return account.close(cycles);
}
