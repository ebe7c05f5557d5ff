import numpy as np
x = np.zeros((3, 4))
x[0] = 1
x[1, 2] = 5
x[:, 3] = np.arange(3)
x[2, ::2] = [7, 8]
y = x
y[1:, 0] = -1
print(x)
out = np.zeros((2, 2), dtype=int)
for i in range(2):
    for j in range(2):
        out[i, j] = i * 10 + j
out[0] += 100
out[[0, 1], [1, 0]] = 3
print(out)
v = np.arange(5)
v[::-1] = v.copy()
v[-1] += 4
print(v)
w = np.zeros(3)
w[:] = 2
w[...] = w * 3
print(w)
