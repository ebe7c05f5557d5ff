import numpy as np

def forward(x: "float64[5]"):
    s = 0.0
    for i in range(5):
        for j in range(5):
            if x[i] > x[j]:
                s += 1.0
                continue
            if x[i] == x[j] and i != j:
                break
        else:
            s += 100.0
    return s
