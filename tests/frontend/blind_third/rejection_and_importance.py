import numpy as np

rng = np.random.default_rng(77)


def target(x):
    return np.exp(-x ** 2 / 2) * (1 + np.sin(3 * x) ** 2)


samples = []
tries = 0
while len(samples) < 50:
    x = rng.uniform(-4, 4)
    u = rng.uniform(0, 2)
    tries += 1
    if u < target(x):
        samples.append(x)
samples = np.array(samples)
print(f"acceptance {len(samples) / tries:.3f}  mean {samples.mean():+.3f}  sd {samples.std():.3f}")

x = rng.standard_t(5, size=1000)
logq = -3 * np.log1p(x ** 2 / 5)
w = target(x) / np.exp(logq)
w /= w.sum()
print(f"E[x^2] {np.sum(w * x ** 2):.3f}  ESS {1 / np.sum(w ** 2):.1f}")
