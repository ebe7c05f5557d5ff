import numpy as np

rng = np.random.RandomState(3)
N = 6
beta = 0.5
spins = rng.choice([-1, 1], size=(N, N))
print("M0 =", spins.sum())


def energy(s):
    return -np.sum(s * np.roll(s, 1, axis=0)) - np.sum(s * np.roll(s, 1, axis=1))


for sweep in range(3):
    for _ in range(N * N):
        i, j = rng.randint(0, N, size=2)
        nb = spins[(i + 1) % N, j] + spins[(i - 1) % N, j] + spins[i, (j + 1) % N] + spins[i, (j - 1) % N]
        dE = 2 * spins[i, j] * nb
        if dE <= 0 or rng.rand() < np.exp(-beta * dE):
            spins[i, j] *= -1
    print(sweep, energy(spins), abs(spins.mean()))
