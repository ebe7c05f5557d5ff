import numpy as np

rng = np.random.default_rng(3)
for dtype in (np.int8, np.int32, np.int64):
    limits = np.iinfo(dtype)
    x = rng.integers(-100, 100, (3, 5)).astype(dtype)
    edge = np.array([limits.min, limits.min + 1, -1, 0, 1, limits.max], dtype)
    for bits in (0, 1, 3, 6, 7):
        print(x >> bits, edge >> bits)
        print(x << bits, edge << bits)
    print(edge >> 8 * edge.itemsize - 1, edge << 8 * edge.itemsize - 1)
    acc = x + 1
    acc >>= 2
    print(acc, np.right_shift(edge, 2), np.left_shift(edge, 1))
print(np.array([True, False]) << 3)
