import numpy as np

c = np.array([3.0, 5.0])
A = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 2.0]])
b = np.array([4.0, 12.0, 18.0])


def to_tableau(c, A, b):
    xb = [list(eq) + [x] for eq, x in zip(np.hstack([A, np.eye(len(b))]), b)]
    z = list(c) + [0.0] * (len(b) + 1)
    return xb + [z]


T = np.array(to_tableau(c, A, b))
steps = 0
while np.any(T[-1, :-1] > 1e-9):
    col = int(np.argmax(T[-1, :-1]))
    ratios = np.full(len(b), np.inf)
    positive = T[:-1, col] > 0
    ratios[positive] = T[:-1, -1][positive] / T[:-1, col][positive]
    row = int(np.argmin(ratios))
    T[row] /= T[row, col]
    for r in range(len(T)):
        if r != row:
            T[r] -= T[r, col] * T[row]
    steps += 1
print("pivots:", steps)
print("objective:", -T[-1, -1])
solution = []
for j in range(len(c)):
    column = T[:, j]
    if np.isclose(column.sum(), 1) and np.count_nonzero(column) == 1:
        solution.append(T[np.argmax(column), -1])
    else:
        solution.append(0.0)
print(solution)
