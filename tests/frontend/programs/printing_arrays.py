import numpy as np
x = np.arange(6).reshape(2, 3) / 4
print(x)
print("x =", x, "shape", x.shape)
print(f"mean {x.mean():.3f} max {np.max(x)} {x.sum()!r}")
print([x[0], x[1, 2]], (x[0, 0],), {"k": x[1]})
print(x[0, 0], x[0, 0] * 2, np.float32(0.1), np.int64(3), np.bool_(True), sep=", ", end="!\n")
print(f"{x}", "{braces}", f"{{}}")
print()
print("100%", "a_b'c")
