// The banks of one DRAM channel: when a column access happens, given all accesses before it.
//
// Nothing here is called once a clock. An access is placed on the time line when it is its turn, at the earliest clock that
// the rules between commands allow; the activation of its row may lie before column accesses that were placed earlier (the
// controller sees requests ahead and opens their rows), never before the request was known. Accesses keep their order.
// Refresh is of all banks, every t_refi: it closes the rows and blocks the channel for t_rp + t_rfc; a row opens again
// t_rcd after it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fleet {

/// Which bits of an address select what. Columns need no name here: any access is one.
struct AddressMap {
    struct Place {
        uint32_t bank, group;  // of all banks, and its group
        uint64_t row;
    };
    uint32_t group_bits = 0, bank_bits = 0;

    /// Reads "R14 G1 B2 C5 G1": highest bits first; what lies below is the offset in a beat of `beat_bytes`. Returns whether
    /// it was understood.
    bool parse(const std::string& text, uint32_t beat_bytes);
    Place place(uint64_t address) const {
        uint64_t found = 0;
        for (const auto& bits : *tables_) {
            found |= bits[address & 255];
            address >>= 8;
        }
        return {static_cast<uint32_t>(found >> kBank & 255), static_cast<uint32_t>(found >> kGroup), found & ((1ull << kBank) - 1)};
    }

  private:
    static constexpr uint32_t kBank = 48, kGroup = 56;  // places in an entry; the row lies below
    // Of each byte of an address, lowest first, what its bits select. All channels share them: they would not fit into a cache.
    std::shared_ptr<const std::vector<std::array<uint64_t, 256>>> tables_;
};

/// Times in clocks of the memory. The names are those of the device file; rtl_models/README.md explains them.
struct DramParameters {
    uint64_t clock_khz = 0, core_khz = 0;
    int64_t cl = 0, cwl = 0, burst = 0, turn = 0;
    int64_t t_rcd = 0, t_rp = 0, t_ras = 0, t_rtp = 0, t_wr = 0, t_ccd_s = 0, t_ccd_l = 0, t_rrd_s = 0, t_rrd_l = 0, t_faw = 0,
            t_wtr_s = 0, t_wtr_l = 0, t_rfc = 0, t_refi = 0;
    int64_t request = 0;
    int64_t queue_bursts = 0, return_beats = 0, write_beats = 0, write_batch = 0, write_wait = 0;
    AddressMap map;

    /// Takes "<space>.<name>" of `values` (text -> text) for every name, and "core_khz". Returns what is wrong, or nothing.
    std::string read(const std::map<std::string, std::string>& values, const std::string& space, uint32_t beat_bytes);
};

class Dram {
  public:
    /// `phase`: clock of the first refresh.
    Dram(const DramParameters& p, int64_t phase);

    /// Places the access of one beat. known: clock from which the controller may work on it; data_from: clock before which its
    /// data may not be on the bus. Returns the clock at which its last data are on the bus.
    int64_t access(bool write, uint64_t address, int64_t known, int64_t data_from);
    /// Clock at which the data bus is free.
    int64_t bus_free() const { return bus_free_; }

    uint64_t row_hits = 0, row_closed = 0, row_misses = 0;
    int64_t refresh_wait = 0;  // clocks that accesses came later because of a refresh

  private:
    static constexpr int64_t kNever = -(int64_t{1} << 60);
    struct Bank {
        bool open = false;
        uint64_t row = 0;
        int64_t activate_from = kNever;   // precharged at this clock
        int64_t column_from = kNever;     // row open
        int64_t precharge_from = kNever;
    };
    struct Group {
        int64_t activate = kNever, column = kNever, write_end = kNever;
    };
    using Target = AddressMap::Place;
    struct Times {
        int64_t activate, column;
    };

    Times plan(const Target& t, bool write, int64_t known, int64_t data_from) const;
    void refresh();

    DramParameters p_;
    std::vector<Bank> banks_;
    std::vector<Group> groups_;
    int64_t next_refresh_;
    int64_t activates_[4] = {kNever, kNever, kNever, kNever};  // the last four, oldest at `oldest_`
    uint32_t oldest_ = 0;
    int64_t last_column_ = kNever, last_read_ = kNever, write_end_ = kNever, bus_free_ = kNever;
};

}  // namespace fleet
