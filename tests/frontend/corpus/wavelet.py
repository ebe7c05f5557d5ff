import numpy as np
def haar(x):
    x = x.astype(float).copy(); n = len(x)
    while n > 1:
        a = (x[0:n:2] + x[1:n:2]) / 2; b = (x[0:n:2] - x[1:n:2]) / 2
        x[:n//2], x[n//2:n] = a, b
        n //= 2
    return x
print(haar(np.arange(8)))
