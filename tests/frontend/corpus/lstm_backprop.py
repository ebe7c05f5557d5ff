import numpy as np
np.random.seed(0)

class LSTM:
    def __init__(self, n_in, n_h):
        self.n_h = n_h
        k = 1 / np.sqrt(n_h)
        self.W = np.random.uniform(-k, k, (4 * n_h, n_in + n_h))
        self.b = np.zeros(4 * n_h)
    def step(self, x, h, c):
        z = self.W @ np.concatenate([x, h]) + self.b
        i, f, g, o = np.split(z, 4)
        sig = lambda v: 1 / (1 + np.exp(-v))
        i, f, o = map(sig, (i, f, o))
        g = np.tanh(g)
        c2 = f * c + i * g
        h2 = o * np.tanh(c2)
        return h2, c2, (x, h, c, i, f, g, o, c2)
    def backward(self, caches, dhs):
        dW = np.zeros_like(self.W); db = np.zeros_like(self.b)
        dh_next = np.zeros(self.n_h); dc_next = np.zeros(self.n_h)
        for (x, h, c, i, f, g, o, c2), dh in zip(reversed(caches), reversed(dhs)):
            dh = dh + dh_next
            t = np.tanh(c2)
            do = dh * t
            dc = dh * o * (1 - t ** 2) + dc_next
            di, df, dg = dc * g, dc * c, dc * i
            dz = np.concatenate([di * i * (1 - i), df * f * (1 - f), dg * (1 - g ** 2), do * o * (1 - o)])
            dW += np.outer(dz, np.concatenate([x, h])); db += dz
            back = self.W.T @ dz
            dh_next = back[len(x):]
            dc_next = dc * f
        return dW, db

seq = np.sin(np.linspace(0, 6, 20))
net = LSTM(1, 8)
V = np.random.randn(8) * 0.1
losses = []
for epoch in range(15):
    h = np.zeros(8); c = np.zeros(8)
    caches, errs, hs = [], [], []
    for t in range(len(seq) - 1):
        h, c, cache = net.step(seq[t:t + 1], h, c)
        caches.append(cache); hs.append(h)
        errs.append(V @ h - seq[t + 1])
    loss = np.mean(np.square(errs))
    losses.append(loss)
    dV = sum(2 * e * h for e, h in zip(errs, hs)) / len(errs)
    dhs = [2 * e * V / len(errs) for e in errs]
    dW, db = net.backward(caches, dhs)
    V -= 0.5 * dV; net.W -= 0.5 * dW; net.b -= 0.5 * db
print(["%.5f" % l for l in losses[::5]])
assert losses[-1] < losses[0]
