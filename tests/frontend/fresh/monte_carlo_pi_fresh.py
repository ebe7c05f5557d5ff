import time
import numpy as np


def estimate_pi(n, rng):
    pts = rng.random((n, 2))
    inside = np.hypot(pts[:, 0] - 0.5, pts[:, 1] - 0.5) <= 0.5
    return 4 * inside.mean()


start = time.time()
rng = np.random.default_rng(2023)
for exp in range(1, 5):
    n = 10**exp
    est = estimate_pi(n, rng)
    print(f"n = {n:>6,d}  pi ~ {est:.6f}  error {abs(est - np.pi):.6f}")
elapsed = time.time() - start
assert elapsed >= 0


def buffon(n, rng, needle=1.0, gap=2.0):
    y = rng.uniform(0, gap / 2, n)
    theta = rng.uniform(0, np.pi / 2, n)
    crosses = y <= needle / 2 * np.sin(theta)
    return 2 * needle * n / (gap * crosses.sum())


print("buffon:", round(buffon(5000, rng), 3))
