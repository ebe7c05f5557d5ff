import numpy as np
cost = np.array([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
c = cost.astype(float); total = 0; pairs = []
for _ in range(3):
    i, j = divmod(int(c.argmin()), c.shape[1])
    pairs.append((i, j)); total += cost[i, j]
    c[i, :] = np.inf; c[:, j] = np.inf
print(sorted(pairs), total)
