import numpy as np
INF = np.inf
d = np.array([[0, 3, INF, 7], [8, 0, 2, INF], [5, INF, 0, 1], [2, INF, INF, 0]])
for k in range(4):
    d = np.minimum(d, d[:, k:k+1] + d[k:k+1, :])
print(d)
