import numpy as np
x = np.linspace(-2, 2, 9)
print(np.exp(x), np.tanh(x), np.abs(x), np.sqrt(np.abs(x)), np.sign(x), np.square(x), x**2, x**3, 2**x, x**0.5 if False else 0)
print(np.sin(x), np.cos(x), np.floor(x), np.ceil(x), np.rint(x), np.log1p(np.abs(x)), np.expm1(x), np.log(x + 3), np.round(x))
print(x // 0.7, x % 0.7, np.mod(x, 3), np.floor_divide(x, 2), -x, +x, np.maximum(x, 0), np.minimum(x, 0.5), np.clip(x, -1, 1), x.clip(0))
print(np.isnan(x / x), np.isinf(1 / x), np.isfinite(1 / x), np.reciprocal(x + 5), np.power(x, 2), np.negative(x), np.positive(x))
