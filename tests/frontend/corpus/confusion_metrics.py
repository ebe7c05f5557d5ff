# report(y_true: int64[40] index, y_pred: int64[40] index)
import numpy as np


def confusion_matrix(t, p, n=3):
    cm = np.zeros((n, n), dtype=int)
    np.add.at(cm, (t, p), 1)
    return cm


def report(y_true, y_pred):
    cm = confusion_matrix(y_true, y_pred)
    tp = np.diag(cm)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.nan_to_num(tp / cm.sum(axis=0))
        recall = np.nan_to_num(tp / cm.sum(axis=1))
        f1 = np.nan_to_num(2 * precision * recall / (precision + recall))
    print("class  prec  rec   f1")
    for c, (p, r, f) in enumerate(zip(precision, recall, f1)):
        print(f"{c:5d} {p:5.2f} {r:5.2f} {f:5.2f}")
    return cm, f1.mean(), np.trace(cm) / cm.sum()
