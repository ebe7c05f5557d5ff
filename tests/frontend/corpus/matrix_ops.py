import numpy as np
A = np.arange(9).reshape(3, 3) + np.eye(3)
print(np.linalg.det(A), np.trace(A), np.linalg.matrix_rank(A))
print(np.linalg.inv(A))
q, r = np.linalg.qr(A)
print(np.allclose(q @ r, A))
