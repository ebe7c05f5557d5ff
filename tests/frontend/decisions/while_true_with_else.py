import numpy as np

def forward(x: "float64[5]", y: "float64[5]"):
    while True:
        x = x * 0.5
        if np.linalg.norm(x) < 1e-3:
            break
        y = y + x
    else:
        y = y * 0
    return x, y
