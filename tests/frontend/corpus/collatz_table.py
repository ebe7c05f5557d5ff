import numpy as np
from functools import lru_cache


@lru_cache(maxsize=None)
def steps(n):
    if n == 1:
        return 0
    return 1 + (steps(n // 2) if n % 2 == 0 else steps(3 * n + 1))


table = np.array([steps(i) for i in range(1, 31)])
print(table)
best = int(np.argmax(table)) + 1
print(f"longest below 31: {best} with {table[best - 1]} steps")
print(np.bincount(table).nonzero()[0])
