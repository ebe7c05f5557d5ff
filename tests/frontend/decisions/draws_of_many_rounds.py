import numpy as np

def forward(x: "float64[4]"):
    rng = np.random.default_rng(0)
    np.random.seed(2)
    s = x * 0
    for i in range(700):
        p = rng.permutation(4)
        q = x.copy()
        rng.shuffle(q)
        s = s * 0.5 + x[p] * rng.normal(0, 2) + rng.choice(x, 4) + q * np.random.rand(4)
    return s + rng.random(), np.random.rand()
