import numpy as np

def forward(x: "float64[4]"):
    y = x.copy()
    z = y
    if x.sum() > -100:
        z[0] = 5
    return y, z
