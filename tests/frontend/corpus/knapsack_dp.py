import numpy as np

weights = np.array([2, 3, 4, 5, 9])
values = np.array([3, 4, 8, 8, 10])
capacity = 15
n = len(weights)
dp = np.zeros((n + 1, capacity + 1), dtype=int)
for i in range(1, n + 1):
    w, v = weights[i - 1], values[i - 1]
    dp[i] = dp[i - 1]
    dp[i, w:] = np.maximum(dp[i - 1, w:], dp[i - 1, :-w] + v)
chosen = []
c = capacity
for i in range(n, 0, -1):
    if dp[i, c] != dp[i - 1, c]:
        chosen.append(i - 1)
        c -= weights[i - 1]
print("value", dp[n, capacity], "items", chosen[::-1], "weight", weights[chosen].sum())
