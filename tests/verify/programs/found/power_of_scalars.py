import numpy as np

def forward(c: 'int8[2, 2, 2]'):
    v0 = c
    wv0 = v0
    v4 = np.power(5.662, wv0[1, 1, 1])
    return v4
