"""K-means from scratch on synthetic blobs."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Tuple

import numpy as np


@dataclass
class KMeans:
    k: int
    max_iter: int = 20
    tol: float = 1e-4
    seed: int = 0
    centers: Optional[np.ndarray] = field(default=None, repr=False)
    history: list[float] = field(default_factory=list)

    def _init_centers(self, X: np.ndarray) -> np.ndarray:
        rng = np.random.default_rng(self.seed)
        idx = rng.choice(len(X), size=self.k, replace=False)
        return X[idx].copy()

    def fit(self, X: np.ndarray) -> "KMeans":
        self.centers = self._init_centers(X)
        for it in range(self.max_iter):
            labels, inertia = self._assign(X)
            self.history.append(inertia)
            new = np.array([X[labels == j].mean(axis=0) if np.any(labels == j) else self.centers[j]
                            for j in range(self.k)])
            shift = np.linalg.norm(new - self.centers)
            self.centers = new
            if shift < self.tol:
                break
        return self

    def _assign(self, X: np.ndarray) -> Tuple[np.ndarray, float]:
        d2 = ((X[:, None, :] - self.centers[None, :, :]) ** 2).sum(-1)
        labels = d2.argmin(axis=1)
        return labels, float(d2[np.arange(len(X)), labels].sum())

    def predict(self, X):
        return self._assign(X)[0]


def make_blobs(n=120, seed=42):
    rng = np.random.default_rng(seed)
    means = np.array([[0, 0], [4, 4], [-4, 3]])
    return np.vstack([rng.normal(m, 0.8, size=(n // 3, 2)) for m in means])


if __name__ == "__main__":
    X = make_blobs()
    km = KMeans(k=3).fit(X)
    labels = km.predict(X)
    counts = np.bincount(labels, minlength=3)
    order = np.lexsort((km.centers[:, 1], km.centers[:, 0]))
    print(f"inertia: {km.history[-1]:.4f} after {len(km.history)} iterations")
    for j, (c, n) in enumerate(zip(km.centers[order], counts[order])):
        print(f"cluster {j}: center=({c[0]:+.3f}, {c[1]:+.3f}) n={n}")
