import numpy as np

rng = np.random.default_rng(7)
n, d = 96, 5
w_true = rng.normal(size=d)
X = rng.normal(size=(n, d))
t = (X @ w_true + 0.3 * rng.normal(size=n) > 0).astype(float)


class Adam:
    def __init__(self, lr=1e-2, b1=0.9, b2=0.999, eps=1e-8):
        self.lr, self.b1, self.b2, self.eps = lr, b1, b2, eps
        self.m = None
        self.v = None
        self.t = 0

    def step(self, w, g):
        if self.m is None:
            self.m = np.zeros_like(w)
            self.v = np.zeros_like(w)
        self.t += 1
        self.m = self.b1 * self.m + (1 - self.b1) * g
        self.v = self.b2 * self.v + (1 - self.b2) * g * g
        mh = self.m / (1 - self.b1 ** self.t)
        vh = self.v / (1 - self.b2 ** self.t)
        return w - self.lr * mh / (np.sqrt(vh) + self.eps)


w = np.zeros(d)
opt = Adam(lr=0.05)
history = []
for epoch in range(20):
    order = rng.permutation(n)
    total = 0.0
    for start in range(0, n, 16):
        batch = order[start:start + 16]
        z = X[batch] @ w
        p = 1 / (1 + np.exp(-z))
        total += -np.sum(t[batch] * np.log(p + 1e-9) + (1 - t[batch]) * np.log(1 - p + 1e-9))
        grad = X[batch].T @ (p - t[batch]) / len(batch)
        w = opt.step(w, grad)
    history.append(total / n)
for i in (0, 4, 9, 19):
    print(f"epoch {i + 1:>2}: {history[i]:.4f}")
print("updates:", opt.t, "decreasing:", all(a >= b for a, b in zip(history[:5], history[1:6])))
