import numpy as np
rng = np.random.default_rng(5)
arr = np.cumsum(rng.exponential(1.0, 20)); srv = rng.exponential(0.8, 20)
start = np.zeros(20); end = np.zeros(20)
for i in range(20):
    start[i] = arr[i] if i == 0 else max(arr[i], end[i-1])
    end[i] = start[i] + srv[i]
print((start - arr).mean(), end[-1])
