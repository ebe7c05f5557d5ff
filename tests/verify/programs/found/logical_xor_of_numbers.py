import numpy as np


def forward(a: "float32[3, 3]", b: "uint8[3]"):
    v0 = np.logical_xor(a, b[:, None])
    v1 = np.logical_xor(a, 2.5)
    v2 = np.logical_xor(b, b == 2)
    return v0, v1, v2
