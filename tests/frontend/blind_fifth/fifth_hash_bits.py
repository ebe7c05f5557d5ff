import numpy as np


def fnv1a(data: bytes) -> int:
    h = 0xCBF29CE484222325
    for b in data:
        h ^= b
        h = (h * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


def murmur_fmix(h):
    h = np.asarray(h, dtype=np.uint32)
    h = h ^ (h >> np.uint32(16))
    h = h * np.uint32(0x85EBCA6B)
    h ^= h >> 13
    h *= np.uint32(0xC2B2AE35)
    return h ^ (h >> 16)


def xorshift32(seed, n):
    out = np.empty(n, dtype=np.uint32)
    x = np.uint32(seed)
    for i in range(n):
        x ^= x << np.uint32(13)
        x ^= x >> np.uint32(17)
        x ^= x << np.uint32(5)
        out[i] = x
    return out


def crc32_table():
    c = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        c = np.where(c & 1, np.uint32(0xEDB88320) ^ (c >> 1), c >> 1)
    return c


def crc32(data, table):
    crc = np.uint32(0xFFFFFFFF)
    for b in data:
        crc = table[(crc ^ b) & 0xFF] ^ (crc >> np.uint32(8))
    return crc ^ np.uint32(0xFFFFFFFF)


class Bloom:
    def __init__(self, m=256, k=3):
        self.bits, self.k = np.zeros(m, dtype=bool), k

    def _idx(self, s):
        h = fnv1a(s.encode())
        return [(h >> (16 * i)) % len(self.bits) for i in range(self.k)]

    def add(self, s):
        self.bits[self._idx(s)] = True

    def __contains__(self, s):
        return bool(self.bits[self._idx(s)].all())


with np.errstate(over="ignore"):
    print(f"{fnv1a(b'hello'):016x}", murmur_fmix(np.arange(4)), xorshift32(2463534242, 3))
    print(hex(crc32(b"123456789", crc32_table())))
b = Bloom()
for w in "the quick brown fox".split():
    b.add(w)
print("fox" in b, "cat" in b, b.bits.sum())
bits = np.unpackbits(np.array([5, 255], np.uint8))
print(bits, np.packbits(bits.reshape(2, 8)[:, ::-1]), np.packbits([1, 0, 1], bitorder="little"))
gray = np.arange(8) ^ (np.arange(8) >> 1)
print([format(int(g), "03b") for g in gray], (gray[:, None] >> np.arange(2, -1, -1)) & 1)
H = np.array([[1, 0, 1, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1, 1]])
code = np.array([1, 0, 1, 1, 0, 1, 0])
code_ok = code.copy()
code[4] ^= 1
synd = H @ code % 2
print(synd, synd @ [1, 2, 4], np.bitwise_xor.reduce(np.flatnonzero(code) + 1))
print(np.int64(2**63 - 1) ^ np.int64(-1), np.uint64(2**64 - 1) >> np.uint64(60), (np.int32(-8) >> 1), np.uint8(1) << np.uint8(7), 7 & ~2, -5 // 2, -5 % 3, 5 ** 3 % 7, pow(5, 117, 19))
print(int.from_bytes(b"\x01\x02", "big"), (1025).to_bytes(2, "little"), (255).bit_length(), np.array([1, 2], "<u2").tobytes().hex(), bytes(range(3)), b"ab"[0])
