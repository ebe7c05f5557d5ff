import numpy as np
from numpy.random import default_rng
rng = np.random.default_rng(7)
other = default_rng(seed=7)
x = rng.standard_normal((2, 2))
print(rng.normal(1.0, 2.0, 3), rng.uniform(0, 5, (2,)), rng.integers(0, 100, size=4), rng.random(2), x)
print(other.standard_normal((2, 2)) - x, other.standard_normal(2, dtype=np.float32), rng.integers(5, size=3, endpoint=True))
old = np.random.RandomState(3)
print(old.randn(2), old.randint(5, size=2))
