import numpy as np


def levenshtein(a: str, b: str) -> int:
    dp = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    dp[:, 0] = np.arange(len(a) + 1)
    dp[0, :] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            dp[i, j] = min(dp[i - 1, j] + 1, dp[i, j - 1] + 1, dp[i - 1, j - 1] + cost)
    return dp[-1, -1]


def lcs(a, b):
    m, n = len(a), len(b)
    L = np.zeros((m + 1, n + 1), dtype=np.int64)
    for i in range(m):
        for j in range(n):
            if a[i] == b[j]:
                L[i + 1, j + 1] = L[i, j] + 1
            else:
                L[i + 1, j + 1] = max(L[i + 1, j], L[i, j + 1])
    out = []
    i, j = m, n
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            out.append(a[i - 1])
            i -= 1
            j -= 1
        elif L[i - 1, j] >= L[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return "".join(reversed(out))


pairs = [("kitten", "sitting"), ("flaw", "lawn"), ("numpy", "jumpy")]
for s, t in pairs:
    print(f"{s!r} -> {t!r}: distance {levenshtein(s, t)}, lcs {lcs(s, t)!r}")
