import argparse
import logging
import os
import sys
from pathlib import Path
import numpy as np

log = logging.getLogger("logreg")


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def parse_args():
    ap = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    ap.add_argument("--data", type=Path, default=None, help="npz with X and y")
    g = ap.add_argument_group("training")
    g.add_argument("--lr", type=float, default=0.5)
    g.add_argument("--l2", type=float, default=1e-3)
    g.add_argument("--epochs", type=int, default=40)
    ap.add_argument("--optimizer", choices=["gd", "newton"], default="newton")
    ap.add_argument("--no-bias", dest="bias", action="store_false")
    return ap.parse_args()


def load(path):
    if path is None:
        rng = np.random.default_rng(int(os.environ.get("SEED", "1")))
        X = rng.normal(size=(64, 3))
        y = (X @ [1.5, -2.0, 0.3] + rng.normal(size=64) * 0.5 > 0).astype(np.float64)
        return X, y
    if not path.exists():
        sys.exit(f"{path}: no such file")
    with np.load(path) as f:
        return f["X"], f["y"]


def main() -> int:
    args = parse_args()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(message)s")
    X, y = load(args.data)
    if args.bias:
        X = np.hstack((X, np.ones((X.shape[0], 1))))
    w = np.zeros(X.shape[1])
    for epoch in range(args.epochs):
        p = sigmoid(X @ w)
        g = X.T @ (p - y) / len(y) + args.l2 * w
        if args.optimizer == "newton":
            Hs = (X * (p * (1 - p))[:, None]).T @ X / len(y) + args.l2 * np.eye(len(w))
            step = np.linalg.solve(Hs, g)
        else:
            step = args.lr * g
        w -= step
        log.info("epoch %d |g| %.2e", epoch, np.linalg.norm(g))
        if np.linalg.norm(step) < 1e-8:
            break
    tp, fp, fn = (((p > .5) == a) & (y == b) for a, b in ((1, 1), (1, 0), (0, 1)))
    prec, rec = tp.sum() / (tp.sum() + fp.sum()), tp.sum() / (tp.sum() + fn.sum())
    print(f"{epoch=} {prec=:.3f} {rec=:.3f} f1={2 * prec * rec / (prec + rec):.3f}")
    print("weights", np.array2string(w, formatter={"float_kind": lambda v: "%.4f" % v}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

