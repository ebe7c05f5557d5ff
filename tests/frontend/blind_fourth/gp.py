import numpy as np


def rbf(a, b, ls=1.0, var=1.0):
    a, b = np.atleast_2d(a), np.atleast_2d(b)
    d2 = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
    return var * np.exp(-0.5 * d2 / ls**2)


class GP:
    def __init__(self, kernel=rbf, noise=1e-2, **hyper):
        self.kernel, self.noise, self.hyper = kernel, noise, hyper

    def fit(self, X, y):
        self.X = X
        K = self.kernel(X, X, **self.hyper)
        K[np.diag_indices_from(K)] += self.noise
        self.L = np.linalg.cholesky(K)
        self.alpha = np.linalg.solve(self.L.T, np.linalg.solve(self.L, y))
        self.lml = -0.5 * y @ self.alpha - np.log(np.diag(self.L)).sum() - len(X) / 2 * np.log(2 * np.pi)
        return self

    def predict(self, Xs, return_std=False):
        Ks = self.kernel(Xs, self.X, **self.hyper)
        mu = Ks @ self.alpha
        if not return_std:
            return mu
        v = np.linalg.solve(self.L, Ks.T)
        var = np.diag(self.kernel(Xs, Xs, **self.hyper)) - np.sum(v**2, axis=0)
        return mu, np.sqrt(np.maximum(var, 0))


rng = np.random.default_rng(6)
X = np.sort(rng.uniform(-3, 3, (12, 1)), axis=0)
y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(12)
best = max((GP(ls=ls, noise=nz).fit(X, y) for ls in (0.3, 1.0, 2.0) for nz in (1e-2, 1e-1)), key=lambda g: g.lml)
print(best.hyper, best.noise, f"{best.lml:.4f}")
Xs = np.linspace(-3, 3, 5)[:, None]
mu, sd = best.predict(Xs, return_std=True)
for (x,), m, s in zip(Xs, mu, sd):
    print(f"{x:+.2f}: {m:+.4f} ± {1.96 * s:.4f}")


def expected_improvement(mu, sd, fbest, xi=0.01):
    from math import erf, sqrt, pi
    z = (mu - fbest - xi) / sd
    cdf = 0.5 * (1 + np.vectorize(erf)(z / sqrt(2)))
    pdf = np.exp(-z**2 / 2) / sqrt(2 * pi)
    return (mu - fbest - xi) * cdf + sd * pdf


ei = expected_improvement(mu, np.maximum(sd, 1e-9), y.max())
print(ei.round(6), Xs[ei.argmax()].item())
