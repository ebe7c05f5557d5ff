import numpy as np
def f(x): return ((x - np.array([1., 2.])) ** 2).sum()
def grad(x): return 2 * (x - np.array([1., 2.]))
x = np.zeros(2); m = np.zeros(2); v = np.zeros(2)
for t in range(1, 101):
    g = grad(x)
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g ** 2
    mh, vh = m / (1 - 0.9 ** t), v / (1 - 0.999 ** t)
    x -= 0.1 * mh / (np.sqrt(vh) + 1e-8)
print(x, f(x))
