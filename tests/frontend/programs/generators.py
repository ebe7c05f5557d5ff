import numpy as np


def batches(x, n):
    i = 0
    while True:
        if i >= len(x):
            return
        print("next batch at", i)
        yield i, x[i : i + n]
        i += n


def flat(tree):
    for t in tree:
        if isinstance(t, list):
            yield from flat(t)
        else:
            yield t


def count(start=0):
    n = start
    while True:
        yield n
        n += 1


class Numbers:
    def __init__(self, n):
        self.n = n

    def upto(self):
        for i in range(self.n):
            yield i * i


x = np.arange(12.0)
for (at, part), k in zip(batches(x, 5), count()):
    print(at, part.sum() * k)
print(list(flat([1, [2, [3, 4]], 5])))
numbers = count(7)
print(next(numbers), next(numbers), next(iter(flat([])), "none"))
print(sum(Numbers(4).upto()), [v for v in Numbers(3).upto()], 4 in Numbers(4).upto(), max(Numbers(3).upto()))
first = batches(x, 6)
print(next(first)[0])
shared = [1]


def growing():
    for v in shared:
        yield v


for v in growing():
    if v < 4:
        shared.append(v + 1)
print(shared)
