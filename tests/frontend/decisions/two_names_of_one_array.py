import numpy as np

def forward(x: "float64[6]"):
    new = np.zeros_like(x)
    err = 1.0
    n = 0
    while err > 1e-3 and n < 20:
        new[1:-1] = 0.5 * (x[:-2] + x[2:])
        err = np.abs(new - x).max()
        x = new
        n += 1
    return x, n
