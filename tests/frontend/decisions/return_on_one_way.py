import numpy as np

def forward(x: "float64[8]"):
    if x.sum() > 0:
        return x * 2
    return -x
