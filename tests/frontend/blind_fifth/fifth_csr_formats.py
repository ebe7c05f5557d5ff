"""CSR, CSC and COO by hand, with a few graph kernels on them."""
import numpy as np


class COO:
    def __init__(self, shape):
        self.shape = shape
        self.r, self.c, self.v = [], [], []

    def __setitem__(self, key, value):
        i, j = key
        self.r.append(i); self.c.append(j); self.v.append(value)

    def tocsr(self):
        r, c, v = map(np.asarray, (self.r, self.c, self.v))
        order = np.lexsort((c, r))
        r, c, v = r[order], c[order], v[order]
        keep = np.r_[True, (np.diff(r) != 0) | (np.diff(c) != 0)]
        groups = np.cumsum(keep) - 1
        data = np.zeros(groups[-1] + 1, v.dtype)
        np.add.at(data, groups, v)
        r, c = r[keep], c[keep]
        indptr = np.zeros(self.shape[0] + 1, dtype=np.intp)
        np.add.at(indptr, r + 1, 1)
        np.cumsum(indptr, out=indptr)
        return CSR(data, c, indptr, self.shape)


class CSR:
    __slots__ = ("data", "indices", "indptr", "shape")

    def __init__(self, data, indices, indptr, shape):
        self.data, self.indices, self.indptr, self.shape = data, indices, indptr, shape

    @property
    def nnz(self):
        return self.data.size

    @property
    def T(self):
        order = np.argsort(self.indices, kind="stable")
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        indptr = np.concatenate(([0], np.bincount(self.indices, minlength=self.shape[1]).cumsum()))
        return CSR(self.data[order], rows[order], indptr, self.shape[::-1])

    def __matmul__(self, x):
        prod = self.data * x[self.indices]
        out = np.zeros(self.shape[0], prod.dtype)
        nonempty = np.diff(self.indptr) > 0
        out[nonempty] = np.add.reduceat(prod, self.indptr[:-1][nonempty])
        return out

    def __getitem__(self, i):
        s = slice(self.indptr[i], self.indptr[i + 1])
        return dict(zip(self.indices[s].tolist(), self.data[s].tolist()))

    def todense(self):
        d = np.zeros(self.shape, self.data.dtype)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        d[rows, self.indices] = self.data
        return d

    def __repr__(self):
        return f"<{self.shape[0]}x{self.shape[1]} CSR of {self.data.dtype} with {self.nnz} stored elements>"


m = COO((5, 4))
for i, j, v in [(0, 1, 2.0), (3, 2, 1.5), (0, 1, 1.0), (4, 0, -1.0), (3, 3, 4.0), (1, 1, 7.0)]:
    m[i, j] = v
A = m.tocsr()
print(A, A.indptr, A.indices, A.data)
print(A.todense())
print(A @ np.arange(1.0, 5.0), A.T @ np.ones(5))
print(A.T, A[3], A[2])
assert np.array_equal(A.T.todense(), A.todense().T)


def bfs_levels(adj, s):
    level = np.full(adj.shape[0], -1)
    level[s] = 0
    frontier = np.zeros(adj.shape[0])
    frontier[s] = 1
    d = 0
    while frontier.any():
        d += 1
        nxt = (adj.T @ frontier > 0) & (level < 0)
        level[nxt] = d
        frontier = nxt.astype(float)
    return level


g = COO((7, 7))
for a, b in [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (5, 6)]:
    g[a, b] = 1
print("levels", bfs_levels(g.tocsr(), 0))
