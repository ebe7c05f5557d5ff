# Diagonals taken and filled, Kronecker products, products over several dimensions, and arrays that begin with anything.
import numpy as np

v = np.array([1.5, -0.0, np.nan])
m = np.arange(12).reshape(3, 4)
t = np.linspace(-1, 1, 24).reshape(2, 3, 4)
for k in (-4, -3, -1, 0, 1, 2, 5):
    print(np.diag(v, k), np.diag(m, k), np.diag(m[:0], k))
print(np.diag(m).copy() * 2, np.diag(np.diag([1, 2])))
a = m.copy()
np.fill_diagonal(a, -1)
b = np.zeros((4, 2), np.float32)
np.fill_diagonal(b, 2.5)
print(a, b, b.dtype)
print(np.kron(m[:2, :2], np.array([[1, 2, 3]])), np.kron(v, m), np.kron(np.float32(2), m[0]), np.kron(t, v).shape)
print(np.tensordot(t, t, ([0, 1, 2], [0, 1, 2])), np.tensordot(m, t, ([1], [2])), np.tensordot(t, m, axes=([1, 2], [0, 1])))
print(np.tensordot(t, t.T, 1).shape, np.tensordot(v, v, 0), np.tensordot(m, m.T, axes=1), np.tensordot(m, m), np.tensordot(t, m, (1, 0)))
for made in (np.empty((2, 3)), np.empty(4, dtype=np.int8), np.empty_like(t), np.empty_like(m, dtype=bool)):
    made[...] = 1
    print(made, made.dtype)
out = np.empty((3, 2), np.float32)
for i in range(3):
    out[i] = [i, i / 2]
print(out, np.around(v + 0.25, 1), np.around(m))
