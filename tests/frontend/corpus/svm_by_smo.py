import numpy as np
class SVM:
    def __init__(self, C=1.0, kernel="rbf", gamma=0.5, tol=1e-3, max_passes=3, seed=0):
        self.C, self.gamma, self.tol, self.max_passes = C, gamma, tol, max_passes
        self.kernel = {"rbf": self._rbf, "linear": lambda a, b: a @ b.T}[kernel]
        self.rng = np.random.RandomState(seed)
    def _rbf(self, a, b):
        return np.exp(-self.gamma * ((a ** 2).sum(1)[:, None] + (b ** 2).sum(1) - 2 * a @ b.T))
    def fit(self, X, y):
        n = len(y)
        K = self.kernel(X, X)
        al, b, passes = np.zeros(n), 0.0, 0
        it = 0
        while passes < self.max_passes and it < 40:
            changed = 0
            it += 1
            for i in range(n):
                Ei = (al * y) @ K[:, i] + b - y[i]
                if (y[i] * Ei < -self.tol and al[i] < self.C) or (y[i] * Ei > self.tol and al[i] > 0):
                    j = self.rng.randint(n - 1); j += j >= i
                    Ej = (al * y) @ K[:, j] + b - y[j]
                    ai, aj = al[i], al[j]
                    if y[i] != y[j]: L, H = max(0, aj - ai), min(self.C, self.C + aj - ai)
                    else: L, H = max(0, ai + aj - self.C), min(self.C, ai + aj)
                    if L == H: continue
                    eta = 2 * K[i, j] - K[i, i] - K[j, j]
                    if eta >= 0: continue
                    al[j] = np.clip(aj - y[j] * (Ei - Ej) / eta, L, H)
                    if abs(al[j] - aj) < 1e-5: continue
                    al[i] = ai + y[i] * y[j] * (aj - al[j])
                    b1 = b - Ei - y[i] * (al[i] - ai) * K[i, i] - y[j] * (al[j] - aj) * K[i, j]
                    b2 = b - Ej - y[i] * (al[i] - ai) * K[i, j] - y[j] * (al[j] - aj) * K[j, j]
                    b = b1 if 0 < al[i] < self.C else b2 if 0 < al[j] < self.C else (b1 + b2) / 2
                    changed += 1
            passes = passes + 1 if changed == 0 else 0
        self.al, self.b, self.X, self.y = al, b, X, y
        return self
    def predict(self, Z): return np.sign(self.kernel(Z, self.X) @ (self.al * self.y) + self.b)
rng = np.random.RandomState(1)
X = rng.randn(16, 2); y = np.where((X ** 2).sum(1) > 1.5, 1.0, -1.0)
m = SVM().fit(X, y)
print((m.predict(X) == y).mean(), (m.al > 0).sum(), round(m.b, 5))
