from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce, partial, wraps
import operator
import numpy as np

Array = np.ndarray
Transform = Callable[[Array], Array]
REGISTRY: dict[str, Transform] = {}


def register(name: str):
    def deco(fn):
        @wraps(fn)
        def wrapper(*args, **kwargs):
            out = fn(*args, **kwargs)
            assert out.dtype == np.float32, f"{name}: {out.dtype}"
            return out
        REGISTRY[name] = wrapper
        return wrapper
    return deco


@register("standardize")
def standardize(x: Array, eps: float = 1e-6) -> Array:
    return (x - x.mean(0)) / (x.std(0) + np.float32(eps))


@register("clip")
def clip(x, lo=-2.0, hi=2.0):
    return np.clip(x, lo, hi)


@register("poly")
def poly(x: Array, degree: int = 2) -> Array:
    return np.concatenate([x**d for d in range(1, degree + 1)], axis=-1)


def compose(*fs: Transform) -> Transform:
    return reduce(lambda f, g: lambda x: g(f(x)), fs)


class Model(abc.ABC):
    @abc.abstractmethod
    def predict(self, x: Array) -> Array: ...

    @classmethod
    def create(cls, **kw):
        return cls(**kw)


@dataclass
class Ridge(Model):
    alpha: float = 1.0
    coef_: Array | None = None

    def fit(self, X, y):
        n, d = X.shape
        A = X.T @ X + self.alpha * np.eye(d, dtype=X.dtype)
        self.coef_ = np.linalg.solve(A, X.T @ y)
        return self

    def predict(self, x):
        return x @ self.coef_

    def score(self, X, y):
        ss = ((y - self.predict(X)) ** 2).sum()
        return 1 - ss / ((y - y.mean()) ** 2).sum()


@dataclass(kw_only=True)
class Pipeline:
    steps: Sequence[str | Transform]
    model: Model

    def __post_init__(self):
        self.fn = compose(*[REGISTRY[s] if isinstance(s, str) else s for s in self.steps])

    def run(self, X, y):
        Z = self.fn(X)
        return self.model.fit(Z, y).score(Z, y)


rng = np.random.default_rng(9)
X = rng.standard_normal((50, 3), dtype=np.float32)
y = (X @ np.array([1, -2, 0.5], dtype=np.float32) + X[:, 0] ** 2).astype(np.float32)
for alpha in (0.01, 1.0, 100.0):
    p = Pipeline(steps=["standardize", "clip", partial(REGISTRY["poly"], degree=3)], model=Ridge.create(alpha=alpha))
    print(f"alpha={alpha:<6} r2={p.run(X, y):.4f}")
print(reduce(operator.mul, p.model.coef_.shape), sorted(REGISTRY))
