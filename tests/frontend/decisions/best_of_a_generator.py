import numpy as np

def windows(x, n):
    for i in range(0, len(x) - n + 1, n):
        yield x[i : i + n]

def forward(x: "float64[9]"):
    best = np.float64(-9)
    for w in windows(x, 3):
        if w.max() > best:
            best = w.max()
    return best, sum(w.mean() for w in windows(x, 2))
