import numpy as np
rng = np.random.default_rng(3)
x, y = rng.standard_normal((8, 4)), rng.standard_normal((8, 1))
w1, w2 = rng.normal(0, 0.5, (4, 6)), rng.normal(0, 0.5, (6, 1))
losses = []
for step in range(5):
    h = np.maximum(x @ w1, 0)
    error = h @ w2 - y
    losses.append((error**2).mean())
    grad2 = h.T @ error * (2 / len(x))
    grad1 = x.T @ (error @ w2.T * (h > 0)) * (2 / len(x))
    w1 -= 0.1 * grad1
    w2 -= 0.1 * grad2
print(np.array(losses))
