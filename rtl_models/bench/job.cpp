#include "job.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <set>

namespace fleet {
namespace {

bool number(const std::string& text, uint64_t& value) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return false;
    errno = 0;
    value = std::strtoull(text.c_str(), nullptr, 10);
    return errno == 0;
}

}  // namespace

std::string Job::read(const std::string& path) {
    std::ifstream file(path);
    if (!file) return path + ": cannot open the job file";
    const std::map<std::string, std::string*> texts = {{"ddr", &ddr},       {"script", &script}, {"results", &results}, {"trace", &trace},
                                                       {"status", &status}, {"waves", &waves},   {"memory", &memory},
                                                       {"wave_scopes", &wave_scopes}, {"expected", &expected}, {"writes", &writes},
                                                       {"nonce", &nonce}, {"arrays", &arrays}, {"arrays_from", &arrays_from}, {"arrays_to", &arrays_to},
                                                       {"snapshots", &snapshots}, {"snapshots_to", &snapshots_to},
                                                       {"overlay", &overlay}, {"overlay_to", &overlay_to}};
    const std::map<std::string, uint64_t*> numbers = {
        {"max_cycles", &max_cycles}, {"quiet_cycles", &quiet_cycles}, {"waves_from", &waves_from}, {"waves_to", &waves_to},
        {"start_cycle", &start_cycle}, {"warm_commits", &warm_commits}, {"last_commit", &last_commit}};
    std::set<std::string> seen;
    std::string line;
    for (int n = 1; std::getline(file, line); ++n) {
        const std::string where = path + ":" + std::to_string(n) + ": ";
        if (line.empty()) continue;
        const size_t equals = line.find('=');
        if (equals == std::string::npos) return where + "expected key=value";
        const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
        if (!seen.insert(key).second) return where + "key '" + key + "' twice";
        uint64_t port = 0;
        if (const auto t = texts.find(key); t != texts.end()) {
            *t->second = value;
        } else if (const auto v = numbers.find(key); v != numbers.end()) {
            if (!number(value, *v->second)) return where + "'" + key + "' needs an unsigned number, not '" + value + "'";
        } else if (key.rfind("hbm.", 0) == 0 && number(key.substr(4), port) && port < 64) {
            hbm[static_cast<uint32_t>(port)] = value;
        } else if (key.rfind("timing.", 0) == 0) {
            timing[key.substr(7)] = value;
        } else {
            return where + "unknown key '" + key + "'";
        }
    }
    for (const char* const key : {"ddr", "script", "results", "trace", "status"}) {
        if (seen.count(key) == 0) return path + ": the key '" + key + "' is missing";
    }
    if (seen.count("overlay") != seen.count("overlay_to")) return path + ": the keys 'overlay' and 'overlay_to' come together";
    return "";
}

}  // namespace fleet
