import numpy as np
def lev(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), int)
    d[:, 0] = np.arange(len(a) + 1)
    d[0, :] = np.arange(len(b) + 1)
    for i, ca in enumerate(a, 1):
        for j, cb in enumerate(b, 1):
            d[i, j] = min(d[i-1, j] + 1, d[i, j-1] + 1, d[i-1, j-1] + (ca != cb))
    return d[-1, -1]
print(lev("kitten", "sitting"))
