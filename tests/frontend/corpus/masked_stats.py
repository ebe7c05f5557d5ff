import numpy as np
x = np.array([1., np.nan, 3., np.inf])
ok = np.isfinite(x)
print(x[ok].mean(), np.nanmax(x), np.nan_to_num(x, posinf=9))
