import numpy as np

def forward(x: "float64[30000]"):
    acc = 0.0
    prev = x[0]
    for i in range(1, 30000):
        acc = acc * 0.99 + x[i] - prev
        prev = x[i]
    return acc
