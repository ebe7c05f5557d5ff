import numpy as np

def forward(x: "float64[6]"):
    cur = x.copy()
    new = x.copy()
    n = 0
    while n < 50:
        new[1:-1] = 0.5 * (cur[:-2] + cur[2:])
        if np.abs(new - cur).max() < 1e-3:
            break
        cur, new = new, cur
        n += 1
    return cur, new, n
