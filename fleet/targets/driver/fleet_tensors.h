/// Tensors of a host program in device memory: row-major arrays on the host, the device's own arrangement in DDR.
///
/// Generated headers include this file behind `fleet_host.h`, or behind the board's library in its place: of that it needs
/// DDR_Write and DDR_Read. C++17; nothing to link.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace fleet_tensors {

/// Where the elements of a tensor stand, counted in elements: see `fleet.sdk.Arrangement`. fraction: bits of a real number in
/// fixed point, -1 for none.
struct Arrangement {
    uint64_t rows, channels, lanes, row_step, block_step, count;
    int fraction;

    uint64_t at(uint64_t row, uint64_t channel) const { return row * row_step + channel / lanes * block_step + channel % lanes; }
};

/// An input or output of a model. dtype: as NumPy writes it ("<f4"); shape: its sizes, with commas between.
struct Port {
    const char* name;
    const char* dtype;
    const char* shape;
    uint64_t bytes;
};

/// FP16 as it is stored.
struct Half {
    uint16_t bits;
};

[[noreturn]] inline void fail(const std::string& message) {
    std::fflush(stdout);
    std::fprintf(stderr, "fleet_tensors: %s\n", message.c_str());
    std::exit(2);
}

/// The nearest FP16, ties to even; beyond its range infinity; NaN is 0x7e00.
inline Half to_half(double value) {
    if (std::isnan(value)) return {0x7e00};
    const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const double size = std::fabs(value);
    uint32_t bits = 0x7c00;
    if (size < 0x1p-14) {
        bits = static_cast<uint32_t>(std::nearbyint(size * 0x1p24));  // subnormal; may become the smallest normal number
    } else if (size < 65520.0) {
        int exponent = 0;
        std::frexp(size, &exponent);
        const auto steps = static_cast<uint32_t>(std::nearbyint(std::ldexp(size, 11 - exponent)));  // 1024 to 2048
        bits = (static_cast<uint32_t>(exponent + 14) << 10) + steps - 1024;
    }
    return {static_cast<uint16_t>(sign | bits)};
}

/// Exact.
inline double from_half(Half half) {
    const int exponent = half.bits >> 10 & 31;
    const double fraction = half.bits & 0x3ff;
    double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) size = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    return (half.bits & 0x8000) != 0 ? -size : size;
}

/// A real number of a host tensor: FP16 on the host is a `uint16_t` of its bits.
template <typename T>
double to_real(T value) {
    if constexpr (std::is_same_v<T, uint16_t>) return from_half({value});
    return static_cast<double>(value);
}

/// A number as the device stores it. A tensor of FP16 that the device stores as FP16 stands as it is.
template <typename Stored, typename T>
Stored stored(T value, int fraction) {
    if constexpr (std::is_same_v<Stored, Half>) {
        if constexpr (std::is_floating_point_v<T>) return to_half(value);
        return {static_cast<uint16_t>(value)};
    } else if constexpr (std::is_floating_point_v<Stored>) {
        const double number = to_real(value);
        return std::isnan(number) ? std::numeric_limits<Stored>::quiet_NaN() : static_cast<Stored>(number);
    } else if constexpr (std::is_floating_point_v<T>) {
        const double scaled = std::nearbyint(std::ldexp(static_cast<double>(value), fraction));
        constexpr auto low = static_cast<double>(std::numeric_limits<Stored>::min());
        constexpr auto high = static_cast<double>(std::numeric_limits<Stored>::max());
        if (std::isnan(scaled)) return 0;
        return static_cast<Stored>(scaled < low ? low : scaled > high ? high : scaled);
    } else {
        const auto number = static_cast<Stored>(value);
        if (static_cast<T>(number) != value || (number < 0) != (value < 0)) {
            fail("an integer tensor holds " + std::to_string(value) + ", which the device cannot store");
        }
        return number;
    }
}

/// The number that the device stored.
template <typename T, typename Stored>
T loaded(Stored number, int fraction) {
    if constexpr (std::is_same_v<Stored, Half>) {
        if constexpr (std::is_floating_point_v<T>) return static_cast<T>(from_half(number));
        return static_cast<T>(number.bits);
    } else if constexpr (std::is_floating_point_v<Stored>) {
        if constexpr (std::is_same_v<T, uint16_t>) return to_half(number).bits;
        return static_cast<T>(number);
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(std::ldexp(static_cast<double>(number), -fraction));
    } else {
        return static_cast<T>(number);
    }
}

}  // namespace fleet_tensors

/// Puts a tensor into DDR at an absolute address, in the device's arrangement; what holds no element becomes 0.
template <typename Stored, typename T>
void DDR_Store(HANDLE& h2cx, const T* tensor, uint64_t address, const fleet_tensors::Arrangement& a) {
    std::vector<Stored> memory(a.count);
    for (uint64_t row = 0; row < a.rows; ++row) {
        for (uint64_t channel = 0; channel < a.channels; ++channel) {
            memory[a.at(row, channel)] = fleet_tensors::stored<Stored>(*tensor++, a.fraction);
        }
    }
    DDR_Write(h2cx, memory.data(), address, a.count * sizeof(Stored));
}

/// Gets a tensor from DDR.
template <typename Stored, typename T>
void DDR_Load(HANDLE& h2cx, T* tensor, uint64_t address, const fleet_tensors::Arrangement& a) {
    std::vector<Stored> memory(a.count);
    DDR_Read(h2cx, memory.data(), address, a.count * sizeof(Stored));
    for (uint64_t row = 0; row < a.rows; ++row) {
        for (uint64_t channel = 0; channel < a.channels; ++channel) {
            *tensor++ = fleet_tensors::loaded<T>(memory[a.at(row, channel)], a.fraction);
        }
    }
}

namespace fleet_tensors {

/// Reads a whole file of arrays that stay with the host; it must have exactly the vector's size.
template <typename T>
void read_file(const std::string& name, std::vector<T>& data) {
    std::FILE* const file = std::fopen(name.c_str(), "rb");
    if (file == nullptr) fail(name + ": cannot open the file");
    const size_t found = std::fread(data.data(), sizeof(T), data.size(), file);
    const bool whole = found == data.size() && std::fgetc(file) == EOF;
    std::fclose(file);
    if (!whole) fail(name + ": another size than " + std::to_string(data.size() * sizeof(T)) + " bytes");
}

/// Ends the program where a function on the host found data that it cannot compute with.
inline void check(int64_t fault, const char* function, const char* operations) {
    if (fault == 0) return;
    static const char* const words[] = {
        "an integer to a negative integer power",
        "an index out of bounds",
        "an argument of sin or cos too large",
        "a loop that does not end",
        "an integer beyond 64 bits",
        "a check of the source fails",
    };
    const bool known = fault > 0 && static_cast<size_t>(fault) <= sizeof words / sizeof *words;
    fail(std::string(function) + " (" + operations + "): " + (known ? words[fault - 1] : "fault " + std::to_string(fault)));
}

}  // namespace fleet_tensors
