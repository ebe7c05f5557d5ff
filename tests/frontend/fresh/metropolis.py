import numpy as np


def log_prob(x, mu=1.0, sigma=2.0):
    return -0.5 * ((x - mu) / sigma) ** 2 - np.log(sigma)


def metropolis_hastings(logp, x0, n_samples, step=1.0, rng=None):
    if rng is None:
        rng = np.random.default_rng()
    samples = np.zeros(n_samples)
    x = x0
    lp = logp(x)
    accepted = 0
    for i in range(n_samples):
        prop = x + step * rng.normal()
        lp_prop = logp(prop)
        if np.log(rng.uniform()) < lp_prop - lp:
            x, lp = prop, lp_prop
            accepted += 1
        samples[i] = x
    return samples, accepted / n_samples


if __name__ == "__main__":
    rng = np.random.default_rng(2024)
    samples, rate = metropolis_hastings(log_prob, x0=0.0, n_samples=500, step=2.5, rng=rng)
    burned = samples[100:]
    print("acceptance rate:", rate)
    print("mean = %.3f, std = %.3f" % (burned.mean(), burned.std()))
    lo, hi = np.percentile(burned, [2.5, 97.5])
    print(f"95% interval: [{lo:.3f}, {hi:.3f}]")
    hist, edges = np.histogram(burned, bins=10, range=(-6, 8))
    for h, e in zip(hist, edges):
        print(f"{e:6.2f} {'#' * int(h // 4)}")
