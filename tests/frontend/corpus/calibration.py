# metrics(logits: float64[50, 4], y: int64[50] index)
#! F511: a variable that is None until the run decides
import numpy as np


def softmax(z, T=1.0):
    z = z / T
    z -= z.max(axis=1, keepdims=True)
    return np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)


def ece(probs, y, bins=10):
    conf = probs.max(1)
    pred = probs.argmax(1)
    edges = np.linspace(0, 1, bins + 1)
    which = np.clip(np.digitize(conf, edges[1:-1], right=True), 0, bins - 1)
    total = 0.0
    for b in range(bins):
        m = which == b
        if m.any():
            total += m.mean() * abs(conf[m].mean() - (pred[m] == y[m]).mean())
    return total


def auc(scores, labels):
    order = np.argsort(scores, kind="mergesort")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    n1 = labels.sum()
    n0 = len(labels) - n1
    return (ranks[labels == 1].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)


def metrics(logits, y):
    y = y % 4
    best_T, best = None, np.inf
    for T in np.geomspace(0.25, 4, 9):
        nll = -np.log(softmax(logits.copy(), T)[np.arange(len(y)), y]).mean()
        if nll < best:
            best_T, best = T, nll
    p = softmax(logits, best_T)
    cm = np.bincount(4 * y + p.argmax(1), minlength=16).reshape(4, 4)
    tp = np.diag(cm)
    with np.errstate(divide="ignore", invalid="ignore"):
        prec = np.nan_to_num(tp / cm.sum(0))
        rec = np.nan_to_num(tp / cm.sum(1))
    f1 = np.divide(2 * prec * rec, prec + rec, out=np.zeros(4), where=(prec + rec) != 0)
    top2 = (np.argpartition(-p, 2, axis=1)[:, :2] == y[:, None]).any(1).mean()
    return best_T, best, ece(p, y), cm, f1, auc(p[:, 0], (y == 0).astype(int)), top2
