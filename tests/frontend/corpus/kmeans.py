import numpy as np
rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal(5, 1, (30, 2))])
k = 2
centroids = X[:k].copy()
for it in range(10):
    d = np.linalg.norm(X[:, None] - centroids[None], axis=2)
    labels = d.argmin(axis=1)
    new = np.array([X[labels == j].mean(axis=0) for j in range(k)])
    if np.allclose(new, centroids):
        break
    centroids = new
print(centroids, np.bincount(labels))
