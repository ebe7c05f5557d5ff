import numpy as np

rng = np.random.default_rng(4)
birth, death = 5.0, 0.25
t, n, t_end = 0.0, 0, 10.0
times, counts = [t], [n]
while True:
    rates = np.array([birth, death * n])
    total = rates.sum()
    t += rng.exponential(1 / total)
    if t > t_end:
        break
    n += 1 if rng.random() < rates[0] / total else -1
    times.append(t)
    counts.append(n)
times, counts = np.array(times), np.array(counts)
dt = np.diff(np.append(times, t_end))
print("events", len(times) - 1, "final", counts[-1])
print("time average %.3f" % ((counts * dt).sum() / t_end))
