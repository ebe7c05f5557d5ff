import numpy as np
A = np.array([[4., 1, 0], [1, 3, 1], [0, 1, 2]])
v = np.ones(3)
lam = 0
while True:
    w = A @ v
    new = np.linalg.norm(w)
    v = w / new
    if abs(new - lam) < 1e-10:
        break
    lam = new
print(lam, v)
