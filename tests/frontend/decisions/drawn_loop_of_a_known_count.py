import numpy as np

def forward(x: "float64[4]"):
    rng = np.random.default_rng(0)
    for i in range(400):
        a = x * rng.uniform(-1, 1)
        b = a + rng.normal(size=4)
        x = b / (1 + np.abs(b).sum())
    return x
