import numpy as np
x = np.ones((2, 2), dtype=np.float32)
print((x * 2).dtype, (x * 2.5).dtype, (x * np.float64(2)).dtype, (x + np.ones(2)).dtype, x.astype("float16").dtype, (x > 0).dtype)
print(np.float32(0.1), np.float16(0.1), np.int8(3) + np.int8(4), np.zeros(2, int).dtype, np.full((2,), 7).dtype, np.full(2, 1.5, np.float32))
print(np.zeros_like(x).dtype, np.ones_like(x, dtype=int), np.full_like(x, 3), np.arange(3).dtype, np.arange(0, 1, 0.25), np.arange(3, dtype=np.float32))
print(np.finfo(np.float32).eps, np.finfo(np.float64).max, np.iinfo(np.int8).min, np.asarray([1, 2], dtype=np.float32).dtype, np.array(3.5).dtype)
