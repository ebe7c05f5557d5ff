import numpy as np
x = np.array([1.0, np.nan, -np.inf, np.inf, -0.0])
with_inf = x / np.array([0.5, 1, 1, 1, 1])
print(x, with_inf, np.isnan(x), np.isinf(x), np.isfinite(x), np.maximum(x, 0), x == x, np.sign(x), np.where(np.isnan(x), 0, x), -x)
print(float("inf") > 1, float("nan") == float("nan"), np.nan, np.sum(x), np.max(x), np.argmax(x), np.clip(x, -1, 1))
