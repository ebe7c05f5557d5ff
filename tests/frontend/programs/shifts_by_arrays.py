# Bits that are in an array, of every width; numbers below 0 and beyond the width shift everything out.
import numpy as np

for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
    x = np.array([1, 3, 100, 0, 77, 127, 5, 90, 64], dtype=name)
    x = x * x * x - 5 if name[0] == "u" else x * x * x * np.array([1, -1, 1, 1, -1, 1, 1, -1, -1], dtype=name)
    by = np.array([0, 1, 7, 8, 15, 31, 63, 64, 100], dtype=name)
    print(x << by, x >> by, np.left_shift(x, by), np.right_shift(x, by[::-1]), x >> by[1], x << by[2], x.dtype, (x >> by).dtype)
    y = x.copy()
    y >>= by
    y <<= by[1]
    y ^= y >> np.array(2, dtype=name)
    print(y, y.dtype)
    print(1 << by[:3], x[:, None] >> np.array([1, 2], dtype=name), np.right_shift(200 if name != "int8" else 100, by[:3]))

signed = np.array([-1, -3, 5, 8])
print(signed << np.array([-1, 2, 64, 63]), signed >> np.array([-1, 1, 64, 63]), signed >> np.uint8(1), signed << np.int16(3))
print(np.array([1, 2], np.int8) << np.array([3, 9], np.int32), np.array([True, False]) << np.array([1, 2], np.int8))
h = np.arange(5, dtype=np.uint32) * np.uint32(2654435761)
h ^= h >> np.uint32(16)
h *= np.uint32(0x85EBCA6B)
h ^= h >> np.uint32(13)
print(h, h % 256)
