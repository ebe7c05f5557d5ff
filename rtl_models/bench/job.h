// A job file: `key=value` lines (rtl_models/README.md has the keys).
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fleet {

struct Job {
    std::string ddr, script, results, trace, status, waves, wave_scopes, expected, writes, nonce, memory = "ideal";
    std::string arrays, arrays_from, arrays_to, snapshots, snapshots_to, overlay, overlay_to;
    std::map<uint32_t, std::string> hbm;
    std::map<std::string, std::string> timing;  // keys "timing.<key>"
    uint64_t max_cycles = 100'000'000;
    uint64_t quiet_cycles = 200'000;
    uint64_t waves_from = 0, waves_to = ~0ull;
    uint64_t start_cycle = 0, warm_commits = 0, last_commit = 0;  // 0 commits: none

    /// Reads `path`. Returns an empty string, or file:line and what is wrong.
    std::string read(const std::string& path);
};

}  // namespace fleet
