/* SHA-256 (FIPS 180-4). */
#include "vm.h"

static const uint32_t ROUNDS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotated(uint32_t x, int by) { return x >> by | x << (32 - by); }

/* One round: of the eight words only the fourth and the last change, so that rounds rename words instead of moving them. */
static inline void turn(
    uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f, uint32_t g, uint32_t *h, uint32_t added) {
    uint32_t first = *h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + (g ^ (e & (f ^ g))) + added;
    *d += first;
    *h = first + (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) | (c & (a | b)));
}

static void block(uint32_t state[8], const uint8_t *data) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++) {
        w[i] = (uint32_t)data[4 * i] << 24 | (uint32_t)data[4 * i + 1] << 16 | (uint32_t)data[4 * i + 2] << 8 | data[4 * i + 3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t low = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t high = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + low + w[i - 7] + high;
    }
    for (int i = 0; i < 64; i++) w[i] += ROUNDS[i];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
    for (const uint32_t *at = w; at < w + 64; at += 8) {
        turn(a, b, c, &d, e, f, g, &h, at[0]);
        turn(h, a, b, &c, d, e, f, &g, at[1]);
        turn(g, h, a, &b, c, d, e, &f, at[2]);
        turn(f, g, h, &a, b, c, d, &e, at[3]);
        turn(e, f, g, &h, a, b, c, &d, at[4]);
        turn(d, e, f, &g, h, a, b, &c, at[5]);
        turn(c, d, e, &f, g, h, a, &b, at[6]);
        turn(b, c, d, &e, f, g, h, &a, at[7]);
    }
    const uint32_t found[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) state[i] += found[i];
}

void sha256(const uint8_t *data, size_t length, uint8_t digest[32]) {
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    size_t whole = length / 64 * 64;
    for (size_t i = 0; i < whole; i += 64) block(state, data + i);
    uint8_t tail[128] = {0};
    size_t rest = length - whole;
    if (rest > 0) memcpy(tail, data + whole, rest);
    tail[rest] = 0x80;
    size_t end = rest < 56 ? 64 : 128;
    for (size_t i = 0; i < 8; i++) tail[end - 1 - i] = (uint8_t)((uint64_t)length * 8 >> (8 * i));
    for (size_t i = 0; i < end; i += 64) block(state, tail + i);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}
