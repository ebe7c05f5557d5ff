import numpy as np

def forward(a: 'float64[17]'):
    v0 = np.tensordot(np.broadcast_to(a, (1, 17)), np.broadcast_to(a, (2, 17)), axes=(1, 1))
    return v0
