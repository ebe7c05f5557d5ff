from collections import defaultdict, Counter
from functools import lru_cache
import itertools

import numpy as np

BLOSUM = defaultdict(lambda: -1)
for a in "ACGT":
    BLOSUM[a, a] = 2
BLOSUM["A", "G"] = BLOSUM["G", "A"] = 0
BLOSUM["C", "T"] = BLOSUM["T", "C"] = 0
GAP = -2


def align(s: str, t: str):
    n, m = len(s), len(t)
    F = np.zeros((n + 1, m + 1), dtype=int)
    F[:, 0] = GAP * np.arange(n + 1)
    F[0, :] = GAP * np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            F[i, j] = max(
                F[i - 1, j - 1] + BLOSUM[s[i - 1], t[j - 1]],
                F[i - 1, j] + GAP,
                F[i, j - 1] + GAP,
            )
    A, B = [], []
    i, j = n, m
    while i > 0 or j > 0:
        if i and j and F[i, j] == F[i - 1, j - 1] + BLOSUM[s[i - 1], t[j - 1]]:
            A.append(s[i - 1]); B.append(t[j - 1])
            i -= 1; j -= 1
        elif i and F[i, j] == F[i - 1, j] + GAP:
            A.append(s[i - 1]); B.append("-")
            i -= 1
        else:
            A.append("-"); B.append(t[j - 1])
            j -= 1
    return F[n, m], "".join(reversed(A)), "".join(reversed(B))


@lru_cache(maxsize=None)
def edit(a: str, b: str) -> int:
    if not a or not b:
        return len(a) + len(b)
    return min(edit(a[1:], b) + 1, edit(a, b[1:]) + 1, edit(a[1:], b[1:]) + (a[0] != b[0]))


seqs = {"s1": "GATTACA", "s2": "GCATGCT", "s3": "GATACA"}
for (na, a), (nb, b) in itertools.combinations(seqs.items(), 2):
    score, x, y = align(a, b)
    ident = sum(p == q for p, q in zip(x, y)) / len(x)
    print(f"{na}/{nb}: score={score} identity={ident:.2%}")
    print(x)
    print("".join("|" if p == q else " " for p, q in zip(x, y)))
    print(y)
    print("edit", edit(a, b))
kmers = Counter(s[i:i + 3] for s in seqs.values() for i in range(len(s) - 2))
print(kmers.most_common(3))
gc = {k: round((v.count("G") + v.count("C")) / len(v), 3) for k, v in seqs.items()}
print(gc)
