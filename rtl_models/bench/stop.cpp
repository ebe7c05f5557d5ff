// What $error, $fatal and a failing assertion do (VL_USER_STOP): the job fails and names the place; the process lives on and
// serves the next job.

#include "bench.h"
#include "memory.h"
#include "verilated.h"

void vl_stop(const char* filename, int line, const char* hierarchy) VL_MT_UNSAFE {
    (void)hierarchy;  // empty in current versions; the log has the scope
    const std::string where = std::string(filename != nullptr ? filename : "?") + ":" + std::to_string(line);
    fleet::Bench& bench = fleet::Bench::instance();
    const std::string& problem = fleet::Memory::instance().problem();
    if (bench.has_job()) {  // only the first failure of a job is kept
        bench.fail(!problem.empty() ? problem : "an assertion of the design failed at " + where + " after cycle " + std::to_string(bench.cycle()) +
                   "; the log has its text");
    } else {
        Verilated::threadContextp()->gotError(true);
        Verilated::threadContextp()->gotFinish(true);
    }
}
