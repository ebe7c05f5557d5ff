import math

import numpy as np


def norm_sf(z):
    return 0.5 * math.erfc(z / math.sqrt(2))


def two_proportion_z(success_a, n_a, success_b, n_b):
    pa, pb = success_a / n_a, success_b / n_b
    pooled = (success_a + success_b) / (n_a + n_b)
    se = math.sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b))
    z = (pb - pa) / se
    return z, 2 * norm_sf(abs(z))


def permutation_test(a, b, n_perm, rng):
    observed = b.mean() - a.mean()
    pooled = np.concatenate([a, b])
    hits = 0
    for _ in range(n_perm):
        rng.shuffle(pooled)
        diff = pooled[len(a) :].mean() - pooled[: len(a)].mean()
        hits += abs(diff) >= abs(observed)
    return observed, (hits + 1) / (n_perm + 1)


rng = np.random.default_rng(123)
a = rng.binomial(1, 0.10, 400)
b = rng.binomial(1, 0.16, 420)
z, p = two_proportion_z(a.sum(), a.size, b.sum(), b.size)
obs, p_perm = permutation_test(a, b, 200, rng)
print(f"conversion A {a.mean():.3%}, B {b.mean():.3%}")
print(f"z = {z:.3f}, p = {p:.4f}")
print(f"permutation: diff = {obs:.4f}, p = {p_perm:.4f}")
verdict = "significant" if p < 0.05 else "not significant"
print(f"The difference is {verdict} at the 5% level.")
lo, hi = np.quantile([rng.choice(b, b.size).mean() - rng.choice(a, a.size).mean() for _ in range(100)], [0.025, 0.975])
print(f"bootstrap 95% CI: [{lo:.4f}, {hi:.4f}]")
