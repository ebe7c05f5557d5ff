import numpy as np

def forward(x: "float64[4]"):
    n = 0
    while np.abs(x).max() > 0.1 and n < 5:
        rng = np.random.default_rng(3)
        x = x * rng.uniform(size=4) * rng.random()
        n += 1
    return x, n
