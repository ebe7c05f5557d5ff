import numpy as np
from dataclasses import dataclass


@dataclass(frozen=True)
class Params:
    beta: float = 0.4
    gamma: float = 0.1
    n: float = 1000.0


def deriv(state, p: Params):
    s, i, r = state
    new = p.beta * s * i / p.n
    rec = p.gamma * i
    return np.array([-new, new - rec, rec])


def rk4(f, y, dt, *args):
    k1 = f(y, *args)
    k2 = f(y + dt / 2 * k1, *args)
    k3 = f(y + dt / 2 * k2, *args)
    k4 = f(y + dt * k3, *args)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


p = Params()
y = np.array([999.0, 1.0, 0.0])
history = [y]
for day in range(100):
    y = rk4(deriv, y, 1.0, p)
    history.append(y)
history = np.array(history)
peak = history[:, 1].argmax()
print("peak day", peak, "infected", round(history[peak, 1], 2))
print("final", history[-1].round(3), "R0 =", p.beta / p.gamma)
assert np.allclose(history.sum(axis=1), p.n)
