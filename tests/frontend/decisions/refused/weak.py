#! F511 as the run decides
import numpy as np

def forward(x: "float32[4]"):
    total = 0.0
    for i in range(4):
        if x[i] > 0:
            total += x[i]
    return total
