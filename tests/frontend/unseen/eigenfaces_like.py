import numpy as np


class PCA:
    def __init__(self, n_components=None, whiten=False):
        self.n_components = n_components
        self.whiten = whiten

    def fit(self, X):
        self.mean_ = X.mean(axis=0)
        U, S, Vt = np.linalg.svd(X - self.mean_, full_matrices=False)
        max_abs = np.argmax(np.abs(Vt), axis=1)
        signs = np.sign(Vt[range(Vt.shape[0]), max_abs])
        Vt *= signs[:, np.newaxis]
        k = self.n_components or min(X.shape)
        self.components_ = Vt[:k]
        self.explained_variance_ = (S**2 / (len(X) - 1))[:k]
        self.explained_variance_ratio_ = self.explained_variance_ / (S**2 / (len(X) - 1)).sum()
        return self

    def transform(self, X):
        Z = (X - self.mean_) @ self.components_.T
        if self.whiten:
            Z /= np.sqrt(self.explained_variance_)
        return Z

    def fit_transform(self, X):
        return self.fit(X).transform(X)

    def inverse_transform(self, Z):
        if self.whiten:
            Z = Z * np.sqrt(self.explained_variance_)
        return Z @ self.components_ + self.mean_


rng = np.random.default_rng(17)
base = rng.normal(size=(3, 12))
X = rng.normal(size=(25, 3)) @ base + 0.1 * rng.normal(size=(25, 12))
for k in (1, 2, 3):
    pca = PCA(n_components=k)
    Z = pca.fit_transform(X)
    err = np.linalg.norm(X - pca.inverse_transform(Z)) / np.linalg.norm(X)
    print(k, Z.shape, f"kept {pca.explained_variance_ratio_.sum():.4f}", f"rel. error {err:.4f}")
white = PCA(3, whiten=True).fit_transform(X)
print(np.cov(white.T).round(6) + 0.0)
