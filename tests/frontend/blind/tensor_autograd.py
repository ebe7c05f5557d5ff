import numpy as np


class Tensor:
    def __init__(self, data, parents=(), back=None):
        self.data = np.asarray(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        self.parents, self.back = parents, back

    @property
    def shape(self):
        return self.data.shape

    def __matmul__(self, o):
        def back(g):
            self.grad += g @ o.data.T
            o.grad += self.data.T @ g
        return Tensor(self.data @ o.data, (self, o), back)

    def __add__(self, o):
        def back(g):
            self.grad += _unbroadcast(g, self.shape)
            o.grad += _unbroadcast(g, o.shape)
        return Tensor(self.data + o.data, (self, o), back)

    def relu(self):
        mask = self.data > 0
        def back(g):
            self.grad += g * mask
        return Tensor(self.data * mask, (self,), back)

    def cross_entropy(self, labels):
        z = self.data - self.data.max(axis=1, keepdims=True)
        logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        n = len(labels)
        def back(g):
            p = np.exp(logp)
            p[np.arange(n), labels] -= 1
            self.grad += g * p / n
        return Tensor(-logp[np.arange(n), labels].mean(), (self,), back)

    def backward(self):
        order = []
        def visit(t):
            if t not in order:
                for p in t.parents:
                    visit(p)
                order.append(t)
        visit(self)
        self.grad = np.ones_like(self.data)
        for t in order[::-1]:
            if t.back:
                t.back(t.grad)


def _unbroadcast(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for i, s in enumerate(shape):
        if s == 1 and g.shape[i] != 1:
            g = g.sum(axis=i, keepdims=True)
    return g


rng = np.random.default_rng(12)
X = rng.normal(size=(30, 4))
labels = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5)
W1, b1 = Tensor(rng.normal(scale=0.5, size=(4, 8))), Tensor(np.zeros(8))
W2, b2 = Tensor(rng.normal(scale=0.5, size=(8, 3))), Tensor(np.zeros((1, 3)))
params = [W1, b1, W2, b2]
losses = []
for _ in range(25):
    h = (Tensor(X) @ W1 + b1).relu()
    loss = (h @ W2 + b2).cross_entropy(labels)
    for p in params:
        p.grad = np.zeros_like(p.data)
    loss.backward()
    for p in params:
        p.data -= 0.5 * p.grad
    losses.append(loss.data.item())
print("first %.5f last %.5f" % (losses[0], losses[-1]))
acc = np.mean((np.maximum(X @ W1.data + b1.data, 0) @ W2.data + b2.data).argmax(1) == labels)
print("accuracy", acc)
eps, i = 1e-6, (1, 2)
W1.data[i] += eps
up = (((Tensor(X) @ W1 + b1).relu()) @ W2 + b2).cross_entropy(labels).data
W1.data[i] -= 2 * eps
down = (((Tensor(X) @ W1 + b1).relu()) @ W2 + b2).cross_entropy(labels).data
print("numeric gradient %.5f" % ((up - down) / (2 * eps)))
