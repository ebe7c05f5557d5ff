// A language model's host program: reads a prompt's tokens, answers greedily, prints the text as it comes.
//
//   answer FOLDER COUNT [TOKEN ...]      at most COUNT tokens; the prompt out of FOLDER/prompt.txt where none are given
//
// The model runs on the device: this program looks tokens up in the embedding, writes the rows as FP16, lets the driver run
// the step and reads the index of the largest logit out of a register.

#include "fleet_host.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "model.inc.h"
#include "sizes.h"

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "answer: " << what << std::endl;
  std::exit(2);
}

// binary32 to binary16, to nearest even; subnormals and infinities as IEEE has them.
uint16_t half_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7e00;
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  const int exponent = static_cast<int>(magnitude >> 23) - 112;
  const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const int shift = exponent > 0 ? 13 : 14 - exponent;
  if (shift > 24) return static_cast<uint16_t>(sign);
  const uint32_t kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1u), middle = 1u << (shift - 1);
  const uint32_t rounded = kept + (rest > middle || (rest == middle && (kept & 1u)) ? 1u : 0u);
  // The hidden bit of a normal number adds one to the exponent.
  return static_cast<uint16_t>(sign + (exponent > 0 ? (static_cast<uint32_t>(exponent - 1) << 10) : 0u) + rounded);
}

std::vector<float> read_floats(const std::string& path, size_t count) {
  std::ifstream file(path, std::ios::binary);
  std::vector<float> values(count);
  if (count && !file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(float))))
    fail(path + " cannot be read or is short");
  return values;
}

// The text of every token: a length (uint32) and so many bytes each.
std::vector<std::string> read_vocabulary(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> texts(VOCABULARY);
  for (auto& text : texts) {
    uint32_t length = 0;
    if (!file.read(reinterpret_cast<char*>(&length), sizeof length) || length > (1u << 16)) fail(path + " is damaged");
    text.resize(length);
    if (length && !file.read(&text[0], static_cast<std::streamsize>(length))) fail(path + " is short");
  }
  return texts;
}

struct Model {
  HANDLE device, h2cx;
  std::vector<float> embedding, positions;
  int position = 0;

  // Reads n tokens behind those before; gives the likeliest next one.
  int step(const int* tokens, int n) {
    std::vector<uint16_t> features(static_cast<size_t>(SURFACES) * n * 32, 0);
    for (int t = 0; t < n; ++t)
      for (int c = 0; c < CHANNELS; ++c) {
        float value = embedding[static_cast<size_t>(tokens[t]) * CHANNELS + c];
        if (LEARNED_POSITIONS) value += positions[static_cast<size_t>(position + t) * CHANNELS + c];
        features[(static_cast<size_t>(c / 32) * n + t) * 32 + c % 32] = half_of(value);
      }
    DDR_Write(h2cx, features.data(), x, features.size() * 2);
    model_update(h2cx, n, position);
    model(device);
    position += n;
    return static_cast<int>(output1(device));
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) fail("usage: answer FOLDER COUNT [TOKEN ...]");
  const std::string folder = argv[1];
  const int count = std::atoi(argv[2]);
  std::vector<int> prompt;
  for (int i = 3; i < argc; ++i) prompt.push_back(std::atoi(argv[i]));
  if (prompt.empty()) {
    std::ifstream file(folder + "/prompt.txt");
    if (!file) fail(folder + "/prompt.txt cannot be read");
    prompt.assign(std::istream_iterator<int>(file), std::istream_iterator<int>());
  }
  if (count < 1 || prompt.empty()) fail("expected a prompt and at least one token to generate");
  for (const int token : prompt)
    if (token < 0 || token >= VOCABULARY) fail("token " + std::to_string(token) + " is not in the vocabulary");
  if (static_cast<int>(prompt.size()) > POSITIONS) fail("the prompt is longer than the plan");

  const auto texts = read_vocabulary(folder + "/vocabulary.bin");
  Model m{open_device(), open_h2cx(), read_floats(folder + "/embedding.bin", static_cast<size_t>(VOCABULARY) * CHANNELS),
          read_floats(folder + "/positions.bin", LEARNED_POSITIONS ? static_cast<size_t>(POSITIONS) * CHANNELS : 0)};
  std::string weights = folder + "/weights";
  model_load_params(m.device, m.h2cx, &weights[0]);

  int next = 0;
  for (size_t first = 0; first < prompt.size(); first += CHUNK) {
    const size_t n = prompt.size() - first < CHUNK ? prompt.size() - first : CHUNK;
    next = m.step(&prompt[first], static_cast<int>(n));
  }
  std::vector<int> said;
  while (true) {
    said.push_back(next);
    bool end = static_cast<int>(said.size()) == count || m.position == POSITIONS;
    for (const int token : EOS) end = end || next == token;
    std::cout << texts[static_cast<size_t>(next)] << std::flush;
    if (end) break;
    next = m.step(&next, 1);
  }
  std::cout << "\ntokens:";
  for (const int token : said) std::cout << ' ' << token;
  std::cout << std::endl;
  return 0;
}
