import numpy as np
x = np.arange(24).reshape(2, 12)
q, k, v = np.split(x, 3, axis=-1)
print(q, v)
print([p.shape for p in np.split(x, [2, 5], axis=1)], [p.shape for p in np.array_split(x, 5, axis=1)], np.array_split(np.arange(7), 3))
print(np.hsplit(x, 4)[1], np.vsplit(x, 2)[0], [h.sum() for h in np.split(x, 2)], np.split(np.arange(4), [3, 1]))
