"""0/1 knapsack and coin change by dynamic programming."""
import numpy as np


def knapsack(weights, values, capacity):
    n = len(weights)
    table = np.zeros((n + 1, capacity + 1), dtype=int)
    for i in range(1, n + 1):
        w, v = weights[i - 1], values[i - 1]
        table[i] = table[i - 1]
        table[i, w:] = np.maximum(table[i - 1, w:], table[i - 1, :capacity + 1 - w] + v)
    chosen = []
    c = capacity
    for i in range(n, 0, -1):
        if table[i, c] != table[i - 1, c]:
            chosen.append(i - 1)
            c -= weights[i - 1]
    return table[n, capacity], chosen[::-1]


def coin_change(coins, amount):
    best = np.full(amount + 1, np.inf)
    best[0] = 0
    for a in range(1, amount + 1):
        for c in coins:
            if c <= a and best[a - c] + 1 < best[a]:
                best[a] = best[a - c] + 1
    return int(best[amount]) if np.isfinite(best[amount]) else -1


def main():
    weights = [3, 4, 5, 9, 14]
    values = [3, 4, 4, 10, 15]
    total, items = knapsack(weights, values, 20)
    print("best value:", total)
    print("items:", items)
    print("coins for 63:", coin_change([1, 5, 10, 21, 25], 63))
    print("coins for 3 out of {2}:", coin_change([2], 3))


if __name__ == "__main__":
    main()
