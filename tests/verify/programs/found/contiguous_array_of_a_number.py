import numpy as np


def forward(a: "float32[3, 4]", c: "float64[]"):
    v0 = np.ascontiguousarray(c)
    v1 = np.ascontiguousarray(a[1, 2])
    return v0, v1
