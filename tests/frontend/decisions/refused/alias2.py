#! F504 `a` may share the memory that changes here
import numpy as np

def forward(x: "float64[4]"):
    a = np.zeros(4); b = np.ones(4)
    if x.sum() > -100:
        c = a
    else:
        c = b
    c[0] = 7
    return a, b, c
