import numpy as np
dims = [10, 30, 5, 60]
n = len(dims) - 1
m = np.zeros((n, n), dtype=int)
for length in range(2, n + 1):
    for i in range(n - length + 1):
        j = i + length - 1
        m[i, j] = np.iinfo(np.int64).max
        for k in range(i, j):
            q = m[i, k] + m[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1]
            if q < m[i, j]:
                m[i, j] = q
print(m[0, -1])
