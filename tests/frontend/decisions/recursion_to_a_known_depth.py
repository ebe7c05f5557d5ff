import numpy as np

def halves(x):
    if len(x) == 1:
        return x[0]
    m = len(x) // 2
    a, b = halves(x[:m]), halves(x[m:])
    return a if a > b else b

def forward(x: "float64[8]"):
    return halves(x)
