import numpy as np

rng = np.random.default_rng(12345)
draws = {
    "normal": rng.normal(2, 3, 500),
    "uniform": rng.uniform(-1, 1, 500),
    "exponential": rng.exponential(2.0, 500),
    "gamma": rng.gamma(2.0, 1.5, 500),
    "beta": rng.beta(2, 5, 500),
    "poisson": rng.poisson(4, 500),
    "binomial": rng.binomial(10, 0.3, 500),
    "geometric": rng.geometric(0.25, 500),
    "lognormal": rng.lognormal(0, 0.5, 500),
    "laplace": rng.laplace(0, 1, 500),
    "chisquare": rng.chisquare(3, 500),
    "triangular": rng.triangular(0, 1, 3, 500),
    "weibull": rng.weibull(1.5, 500),
}
print(f"{'name':<12}{'mean':>9}{'var':>9}{'skew':>9}")
for name, x in draws.items():
    m, s = x.mean(), x.std()
    print(f"{name:<12}{m:9.3f}{s ** 2:9.3f}{((x - m) ** 3).mean() / s ** 3:9.3f}")
print(rng.multinomial(20, [0.2, 0.3, 0.5]), rng.dirichlet([1, 2, 3]).round(3))
print(rng.multivariate_normal([0, 1], [[1, 0.5], [0.5, 2]], size=2).round(3).tolist())
