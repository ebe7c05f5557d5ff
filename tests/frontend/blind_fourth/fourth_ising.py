import numpy as np

np.random.seed(11)
L = 8
spins = np.random.choice([-1, 1], size=(L, L))
J = 1.0


def delta_e(s, i, j):
    nb = s[(i + 1) % L, j] + s[(i - 1) % L, j] + s[i, (j + 1) % L] + s[i, (j - 1) % L]
    return 2 * J * s[i, j] * nb


def sweep(s, beta):
    accepted = 0
    for _ in range(L * L):
        i, j = np.random.randint(0, L, 2)
        dE = delta_e(s, i, j)
        if dE <= 0 or np.random.rand() < np.exp(-beta * dE):
            s[i, j] *= -1
            accepted += 1
    return accepted


def energy(s):
    return -J * np.sum(s * (np.roll(s, 1, 0) + np.roll(s, 1, 1)))


print("T      <E>      <|M|>")
for T in np.linspace(1.5, 3.5, 3):
    E, M = [], []
    for n in range(6):
        acc = sweep(spins, 1 / T)
        if n >= 2:
            E.append(energy(spins))
            M.append(abs(spins.sum()) / spins.size)
    print(f"{T:.2f} {np.mean(E):8.3f} {np.mean(M):8.4f}  acc={acc}")
