import numpy as np, sys, os, time
from collections import Counter
start = time.perf_counter()
rng = np.random.Generator(np.random.PCG64(123))
N = 10**4
pts = rng.random((N, 2))
pi = 4 * np.count_nonzero((pts ** 2).sum(1) < 1) / N
print('pi = %.4f, err = %.1e' % (pi, abs(pi - np.pi)))
# buffon
theta = rng.uniform(0, np.pi / 2, N); d = rng.uniform(0, .5, N)
print(2 * N / (d < .5 * np.sin(theta)).sum())
# birthday
def birthday(n, trials=300):
    hits = 0
    for _ in range(trials):
        b = rng.integers(0, 365, n)
        if len(np.unique(b)) < n: hits += 1
    return hits / trials
print({n: birthday(n) for n in (10, 23, 40)})
# central limit
means = rng.exponential(size=(500, 30)).mean(axis=1)
z = (means - 1) * 30 ** .5
print(f'{z.mean():.3f} {z.std():.3f} {((np.abs(z) < 1.96).mean()):.3%}')
# bootstrap
data = rng.gamma(2, 2, 40)
boots = np.array([np.median(rng.choice(data, data.size)) for _ in range(100)])
lo, hi = np.percentile(boots, (2.5, 97.5))
print(f'median {np.median(data):.3f} [{lo:.3f}, {hi:.3f}]')
# importance sampling, poisson, markov chain
lam = rng.poisson(3, 1000)
print(sorted(Counter(lam.tolist()).items())[:5], rng.binomial(10, .3, 5), rng.multinomial(10, [.2, .3, .5]))
P = np.array([[.9, .1, 0], [.2, .5, .3], [0, .4, .6]])
s, visits = 0, np.zeros(3, int)
for _ in range(300):
    s = rng.choice(3, p=P[s])
    visits[s] += 1
print(visits, rng.dirichlet(np.ones(3)).sum().round(6), rng.multivariate_normal([0, 0], np.eye(2)).shape)
elapsed = time.perf_counter() - start
if elapsed > 600: print('slow', file=sys.stderr)

#! F408: draws of a generator that draws more than 2^16 numbers are not known
