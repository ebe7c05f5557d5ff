// What $error, $fatal and a failing assertion do (VL_USER_STOP): the job fails and names the place; the process lives on and
// serves the next job.

#include "bench.h"
#include "verilated.h"

void vl_stop(const char* filename, int line, const char* hierarchy) VL_MT_UNSAFE {
    (void)hierarchy;  // empty in current versions; the log has the scope
    const std::string where = std::string(filename != nullptr ? filename : "?") + ":" + std::to_string(line);
    if (fleet::Bench::instance().running()) {
        fleet::Bench::instance().fail("an assertion of the design failed at " + where + " near cycle " +
                                      std::to_string(fleet::Bench::instance().cycle()) + "; the log has its text");
    } else {
        Verilated::threadContextp()->gotError(true);
        Verilated::threadContextp()->gotFinish(true);
    }
}
