import numpy as np

rng = np.random.default_rng(42)
S0, K, r, sigma, T = 100.0, 105.0, 0.05, 0.2, 1.0
n_steps, n_paths = 12, 500
dt = T / n_steps
z = rng.standard_normal((n_paths, n_steps))
log_returns = (r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * z
paths = S0 * np.exp(np.cumsum(log_returns, axis=1))
payoff = np.maximum(paths[:, -1] - K, 0)
asian = np.maximum(paths.mean(axis=1) - K, 0)
barrier = np.where((paths > 130).any(axis=1), 0.0, payoff)
for name, p in [("european", payoff), ("asian", asian), ("knock-out", barrier)]:
    value = np.exp(-r * T) * p.mean()
    err = p.std(ddof=1) / np.sqrt(n_paths)
    print(f"{name:>10}: {value:8.4f} +- {err:.4f}")
