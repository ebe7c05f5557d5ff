import numpy as np


def forward(a: "float32[3, 4]", b: "uint8[3]"):
    v0 = a[b]
    v1 = a[b, b]
    v2 = a[:, b]
    v3 = a.copy()
    v3[b, b] = 7
    return v0, v1, v2, v3
