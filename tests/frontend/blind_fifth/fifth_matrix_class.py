from __future__ import annotations
from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar, ClassVar, Any, Self
import operator
import numpy as np

T = TypeVar("T", bound="Tensor")


class Shape(Protocol):
    def __len__(self) -> int: ...


class Tensor:
    """Reverse-mode autodiff over NumPy, with broadcasting."""

    count: ClassVar[int] = 0

    def __init__(self, data, parents=(), backward=lambda g: (), name: str | None = None):
        self.data = np.asarray(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        self.parents, self._backward, self.name = tuple(parents), backward, name
        type(self).count += 1

    @staticmethod
    def lift(x) -> Tensor:
        return x if isinstance(x, Tensor) else Tensor(x)

    @staticmethod
    def unbroadcast(g, shape):
        while g.ndim > len(shape):
            g = g.sum(0)
        for i, n in enumerate(shape):
            if n == 1 and g.shape[i] != 1:
                g = g.sum(i, keepdims=True)
        return g

    def __add__(self, o):
        o = self.lift(o)
        return Tensor(self.data + o.data, (self, o), lambda g: (self.unbroadcast(g, self.data.shape), self.unbroadcast(g, o.data.shape)))

    def __mul__(self, o):
        o = self.lift(o)
        return Tensor(self.data * o.data, (self, o), lambda g: (self.unbroadcast(g * o.data, self.data.shape), self.unbroadcast(g * self.data, o.data.shape)))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self): return self * -1
    def __sub__(self, o): return self + (-self.lift(o))
    def __rsub__(self, o): return self.lift(o) - self
    def __truediv__(self, o): return self * self.lift(o) ** -1

    def __pow__(self, k: float):
        return Tensor(self.data ** k, (self,), lambda g: (g * k * self.data ** (k - 1),))

    def __matmul__(self, o):
        return Tensor(self.data @ o.data, (self, o), lambda g: (g @ o.data.T, self.data.T @ g))

    def tanh(self):
        t = np.tanh(self.data)
        return Tensor(t, (self,), lambda g: (g * (1 - t * t),))

    def sum(self, axis=None, keepdims=False):
        def backward(g):
            if axis is not None and not keepdims:
                g = np.expand_dims(g, axis)
            return (np.broadcast_to(g, self.data.shape),)
        return Tensor(self.data.sum(axis=axis, keepdims=keepdims), (self,), backward)

    def mean(self):
        return self.sum() * (1 / self.data.size)

    @property
    def T(self) -> Tensor:
        return Tensor(self.data.T, (self,), lambda g: (g.T,))

    def backward(self):
        topo, seen = [], set()

        def visit(v):
            if id(v) not in seen:
                seen.add(id(v))
                for p in v.parents:
                    visit(p)
                topo.append(v)

        visit(self)
        self.grad = np.ones_like(self.data)
        for v in reversed(topo):
            for p, g in zip(v.parents, v._backward(v.grad)):
                p.grad = p.grad + g

    def __repr__(self):
        return f"Tensor({np.array2string(self.data, precision=4)}{', name=' + repr(self.name) if self.name else ''})"


class Optimizer(ABC):
    def __init__(self, params, lr): self.params, self.lr = list(params), lr

    @abstractmethod
    def update(self, i, p): ...

    def step(self) -> Self:
        for i, p in enumerate(self.params):
            self.update(i, p)
            p.grad = np.zeros_like(p.data)
        return self


class Momentum(Optimizer):
    def __init__(self, params, lr=0.1, beta=0.9):
        super().__init__(params, lr)
        self.beta = beta
        self.v = [np.zeros_like(p.data) for p in self.params]

    def update(self, i, p):
        self.v[i] = self.beta * self.v[i] + p.grad
        p.data -= self.lr * self.v[i]


rng = np.random.default_rng(1)
X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
Y = np.array([[0], [1], [1], [0]], float)
W1, b1 = Tensor(rng.normal(size=(2, 8)), name="W1"), Tensor(np.zeros(8), name="b1")
W2, b2 = Tensor(rng.normal(size=(8, 1)), name="W2"), Tensor(np.zeros(1))
opt = Momentum([W1, b1, W2, b2], lr=0.05)
for epoch in range(150):
    out = (Tensor(X) @ W1 + b1).tanh() @ W2 + b2
    loss = ((out - Y) ** 2).mean()
    loss.backward()
    opt.step()
    if epoch % 50 == 0 or epoch == 149:
        print(epoch, f"{loss.data:.5f}")
print(out.data.round(2).ravel(), b2, Tensor.count > 1000)
print(operator.attrgetter("data.shape")(W1), isinstance(opt, Optimizer), Momentum.__mro__[1].__name__)
try:
    Optimizer([], 0.1)
except TypeError as e:
    print("abstract:", "abstract" in str(e))
