import numpy as np

def forward(x: "float64[8]"):
    total = np.float64(0)
    for i in range(100):
        total = total + x[i % 8] ** 2
        if total > 3:
            break
    return total, i
