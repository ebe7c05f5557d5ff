#! F511 a generator from outside draws
import numpy as np

def forward(x: "float64[4]"):
    np.random.seed(0)
    while x.max() > 0.1:
        x = x * np.random.rand(4)
    return x
