"""Optimisers compared on Rosenbrock: closures, dict dispatch, generators."""
import numpy as np
from functools import partial
from typing import Callable, Generator


def rosen(p):
    x, y = p
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def grad(p):
    x, y = p
    return np.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])


def sgd(p, lr): 
    while True:
        yield p
        p = p - lr * grad(p)


def momentum(p, lr, beta=0.9):
    v = np.zeros_like(p)
    while True:
        yield p
        v = beta * v - lr * grad(p)
        p = p + v


def rmsprop(p, lr, rho=0.9, eps=1e-8):
    s = 0
    while True:
        yield p
        g = grad(p)
        s = rho * s + (1 - rho) * g * g
        p = p - lr * g / (np.sqrt(s) + eps)


def lion(p, lr, b1=0.9, b2=0.99):
    m = np.zeros_like(p)
    while True:
        yield p
        g = grad(p)
        u = np.sign(b1 * m + (1 - b1) * g)
        m = b2 * m + (1 - b2) * g
        p = p - lr * u


def run(opt: Generator, steps: int):
    for k, p in enumerate(opt):
        if k == steps:
            return p


def line_search(f, p, d, g, c=1e-4, tau=0.5):
    t = 1.0
    while f(p + t * d) > f(p) + c * t * g @ d:
        t *= tau
        if t < 1e-10:
            break
    return t


def bfgs(f, g, p, iters=25):
    n = len(p)
    Hinv = np.eye(n)
    gr = g(p)
    for k in range(iters):
        d = -Hinv @ gr
        s = line_search(f, p, d, gr) * d
        new = g(p + s)
        yk = new - gr
        p, gr = p + s, new
        if (sy := s @ yk) > 1e-12:
            rho = 1 / sy
            A = np.eye(n) - rho * np.outer(s, yk)
            Hinv = A @ Hinv @ A.T + rho * np.outer(s, s)
        if np.linalg.norm(gr) < 1e-8:
            break
    return p, k


start = np.array([-1.2, 1.0])
methods: dict[str, Callable] = {"sgd": partial(sgd, lr=1e-3), "momentum": partial(momentum, lr=2e-4), "rmsprop": partial(rmsprop, lr=1e-2), "lion": partial(lion, lr=1e-2)}
for name, m in methods.items():
    p = run(m(start.copy()), 50)
    print(f"{name:<10}{rosen(p):12.6f}  at {np.array2string(p, precision=4, floatmode='fixed')}")
p, k = bfgs(rosen, grad, start)
print(f"bfgs {k} {rosen(p):.3e} {p.round(6)}")
h = 1e-5
num = np.array([(rosen(start + h * e) - rosen(start - h * e)) / (2 * h) for e in np.eye(2)])
print(np.max(np.abs(num - grad(start))) < 1e-4)
