import numpy as np
ids = np.array([1, 2, 1, 2, 3, 1, 2])
pairs = {}
for a, b in zip(ids[:-1].tolist(), ids[1:].tolist()):
    pairs[(a, b)] = pairs.get((a, b), 0) + 1
best = max(pairs, key=pairs.get)
print(best, pairs[best])
