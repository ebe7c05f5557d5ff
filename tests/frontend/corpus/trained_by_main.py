#!/usr/bin/env python3
"""Train a tiny classifier. Usage: prog [--epochs N]"""
import argparse
import sys
import time
import numpy as np

def parse(argv=None):
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--lr", type=float, default=0.5)
    p.add_argument("--hidden", type=int, nargs="+", default=[8, 4])
    p.add_argument("-v", "--verbose", action="store_true")
    return p.parse_args(argv)

class Layer:
    registry = {}
    def __init_subclass__(cls, name=None, **kw):
        super().__init_subclass__(**kw)
        Layer.registry[name or cls.__name__.lower()] = cls
    def params(self): return []

class Dense(Layer, name="dense"):
    def __init__(self, i, o, rng):
        self.W = rng.normal(0, np.sqrt(2 / i), (i, o)); self.b = np.zeros(o)
    def forward(self, x): self.x = x; return x @ self.W + self.b
    def backward(self, g):
        self.dW, self.db = self.x.T @ g, g.sum(0)
        return g @ self.W.T
    def params(self): return [(self, "W"), (self, "b")]

class Relu(Layer):
    def forward(self, x): self.m = x > 0; return x * self.m
    def backward(self, g): return g * self.m

def main():
    a = parse([])
    rng = np.random.default_rng(42)
    X = rng.normal(size=(64, 2)); y = (X[:, 0] * X[:, 1] > 0).astype(int)
    dims = [2, *a.hidden, 2]
    net = []
    for i, o in zip(dims, dims[1:]):
        net += [Layer.registry["dense"](i, o, rng), Layer.registry["relu"]()]
    net.pop()
    t0 = time.perf_counter()
    for ep in range(a.epochs):
        h = X
        for l in net: h = l.forward(h)
        h = h - h.max(1, keepdims=True)
        p = np.exp(h); p /= p.sum(1, keepdims=True)
        loss = -np.log(p[np.arange(len(y)), y]).mean()
        g = p.copy(); g[np.arange(len(y)), y] -= 1; g /= len(y)
        for l in reversed(net): g = l.backward(g)
        for l in net:
            for obj, n in l.params():
                setattr(obj, n, getattr(obj, n) - a.lr * getattr(obj, "d" + n))
    took = time.perf_counter() - t0
    print(f"loss {loss:.6f} acc {(p.argmax(1) == y).mean():.2%}", file=sys.stdout)
    assert took >= 0
    return 0

if __name__ == "__main__":
    sys.exit(main())
