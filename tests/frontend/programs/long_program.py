import numpy as np
x = np.arange(4.0)
for i in range(60):
    x = x * 1.01 + i / 100
    if i % 20 == 0:
        x = x - x.mean()
print(x)
