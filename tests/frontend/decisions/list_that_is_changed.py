import numpy as np

def forward(x: "float64[5]"):
    parts = [x, x + 1]
    n = 0
    while parts[0].max() < 10:
        parts[0] = parts[0] * 2
        parts[1] = parts[0] + parts[1]
        n += 1
    return parts[0], parts[1], n
