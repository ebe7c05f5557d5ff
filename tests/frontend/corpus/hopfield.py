import numpy as np

patterns = np.array([[1, 1, 1, -1, -1, -1, 1, 1], [1, -1, 1, -1, 1, -1, 1, -1]])
n = patterns.shape[1]
W = sum(np.outer(p, p) for p in patterns) / n
np.fill_diagonal(W, 0)
state = patterns[0].copy()
state[[1, 5]] *= -1
energies = []
for it in range(10):
    old = state.copy()
    for i in range(n):
        state[i] = 1 if W[i] @ state >= 0 else -1
    energies.append(-0.5 * state @ W @ state)
    if (old == state).all():
        break
print(state, "recovered:", np.array_equal(state, patterns[0]))
print("sweeps", it + 1, energies)
