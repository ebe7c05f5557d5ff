import numpy as np


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


class LSTM:
    def __init__(self, n_in, n_hidden, rng):
        scale = 1 / np.sqrt(n_in + n_hidden)
        self.W = rng.uniform(-scale, scale, (n_in + n_hidden, 4 * n_hidden)).astype(np.float32)
        self.b = np.zeros(4 * n_hidden, dtype=np.float32)
        self.b[n_hidden:2 * n_hidden] = 1.0
        self.n = n_hidden

    def forward(self, xs):
        T, B, _ = xs.shape
        h = np.zeros((B, self.n), dtype=xs.dtype)
        c = np.zeros_like(h)
        outs, self.cache = [], []
        for x in xs:
            z = np.concatenate([x, h], axis=1)
            gates = z @ self.W + self.b
            i, f, g, o = np.split(gates, 4, axis=1)
            i, f, o, g = sigmoid(i), sigmoid(f), sigmoid(o), np.tanh(g)
            prev = c
            c = f * c + i * g
            h = o * np.tanh(c)
            self.cache.append((z, i, f, g, o, c, prev))
            outs.append(h)
        return np.stack(outs)

    def backward(self, douts):
        dW, db = np.zeros_like(self.W), np.zeros_like(self.b)
        dh_next = np.zeros_like(douts[0])
        dc_next = np.zeros_like(douts[0])
        for dout, (z, i, f, g, o, c, prev) in zip(douts[::-1], reversed(self.cache)):
            dh = dout + dh_next
            tc = np.tanh(c)
            dc = dc_next + dh * o * (1 - tc**2)
            dgates = np.concatenate([dc * g * i * (1 - i), dc * prev * f * (1 - f), dc * i * (1 - g**2), dh * tc * o * (1 - o)], axis=1)
            dW += z.T @ dgates
            db += dgates.sum(axis=0)
            dz = dgates @ self.W.T
            dh_next = dz[:, -self.n:]
            dc_next = dc * f
        return dW, db


rng = np.random.default_rng(0)
lstm = LSTM(2, 6, rng)
Wout = rng.normal(0, 0.3, (6, 1)).astype(np.float32)
t = np.arange(12, dtype=np.float32)
xs = np.stack([np.sin(t / 2), np.cos(t / 3)], axis=-1)[:, None, :].repeat(3, axis=1)
target = np.sin((t + 1) / 2)[:, None, None]
for epoch in range(10):
    hs = lstm.forward(xs)
    pred = hs @ Wout
    diff = pred - target
    loss = float((diff**2).mean())
    dpred = 2 * diff / diff.size
    dW, db = lstm.backward(dpred @ Wout.T)
    Wout -= 0.3 * np.einsum("tbh,tbo->ho", hs, dpred)
    lstm.W -= 0.3 * dW
    lstm.b -= 0.3 * db
    if epoch % 3 == 0:
        print(f"epoch {epoch} loss {loss:.5f}")
print(pred[:, 0, 0].round(3))
print(lstm.W.dtype, xs.dtype)
