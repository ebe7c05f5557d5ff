import numpy as np
from functools import cache

@cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(80), fib.cache_info().hits)

def lcs(a, b):
    dp = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i, ca in enumerate(a, 1):
        for j, cb in enumerate(b, 1):
            dp[i, j] = dp[i - 1, j - 1] + 1 if ca == cb else max(dp[i - 1, j], dp[i, j - 1])
    out = []
    i, j = len(a), len(b)
    while i and j:
        if a[i - 1] == b[j - 1]:
            out.append(a[i - 1]); i -= 1; j -= 1
        elif dp[i - 1, j] >= dp[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return "".join(out[::-1])
print(lcs("AGGTABXYZ", "GXTXAYBZ"))

def coins(total, cs):
    best = [0] + [float("inf")] * total
    for t in range(1, total + 1):
        best[t] = min((best[t - c] + 1 for c in cs if c <= t), default=float("inf"))
    return best[total]
print(coins(63, (1, 5, 10, 21, 25)), coins(3, (2,)))

def partitions(n, m=None):
    if n == 0:
        yield []
        return
    for k in range(min(n, m or n), 0, -1):
        for rest in partitions(n - k, k):
            yield [k, *rest]
print(len(list(partitions(8))), next(iter(partitions(4))))
heights = np.array([0, 1, 0, 2, 1, 0, 1, 3, 2, 1, 2, 1])
left = np.maximum.accumulate(heights); right = np.maximum.accumulate(heights[::-1])[::-1]
print(int((np.minimum(left, right) - heights).sum()))
