import numpy as np


def popcount(x):
    x = x.astype(np.uint32)
    x = x - ((x >> 1) & np.uint32(0x55555555))
    x = (x & np.uint32(0x33333333)) + ((x >> 2) & np.uint32(0x33333333))
    x = (x + (x >> 4)) & np.uint32(0x0F0F0F0F)
    return (x * np.uint32(0x01010101)) >> np.uint32(24)


def gray(n):
    return n ^ (n >> 1)


def inverse_gray(g):
    n = g.copy()
    shift = 1
    while shift < 32:
        n ^= n >> shift
        shift <<= 1
    return n


def crc8(data, poly=0x07):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = ((crc << 1) ^ poly) & 0xFF if crc & 0x80 else (crc << 1) & 0xFF
    return crc


def interleave(x, y):
    z = 0
    for i in range(8):
        z |= ((x >> i) & 1) << (2 * i) | ((y >> i) & 1) << (2 * i + 1)
    return z


a = np.arange(16, dtype=np.uint32)
print(popcount(a).tolist())
print([format(int(g), "04b") for g in gray(a)])
print((inverse_gray(gray(a)) == a).all())
print(hex(crc8(b"123456789")), bin(interleave(5, 3)))
rng = np.random.default_rng(99)
m = rng.integers(0, 256, size=(4, 4), dtype=np.uint8)
print(m)
print(np.bitwise_xor.reduce(m, axis=0), np.bitwise_or.reduce(m.ravel()), ~m[0])
print(np.left_shift(m[1], 2), np.right_shift(m[2], 3), np.invert(np.array([True, False])))
print([int(v).bit_length() for v in m[:, 0]], np.unpackbits(m[:1, :2], axis=1))
