import numpy as np


def stump_predict(X, feature, threshold, polarity):
    pred = np.ones(X.shape[0])
    if polarity == 1:
        pred[X[:, feature] < threshold] = -1
    else:
        pred[X[:, feature] >= threshold] = -1
    return pred


def adaboost(X, y, n_rounds=5):
    n, d = X.shape
    w = np.full(n, 1 / n)
    ensemble = []
    for m in range(n_rounds):
        best_err = np.inf
        best = None
        for feature in range(d):
            for threshold in np.unique(X[:, feature])[::4]:
                for polarity in (1, -1):
                    pred = stump_predict(X, feature, threshold, polarity)
                    err = w[pred != y].sum()
                    if err < best_err:
                        best_err = err
                        best = (feature, threshold, polarity)
        alpha = 0.5 * np.log((1 - best_err) / (best_err + 1e-10))
        pred = stump_predict(X, *best)
        w *= np.exp(-alpha * y * pred)
        w /= w.sum()
        ensemble.append((alpha, best))
    return ensemble


rng = np.random.default_rng(21)
X = rng.uniform(-1, 1, size=(30, 2))
y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
model = adaboost(X, y)
for alpha, (f, t, p) in model:
    print(f"alpha={alpha:.3f} feature={f} threshold={t:.3f} polarity={p}")
agg = sum(a * stump_predict(X, *params) for a, params in model)
print("accuracy:", (np.sign(agg) == y).mean())
