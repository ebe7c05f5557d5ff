import numpy as np


def euclidean_distances(A, B):
    aa = (A**2).sum(axis=1)[:, np.newaxis]
    bb = (B**2).sum(axis=1)
    d2 = np.maximum(aa + bb - 2 * A @ B.T, 0)
    return np.sqrt(d2)


def knn_predict(X_train, y_train, X_test, k=3):
    d = euclidean_distances(X_test, X_train)
    nearest = np.argpartition(d, k, axis=1)[:, :k]
    votes = y_train[nearest]
    return np.array([np.bincount(v).argmax() for v in votes])


def train_test_split(X, y, test_size=0.25, seed=None):
    rng = np.random.default_rng(seed)
    idx = np.arange(len(X))
    rng.shuffle(idx)
    n_test = int(len(X) * test_size)
    return X[idx[n_test:]], X[idx[:n_test]], y[idx[n_test:]], y[idx[:n_test]]


def standardize(train, test):
    mu, sd = train.mean(0), train.std(0)
    return (train - mu) / sd, (test - mu) / sd


gen = np.random.default_rng(5)
X = np.concatenate([gen.normal(m, 1.0, size=(25, 4)) for m in (0, 2, 4)])
y = np.repeat(np.arange(3), 25)
Xtr, Xte, ytr, yte = train_test_split(X, y, seed=0)
Xtr, Xte = standardize(Xtr, Xte)
for k in (1, 3, 5):
    acc = (knn_predict(Xtr, ytr, Xte, k) == yte).mean()
    print(f"k={k}: accuracy={acc:.3f}")
