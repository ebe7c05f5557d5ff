#include "dram.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace fleet {

bool AddressMap::parse(const std::string& text, uint32_t beat_bytes) {
    std::istringstream words(text);
    std::vector<std::string> parts;
    for (std::string word; words >> word;) parts.push_back(word);
    struct Field {
        char kind;  // 'G' bank group, 'B' bank in it, 'R' row
        uint32_t shift, bits, to;
    };
    std::vector<Field> fields;
    group_bits = bank_bits = 0;
    uint32_t shift = static_cast<uint32_t>(__builtin_ctz(beat_bytes)), row_bits = 0;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        const char kind = (*part)[0];
        const std::string digits = part->substr(1);
        if (std::string("RGBC").find(kind) == std::string::npos || digits.empty() || digits.size() > 2 ||
            digits.find_first_not_of("0123456789") != std::string::npos) {
            return false;
        }
        const uint32_t bits = static_cast<uint32_t>(std::strtoul(digits.c_str(), nullptr, 10));
        if (bits == 0 || shift + bits > 48) return false;
        uint32_t& to = kind == 'G' ? group_bits : kind == 'B' ? bank_bits : row_bits;
        if (kind != 'C') {
            fields.push_back({kind, shift, bits, to});
            to += bits;
        }
        shift += bits;
    }
    if (row_bits == 0 || group_bits > 3 || bank_bits > 4) return false;
    auto tables = std::make_shared<std::vector<std::array<uint64_t, 256>>>((shift + 7) / 8);
    for (const Field& f : fields) {
        const uint32_t to = f.to + (f.kind == 'R' ? 0 : f.kind == 'B' ? kBank : kBank + bank_bits);
        for (uint32_t bit = 0; bit < f.bits; ++bit) {
            const uint64_t group = f.kind == 'G' ? 1ull << (kGroup + f.to + bit) : 0;
            for (uint32_t byte = 0; byte < 256; ++byte) {
                const uint64_t selected = byte >> (f.shift + bit) % 8 & 1 ? 1ull << (to + bit) | group : 0;
                (*tables)[(f.shift + bit) / 8][byte] |= selected;
            }
        }
    }
    tables_ = std::move(tables);
    return true;
}

std::string DramParameters::read(const std::map<std::string, std::string>& values, const std::string& space, uint32_t beat_bytes) {
    const std::map<std::string, int64_t*> names = {
        {"cl", &cl},           {"cwl", &cwl},         {"burst", &burst},     {"turn", &turn},
        {"t_rcd", &t_rcd},     {"t_rp", &t_rp},       {"t_ras", &t_ras},     {"t_rtp", &t_rtp},
        {"t_wr", &t_wr},       {"t_ccd_s", &t_ccd_s}, {"t_ccd_l", &t_ccd_l}, {"t_rrd_s", &t_rrd_s},
        {"t_rrd_l", &t_rrd_l}, {"t_faw", &t_faw},     {"t_wtr_s", &t_wtr_s}, {"t_wtr_l", &t_wtr_l},
        {"t_rfc", &t_rfc},     {"t_refi", &t_refi},   {"request", &request},
        {"queue_bursts", &queue_bursts}, {"return_beats", &return_beats},    {"write_beats", &write_beats},
        {"write_batch", &write_batch},   {"write_wait", &write_wait},
    };
    std::string error;
    const auto number = [&](const std::string& key) -> uint64_t {
        const auto found = values.find(key);
        if (found == values.end()) {
            if (error.empty()) error = "memory=timed needs the key 'timing." + key + "'";
            return 1;
        }
        const std::string& text = found->second;
        const bool digits = !text.empty() && text.size() <= 12 && text.find_first_not_of("0123456789") == std::string::npos;
        if (!digits && error.empty()) error = "timing." + key + " needs an unsigned number, not '" + text + "'";
        return digits ? std::strtoull(text.c_str(), nullptr, 10) : 1;
    };
    core_khz = number("core_khz");
    clock_khz = number(space + ".clock_khz");
    for (const auto& [name, value] : names) *value = static_cast<int64_t>(number(space + "." + name));
    if (!error.empty()) return error;
    if (core_khz == 0 || clock_khz == 0 || burst == 0 || queue_bursts == 0 || return_beats == 0 || write_beats == 0 || write_batch == 0) {
        return "timing." + space + ": clocks, burst, queue_bursts, return_beats, write_beats and write_batch must be above 0";
    }
    if (t_refi <= t_rfc + t_rp + t_rcd) return "timing." + space + ".t_refi leaves no time between refreshes";
    const auto found = values.find(space + ".map");
    if (found == values.end() || !map.parse(found->second, beat_bytes)) {
        return "timing." + space + ".map needs fields R, G, B and C with their bits, highest first, like 'R14 G1 B2 C5 G1'";
    }
    return "";
}

