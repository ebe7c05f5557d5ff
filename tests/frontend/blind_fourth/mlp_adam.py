import numpy as np
from typing import Dict, List, Iterator


class Parameter:
    def __init__(self, value: np.ndarray):
        self.value = value
        self.grad = np.zeros_like(value)


class Layer:
    def parameters(self) -> List[Parameter]:
        return []

    def forward(self, x):
        raise NotImplementedError

    def backward(self, g):
        raise NotImplementedError

    def __call__(self, x):
        return self.forward(x)


class Linear(Layer):
    def __init__(self, n_in, n_out, rng):
        super().__init__()
        limit = np.sqrt(6.0 / (n_in + n_out))
        self.W = Parameter(rng.uniform(-limit, limit, size=(n_in, n_out)))
        self.b = Parameter(np.zeros(n_out))

    def parameters(self):
        return [self.W, self.b]

    def forward(self, x):
        self.x = x
        return x @ self.W.value + self.b.value

    def backward(self, g):
        self.W.grad += self.x.T @ g
        self.b.grad += g.sum(axis=0)
        return g @ self.W.value.T


class ReLU(Layer):
    def forward(self, x):
        self.mask = x > 0
        return x * self.mask

    def backward(self, g):
        return g * self.mask


class Dropout(Layer):
    def __init__(self, p, rng):
        self.p, self.rng, self.training = p, rng, True

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        self.m = (self.rng.random(x.shape) >= self.p) / (1 - self.p)
        return x * self.m

    def backward(self, g):
        return g * self.m


class Sequential(Layer):
    def __init__(self, *layers):
        self.layers = list(layers)

    def parameters(self):
        return [p for l in self.layers for p in l.parameters()]

    def forward(self, x):
        for l in self.layers:
            x = l(x)
        return x

    def backward(self, g):
        for l in reversed(self.layers):
            g = l.backward(g)
        return g

    def eval(self):
        for l in self.layers:
            if isinstance(l, Dropout):
                l.training = False


class Adam:
    def __init__(self, params, lr=1e-2, betas=(0.9, 0.999), eps=1e-8):
        self.params, self.lr, self.betas, self.eps = params, lr, betas, eps
        self.state: Dict[int, dict] = {i: {"m": np.zeros_like(p.value), "v": np.zeros_like(p.value)} for i, p in enumerate(params)}
        self.t = 0

    def zero_grad(self):
        for p in self.params:
            p.grad[...] = 0

    def step(self):
        self.t += 1
        b1, b2 = self.betas
        for i, p in enumerate(self.params):
            s = self.state[i]
            s["m"] = b1 * s["m"] + (1 - b1) * p.grad
            s["v"] = b2 * s["v"] + (1 - b2) * p.grad**2
            mhat = s["m"] / (1 - b1**self.t)
            vhat = s["v"] / (1 - b2**self.t)
            p.value -= self.lr * mhat / (np.sqrt(vhat) + self.eps)


def softmax_xent(logits, y):
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    n = len(y)
    loss = -logp[np.arange(n), y].mean()
    g = np.exp(logp)
    g[np.arange(n), y] -= 1
    return loss, g / n


def batches(X, y, size, rng) -> Iterator:
    perm = rng.permutation(len(X))
    for i in range(0, len(X), size):
        j = perm[i:i + size]
        yield X[j], y[j]


rng = np.random.default_rng(1)
X = rng.normal(size=(96, 4))
y = (X[:, 0] * X[:, 1] > 0).astype(int) + 2 * (X[:, 2] > 0.3)
net = Sequential(Linear(4, 16, rng), ReLU(), Dropout(0.1, rng), Linear(16, 4, rng))
opt = Adam(net.parameters())
for epoch in range(3):
    total = 0.0
    for xb, yb in batches(X, y, 32, rng):
        opt.zero_grad()
        loss, g = softmax_xent(net(xb), yb)
        net.backward(g)
        opt.step()
        total += loss * len(xb)
    print(f"epoch {epoch}: loss {total / len(X):.5f}")
net.eval()
acc = np.mean(net(X).argmax(1) == y)
print(f"accuracy {acc:.3f}")
