// One port of the bench's memories by itself: plays requests from standard input, a line each, in the order of their cycles:
//   memory <model> | key <timing key> <value> | geometry <hbm|ddr> <index>
//   R <cycle> <address> <beats> | W <cycle> <address> <beats> [<data>]   not before that cycle, its beats not before cycle <data>;
//                                                                        one a channel and cycle
//   hold <from> <to>                                               rready is low in these cycles
// Prints "R <request> <accepted> <first beat's cycle> <last beat's>", "W <request> <accepted> <response's cycle>", and the
// counters, and in how many cycles wready was high without data to take. A beat's cycle is the one in which it is taken.
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <vector>

#include "port.h"

struct Request {
    bool write;
    uint64_t cycle, address, beats, data;
    uint64_t accepted = 0, first = 0, last = 0;
};

int main() {
    std::string line, memory = "ideal", space = "hbm";
    std::map<std::string, std::string> keys;
    uint32_t index = 0;
    uint64_t hold_from = 1, hold_to = 0;
    std::vector<Request> requests;
    while (std::getline(std::cin, line)) {
        std::istringstream in(line);
        std::string word;
        in >> word;
        if (word == "memory") {
            in >> memory;
        } else if (word == "key") {
            std::string key, value;
            in >> key;
            std::getline(in >> std::ws, value);
            keys[key] = value;
        } else if (word == "geometry") {
            in >> space >> index;
        } else if (word == "hold") {
            in >> hold_from >> hold_to;
        } else {
            Request r{word == "W", 0, 0, 0, 0};
            in >> r.cycle >> r.address >> r.beats;
            if (!(in >> r.data)) r.data = r.cycle;
            requests.push_back(r);
        }
    }
    fleet::TimingModel model;
    std::string error = model.parse(memory, keys);
    fleet::DigestSum digest;
    fleet::WriteLog log;
    std::string refusal;
    const uint32_t width = space == "hbm" ? 32 : 64;
    fleet::Port port({space, width, 0, 1ull << 33, 0}, digest, log, refusal);
    port.set_timing(model.port(index, space, width, error));
    port.reset();
    if (!error.empty()) {
        std::fprintf(stderr, "%s\n", error.c_str());
        return 2;
    }
    std::vector<size_t> order[2];
    for (size_t i = 0; i < requests.size(); ++i) order[requests[i].write].push_back(i);
    size_t ask[2] = {}, data = 0, answered = 0, got = 0;
    uint64_t read_beat = 0, write_beat = 0, early = 0;
    std::vector<uint8_t> bytes(64, 0), strobe(8, 0);
    // The slave's outputs of the last edge are what the master sees; both sides of a handshake see the same cycle.
    for (uint64_t cycle = 0; got < order[0].size() || answered < order[1].size(); ++cycle) {
        if (cycle > 100'000'000) return 3;
        fleet::PortInput in{};
        in.data = bytes.data();
        in.strobe = strobe.data();
        const bool ar = ask[0] < order[0].size() && requests[order[0][ask[0]]].cycle <= cycle;
        const bool aw = ask[1] < order[1].size() && requests[order[1][ask[1]]].cycle <= cycle;
        if (ar) {
            Request& r = requests[order[0][ask[0]]];
            in.arvalid = true;
            in.araddr = r.address;
            in.arlen = static_cast<uint32_t>(r.beats - 1);
            if (port.arready) r.accepted = cycle, ++ask[0];
        }
        if (aw) {
            Request& r = requests[order[1][ask[1]]];
            in.awvalid = true;
            in.awaddr = r.address;
            in.awlen = static_cast<uint32_t>(r.beats - 1);
            if (port.awready) r.accepted = cycle, ++ask[1];
        }
        if (data < order[1].size() && requests[order[1][data]].data <= cycle) {
            Request& r = requests[order[1][data]];
            in.wvalid = true;
            if (port.wready && ++write_beat == r.beats) write_beat = 0, ++data;
        }
        early += port.wready && !in.wvalid;
        in.rready = cycle < hold_from || cycle > hold_to;
        in.bready = true;
        if (port.rvalid && in.rready) {
            Request& r = requests[order[0][got]];
            if (read_beat == 0) r.first = cycle;
            r.last = cycle;
            if (++read_beat == r.beats) read_beat = 0, ++got;
        }
        if (port.bvalid) requests[order[1][answered++]].first = cycle;
        port.cycle(cycle, in);
    }
    for (size_t i = 0; i < requests.size(); ++i) {
        const Request& r = requests[i];
        std::printf("%c %zu %llu %llu %llu\n", r.write ? 'W' : 'R', i, static_cast<unsigned long long>(r.accepted),
                    static_cast<unsigned long long>(r.first), static_cast<unsigned long long>(r.last));
    }
    fleet::RowCounters rows;
    port.rows(rows);
    std::printf("rows %llu %llu %llu %llu %llu\n", static_cast<unsigned long long>(rows.hits),
                static_cast<unsigned long long>(rows.closed), static_cast<unsigned long long>(rows.misses),
                static_cast<unsigned long long>(rows.refresh_cycles), static_cast<unsigned long long>(early));
}
