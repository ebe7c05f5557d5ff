import numpy as np
def lfilter(b, a, x):
    y = np.zeros_like(x)
    for n in range(len(x)):
        for k in range(len(b)):
            if n - k >= 0: y[n] += b[k] * x[n-k]
        for k in range(1, len(a)):
            if n - k >= 0: y[n] -= a[k] * y[n-k]
        y[n] /= a[0]
    return y
x = np.zeros(16); x[0] = 1
print(lfilter([0.2, 0.3], [1, -0.5, 0.1], x))
