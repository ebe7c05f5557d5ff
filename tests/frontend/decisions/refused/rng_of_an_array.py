#! F511 a generator from outside draws
import numpy as np

def forward(x: "float64[4]"):
    rng = np.random.default_rng(0)
    if x.max() > 0.1:
        x = x * rng.uniform(size=4)
    return x + rng.uniform(size=4)
