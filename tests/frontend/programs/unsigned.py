import numpy as np

rng = np.random.default_rng(1)
for dtype in (np.uint8, np.uint16, np.uint32, np.uint64, np.int16):
    x = rng.integers(0, 200, (3, 4)).astype(dtype)
    y = np.array([1, 7, 100, 120], dtype)
    print(x.dtype, x + y, x - y, x * y, x // y, x % y)
    print(x.sum(axis=0), x.max(), x.cumsum(axis=1), x.argmax(axis=1), np.mean(x))
    print(x < y, np.maximum(x, y), x >> 3, x << 2, x.astype(np.int8), (x / y).astype(np.float32))
    print((x + np.int8(1)).dtype, (x + np.float32(1)).dtype, (x & y), (x | y), ~x)
