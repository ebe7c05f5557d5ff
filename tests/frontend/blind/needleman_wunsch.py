import numpy as np

MATCH, MISMATCH, GAP = 1, -1, -2


def align(a: str, b: str):
    m, n = len(a), len(b)
    score = np.zeros((m + 1, n + 1), dtype=int)
    trace = np.empty((m + 1, n + 1), dtype="<U1")
    score[:, 0] = GAP * np.arange(m + 1)
    score[0, :] = GAP * np.arange(n + 1)
    trace[1:, 0], trace[0, 1:] = "u", "l"
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            options = {
                "d": score[i - 1, j - 1] + (MATCH if a[i - 1] == b[j - 1] else MISMATCH),
                "u": score[i - 1, j] + GAP,
                "l": score[i, j - 1] + GAP,
            }
            trace[i, j] = max(options, key=options.get)
            score[i, j] = options[trace[i, j]]
    i, j = m, n
    top, bottom = [], []
    while i > 0 or j > 0:
        t = trace[i, j]
        if t == "d":
            i, j = i - 1, j - 1
            top.append(a[i])
            bottom.append(b[j])
        elif t == "u":
            i -= 1
            top.append(a[i])
            bottom.append("-")
        else:
            j -= 1
            top.append("-")
            bottom.append(b[j])
    return score[m, n], "".join(reversed(top)), "".join(reversed(bottom))


for x, y in [("GATTACA", "GCATGCT"), ("ACGT", "AGT"), ("KITTEN", "SITTING")]:
    s, top, bottom = align(x, y)
    print(s)
    print(top)
    print("".join("|" if p == q else " " for p, q in zip(top, bottom)))
    print(bottom)
