import numpy as np

def sigmoid(z): return 1 / (1 + np.exp(-z))

class LSTMCell:
    def __init__(self, n_in, n_h, seed=0):
        r = np.random.RandomState(seed)
        k = 1 / n_h ** .5
        self.Wx, self.Wh = r.uniform(-k, k, (4*n_h, n_in)).astype('float32'), r.uniform(-k, k, (4*n_h, n_h)).astype('float32')
        self.b = np.zeros(4*n_h, 'float32'); self.b[n_h:2*n_h] = 1.
        self.n_h = n_h
    def step(self, x, state):
        h, c = state
        z = x @ self.Wx.T + h @ self.Wh.T + self.b
        i, f, g, o = np.split(z, 4, axis=-1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        return h, (h, c)
    def zero(self, n): return tuple(np.zeros((n, self.n_h), 'float32') for _ in range(2))

class BiLSTM:
    def __init__(self, *a):
        self.f, self.b = LSTMCell(*a, 1), LSTMCell(*a, 2)
    def __call__(self, xs):
        T, B, _ = xs.shape
        outs = []
        for cell, it in ((self.f, range(T)), (self.b, range(T-1, -1, -1))):
            s, hs = cell.zero(B), [None]*T
            for t in it: hs[t], s = cell.step(xs[t], s)
            outs += [np.stack(hs)]
        return np.concatenate(outs, -1)

net = BiLSTM(6, 8)
head = np.random.RandomState(3).randn(16, 5).astype(np.float32)

def ctc_greedy(logits, blank=0):
    best = logits.argmax(-1)
    out = []
    for b in range(best.shape[1]):
        seq = best[:, b]
        keep = np.insert(seq[1:] != seq[:-1], 0, True) & (seq != blank)
        out.append(seq[keep].tolist())
    return out

def forward(xs: "float32[7, B, 6]"):
    return net(xs) @ head

if __name__ == '__main__':
    x = np.random.RandomState(9).randn(7, 2, 6).astype(np.float32)
    y = forward(x)
    print(y.shape, y.dtype, ctc_greedy(y))
    print(np.array2string(y[0, 0], precision=3))
