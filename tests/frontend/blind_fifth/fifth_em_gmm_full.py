import numpy as np

np.random.seed(5)


def log_gauss(X, mu, cov):
    d = X.shape[1]
    L = np.linalg.cholesky(cov)
    z = np.linalg.solve(L, (X - mu).T)
    return -0.5 * (d * np.log(2 * np.pi) + (z**2).sum(0)) - np.log(np.diag(L)).sum()


class GMM:
    def __init__(self, k, *, tol=1e-4, max_iter=100, reg=1e-6):
        self.k, self.tol, self.max_iter, self.reg = k, tol, max_iter, reg
        self.converged_ = False

    def _kpp(self, X):
        centers = [X[np.random.randint(len(X))]]
        for _ in range(1, self.k):
            d2 = np.min([((X - c) ** 2).sum(1) for c in centers], axis=0)
            probs = d2 / d2.sum()
            centers.append(X[np.random.choice(len(X), p=probs)])
        return np.array(centers)

    def fit(self, X):
        n, d = X.shape
        self.mu = self._kpp(X)
        self.cov = np.array([np.cov(X, rowvar=False)] * self.k)
        self.pi = np.ones(self.k) / self.k
        prev = -np.inf
        for self.n_iter_ in range(self.max_iter):
            lp = np.column_stack([np.log(self.pi[j]) + log_gauss(X, self.mu[j], self.cov[j]) for j in range(self.k)])
            norm = np.logaddexp.reduce(lp, axis=1)
            R = np.exp(lp - norm[:, np.newaxis])
            ll = norm.mean()
            Nk = R.sum(axis=0)
            self.pi = Nk / n
            self.mu = (R.T @ X) / Nk[:, None]
            for j in range(self.k):
                D = X - self.mu[j]
                self.cov[j] = (R[:, j] * D.T) @ D / Nk[j] + self.reg * np.eye(d)
            if abs(ll - prev) < self.tol:
                self.converged_ = True
                break
            prev = ll
        self.ll_ = ll
        return self

    def predict(self, X):
        lp = np.stack([np.log(p) + log_gauss(X, m, c) for p, m, c in zip(self.pi, self.mu, self.cov)], axis=-1)
        return lp.argmax(-1)


X = np.concatenate([
    np.random.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 50),
    np.random.multivariate_normal([5, 5], [[0.5, 0], [0, 2]], 30),
])
model = GMM(2).fit(X)
order = np.argsort(model.mu[:, 0])
print("converged:", model.converged_, "iterations:", model.n_iter_ < 50)
print(model.mu[order].round(3))
print(model.cov[order].round(3))
print(model.pi[order].round(3), round(float(model.ll_), 4))
print(np.bincount(model.predict(X)))
