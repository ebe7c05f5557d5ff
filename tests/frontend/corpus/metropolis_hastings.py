import numpy as np

rng = np.random.default_rng(2024)


def log_density(x):
    return np.logaddexp(-0.5 * (x - 2) ** 2, -0.5 * (x + 2) ** 2)


def sample(n, step=1.5, x0=0.0):
    x = x0
    accepted = 0
    chain = np.empty(n)
    for i in range(n):
        prop = x + step * rng.normal()
        if np.log(rng.uniform()) < log_density(prop) - log_density(x):
            x = prop
            accepted += 1
        chain[i] = x
    return chain, accepted / n


chain, rate = sample(300)
burned = chain[50:]
print(f"acceptance {rate:.3f} mean {burned.mean():.4f} std {burned.std():.4f}")
hist, edges = np.histogram(burned, bins=8)
print(hist)
