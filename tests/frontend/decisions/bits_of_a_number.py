import numpy as np

def forward(x: "float64[8]"):
    v = int(abs(x[0]) * 1000)
    ones, high = 0, 0
    while v > 0:
        ones += v & 1
        high = (high ^ v) | 4
        v >>= 1
    return ones, high
