import numpy as np

def forward(a: 'float32[9, 2]', c: 'float32[1, 1]'):
    v0 = np.zeros_like(a.T)
    v2 = v0.astype(np.int32)
    v3 = np.fmin(v2, c)
    return v3
