/// A whole host program for a language model: greedy generation with the header of a decoder.
///
///     program PARAMS EMBEDDING COUNT STOP TOKEN...
///
/// loads the parameters from folder PARAMS, feeds the prompt's TOKENs in one step (several where the header's step is shorter),
/// then its own answers one by one, and prints every answer's number on a line of its own: COUNT of them, or fewer when STOP is
/// among them (-1: nothing stops it). EMBEDDING is a file of FP16 rows, one a token of the vocabulary.
///
/// Compiled with the header's facts: FLEET_HEADER (its file, in quotes), FLEET_MODEL (its name), FLEET_CHANNELS (of a token's
/// row), FLEET_TOKENS and FLEET_POSITIONS (what `token` and `token + last_token` can be at most), FLEET_AUX where the device fetches
/// its instructions, FLEET_NAMESPACE where the header has a namespace of the model's name; FLEET_INPUT and FLEET_ARGMAX where the
/// input is not `x` and the index of the last token's largest logit not `output_argmax(device)`.

#include "fleet_host.h"

#include FLEET_HEADER

#ifndef FLEET_INPUT
#define FLEET_INPUT x
#endif
#ifndef FLEET_ARGMAX
#define FLEET_ARGMAX output_argmax
#endif

#ifdef FLEET_NAMESPACE
using namespace FLEET_MODEL;
#define FLEET_LOAD load_params
#define FLEET_UPDATE update
#define FLEET_RUN run
#else
#define FLEET_JOIN_(a, b) a##b
#define FLEET_JOIN(a, b) FLEET_JOIN_(a, b)
#define FLEET_LOAD FLEET_JOIN(FLEET_MODEL, _load_params)
#define FLEET_UPDATE FLEET_JOIN(FLEET_MODEL, _update)
#define FLEET_RUN FLEET_MODEL
#endif

namespace {

constexpr uint64_t kLanes = 32;  // channels that stand together in a feature's layout
constexpr uint64_t kChannels = FLEET_CHANNELS;
constexpr uint64_t kSurfaces = (kChannels + kLanes - 1) / kLanes;
constexpr int kTokens = FLEET_TOKENS;
constexpr int kPositions = FLEET_POSITIONS;

[[noreturn]] void refuse(const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(2);
}

long number(const char* text) {
    char* end = nullptr;
    errno = 0;
    const long value = std::strtol(text, &end, 10);
    if (end == text || *end != 0 || errno != 0) refuse(std::string(text) + ": is not a number");
    return value;
}

/// Rows of the embedding, by token.
class Embedding {
  public:
    explicit Embedding(const char* path) : path_(path), file_(std::fopen(path, "rb")) {
        if (file_ == nullptr || std::fseek(file_, 0, SEEK_END) != 0) refuse(path_ + ": cannot open the file: " + std::strerror(errno));
        const long size = std::ftell(file_);
        if (size <= 0 || static_cast<uint64_t>(size) % kRow != 0) {
            refuse(path_ + ": " + std::to_string(size) + " bytes are no rows of " + std::to_string(kChannels) + " FP16");
        }
        rows_ = static_cast<long>(static_cast<uint64_t>(size) / kRow);
    }
    ~Embedding() { std::fclose(file_); }
    Embedding(const Embedding&) = delete;
    Embedding& operator=(const Embedding&) = delete;

    /// Puts a token's row into a feature of `tokens` tokens: [channels / 32, tokens, 32].
    void put(long token, uint64_t at, uint64_t tokens, std::vector<uint16_t>& feature) const {
        if (token < 0 || token >= rows_) refuse("token " + std::to_string(token) + " is none of " + std::to_string(rows_));
        uint16_t row[kSurfaces * kLanes] = {};
        if (std::fseek(file_, static_cast<long>(static_cast<uint64_t>(token) * kRow), SEEK_SET) != 0 ||
            std::fread(row, 1, kRow, file_) != kRow) {
            refuse(path_ + ": cannot read the file");
        }
        for (uint64_t s = 0; s < kSurfaces; ++s) {
            std::memcpy(feature.data() + (s * tokens + at) * kLanes, row + s * kLanes, kLanes * sizeof(uint16_t));
        }
    }

  private:
    static constexpr uint64_t kRow = kChannels * sizeof(uint16_t);

    std::string path_;
    std::FILE* file_;
    long rows_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 6) refuse(std::string("usage: ") + argv[0] + " PARAMS EMBEDDING COUNT STOP TOKEN...");
    const Embedding embedding(argv[2]);
    const long count = number(argv[3]), stop = number(argv[4]);
    std::vector<long> step;
    for (int i = 5; i < argc; ++i) step.push_back(number(argv[i]));

    HANDLE device = open_device();
    HANDLE h2cx = open_h2cx();
    FLEET_LOAD(device, h2cx, argv[1]);

    int last_token = 0;
    for (long made = 0; made < count;) {
        const int token = step.size() < static_cast<size_t>(kTokens) ? static_cast<int>(step.size()) : kTokens;
        if (token > kPositions - last_token) refuse("the cache of " + std::to_string(kPositions) + " positions is full");
        std::vector<uint16_t> feature(kSurfaces * static_cast<uint64_t>(token) * kLanes);
        for (int t = 0; t < token; ++t) {
            embedding.put(step[static_cast<size_t>(t)], static_cast<uint64_t>(t), static_cast<uint64_t>(token), feature);
        }
        DDR_Write(h2cx, feature.data(), FLEET_INPUT, feature.size() * sizeof(uint16_t));
#ifdef FLEET_AUX
        FLEET_UPDATE(h2cx, token, last_token);
        FLEET_RUN(device);
#else
        FLEET_RUN(device, token, last_token);
#endif
        last_token += token;
        step.erase(step.begin(), step.begin() + token);
        if (!step.empty()) continue;  // of a prompt that takes several steps
        const long answer = static_cast<long>(FLEET_ARGMAX(device));
        std::printf("%ld\n", answer);
        std::fflush(stdout);
        ++made;
        if (answer == stop) break;
        step.push_back(answer);
    }
    return 0;
}
