import numpy as np
a, b, c = np.arange(3), np.arange(2)[:, None], np.ones((2, 1, 3))
print(a + b, (a + b + c).shape, a * b, (b == a).astype(int), np.maximum(a, b), a[None] - a[:, None], 3 - a, 1 / (a + 1))
