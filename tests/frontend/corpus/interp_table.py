import numpy as np
xs = np.array([0., 1., 2., 3.]); ys = xs ** 2
q = np.array([0.5, 1.5, 2.9])
i = np.searchsorted(xs, q) - 1
t = (q - xs[i]) / (xs[i+1] - xs[i])
print(ys[i] * (1 - t) + ys[i+1] * t, np.interp(q, xs, ys))
