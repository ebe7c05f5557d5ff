import numpy as np

rng = np.random.default_rng(0)
N, D, C = 200, 8, 3
centers = rng.normal(0, 2, (C, D))
labels = rng.integers(0, C, N)
X = centers[labels] + rng.normal(size=(N, D))


def softmax(z):
    z = z - z.max(axis=1, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=1, keepdims=True)


W = np.zeros((D, C))
b = np.zeros(C)
vW, vb = np.zeros_like(W), np.zeros_like(b)
base_lr, beta, batch = 0.1, 0.9, 20
steps = 300
for step in range(steps):
    idx = rng.integers(0, N, batch)
    xb, yb = X[idx], labels[idx]
    p = softmax(xb @ W + b)
    onehot = np.eye(C)[yb]
    loss = -np.mean(np.log(p[np.arange(batch), yb] + 1e-12))
    g = (p - onehot) / batch
    if step < 30:
        lr = base_lr * (step + 1) / 30
    else:
        lr = base_lr * 0.5 * (1 + np.cos(np.pi * (step - 30) / (steps - 30)))
    vW = beta * vW - lr * (xb.T @ g)
    vb = beta * vb - lr * g.sum(0)
    W += vW
    b += vb
    if step % 50 == 0 or step == steps - 1:
        print("step %d lr %.4f loss %.4f" % (step, lr, loss))
acc = (np.argmax(X @ W + b, axis=1) == labels).mean()
print("accuracy", round(float(acc), 3))
