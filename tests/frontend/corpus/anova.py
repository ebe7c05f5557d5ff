# anova(values: float64[30], groups: int64[30] index)
import numpy as np


def anova(values, groups):
    grand = values.mean()
    k = 3
    counts = np.bincount(groups, minlength=k)
    sums = np.bincount(groups, weights=values, minlength=k)
    means = sums / np.maximum(counts, 1)
    ssb = (counts * (means - grand) ** 2).sum()
    ssw = ((values - means[groups]) ** 2).sum()
    n = len(values)
    F = (ssb / (k - 1)) / (ssw / (n - k))
    eta2 = ssb / (ssb + ssw)
    return {"F": F, "eta2": eta2, "means": means}
