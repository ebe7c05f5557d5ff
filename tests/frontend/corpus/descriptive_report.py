# report(data: float64[50, 3])
import numpy as np

NAMES = ("height", "weight", "age")


def describe(col):
    q1, med, q3 = np.percentile(col, [25, 50, 75])
    iqr = q3 - q1
    out = (col < q1 - 1.5 * iqr) | (col > q3 + 1.5 * iqr)
    z = (col - col.mean()) / col.std()
    return dict(mean=col.mean(), std=col.std(ddof=1), median=med, iqr=iqr, outliers=out.sum(), skew=(z**3).mean(), kurt=(z**4).mean() - 3)


def report(data):
    rows = []
    for name, col in zip(NAMES, data.T):
        d = describe(col)
        print(f"{name:<8}", " ".join(f"{k}={v:.3f}" for k, v in d.items()))
        rows.append(list(d.values()))
    return np.array(rows)
