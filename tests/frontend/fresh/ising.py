"""2-D Ising model, checkerboard Metropolis updates."""
import numpy as np


class Ising2D:
    def __init__(self, n, temperature, seed=None):
        self.n = n
        self.beta = 1.0 / temperature
        self.rng = np.random.default_rng(seed)
        self.spins = self.rng.choice([-1, 1], size=(n, n))
        i, j = np.indices((n, n))
        self.masks = [(i + j) % 2 == 0, (i + j) % 2 == 1]

    def neighbours(self):
        s = self.spins
        return np.roll(s, 1, axis=0) + np.roll(s, -1, axis=0) + np.roll(s, 1, axis=1) + np.roll(s, -1, axis=1)

    def sweep(self):
        for mask in self.masks:
            dE = 2 * self.spins * self.neighbours()
            flip = (self.rng.random((self.n, self.n)) < np.exp(-self.beta * dE)) & mask
            self.spins[flip] *= -1

    @property
    def magnetization(self):
        return self.spins.mean()

    @property
    def energy(self):
        return -0.5 * np.sum(self.spins * self.neighbours()) / self.spins.size


for T in [1.5, 2.27, 4.0]:
    model = Ising2D(12, T, seed=10)
    mags = []
    for sweep in range(40):
        model.sweep()
        if sweep >= 20:
            mags.append(abs(model.magnetization))
    print(f"T={T:4.2f}  |m|={np.mean(mags):.4f}  E={model.energy:+.4f}")
