"""Train a two-layer network on a toy regression with hand-written gradients."""
import numpy as np

np.random.seed(42)
X = np.random.randn(128, 3)
y = np.sin(X[:, :1]) + 0.5 * X[:, 1:2] ** 2 - X[:, 2:3]

hidden = 16
params = {
    "W1": np.random.randn(3, hidden) * np.sqrt(2 / 3),
    "b1": np.zeros(hidden),
    "W2": np.random.randn(hidden, 1) * np.sqrt(2 / hidden),
    "b2": np.zeros(1),
}
lr = 0.05
for epoch in range(500):
    z1 = X @ params["W1"] + params["b1"]
    a1 = np.maximum(z1, 0)
    pred = a1 @ params["W2"] + params["b2"]
    err = pred - y
    loss = (err ** 2).mean()

    dpred = 2 * err / len(X)
    grads = {"W2": a1.T @ dpred, "b2": dpred.sum(axis=0)}
    dz1 = (dpred @ params["W2"].T) * (z1 > 0)
    grads["W1"] = X.T @ dz1
    grads["b1"] = dz1.sum(axis=0)
    for k in params:
        params[k] -= lr * grads[k]
    if epoch % 100 == 0:
        print(f"epoch {epoch:4d}  loss {loss:.6f}")
print(f"final loss {loss:.6f}")
