import numpy as np

def forward(c: 'int16[3, 3]'):
    v0 = np.inner(c[..., :0], c[..., :0][::-1])
    v1 = np.dot(c[:, :0], c[:0])
    v2 = np.tensordot(c[:, :0], c[:0], 1)
    v3 = np.tensordot(c[:0], c[..., None], ([1], [1]))
    v4 = np.inner(c[:0], c[0])
    return (v0, v1, v2, v3, v4)
