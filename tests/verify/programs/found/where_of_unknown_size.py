import numpy as np


def forward(a: "uint8[n, 2]"):
    v0 = np.where(a > 1, a, a.shape[0])
    return v0
