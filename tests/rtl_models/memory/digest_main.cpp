// Digest of what standard input holds: per line, space, offset and bytes in hexadecimal.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "digest.h"

int main() {
    char bytes[4096];
    uint64_t space = 0, offset = 0;
    while (std::scanf("%" SCNu64 " %" SCNu64 " %4095s", &space, &offset, bytes) == 3) {
        const std::string text = bytes;
        uint64_t sum = 0;
        for (size_t i = 0; i + 1 < text.size(); i += 2) {
            sum += fleet::digest_mix(space, offset + i / 2, static_cast<uint8_t>(std::strtoul(text.substr(i, 2).c_str(), nullptr, 16)));
        }
        std::printf("%" PRIu64 "\n", sum);
    }
    // Bytes accepted on a commit's own edge belong to the next commit, whichever of the two calls comes first.
    for (const bool commit_first : {false, true}) {
        fleet::DigestSum sum;
        uint64_t digest = 0;
        uint32_t count = 0;
        sum.add(7, 100, 1);
        sum.add(8, 20, 2);
        if (!commit_first) sum.add(9, 3, 4);
        sum.take(9, digest, count);
        if (commit_first) sum.add(9, 3, 4);
        std::printf("%" PRIu64 " %u ", digest, count);
        sum.add(12, 40, 8);
        sum.take(13, digest, count);
        std::printf("%" PRIu64 " %u ", digest, count);
        sum.take(14, digest, count);
        std::printf("%" PRIu64 " %u\n", digest, count);
    }
}
