import numpy as np
rng = np.random.default_rng(42)
N, D, C = 60, 4, 3
X = rng.standard_normal((N, D)); Y = rng.integers(0, C, N)
W = np.zeros((D, C))
for i in range(30):
    logits = X @ W
    logits -= logits.max(axis=1, keepdims=True)
    p = np.exp(logits); p /= p.sum(1, keepdims=True)
    p[np.arange(N), Y] -= 1
    W -= 0.1 * X.T @ p / N
acc = (np.argmax(X @ W, axis=1) == Y).mean()
print(f"accuracy {acc:.3f}", W.round(3))
