from dataclasses import dataclass, field

import numpy as np


@dataclass
class History:
    train: list = field(default_factory=list)
    valid: list = field(default_factory=list)

    @property
    def best(self):
        return min(self.valid)


rng = np.random.default_rng(123)
x = np.linspace(-1, 1, 60)
y = x ** 3 - 0.5 * x + rng.normal(scale=0.05, size=60)
Phi = np.vander(x, 6, increasing=True)
mask = np.arange(60) % 3 == 0
Xt, yt, Xv, yv = Phi[~mask], y[~mask], Phi[mask], y[mask]

w = np.zeros(6)
hist = History()
patience, bad, best, best_w = 10, 0, np.inf, w
for it in range(1000):
    r = Xt @ w - yt
    w = w - 0.3 * Xt.T @ r / len(yt)
    hist.train.append(float(np.mean(r ** 2)))
    v = float(np.mean((Xv @ w - yv) ** 2))
    hist.valid.append(v)
    if v < best - 1e-6:
        best, best_w, bad = v, w.copy(), 0
    else:
        bad += 1
    if bad >= patience:
        print("stopped at", it)
        break
else:
    print("ran all iterations")
print(f"best validation {best:.5f} after {len(hist.valid)} iterations")
print(np.round(best_w, 2))
