import numpy as np
rng = np.random.default_rng(1)
n, h, d = 4, 2, 3
q, k, v = (rng.standard_normal((n, h * d)).reshape(n, h, d).transpose(1, 0, 2) for _ in range(3))
scores = np.einsum("hnd,hmd->hnm", q, k) / d**0.5
scores = np.where(np.tril(np.ones((n, n), dtype=bool)), scores, -np.inf)
p = np.exp(scores - scores.max(-1, keepdims=True))
p /= p.sum(-1, keepdims=True)
print((p @ v).swapaxes(0, 1).reshape(n, -1))
