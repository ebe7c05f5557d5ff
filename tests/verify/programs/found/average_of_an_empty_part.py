import numpy as np

def forward(a: 'float64[n2, 1, 1]'):
    v0 = a
    v5 = np.average(v0[:0], axis=1)
    return v0
