import numpy as np


def minor(m, i, j):
    return np.delete(np.delete(m, i, axis=0), j, axis=1)


def det(m):
    if m.shape == (1, 1):
        return m[0, 0]
    if m.shape == (2, 2):
        return m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
    return sum((-1) ** j * m[0, j] * det(minor(m, 0, j)) for j in range(m.shape[1]))


A = np.array([[2, 0, 1, 3], [1, 4, 0, -1], [3, 2, 2, 0], [0, 1, 5, 1]])
print(det(A), round(np.linalg.det(A)))
adj = np.array([[(-1) ** (i + j) * det(minor(A, j, i)) for j in range(4)] for i in range(4)])
print(A @ adj)
