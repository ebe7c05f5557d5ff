import numpy as np

rng = np.random.default_rng(2024)
arrivals = np.cumsum(rng.exponential(1 / 0.8, size=200))
services = rng.exponential(1.0, size=200)

start = np.empty(200)
finish = np.empty(200)
free_at = 0.0
for i, (a, s) in enumerate(zip(arrivals, services)):
    start[i] = max(a, free_at)
    finish[i] = start[i] + s
    free_at = finish[i]

wait = start - arrivals
print("mean wait   : {:.3f}".format(wait.mean()))
print("max wait    : {:.3f}".format(wait.max()))
print("utilisation : {:.3f}".format(services.sum() / finish[-1]))
queue_len = [int(np.sum((arrivals <= t) & (start > t))) for t in np.arange(0, finish[-1], 50)]
print("queue over time", queue_len)
