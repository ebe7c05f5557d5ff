import numpy as np

def forward(x: "float64[4]"):
    rng = np.random.default_rng(0)
    s = np.abs(x)
    for i in range(900):
        s = s + np.abs(x) * rng.random() * 0.01
        if s.sum() > 20:
            break
    return s, i
