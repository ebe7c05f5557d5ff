import numpy as np

def gini(y):
    _, counts = np.unique(y, return_counts=True)
    p = counts / counts.sum()
    return 1 - (p ** 2).sum()

def best_split(X, y):
    best = (None, None, np.inf)
    for f in range(X.shape[1]):
        for t in np.unique(X[:, f]):
            left = X[:, f] <= t
            if left.all() or not left.any():
                continue
            score = (left.sum() * gini(y[left]) + (~left).sum() * gini(y[~left])) / len(y)
            if score < best[2]:
                best = (f, t, score)
    return best

def build(X, y, depth=0, max_depth=2):
    if depth == max_depth or len(np.unique(y)) == 1:
        vals, counts = np.unique(y, return_counts=True)
        return {"leaf": int(vals[np.argmax(counts)])}
    f, t, _ = best_split(X, y)
    if f is None:
        return {"leaf": int(y[0])}
    m = X[:, f] <= t
    return {"f": f, "t": float(t), "l": build(X[m], y[m], depth + 1, max_depth), "r": build(X[~m], y[~m], depth + 1, max_depth)}

def predict(node, x):
    while "leaf" not in node:
        node = node["l"] if x[node["f"]] <= node["t"] else node["r"]
    return node["leaf"]

rng = np.random.default_rng(42)
X = rng.normal(size=(30, 3)).round(2)
y = ((X[:, 0] > 0) ^ (X[:, 1] > 0.2)).astype(int)
tree = build(X, y)
pred = np.array([predict(tree, r) for r in X])
print("accuracy", (pred == y).mean())
print(tree)
