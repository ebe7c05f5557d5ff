import numpy as np


def forward(a: "int64[1]", b: "float32[1]", c: "float64[1, 3]", d: "float64[3, 1]", e: "float16[1]"):
    v0 = np.dot(a, b)
    v1 = np.inner(b, a)
    v2 = np.dot(a, c)
    v3 = np.dot(d, a)
    v4 = np.dot(a.reshape(1, 1), b)
    v5 = np.tensordot(a, c, 1)
    v6 = np.dot(e, e[:1] * 0)
    v7 = a @ b
    return v0, v1, v2, v3, v4, v5, v6, v7
