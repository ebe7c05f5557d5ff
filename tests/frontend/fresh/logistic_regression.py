import numpy as np
import argparse


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def make_data(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] - 0.5 * X[:, 1] + 0.2 * rng.normal(size=n) > 0).astype(int)
    return X, y


def train(X, y, lr, epochs, l2=0.0, verbose=False):
    n, d = X.shape
    w = np.zeros(d)
    b = 0.0
    losses = []
    for epoch in range(epochs):
        p = sigmoid(X @ w + b)
        loss = -np.mean(y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12)) + 0.5 * l2 * np.sum(w ** 2)
        losses.append(loss)
        grad_w = X.T @ (p - y) / n + l2 * w
        grad_b = np.mean(p - y)
        w -= lr * grad_w
        b -= lr * grad_b
        if verbose and epoch % 20 == 0:
            print(f"epoch {epoch:3d} loss {loss:.5f}")
    return w, b, losses


def main():
    parser = argparse.ArgumentParser(description="logistic regression")
    parser.add_argument("--n", type=int, default=80)
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--quiet", action="store_true")
    args = parser.parse_args()

    X, y = make_data(args.n, args.seed)
    w, b, losses = train(X, y, args.lr, args.epochs, l2=0.001, verbose=not args.quiet)
    pred = (sigmoid(X @ w + b) >= 0.5).astype(int)
    acc = np.mean(pred == y)
    print("weights", w, "bias", b)
    print("accuracy: {:.1f}%".format(100 * acc))
    tp = int(np.sum((pred == 1) & (y == 1)))
    fp = int(np.sum((pred == 1) & (y == 0)))
    fn = int(np.sum((pred == 0) & (y == 1)))
    print("precision", tp / (tp + fp), "recall", tp / (tp + fn))
    assert losses[-1] < losses[0], "training did not converge"


if __name__ == "__main__":
    main()
