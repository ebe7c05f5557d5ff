import numpy as np
rng = np.random.default_rng(4)
P = rng.random((8, 2))
D = np.linalg.norm(P[:, None] - P[None, :], axis=-1)
tour = list(range(8))
def length(t):
    return D[t, np.roll(t, -1)].sum()
improved = True
while improved:
    improved = False
    for i in range(1, 7):
        for j in range(i + 1, 8):
            new = tour[:i] + tour[i:j + 1][::-1] + tour[j + 1:]
            if length(new) < length(tour) - 1e-12:
                tour, improved = new, True
print(tour, length(tour).round(6))
