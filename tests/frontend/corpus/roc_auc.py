# auc(scores: float64[30], labels: bool[30])
import numpy as np


def auc(scores, labels):
    order = np.argsort(scores)[::-1]
    sorted_labels = labels[order]
    tps = np.cumsum(sorted_labels)
    fps = np.cumsum(~sorted_labels)
    tpr = np.concatenate(([0.0], tps / tps[-1]))
    fpr = np.concatenate(([0.0], fps / fps[-1]))
    area = np.trapezoid(tpr, fpr)
    best = np.argmax(tpr - fpr)
    return area, fpr[best], tpr[best]
