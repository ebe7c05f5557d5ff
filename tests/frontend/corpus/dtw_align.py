# dtw_path(a: float64[12], b: float64[15])
import numpy as np


def cost_matrix(a, b):
    return np.abs(np.subtract.outer(a, b))


def dtw_path(a, b):
    C = cost_matrix(a, b)
    n, m = C.shape
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            D[i, j] = C[i - 1, j - 1] + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    path = np.zeros_like(C, dtype=bool)
    i, j = n, m
    while i > 0 and j > 0:
        path[i - 1, j - 1] = True
        step = np.argmin([D[i - 1, j - 1], D[i - 1, j], D[i, j - 1]])
        if step == 0:
            i -= 1; j -= 1
        elif step == 1:
            i -= 1
        else:
            j -= 1
    return D[n, m], path, D[1:, 1:]
