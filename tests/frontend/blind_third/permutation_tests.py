import numpy as np

rng = np.random.default_rng(321)
a = rng.normal(0.0, 1.0, 30)
b = rng.normal(0.6, 1.0, 25)
obs = b.mean() - a.mean()
pooled = np.concatenate((a, b))
count = 0
R = 400
for _ in range(R):
    perm = rng.permutation(pooled)
    if abs(perm[30:].mean() - perm[:30].mean()) >= abs(obs):
        count += 1
print(f"difference {obs:.4f}, p = {(count + 1) / (R + 1):.4f}")

boot = np.array([rng.choice(b, size=b.size, replace=True).mean() for _ in range(300)])
lo, hi = np.percentile(boot, [2.5, 97.5])
print(f"95% CI [{lo:.3f}, {hi:.3f}]")
welch = obs / np.sqrt(a.var(ddof=1) / a.size + b.var(ddof=1) / b.size)
print("t =", np.round(welch, 4))
ranks = np.argsort(np.argsort(pooled)) + 1
U = ranks[30:].sum() - 25 * 26 / 2
print("U =", U, "median diff", round(float(np.median(b) - np.median(a)), 4))
