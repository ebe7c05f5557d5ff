import numpy as np


class RNN:
    """A vanilla RNN for one-step prediction, trained with truncated BPTT."""

    def __init__(self, n_in, n_hidden, n_out, lr=0.05):
        rng = np.random.default_rng(0)
        self.Wxh = rng.normal(0, 0.3, (n_hidden, n_in))
        self.Whh = rng.normal(0, 0.3, (n_hidden, n_hidden))
        self.Why = rng.normal(0, 0.3, (n_out, n_hidden))
        self.bh = np.zeros((n_hidden, 1))
        self.by = np.zeros((n_out, 1))
        self.lr = lr

    def step(self, xs, targets, h):
        hs, ys, loss = {-1: h}, {}, 0.0
        for t, x in enumerate(xs):
            hs[t] = np.tanh(self.Wxh * x + self.Whh @ hs[t - 1] + self.bh)
            ys[t] = self.Why @ hs[t] + self.by
            loss += 0.5 * float(((ys[t] - targets[t]) ** 2).sum())
        grads = {name: np.zeros_like(getattr(self, name)) for name in ("Wxh", "Whh", "Why", "bh", "by")}
        dh_next = np.zeros_like(h)
        for t in reversed(range(len(xs))):
            dy = ys[t] - targets[t]
            grads["Why"] += dy @ hs[t].T
            grads["by"] += dy
            dh = self.Why.T @ dy + dh_next
            draw = (1 - hs[t] ** 2) * dh
            grads["bh"] += draw
            grads["Wxh"] += draw * xs[t]
            grads["Whh"] += draw @ hs[t - 1].T
            dh_next = self.Whh.T @ draw
        for name, g in grads.items():
            np.clip(g, -1, 1, out=g)
            setattr(self, name, getattr(self, name) - self.lr * g)
        return loss, hs[len(xs) - 1]


series = np.sin(np.arange(61) * 0.3)
net = RNN(1, 8, 1)
for epoch in range(6):
    h = np.zeros((8, 1))
    total = 0.0
    for i in range(0, 60, 10):
        loss, h = net.step(series[i : i + 10], series[i + 1 : i + 11], h)
        total += loss
    print(f"epoch {epoch}: loss {total:.4f}")
