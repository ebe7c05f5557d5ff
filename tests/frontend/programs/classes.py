import numpy as np


class Linear:
    """A layer."""

    count = 0
    dtype = np.float32

    def __init__(self, rng, inputs, outputs, *, bias=True):
        self.w = rng.normal(0, 0.3, (inputs, outputs)).astype(self.dtype)
        self.b = np.zeros(outputs, self.dtype) if bias else None
        Linear.count += 1
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        h = x @ self.w
        return h if self.b is None else h + self.b

    def __len__(self):
        return self.w.shape[1]

    @property
    def size(self):
        return self.w.size + (0 if self.b is None else self.b.size)

    @staticmethod
    def relu(v):
        return np.maximum(v, 0)

    @classmethod
    def square(cls, rng, n):
        return cls(rng, n, n, bias=False)


class Sequential:
    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def __getitem__(self, i):
        return self.layers[i]

    def __iter__(self):
        return iter(self.layers)

    def __len__(self):
        return len(self.layers)


rng = np.random.default_rng(0)
inner = Sequential(Linear.square(rng, 4), Linear.relu)
net = Sequential(Linear(rng, 3, 4), inner, Linear(rng, 4, 2))
x = np.ones((2, 3), np.float32)
y = net(x)
print(y.shape, y.dtype, np.round(y.sum() * 100))
print(Linear.count, len(net), len(net[0]), net[0].size, net[2].calls, [isinstance(l, Linear) for l in net])
print(net[0] is net.layers[0], net[0] == net[2], net[0] != net[2], bool(net), net[-1].b, inner in net.layers)
f = net[2].__call__
print(f(np.ones((1, 4), np.float32)).shape, net[2].calls, callable(net), callable(net[0].w))
