#! F511 a generator from outside draws in a part that only the run enters or repeats
import numpy as np

def forward(x: "float64[4]"):
    n = 0
    rng = np.random.default_rng(0)
    while x.max() > 0.1 and n < 5:
        x = x * rng.uniform()
        n += 1
    return x
