import numpy as np


def forward(b: "int8[2, 2]"):
    v4 = b[1, 1]
    wv4 = np.where(v4, v4, v4)
    wv4 += np.uint8(1)
    return wv4
