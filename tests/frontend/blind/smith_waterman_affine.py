import numpy as np

def sw(a, b, match=2.0, mismatch=-1.0, open_=-2.0, ext=-0.5):
    n, m = len(a), len(b)
    H = np.zeros((n + 1, m + 1)); E = np.full((n + 1, m + 1), -np.inf); F = E.copy()
    best, where = 0.0, (0, 0)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            E[i, j] = max(E[i, j - 1] + ext, H[i, j - 1] + open_)
            F[i, j] = max(F[i - 1, j] + ext, H[i - 1, j] + open_)
            s = match if a[i - 1] == b[j - 1] else mismatch
            H[i, j] = max(0.0, H[i - 1, j - 1] + s, E[i, j], F[i, j])
            if H[i, j] > best:
                best, where = H[i, j], (i, j)
    return H, best, where

H, best, where = sw("TACGGGCCCGCTAC", "TAGCCCTATCGGTCA")
print("best", best, "at", where)
print(H[:6, :6])
print("argmax agrees:", np.unravel_index(H.argmax(), H.shape) == where)
print("row maxima", H.max(axis=1))
assert H.min() >= 0, "local scores are never negative"
