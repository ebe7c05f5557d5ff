import numpy as np
print(np.tri(3), np.tri(2, 4, 1), np.tri(3, dtype=int), np.eye(2), np.eye(2, 3, k=1), np.identity(2), np.linspace(0, 1, 5))
print(np.tril(np.ones((3, 3))), np.triu(np.arange(9).reshape(3, 3), k=1), np.tril(np.arange(6).reshape(2, 3), -1), np.zeros((2, 0)).shape)
print(np.array([[1, 2], [3, 4]]), np.array([1.5, 2]), np.array([True, False]), np.array([[1], [2]]) @ np.array([[3, 4]]), np.array(7), np.linspace(0, 1, 4, endpoint=False))
