"""Stochastic simulation of a birth-death process (Gillespie)."""
import numpy as np


def gillespie(birth, death, x0, t_max, rng):
    t, x = 0.0, x0
    times, states = [t], [x]
    while t < t_max:
        rates = np.array([birth, death * x])
        total = rates.sum()
        if total == 0:
            break
        t += rng.exponential(1 / total)
        if t > t_max:
            break
        if rng.random() < rates[0] / total:
            x += 1
        else:
            x -= 1
        times.append(t)
        states.append(x)
    return np.array(times), np.array(states)


rng = np.random.default_rng(2)
times, states = gillespie(birth=4.0, death=0.5, x0=0, t_max=20, rng=rng)
dwell = np.diff(np.append(times, 20))
mean = np.average(states, weights=dwell)
print("events:", len(times) - 1)
print("time-average: %.3f (theory %.1f)" % (mean, 4.0 / 0.5))
print("max population:", states.max())
grid = np.arange(0, 20, 5)
print("sampled:", states[np.searchsorted(times, grid, side="right") - 1])
