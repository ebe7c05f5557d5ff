import numpy as np


def pascal(n):
    t = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        t[i, 0] = t[i, i] = 1
        for j in range(1, i):
            t[i, j] = t[i - 1, j - 1] + t[i - 1, j]
    return t


def rows():
    row = [1]
    while True:
        yield row
        row = [a + b for a, b in zip([0] + row, row + [0])]


t = pascal(7)
print(t)
gen = rows()
for _ in range(4):
    print(" ".join(map(str, next(gen))).center(15))
print((t.sum(axis=1) == 2 ** np.arange(7)).all())
