from functools import cache, lru_cache, reduce
from operator import mul

import numpy as np


@lru_cache(maxsize=None)
def partitions(n, largest=None):
    largest = n if largest is None else largest
    if n == 0:
        return 1
    return sum(partitions(n - k, min(k, n - k)) for k in range(1, min(n, largest) + 1))


@cache
def binom(n, k):
    return 1 if k in (0, n) else binom(n - 1, k - 1) + binom(n - 1, k)


def memo(f):
    store = {}

    def wrapped(*args):
        if args not in store:
            store[args] = f(*args)
        return store[args]

    wrapped.store = store
    return wrapped


@memo
def ways(total, coins):
    if total == 0:
        return 1
    if total < 0 or not coins:
        return 0
    return ways(total - coins[0], coins) + ways(total, coins[1:])


def gen_partitions(n, m=None):
    m = m or n
    if n == 0:
        yield []
    for k in range(min(n, m), 0, -1):
        for rest in gen_partitions(n - k, k):
            yield [k] + rest


print([partitions(n) for n in range(1, 16)])
pascal = np.array([[binom(n, k) if k <= n else 0 for k in range(8)] for n in range(8)])
print(pascal)
print("row sums", pascal.sum(axis=1), "det", round(np.linalg.det(pascal)))
print(ways(50, (25, 10, 5, 1)), len(ways.store))
for p in gen_partitions(5):
    print("+".join(map(str, p)), "=", sum(p), reduce(mul, p, 1))
print(max(gen_partitions(7), key=lambda p: np.prod(p)))
