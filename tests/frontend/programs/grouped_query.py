import numpy as np
rng = np.random.default_rng(4)
heads, kv_heads, d, n = 4, 2, 3, 5
q = rng.standard_normal((n, heads * d))
k, v = rng.standard_normal((n, kv_heads * d)), rng.standard_normal((n, kv_heads * d))
outputs = []
for h in range(heads):
    g = h // (heads // kv_heads)
    s = q[:, h * d:(h + 1) * d] @ k[:, g * d:(g + 1) * d].T * d**-0.5
    s = s + np.triu(np.full((n, n), -1e9), k=1)
    p = np.exp(s - s.max(axis=1, keepdims=True))
    outputs.append(p / p.sum(axis=1, keepdims=True) @ v[:, g * d:(g + 1) * d])
print(np.concatenate(outputs, axis=1))
