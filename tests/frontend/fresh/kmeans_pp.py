import numpy as np


class KMeans:
    def __init__(self, n_clusters=3, max_iter=50, tol=1e-6, seed=0):
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.tol = tol
        self.rng = np.random.default_rng(seed)
        self.centers_ = None
        self.inertia_ = None

    def _init_centers(self, X):
        centers = [X[self.rng.integers(len(X))]]
        for _ in range(1, self.n_clusters):
            d2 = np.min([np.sum((X - c) ** 2, axis=1) for c in centers], axis=0)
            probs = d2 / d2.sum()
            cum = np.cumsum(probs)
            r = self.rng.random()
            centers.append(X[np.searchsorted(cum, r)])
        return np.array(centers)

    def fit(self, X):
        centers = self._init_centers(X)
        for it in range(self.max_iter):
            dist = np.linalg.norm(X[:, None, :] - centers[None, :, :], axis=2)
            labels = dist.argmin(axis=1)
            new_centers = np.array([X[labels == k].mean(axis=0) for k in range(self.n_clusters)])
            shift = np.linalg.norm(new_centers - centers)
            centers = new_centers
            if shift < self.tol:
                break
        self.n_iter_ = it + 1
        self.centers_ = centers
        self.labels_ = labels
        self.inertia_ = float((np.min(dist, axis=1) ** 2).sum())
        return self


def main():
    rng = np.random.default_rng(42)
    blobs = [rng.normal(loc=c, scale=0.4, size=(30, 2)) for c in [(0, 0), (4, 4), (0, 5)]]
    X = np.vstack(blobs)
    model = KMeans(n_clusters=3, seed=1).fit(X)
    order = np.argsort(model.centers_[:, 0] + 10 * model.centers_[:, 1])
    print("centers:\n", np.round(model.centers_[order], 3))
    print("inertia: %.4f" % model.inertia_)
    print("sizes:", sorted(np.bincount(model.labels_).tolist()))


if __name__ == "__main__":
    main()
