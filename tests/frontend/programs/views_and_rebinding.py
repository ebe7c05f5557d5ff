import numpy as np
x = np.arange(6).reshape(2, 3)
y = x.T
x = x + 1
print(x, y)
z = np.zeros(4)
for i in range(4):
    z[i] = i
    t = z[: i + 1].sum()
    del t
print(z)
