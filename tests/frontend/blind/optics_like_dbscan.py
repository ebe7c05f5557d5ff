import numpy as np

NOISE = -1
UNSEEN = -2


def region(D, p, eps):
    return np.flatnonzero(D[p] <= eps)


def dbscan(X, eps, min_pts):
    D = np.sqrt(((X[:, np.newaxis] - X[np.newaxis]) ** 2).sum(axis=2))
    labels = np.full(len(X), UNSEEN)
    cluster = 0
    for p in range(len(X)):
        if labels[p] != UNSEEN:
            continue
        neigh = region(D, p, eps)
        if neigh.size < min_pts:
            labels[p] = NOISE
            continue
        labels[p] = cluster
        queue = list(neigh)
        while queue:
            q = queue.pop(0)
            if labels[q] == NOISE:
                labels[q] = cluster
            if labels[q] != UNSEEN:
                continue
            labels[q] = cluster
            more = region(D, q, eps)
            if len(more) >= min_pts:
                queue.extend(more)
        cluster += 1
    return labels


np.random.seed(7)
t = np.linspace(0, np.pi, 30)
moon1 = np.c_[np.cos(t), np.sin(t)]
moon2 = np.c_[1 - np.cos(t), 0.5 - np.sin(t)]
X = np.vstack((moon1, moon2)) + np.random.uniform(-0.05, 0.05, (60, 2))
X = np.vstack([X, [[3.0, 3.0], [-2, -2]]])
labels = dbscan(X, 0.3, 4)
values, counts = np.unique(labels, return_counts=True)
for v, c in zip(values, counts):
    print("noise" if v == NOISE else f"cluster {v}", c)
print("".join("." if l < 0 else str(l) for l in labels))
