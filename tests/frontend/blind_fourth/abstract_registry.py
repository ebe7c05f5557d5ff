from abc import ABC, abstractmethod
import inspect
import numpy as np


class Activation(ABC):
    registry: dict = {}

    def __init_subclass__(cls, /, name=None, **kw):
        super().__init_subclass__(**kw)
        Activation.registry[name or cls.__name__.lower()] = cls

    @staticmethod
    def make(spec):
        name, _, arg = spec.partition(":")
        cls = Activation.registry[name]
        return cls(float(arg)) if arg else cls()

    @abstractmethod
    def f(self, x): ...

    @abstractmethod
    def df(self, x): ...

    def check(self, x, h=1e-6):
        num = (self.f(x + h) - self.f(x - h)) / (2 * h)
        return np.allclose(num, self.df(x), atol=1e-5)


class ReLU(Activation):
    def f(self, x): return np.where(x > 0, x, 0.0)
    def df(self, x): return (x > 0).astype(x.dtype)


class Leaky(Activation, name="lrelu"):
    def __init__(self, a=0.01): self.a = a
    def f(self, x): return np.where(x > 0, x, self.a * x)
    def df(self, x): return np.where(x > 0, 1.0, self.a)


class ELU(Activation):
    def __init__(self, alpha=1.0): self.alpha = alpha
    def f(self, x): return np.where(x > 0, x, self.alpha * np.expm1(np.minimum(x, 0)))
    def df(self, x): return np.where(x > 0, 1.0, self.alpha * np.exp(np.minimum(x, 0)))


class Softplus(Activation):
    def f(self, x): return np.logaddexp(0, x)
    def df(self, x): return 1 / (1 + np.exp(-x))


class Mish(Activation):
    def f(self, x): return x * np.tanh(np.logaddexp(0, x))

    def df(self, x):
        sp = np.logaddexp(0, x)
        t = np.tanh(sp)
        return t + x * (1 - t * t) / (1 + np.exp(-x))


class Swish(Activation):
    def __init__(self, beta=1.0): self.beta = beta
    def f(self, x): return x / (1 + np.exp(-self.beta * x))

    def df(self, x):
        s = 1 / (1 + np.exp(-self.beta * x))
        return s + self.beta * x * s * (1 - s)


x = np.concatenate([np.linspace(-3, -0.1, 5), np.linspace(0.1, 3, 5)])
for spec in ["relu", "lrelu:0.2", "elu:1.5", "softplus", "mish", "swish:2"]:
    act = Activation.make(spec)
    print(f"{spec:10s} {type(act).__name__:9s} {act.check(x)} {act.f(x)[[0, -1]]}")
try:
    Activation()
except TypeError as e:
    print("TypeError")
print(list(Activation.registry), isinstance(act, Activation), issubclass(Mish, Activation), hasattr(act, "beta"), getattr(act, "gamma", None))
print(callable(act.f), act.__class__.__mro__[1].__name__, vars(act))
