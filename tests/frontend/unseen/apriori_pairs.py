from collections import Counter, defaultdict
from itertools import combinations

import numpy as np

baskets = [
    ["bread", "milk"],
    ["bread", "nappies", "beer", "eggs"],
    ["milk", "nappies", "beer", "cola"],
    ["bread", "milk", "nappies", "beer"],
    ["bread", "milk", "nappies", "cola"],
]
items = sorted({i for b in baskets for i in b})
index = {name: k for k, name in enumerate(items)}
M = np.zeros((len(baskets), len(items)), dtype=int)
for r, basket in enumerate(baskets):
    for item in basket:
        M[r, index[item]] = 1

co = M.T @ M
support = M.mean(axis=0)
pairs = Counter()
for basket in baskets:
    for a, b in combinations(sorted(basket), 2):
        pairs[(a, b)] += 1
for (a, b), n in pairs.most_common(4):
    i, j = index[a], index[b]
    assert co[i, j] == n
    lift = (n / len(baskets)) / (support[i] * support[j])
    print(f"{a:>8} -> {b:<8} n={n} lift={lift:.3f}")

by_size = defaultdict(list)
for basket in baskets:
    by_size[len(basket)].append(basket[0])
for size in sorted(by_size):
    print(size, by_size[size])
