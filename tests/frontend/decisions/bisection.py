import numpy as np

def forward(x: "float64[5]"):
    lo, hi = 0, len(x)
    x = np.sort(x)
    while lo < hi:
        mid = (lo + hi) // 2
        if x[mid] < 0.1:
            lo = mid + 1
        else:
            hi = mid
    return lo
