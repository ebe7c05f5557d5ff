import numpy as np


def align(a, b, match=1, mismatch=-1, gap=-2):
    n, m = len(a), len(b)
    score = np.zeros((n + 1, m + 1), dtype=int)
    score[:, 0] = gap * np.arange(n + 1)
    score[0, :] = gap * np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diag = score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
            score[i, j] = max(diag, score[i - 1, j] + gap, score[i, j - 1] + gap)
    i, j = n, m
    left, right = "", ""
    while i > 0 or j > 0:
        if i > 0 and j > 0 and score[i, j] == score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch):
            left, right = a[i - 1] + left, b[j - 1] + right
            i, j = i - 1, j - 1
        elif i > 0 and score[i, j] == score[i - 1, j] + gap:
            left, right = a[i - 1] + left, "-" + right
            i -= 1
        else:
            left, right = "-" + left, b[j - 1] + right
            j -= 1
    return left, right, score[n, m]


l, r, s = align("GATTACA", "GCATGCU")
print(l)
print(r)
print("score:", s)
