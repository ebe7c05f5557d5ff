import numpy as np
np.random.seed(1)
X = np.random.rand(50, 3)
true_w = np.array([1.0, -2.0, 3.0])
y = X.dot(true_w) + 0.5
w = np.zeros(3); b = 0.0
lr = 0.1
losses = []
for epoch in range(100):
    pred = X @ w + b
    err = pred - y
    w -= lr * X.T @ err / len(y)
    b -= lr * err.mean()
    losses.append((err ** 2).mean())
print("w", w, "b", round(b, 4), "loss %.6f" % losses[-1])
