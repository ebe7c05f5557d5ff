import numpy as np

def forward(x: "float32[16, 16]"):
    out = np.zeros((14, 14), np.float32)
    k = np.arange(9, dtype=np.float32).reshape(3, 3)
    for i in range(14):
        for j in range(14):
            s = np.float32(0)
            for a in range(3):
                for c in range(3):
                    s += x[i + a, j + c] * k[a, c]
            out[i, j] = s
    return out