Dram::Dram(const DramParameters& p, int64_t phase)
    : p_(p), banks_(size_t{1} << (p.map.group_bits + p.map.bank_bits)), groups_(size_t{1} << p.map.group_bits), next_refresh_(phase) {}

Dram::Times Dram::plan(const Target& t, bool write, int64_t known, int64_t data_from) const {
    const Bank& bank = banks_[t.bank];
    const Group& group = groups_[t.group];
    Times times{kNever, std::max(known, bank.column_from)};
    if (!bank.open || bank.row != t.row) {
        times.activate = bank.open ? std::max(known, bank.precharge_from) + p_.t_rp : std::max(known, bank.activate_from);
        times.activate = std::max({times.activate, activates_[(oldest_ + 3) & 3] + p_.t_rrd_s, group.activate + p_.t_rrd_l,
                                   activates_[oldest_] + p_.t_faw});
        times.column = times.activate + p_.t_rcd;
    }
    const int64_t latency = write ? p_.cwl : p_.cl;
    times.column = std::max({times.column, last_column_ + p_.t_ccd_s, group.column + p_.t_ccd_l, bus_free_ - latency,
                             data_from - latency});
    if (write) {
        times.column = std::max(times.column, last_read_ + p_.cl + p_.burst + p_.turn - p_.cwl);
    } else {
        times.column = std::max({times.column, write_end_ + p_.t_wtr_s, group.write_end + p_.t_wtr_l});
    }
    return times;
}

void Dram::refresh() {
    int64_t start = next_refresh_;
    for (const Bank& bank : banks_) {
        if (bank.open) start = std::max(start, bank.precharge_from);
    }
    for (Bank& bank : banks_) {
        bank.open = false;
        bank.activate_from = start + p_.t_rp + p_.t_rfc;
    }
    next_refresh_ += p_.t_refi;
}

int64_t Dram::access(bool write, uint64_t address, int64_t known, int64_t data_from) {
    const Target t = p_.map.place(address);
    // Of the refreshes of a long pause only the last one leaves a trace.
    if (known - next_refresh_ > 2 * p_.t_refi) next_refresh_ += ((known - next_refresh_) / p_.t_refi - 1) * p_.t_refi;
    Times times = plan(t, write, known, data_from);
    while (times.column >= next_refresh_) {
        const int64_t before = times.column;
        refresh();
        times = plan(t, write, known, data_from);
        if (banks_[t.bank].activate_from > before) refresh_wait += times.column - before;
    }
    Bank& bank = banks_[t.bank];
    Group& group = groups_[t.group];
    if (times.activate == kNever) {
        ++row_hits;
    } else {
        ++(bank.open ? row_misses : row_closed);
        bank.open = true;
        bank.row = t.row;
        bank.column_from = times.activate + p_.t_rcd;
        bank.precharge_from = times.activate + p_.t_ras;
        activates_[oldest_] = group.activate = times.activate;
        oldest_ = (oldest_ + 1) & 3;
    }
    last_column_ = group.column = times.column;
    bus_free_ = times.column + (write ? p_.cwl : p_.cl) + p_.burst;
    if (write) {
        write_end_ = group.write_end = bus_free_;
        bank.precharge_from = std::max(bank.precharge_from, bus_free_ + p_.t_wr);
    } else {
        last_read_ = times.column;
        bank.precharge_from = std::max(bank.precharge_from, times.column + p_.t_rtp);
    }
    return bus_free_;
}

}  // namespace fleet
