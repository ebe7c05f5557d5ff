import numpy as np

def size(n):
    if n < 3:
        return "small"
    elif n < 10:
        return "middle"
    else:
        return "large"

for n in (1, 5, 100):
    print(n, size(n), "even" if n % 2 == 0 else "odd")
x = np.ones((2, 3))
if x.ndim == 2 and x.shape[1] == 3:
    x = x * 2
else:
    x = x * 3
print(x)
