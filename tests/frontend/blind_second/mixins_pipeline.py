from functools import cached_property

import numpy as np


class ReprMixin:
    def __repr__(self):
        args = ", ".join(f"{k}={v!r}" for k, v in sorted(self.params().items()))
        return f"{type(self).__name__}({args})"


class FitMixin:
    def fit_transform(self, X):
        return self.fit(X).transform(X)


class Scaler(FitMixin, ReprMixin):
    def __init__(self, with_mean=True):
        self.with_mean = with_mean

    def params(self):
        return {"with_mean": self.with_mean}

    def fit(self, X):
        self.mean_ = X.mean(axis=0) if self.with_mean else 0.0
        self.scale_ = X.std(axis=0)
        return self

    def transform(self, X):
        return (X - self.mean_) / self.scale_


class Poly(FitMixin, ReprMixin):
    def __init__(self, degree=2):
        self.degree = degree

    def params(self):
        return {"degree": self.degree}

    def fit(self, X):
        return self

    def transform(self, X):
        return np.hstack([X**d for d in range(1, self.degree + 1)])


class Pipeline(FitMixin):
    def __init__(self, *steps):
        self.steps = steps

    def fit(self, X):
        for s in self.steps:
            X = s.fit_transform(X)
        return self

    def transform(self, X):
        for s in self.steps:
            X = s.transform(X)
        return X

    @cached_property
    def description(self):
        return " -> ".join(map(repr, self.steps))

    def __len__(self):
        return len(self.steps)

    def __getitem__(self, i):
        return self.steps[i]


rng = np.random.default_rng(0)
X = rng.normal(3, 2, (20, 2))
pipe = Pipeline(Scaler(), Poly(degree=3), Scaler(with_mean=False))
Z = pipe.fit_transform(X)
print(pipe.description, len(pipe), pipe[1])
print(Z.shape, Z.std(axis=0).round(6))
print(isinstance(pipe[0], FitMixin), [c.__name__ for c in Scaler.__mro__])
print(Z[:2].round(4))
