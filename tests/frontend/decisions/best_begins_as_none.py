import numpy as np

def forward(x: "float64[6]"):
    best = None
    at = -1
    for i, v in enumerate(x):
        if best is None or v > best:
            best = v
            at = i
    return best, at
