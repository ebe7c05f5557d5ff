import numpy as np
from dataclasses import dataclass


@dataclass
class CSR:
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]

    @classmethod
    def from_dense(cls, a):
        r, c = np.nonzero(a)
        indptr = np.zeros(a.shape[0] + 1, dtype=int)
        np.add.at(indptr, r + 1, 1)
        return cls(a[r, c], c, np.cumsum(indptr), a.shape)

    def __matmul__(self, x):
        out = np.zeros(self.shape[0])
        for i in range(self.shape[0]):
            lo, hi = self.indptr[i:i + 2]
            out[i] = self.data[lo:hi] @ x[self.indices[lo:hi]]
        return out

    def todense(self):
        a = np.zeros(self.shape)
        for i, (lo, hi) in enumerate(zip(self.indptr, self.indptr[1:])):
            a[i, self.indices[lo:hi]] = self.data[lo:hi]
        return a

    @property
    def T(self):
        return CSR.from_dense(self.todense().T)

    @property
    def nnz(self): return len(self.data)


def laplacian_2d(n):
    a = np.zeros((n * n, n * n))
    for i in range(n):
        for j in range(n):
            k = i * n + j
            a[k, k] = 4
            for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                if 0 <= i + di < n and 0 <= j + dj < n:
                    a[k, (i + di) * n + j + dj] = -1
    return a


def cg(A, b, tol=1e-8, maxiter=100):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for it in range(maxiter):
        Ap = A @ p
        a = rs / (p @ Ap)
        x += a * p
        r -= a * Ap
        new = r @ r
        if np.sqrt(new) < tol:
            return x, it + 1
        p = r + new / rs * p
        rs = new
    raise RuntimeError("no convergence")


dense = laplacian_2d(4)
A = CSR.from_dense(dense)
print(A.nnz, f"{A.nnz / dense.size:.1%}", A.T.nnz)
b = np.sin(np.arange(16.0))
x, it = cg(A, b)
print(it, np.allclose(dense @ x, b))
print(A)
ranks = np.full(5, 0.2)
links = {0: [1, 2], 1: [2], 2: [0], 3: [2, 4], 4: []}
M = np.zeros((5, 5))
for s, outs in links.items():
    if outs:
        M[outs, s] = 1 / len(outs)
    else:
        M[:, s] = 1 / 5
for i in range(100):
    new = 0.15 / 5 + 0.85 * M @ ranks
    if np.abs(new - ranks).sum() < 1e-10:
        break
    ranks = new
print(i, ranks.round(5), ranks.argsort()[::-1])
