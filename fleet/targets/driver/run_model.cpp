/// A whole host program for a model: inputs from .npy files, outputs into .npy files.
///
///     program PARAMS INPUT.npy... OUTPUTS
///
/// loads the parameters from folder PARAMS, takes one file for each input in the model's order, runs the model once and writes
/// `NAME.npy` for each output into folder OUTPUTS, which exists.
///
/// Compiled with FLEET_HEADER (the model's header, in quotes) and FLEET_MODEL (its name).

#include FLEET_HEADER

#include <cstring>
#include <fstream>
#include <sstream>

namespace {

using fleet_tensors::Port;

/// The bytes behind a .npy header, row-major, of the port's dtype and shape.
std::vector<char> read_npy(const std::string& path, const Port& port) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    const std::string text = all.str();
    if (!file || text.size() < 10 || std::memcmp(text.data(), "\x93NUMPY", 6) != 0) fleet_tensors::fail(path + ": is not an .npy file");
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    const bool small = bytes[6] == 1;
    const size_t begin = small ? 10 : 12;
    size_t length = bytes[8] | bytes[9] << 8;
    if (!small && text.size() > begin) length |= static_cast<size_t>(bytes[10]) << 16 | static_cast<size_t>(bytes[11]) << 24;
    const std::string header = text.substr(begin, length);
    std::string shape;
    const size_t open = header.find('('), close = header.find(')');
    if (open != std::string::npos && close != std::string::npos) {
        for (const char c : header.substr(open + 1, close - open - 1)) {
            if (c != ' ') shape += c;
        }
    }
    if (!shape.empty() && shape.back() == ',') shape.pop_back();
    const bool right = header.find(std::string("'") + port.dtype + "'") != std::string::npos && shape == port.shape &&
                       header.find("'fortran_order': False") != std::string::npos && text.size() == begin + length + port.bytes;
    if (!right) fleet_tensors::fail(path + ": input " + port.name + " must be " + port.dtype + " (" + port.shape + "), row-major");
    return {text.begin() + static_cast<std::ptrdiff_t>(begin + length), text.end()};
}

void write_npy(const std::string& path, const Port& port, const std::vector<char>& data) {
    const std::string shape = port.shape;
    const bool one = !shape.empty() && shape.find(',') == std::string::npos;
    std::string header = std::string("{'descr': '") + port.dtype + "', 'fortran_order': False, 'shape': (" + shape + (one ? ",), }" : "), }");
    header += std::string(63 - (10 + header.size()) % 64, ' ') + '\n';
    std::ofstream file(path, std::ios::binary);
    file.write("\x93NUMPY\x01\x00", 8);
    file.put(static_cast<char>(header.size() & 255)).put(static_cast<char>(header.size() >> 8));
    file << header;
    file.write(data.data(), static_cast<std::streamsize>(data.size()));
    if (!file.flush()) fleet_tensors::fail(path + ": cannot be written");
}

}  // namespace

int main(int count, char** arguments) {
    using namespace FLEET_MODEL;
    const size_t inputs = std::size(input_ports), outputs = std::size(output_ports);
    if (static_cast<size_t>(count) != inputs + 3) {
        std::string usage = std::string(arguments[0]) + " PARAMS";
        for (const Port& port : input_ports) usage += std::string(" ") + port.name + ".npy";
        fleet_tensors::fail("usage: " + usage + " OUTPUTS");
    }
    std::vector<std::vector<char>> given, made;
    std::vector<const void*> from;
    std::vector<void*> to;
    for (size_t i = 0; i < inputs; ++i) given.push_back(read_npy(arguments[i + 2], input_ports[i]));
    for (const Port& port : output_ports) made.emplace_back(port.bytes);
    for (const auto& data : given) from.push_back(data.data());
    for (auto& data : made) to.push_back(data.data());
    HANDLE device = open_device();
    HANDLE h2cx = open_h2cx();
    load_params(device, h2cx, arguments[1]);
    run_ports(device, h2cx, from.data(), to.data());
    for (size_t i = 0; i < outputs; ++i) {
        write_npy(std::string(arguments[count - 1]) + "/" + output_ports[i].name + ".npy", output_ports[i], made[i]);
    }
}
