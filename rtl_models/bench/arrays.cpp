#include "arrays.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "verilated.h"
#include "verilated_sym_props.h"
#include "verilated_syms.h"

namespace fleet {
namespace {

const char kTop[] = "fleet_tb.u_bench.u_dut.u_top";  // the design's top module (fleet_dut.sv)

size_t elements(const VerilatedVar& var) {
    size_t n = 1;
    for (const VerilatedRange& range : var.unpackedRanges()) n *= static_cast<size_t>(range.elements());
    return n;
}

const VerilatedVar* find(const std::string& name) {
    const size_t dot = name.rfind('.');
    const std::string scope = dot == std::string::npos ? kTop : std::string(kTop) + "." + name.substr(0, dot);
    const VerilatedScope* const found = Verilated::threadContextp()->scopeFind(scope.c_str());
    return found == nullptr ? nullptr : found->varFind(dot == std::string::npos ? name.c_str() : name.c_str() + dot + 1);
}

}  // namespace

void Arrays::print() {
    const size_t top = sizeof kTop - 1;
    const VerilatedScopeNameMap* const scopes = Verilated::threadContextp()->scopeNameMap();
    if (scopes == nullptr) return;
    for (const auto& scope : *scopes) {
        const std::string name = scope.first;
        if (name.compare(0, top, kTop) != 0 || (name.size() > top && name[top] != '.') || scope.second->varsp() == nullptr) continue;
        const std::string prefix = name.size() > top ? name.substr(top + 1) + "." : "";
        for (const auto& var : *scope.second->varsp()) {
            if (var.second.isParam()) continue;
            std::printf("%s%s %zu %u\n", prefix.c_str(), var.first, elements(var.second), var.second.entBits());
        }
    }
}

std::string Arrays::open(const std::string& list) {
    arrays_.clear();
    std::ifstream file(list);
    if (!file) return list + ": cannot open the list of arrays";
    std::string name;
    size_t count = 0;
    unsigned set = 0;
    while (file >> count >> set >> name) {
        const VerilatedVar* const var = find(name);
        if (var == nullptr) return list + ": the design has no public array " + name;
        const unsigned bits = var->entBits();
        if (count > elements(*var)) return list + ": " + name + " has " + std::to_string(elements(*var)) + " elements";
        arrays_.push_back({static_cast<uint8_t*>(var->datap()), var->entSize(), (bits + 7) / 8, count,
                           static_cast<uint8_t>(bits % 8 == 0 ? 0xFF : (1 << bits % 8) - 1), set != 0});
    }
    return file.eof() ? "" : list + ": expected lines of elements, 0 or 1, name";
}

std::string Arrays::set(const std::string& path) const {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes;
    for (const Array& a : arrays_) {
        bytes.resize(a.elements * a.bytes);
        if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return path + ": the bytes of the arrays are not whole";
        for (size_t i = 0; a.set && i < a.elements; ++i) {
            std::memcpy(a.data + i * a.step, bytes.data() + i * a.bytes, a.bytes);
            a.data[i * a.step + a.bytes - 1] &= a.last;
        }
    }
    return "";
}

std::string Arrays::get(const std::string& path) const {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    std::vector<char> bytes;
    for (const Array& a : arrays_) {
        bytes.resize(a.elements * a.bytes);
        for (size_t i = 0; i < a.elements; ++i) std::memcpy(bytes.data() + i * a.bytes, a.data + i * a.step, a.bytes);
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    file.close();
    return file ? "" : path + ": cannot write the bytes of the arrays";
}

}  // namespace fleet
