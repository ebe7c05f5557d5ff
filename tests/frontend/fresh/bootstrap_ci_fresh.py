import numpy as np
from functools import partial


def bootstrap(data, stat, n_boot=200, seed=0):
    rng = np.random.default_rng(seed)
    n = len(data)
    out = np.empty(n_boot)
    for b in range(n_boot):
        sample = data[rng.integers(0, n, n)]
        out[b] = stat(sample)
    return out


def trimmed_mean(x, frac=0.1):
    x = np.sort(x)
    k = int(frac * len(x))
    return x[k:-k].mean()


data = np.random.default_rng(55).gamma(2.0, 2.0, size=60)
stats = {"mean": np.mean, "median": np.median, "trimmed": partial(trimmed_mean, frac=0.2)}
for name, fn in stats.items():
    dist = bootstrap(data, fn)
    lo, hi = np.percentile(dist, (5, 95))
    print(f"{name:<8} {fn(data):.4f}  90% CI ({lo:.4f}, {hi:.4f})  se={dist.std(ddof=1):.4f}")
skew = ((data - data.mean()) ** 3).mean() / data.std() ** 3
print("skewness", np.round(skew, 4))
