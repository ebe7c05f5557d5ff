import numpy as np
a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
print(a @ b, np.matmul(a, b), np.dot(a, b), a.dot(b), np.outer([1, 2], [3, 4, 5]), np.arange(3) @ np.arange(3), a @ np.ones(3), np.ones(2) @ a)
print(np.einsum("ij,jk->ik", a, b), np.einsum("ij->ji", a), np.einsum("ij,ij->i", a, a), np.einsum("ii", np.eye(3)), np.inner(np.arange(3), np.arange(3)))
print((np.arange(24).reshape(2, 3, 4) @ np.arange(8).reshape(4, 2)).shape, np.dot(3, a), np.trace(np.arange(9).reshape(3, 3)))
