import numpy as np
def solve(A, b):
    A = A.astype(float).copy(); b = b.astype(float).copy()
    n = len(b)
    for i in range(n):
        p = i + np.argmax(np.abs(A[i:, i]))
        if p != i:
            A[[i, p]] = A[[p, i]]
            b[[i, p]] = b[[p, i]]
        for j in range(i + 1, n):
            f = A[j, i] / A[i, i]
            A[j, i:] -= f * A[i, i:]
            b[j] -= f * b[i]
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - A[i, i+1:] @ x[i+1:]) / A[i, i]
    return x
A = np.array([[2, 1, -1], [-3, -1, 2], [-2, 1, 2]])
print(solve(A, np.array([8, -11, -3])))
