import numpy as np

x = np.sqrt(np.arange(5.0)) * 1e-3
print(x)
np.set_printoptions(precision=3, suppress=True)
print(x, x.sum())
print("x =", x, [x[:2]])
with np.printoptions(precision=1, suppress=False):
    print(x)
print(x)
np.set_printoptions(linewidth=30, threshold=4, edgeitems=1)
print(f"{x}", np.arange(20))
