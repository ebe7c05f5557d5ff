from functools import lru_cache

import numpy as np


@lru_cache(maxsize=None)
def ways(amount, k):
    if amount == 0:
        return 1
    if amount < 0 or k == len(COINS):
        return 0
    return ways(amount - COINS[k], k) + ways(amount, k + 1)


def min_coins(amount, coins):
    best = np.full(amount + 1, np.inf)
    choice = np.full(amount + 1, -1)
    best[0] = 0
    for a in range(1, amount + 1):
        for c in coins:
            if c <= a and best[a - c] + 1 < best[a]:
                best[a] = best[a - c] + 1
                choice[a] = c
    picked = []
    while amount > 0 and choice[amount] > 0:
        picked.append(int(choice[amount]))
        amount -= choice[amount]
    return picked


COINS = (1, 5, 10, 25)
for amount in (7, 30, 63):
    print(amount, ways(amount, 0), min_coins(amount, COINS))
print(min_coins(11, [4, 9]))
