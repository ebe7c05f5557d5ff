import numpy as np

coupons = np.array([5.0] * 9 + [105.0])
t = np.arange(1, 11)


def pv(y):
    return (coupons / (1 + y) ** t).sum()


def bisect(f, lo, hi, tol=1e-12):
    n = 0
    while hi - lo > tol:
        mid = (lo + hi) / 2
        if f(lo) * f(mid) <= 0:
            hi = mid
        else:
            lo = mid
        n += 1
    return (lo + hi) / 2, n


target = 97.5
y, steps = bisect(lambda r: pv(r) - target, 0.0, 0.2)
w = coupons / (1 + y) ** t / target
duration = (w * t).sum()
print(f"yield {100 * y:.4f}% in {steps} steps")
print(f"Macaulay duration {duration:.4f}, modified {duration / (1 + y):.4f}")
