import numpy as np

np.set_printoptions(precision=4, suppress=True)
A = np.array([[1.0, 0.1], [0.0, 1.0]])
B = np.array([[0.005], [0.1]])
Q = np.diag([1.0, 0.1])
R = np.array([[0.01]])
P = Q.copy()
for i in range(500):
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    P_next = Q + A.T @ P @ (A - B @ K)
    if np.max(np.abs(P_next - P)) < 1e-10:
        break
    P = P_next
print("iterations", i)
print("K =", K)
x = np.array([1.0, 0.0])
for _ in range(50):
    x = (A - B @ K) @ x
print(np.round(x, 4))
