import numpy as np

def forward(x: "float64[4]"):
    if x.sum() > 0:
        y = x
        t = 3
    return x
