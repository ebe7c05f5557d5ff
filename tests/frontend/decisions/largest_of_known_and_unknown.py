import numpy as np


def forward(x: "float32[6, 5]"):
    counts = [3, 1, 2]
    for row in x:
        counts.append(int(np.sum(row > 0)))
    sums = [0.5, float("nan"), 4.0, *(float(row.sum()) for row in x)]
    return np.asarray(max(counts)), np.asarray(min(counts)), np.asarray(max(sums)), np.asarray(min(sums[2:]))
