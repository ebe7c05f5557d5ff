import numpy as np
u = np.zeros((20, 20)); u[0] = 100
for _ in range(100):
    u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
print(u[5, ::4], u.mean())
