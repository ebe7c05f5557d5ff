import numpy as np


def nmf(V, k, iters=80, eps=1e-9, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.random((V.shape[0], k)) + 0.1
    H = rng.random((k, V.shape[1])) + 0.1
    errors = []
    for i in range(iters):
        H *= (W.T @ V) / (W.T @ W @ H + eps)
        W *= (V @ H.T) / (W @ H @ H.T + eps)
        if i % 20 == 0:
            errors.append(np.linalg.norm(V - W @ H, "fro"))
    return W, H, errors


docs = ["cat dog pet cat", "dog pet food", "stock market money", "money bank stock trade", "pet cat food", "bank market trade"]
vocab = sorted(set(" ".join(docs).split()))
V = np.array([[doc.split().count(w) for w in vocab] for doc in docs], dtype=np.float64)
W, H, errors = nmf(V, 2)
scale = H.sum(axis=1, keepdims=True)
H /= scale
W *= scale.T
print("errors:", ["%.4f" % e for e in errors])
order = np.argsort(-W.sum(axis=0))
for topic in order:
    top = np.argsort(H[topic])[::-1][:4]
    print("topic:", sorted(vocab[i] for i in top))
assignment = W[:, order].argmax(axis=1)
print("documents:", assignment)
assert all(e1 >= e2 for e1, e2 in zip(errors, errors[1:]))
