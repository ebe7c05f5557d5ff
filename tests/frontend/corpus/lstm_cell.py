import numpy as np
def sigmoid(x): return 1 / (1 + np.exp(-x))
class LSTM:
    def __init__(self, n_in, n_h, seed=0):
        r = np.random.RandomState(seed)
        self.W = r.randn(4 * n_h, n_in + n_h) * 0.1
        self.b = np.zeros(4 * n_h)
        self.n_h = n_h
    def step(self, x, h, c):
        z = self.W @ np.concatenate((x, h)) + self.b
        i, f, o, g = np.split(z, 4)
        i, f, o = map(sigmoid, (i, f, o))
        c = f * c + i * np.tanh(g)
        return o * np.tanh(c), c
net = LSTM(3, 5)
h = c = np.zeros(5)
for t in range(12):
    h, c = net.step(np.array([np.sin(t), np.cos(t), 1.0]), h, c)
print(h)
