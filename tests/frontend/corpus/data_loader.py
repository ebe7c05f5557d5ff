import numpy as np
def batches(x, y, size, rng):
    idx = rng.permutation(len(x))
    for s in range(0, len(x), size):
        b = idx[s:s + size]
        yield x[b], y[b]

class DataLoader:
    def __init__(self, *arrays, batch_size=4, shuffle=True, seed=0):
        self.arrays, self.bs = arrays, batch_size
        self.rng = np.random.default_rng(seed) if shuffle else None
    def __len__(self):
        return -(-len(self.arrays[0]) // self.bs)
    def __iter__(self):
        order = self.rng.permutation(len(self.arrays[0])) if self.rng else np.arange(len(self.arrays[0]))
        for k in range(len(self)):
            yield tuple(a[order[k * self.bs:(k + 1) * self.bs]] for a in self.arrays)

rng = np.random.RandomState(3)
X = rng.randn(10, 3); t = X @ [1.0, -2, 0.5] + 0.1
w, b = np.zeros(3), 0.0
for epoch in range(30):
    tot = 0
    for xb, tb in DataLoader(X, t, seed=epoch):
        e = xb @ w + b - tb
        w -= 0.1 * (xb.T @ e) / len(e); b -= 0.1 * e.mean(); tot += (e ** 2).sum()
    if epoch % 10 == 0:
        print(f"epoch {epoch:3d} | loss {tot / len(X):.6f}")
print(np.round(w, 3), round(b, 3), len(DataLoader(X, t)))
print(sum(len(xb) for xb, _ in batches(X, t, 3, np.random.default_rng(1))))
g = (i * i for i in range(5))
print(next(g), next(g), sum(g), next(g, "end"))
