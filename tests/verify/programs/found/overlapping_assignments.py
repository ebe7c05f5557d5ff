import numpy as np


def forward(a: "float32[3, 4]"):
    v0 = a.copy()
    v0[1:] = v0[:-1]
    v0[:2] += v0[::-1][:2]
    v0 += v0[::-1]
    v1 = a.copy()
    for i in range(2):
        v1[i + 1] += v1[i]
    return v0, v1
