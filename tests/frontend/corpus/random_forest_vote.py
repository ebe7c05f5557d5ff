import numpy as np
from collections import Counter

votes = np.array([[0, 1, 1], [2, 2, 1], [0, 0, 0], [1, 2, 0]])


def majority(row):
    return Counter(row.tolist()).most_common(1)[0][0]


print([majority(r) for r in votes])
one_hot = np.eye(3, dtype=int)[votes]
tally = one_hot.sum(axis=1)
print(tally)
print(tally.argmax(axis=1))
print(np.apply_along_axis(lambda r: np.bincount(r, minlength=3).argmax(), 1, votes))
