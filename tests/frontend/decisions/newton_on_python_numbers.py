import numpy as np

def sqrt(v, tol=1e-12):
    g = v / 2
    while abs(g * g - v) > tol:
        g = 0.5 * (g + v / g)
    return g
def forward(x: "float64[3]"):
    return sqrt(float(x[0])), sqrt(x[1]), max(x[0], x[1]), min(float(x[2]), 0.5)
