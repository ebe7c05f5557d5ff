import numpy as np

def rope(x, base=10000.0):
    n, d = x.shape
    half = d // 2
    inverse = 1.0 / base ** (np.arange(half) / half)
    angle = np.outer(np.arange(n), inverse)
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = x[:, :half], x[:, half:]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)

print(rope(np.arange(24.0).reshape(3, 8)))
